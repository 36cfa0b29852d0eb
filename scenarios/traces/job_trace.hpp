#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/job_trace.hpp"

namespace slicewise::scenarios {

// Gives each different name a number, in order of first use; the empty name is 0.
class NamePool {
 public:
  explicit NamePool(std::vector<std::string>& names);

  // What no line of a trace can hold, or nobody can read, stands as its escapes: see printable().
  std::uint32_t number_of(std::string_view name);

 private:
  void grow();

  std::vector<std::string>& names_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: free
};

// Traces of jobs as CSV and in binary: their columns, and what the two forms begin with.

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

// Calls visit(rules, column ...) for every column of all, in the order in which they are written.
template <class Visitor, class... Jobs>
void visit_columns_of(Visitor&& visit, Jobs&... jobs) {
  constexpr std::int64_t kMostNumber = 2'147'483'647;
  constexpr std::int64_t kMostBytes = 1LL << 60U;
  constexpr std::int64_t kMostState = static_cast<std::int64_t>(JobState::Pending);
  using Rules = ColumnRules;
  visit(Rules{"arrival_s", 0, kLongestInTrace, false, true}, jobs.arrival...);
  visit(Rules{"run_s", 0, kLongestInTrace, true, true}, jobs.run...);
  visit(Rules{"gpus", 0, kMostGpusOfJob, false, true}, jobs.gpus...);
  visit(Rules{"gpu_milli", 0, 1'000}, jobs.gpu_milli...);
  visit(Rules{"cpu_milli", 0, kMostNumber}, jobs.cpu_milli...);
  visit(Rules{"memory_bytes", 0, kMostBytes}, jobs.memory...);
  visit(Rules{"gpu_memory_bytes", 0, kMostBytes}, jobs.gpu_memory...);
  visit(Rules{"observed_wait_s", 0, kLongestInTrace}, jobs.observed_wait...);
  visit(Rules{"time_limit_s", 0, kLongestInTrace}, jobs.time_limit...);
  visit(Rules{"deadline_s", 0, kLongestInTrace}, jobs.deadline...);
  visit(Rules{"gpu_permille", 0, 1'000}, jobs.gpu_permille...);
  visit(Rules{"sm_permille", 0, 1'000}, jobs.sm_permille...);
  visit(Rules{"priority", -kMostNumber, kMostNumber, false}, jobs.priority...);
  visit(Rules{"backoff_limit", 0, kMostNumber}, jobs.backoff_limit...);
  visit(Rules{"state", 0, kMostState, false}, jobs.state...);
  visit(Rules{"id"}, jobs.id...);
  visit(Rules{"user"}, jobs.user...);
  visit(Rules{"group"}, jobs.group...);
  visit(Rules{"project"}, jobs.project...);
  visit(Rules{"gpu_models"}, jobs.gpu_models...);
  visit(Rules{"resource"}, jobs.resource...);
  visit(Rules{"work"}, jobs.work...);
  visit(Rules{"profile"}, jobs.profile...);
  visit(Rules{"gang"}, jobs.gang...);
  visit(Rules{"instance_type"}, jobs.instance_type...);
  visit(Rules{"ran_on"}, jobs.ran_on...);
  visit(Rules{"iteration_s", 0, kLongestInTrace}, jobs.iteration...);
  visit(Rules{"iteration_host_s", 0, kLongestInTrace}, jobs.iteration_host...);
  visit(Rules{"iteration_gpu_s", 0, kLongestInTrace}, jobs.iteration_gpu...);
  visit(Rules{"iteration_network_s", 0, kLongestInTrace}, jobs.iteration_network...);
}

template <class Trace, class Visitor>
void visit_columns(Trace& trace, Visitor&& visit) {
  visit_columns_of(visit, trace);
}

inline std::int64_t plain(Duration d) { return d.ns; }
inline std::int64_t plain(Bytes b) { return b.count; }
inline std::int64_t plain(std::int32_t n) { return n; }
inline std::int64_t plain(JobState s) { return static_cast<std::int64_t>(s); }

inline bool is_allowed(const ColumnRules& rules, std::int64_t value) {
  return (value >= rules.least && value <= rules.most) || (rules.may_be_unknown && value == -1);
}

// Lines before the header of a CSV file; all others that begin with # are remarks of the user.
inline constexpr std::string_view kOriginLine = "# origin_unix_s=";
inline constexpr std::string_view kSharingLine = "# run_under_sharing=true";

// As CSV files spell the states, in the order of JobState.
inline constexpr std::array<std::string_view, 7> kStateNames = {
    "Unknown", "Completed", "Failed", "Cancelled", "TimedOut", "Running", "Pending"};

// A binary file is a BinaryHeader, `columns` BinaryColumns, then the columns themselves, each at a
// multiple of 8 bytes. All numbers are little-endian.
inline constexpr std::array<char, 8> kBinaryMagic = {'S', 'L', 'C', 'W', 'J', 'O', 'B', 'S'};
inline constexpr std::uint32_t kBinaryVersion = 1;
inline constexpr std::size_t kColumnAlignment = 8;

struct BinaryHeader {
  std::array<char, 8> magic = kBinaryMagic;
  std::uint32_t version = kBinaryVersion;
  std::uint32_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t file_bytes = 0;
  std::int64_t origin_unix_s = 0;
  std::uint64_t flags = 0;
};
inline constexpr std::uint64_t kHasOrigin = 1;
inline constexpr std::uint64_t kRunUnderSharing = 2;

// int64 counts nanoseconds or bytes, uint32 is a number of a name.
enum class BinaryType : std::uint32_t { Int64 = 1, Int32 = 2, Uint32 = 3, Uint8 = 4, Uint64 = 5 };

struct BinaryColumn {
  std::array<char, 24> name{};  // the rest is zeros
  BinaryType type = BinaryType::Int64;
  std::uint32_t zero = 0;
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t bytes = 0;
};

// Where each name ends in the text of all of them, in the order of their numbers, and that text.
inline constexpr std::string_view kNameEnds = "names.ends";
inline constexpr std::string_view kNameText = "names.text";

constexpr BinaryType binary_type(Duration /*tag*/) { return BinaryType::Int64; }
constexpr BinaryType binary_type(Bytes /*tag*/) { return BinaryType::Int64; }
constexpr BinaryType binary_type(std::int32_t /*tag*/) { return BinaryType::Int32; }
constexpr BinaryType binary_type(std::uint32_t /*tag*/) { return BinaryType::Uint32; }
constexpr BinaryType binary_type(JobState /*tag*/) { return BinaryType::Uint8; }

// Puts the rows of a trace whose columns are all its own in order of arrival; rows that arrive
// together keep their order. How many arrived before the row above them.
std::size_t put_in_order(JobTrace& trace);

class ImportReport;

// A trace as CSV. Rows may be in any order; those that cannot be read go to `report`.
Expected<JobTrace> read_job_trace_csv(const SourceText& source, ImportReport& report);

}  // namespace slicewise::scenarios
