#include "job_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../traces/job_trace.hpp"
#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

bool says_nothing(const ColumnRules& rules, Duration value) {
  return !rules.must_exist && value == kUnknownDuration;
}
bool says_nothing(const ColumnRules& rules, std::int32_t value) {
  if (rules.name == "gpu_milli") return value == 1'000;
  return value == (rules.may_be_unknown ? kUnknownNumber : 0);
}
bool says_nothing(const ColumnRules& /*rules*/, Bytes value) { return value.count < 0; }
bool says_nothing(const ColumnRules& /*rules*/, JobState value) {
  return value == JobState::Unknown;
}
bool says_nothing(const ColumnRules& /*rules*/, std::uint32_t value) { return value == 0; }

// The second that `ns` lies in, in nanoseconds.
std::int64_t whole_second(std::int64_t ns) {
  const std::int64_t rest = ns % kSecond;
  return ns - (rest < 0 ? rest + kSecond : rest);
}

}  // namespace

bool JobRows::append(const JobRow& row) {
  trace_.arrival.owned.push_back({row.at_ns});
  trace_.run.owned.push_back(row.run);
  trace_.gpus.owned.push_back(row.gpus);
  trace_.gpu_milli.owned.push_back(row.gpu_milli);
  trace_.cpu_milli.owned.push_back(row.cpu_milli);
  trace_.memory.owned.push_back(row.memory);
  trace_.gpu_memory.owned.push_back(row.gpu_memory);
  trace_.observed_wait.owned.push_back(row.observed_wait);
  trace_.time_limit.owned.push_back(row.time_limit);
  trace_.deadline.owned.push_back(row.deadline);
  trace_.gpu_permille.owned.push_back(row.gpu_permille);
  trace_.sm_permille.owned.push_back(row.sm_permille);
  trace_.priority.owned.push_back(row.priority);
  trace_.backoff_limit.owned.push_back(row.backoff_limit);
  trace_.state.owned.push_back(row.state);
  trace_.id.owned.push_back(pool_.number_of(row.id));
  trace_.user.owned.push_back(pool_.number_of(row.user));
  trace_.group.owned.push_back(pool_.number_of(row.group));
  trace_.project.owned.push_back(pool_.number_of(row.project));
  trace_.gpu_models.owned.push_back(pool_.number_of(row.gpu_models));
  trace_.resource.owned.push_back(pool_.number_of(row.resource));
  trace_.work.owned.push_back(pool_.number_of(row.work));
  trace_.gang.owned.push_back(pool_.number_of(row.gang));
  trace_.instance_type.owned.push_back(pool_.number_of(row.instance_type));
  trace_.ran_on.owned.push_back(pool_.number_of(row.ran_on));
  trace_.iteration.owned.push_back(row.iteration);
  trace_.iteration_host.owned.push_back(row.iteration_host);
  trace_.iteration_gpu.owned.push_back(row.iteration_gpu);
  trace_.iteration_network.owned.push_back(row.iteration_network);
  const std::uint32_t id = trace_.id.owned.back();
  if (id == 0) return false;
  if (id >= is_id_.size()) is_id_.resize(trace_.names.size());
  return std::exchange(is_id_[id], char{1}) != 0;
}

bool JobRows::share_gpus() const {
  for (std::size_t row = 0; row < size(); ++row) {
    if (trace_.gpus.owned[row] > 0 && trace_.gpu_milli.owned[row] < 1'000) return true;
  }
  return false;
}

void JobRows::cut_to_window(const ImportOptions& options, std::int64_t first) {
  if (!options.from && !options.length) return;
  const Duration from = options.from.value_or(Duration{});
  std::vector<char> kept(size());
  std::int64_t left_out = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Duration after = trace_.arrival.owned[i] - Duration{first} - from;
    const bool inside = after.ns >= 0 && (!options.length || after < *options.length);
    kept[i] = inside ? 1 : 0;
    left_out += inside ? 0 : 1;
  }
  if (left_out == 0) return;
  report_.skipped("rows outside the window of --from and --length", SourceLocation{}, left_out);
  visit_columns(trace_, [&](const ColumnRules& /*rules*/, auto& column) {
    if (column.empty()) return;
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] != 0) column.owned[next++] = column.owned[i];
    }
    column.owned.resize(next);
  });
}

void JobRows::drop_empty_columns() {
  visit_columns(trace_, [](const ColumnRules& rules, auto& column) {
    const bool empty = std::ranges::all_of(
        column.owned, [&](const auto& value) { return says_nothing(rules, value); });
    if (empty && !rules.must_exist) column.owned.clear();
    column.owned.shrink_to_fit();
  });
}

Expected<Imported> JobRows::finish(const SourceText& source, const ImportOptions& options,
                                   bool since_epoch, bool run_under_sharing) {
  if (report_.has_failed()) return tl::unexpected(report_.errors());
  const SourceLocation where{source.name, 1, 1, 1};
  if (size() == 0) return not_the_format(where, "there is no job in it");
  const auto [least, most] = std::ranges::minmax(trace_.arrival.owned);
  if (static_cast<Int128>(most.ns) - least.ns > kLongestInTrace) {
    return not_the_format(where, "its arrivals lie more than 126 years apart",
                          "say what their unit is, with --columns arrival=COLUMN:ms for example");
  }
  cut_to_window(options, least.ns);
  if (size() == 0) {
    return not_the_format(
        where, "no job arrives in the window of --from and --length",
        fmt::format("the log is {:.6g} days long", to_seconds(most - least) / 86'400));
  }
  put_in_order(trace_);
  const std::int64_t origin = whole_second(trace_.arrival.owned.front().ns);
  for (Duration& arrival : trace_.arrival.owned) arrival.ns -= origin;
  if (since_epoch) trace_.origin_unix_s = trace_.origin_unix_s.value_or(0) + origin / kSecond;
  trace_.run_under_sharing = run_under_sharing;
  drop_empty_columns();
  Imported imported;
  imported.log = report_.take_log(static_cast<std::int64_t>(size()));
  imported.content = std::move(trace_);
  return imported;
}

}  // namespace slicewise::scenarios
