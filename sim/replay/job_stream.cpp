#include "job_stream.hpp"

#include <algorithm>
#include <unordered_map>

namespace slicewise::sim {
namespace {

constexpr std::uint32_t kNoGang = UINT32_MAX;

}  // namespace

JobStream::JobStream(const scenarios::JobTrace& trace, int repeat, Duration shift)
    : trace_(trace),
      rows_(static_cast<JobNumber>(trace.size())),
      total_(rows_ * static_cast<JobNumber>(repeat)),
      shift_(shift) {
  if (!trace.gang.empty()) find_gangs();
}

void JobStream::find_gangs() {
  gang_of_row_.assign(rows_, kNoGang);
  gang_run_.assign(trace_.run.values().begin(), trace_.run.values().end());
  std::unordered_map<std::uint32_t, std::uint32_t> gang_by_name;
  for (JobNumber row = 0; row < rows_; ++row) {
    const std::uint32_t name = trace_.gang[row];
    if (name == 0 || trace_.run[row].ns < 0) continue;
    const auto [entry, is_new] =
        gang_by_name.try_emplace(name, static_cast<std::uint32_t>(gangs_.size()));
    if (is_new) gangs_.emplace_back();
    gangs_[entry->second].push_back(row);
    gang_of_row_[row] = entry->second;
  }
  for (const std::vector<std::uint32_t>& gang : gangs_) {
    Duration longest;
    for (const std::uint32_t row : gang) {
      longest = std::max(longest, trace_.run[row]);
      gang_run_[row] = scenarios::kUnknownDuration;
    }
    gang_run_[gang.back()] = longest;
  }
}

std::span<const std::uint32_t> JobStream::rows_of(JobNumber job) const {
  const auto at = static_cast<std::uint32_t>(row(job));
  if (!gangs_.empty() && gang_of_row_[at] != kNoGang) return gangs_[gang_of_row_[at]];
  single_ = at;
  return {&single_, 1};
}

std::int64_t JobStream::gpu_milli(JobNumber job) const {
  const auto of_row = [this](std::size_t at) {
    const std::int64_t each = trace_.gpu_milli.empty() ? 1000 : trace_.gpu_milli[at];
    return trace_.gpus[at] * each;
  };
  if (gangs_.empty()) return of_row(row(job));
  std::int64_t sum = 0;
  for (const std::uint32_t at : rows_of(job)) sum += of_row(at);
  return sum;
}

Duration JobStream::estimate(JobNumber job) const {
  if (trace_.time_limit.empty()) return run(job);
  const Duration limit = trace_.time_limit[row(job)];
  return limit.ns >= 0 ? limit : run(job);
}

}  // namespace slicewise::sim
