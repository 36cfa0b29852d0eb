#pragma once

#include <cstdint>
#include <string_view>

#include "slicewise/scenarios/job_trace.hpp"

namespace slicewise::scenarios {

// What the values of a column may be.
struct ColumnRules {
  std::string_view name;  // in the header of a CSV file and in the directory of a binary one
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool may_be_unknown = true;  // then -1, an empty field in CSV
  bool must_exist = false;
};

// Two of them still add up in 64 bits.
inline constexpr std::int64_t kLongestInTrace = 4'000'000'000'000'000'000;  // ns, 126 years
inline constexpr std::int64_t kMostGpusOfJob = 1'000'000;

// Calls visit(rules, column) for every column, in the order in which they are written.
template <class Trace, class Visitor>
void visit_columns(Trace& trace, Visitor&& visit) {
  constexpr std::int64_t kMostNumber = 2'147'483'647;
  constexpr std::int64_t kMostBytes = 1LL << 60U;
  constexpr std::int64_t kMostState = static_cast<std::int64_t>(JobState::Pending);
  using Rules = ColumnRules;
  visit(Rules{"arrival_s", 0, kLongestInTrace, false, true}, trace.arrival);
  visit(Rules{"run_s", 0, kLongestInTrace, true, true}, trace.run);
  visit(Rules{"gpus", 0, kMostGpusOfJob, false, true}, trace.gpus);
  visit(Rules{"gpu_milli", 0, 1'000}, trace.gpu_milli);
  visit(Rules{"cpu_milli", 0, kMostNumber}, trace.cpu_milli);
  visit(Rules{"memory_bytes", 0, kMostBytes}, trace.memory);
  visit(Rules{"gpu_memory_bytes", 0, kMostBytes}, trace.gpu_memory);
  visit(Rules{"observed_wait_s", 0, kLongestInTrace}, trace.observed_wait);
  visit(Rules{"time_limit_s", 0, kLongestInTrace}, trace.time_limit);
  visit(Rules{"gpu_permille", 0, 1'000}, trace.gpu_permille);
  visit(Rules{"priority", -kMostNumber, kMostNumber, false}, trace.priority);
  visit(Rules{"state", 0, kMostState, false}, trace.state);
  visit(Rules{"id"}, trace.id);
  visit(Rules{"user"}, trace.user);
  visit(Rules{"group"}, trace.group);
  visit(Rules{"gpu_models"}, trace.gpu_models);
  visit(Rules{"resource"}, trace.resource);
  visit(Rules{"work"}, trace.work);
  visit(Rules{"gang"}, trace.gang);
  visit(Rules{"instance_type"}, trace.instance_type);
}

inline std::int64_t plain(Duration d) { return d.ns; }
inline std::int64_t plain(Bytes b) { return b.count; }
inline std::int64_t plain(std::int32_t n) { return n; }
inline std::int64_t plain(JobState s) { return static_cast<std::int64_t>(s); }

inline bool is_allowed(const ColumnRules& rules, std::int64_t value) {
  return (value >= rules.least && value <= rules.most) || (rules.may_be_unknown && value == -1);
}

}  // namespace slicewise::scenarios
