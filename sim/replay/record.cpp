#include "record.hpp"

#include <string_view>
#include <utility>

namespace slicewise::sim {
namespace {

constexpr double kMilliNsPerGpuHour = 1000 * 3.6e12;

struct SizeClass {
  std::int64_t most_milli;
  std::string_view name;
};

constexpr std::array<SizeClass, 7> kSizes = {{{0, "no GPU"},
                                              {999, "part of a GPU"},
                                              {1000, "1 GPU"},
                                              {4000, "2-4 GPUs"},
                                              {8000, "5-8 GPUs"},
                                              {16'000, "9-16 GPUs"},
                                              {INT64_MAX, "more than 16"}}};

std::size_t class_of(std::int64_t milli) {
  std::size_t at = 0;
  while (milli > kSizes[at].most_milli) ++at;
  return at;
}

}  // namespace

ReplayRecord::ReplayRecord(const JobStream& jobs, const ReplaySettings& settings) : jobs_(jobs) {
  result_.jobs = jobs.size();
  if (settings.keep_jobs) result_.job_times.resize(jobs.size());
  for (std::size_t at = 0; at < kSizes.size(); ++at) classes_[at].name = kSizes[at].name;
  if (jobs.size() > 0) result_.first_arrival = TimePoint{jobs.trace().arrival[0].ns};
  result_.last_end = result_.first_arrival;
}

void ReplayRecord::never_fits(JobNumber job) {
  result_.never_fit += static_cast<std::int64_t>(jobs_.rows_of(job).size());
  if (!result_.first_never_fit) result_.first_never_fit = jobs_.row(job);
}

void ReplayRecord::started(JobNumber job, TimePoint now) {
  used_milli_ += jobs_.gpu_milli(job);
  if (used_milli_ > peak_milli_) peak_milli_ = used_milli_;
  if (result_.job_times.empty()) return;
  const JobNumber first = job - static_cast<JobNumber>(jobs_.row(job));
  for (const std::uint32_t row : jobs_.rows_of(job)) {
    JobTimes& times = result_.job_times[first + row];
    if (times.start == kNever) times.start = now;
  }
}

void ReplayRecord::preempted(JobNumber job) {
  used_milli_ -= jobs_.gpu_milli(job);
  ++result_.preemptions;
  ++result_.events;
}

void ReplayRecord::lost(JobNumber job, Duration work) {
  lost_milli_ns_ += static_cast<Int128>(jobs_.gpu_milli(job)) * work.ns;
}

void ReplayRecord::ended(JobNumber job, TimePoint now) {
  const std::int64_t milli = jobs_.gpu_milli(job);
  const Duration run = jobs_.run(job);
  used_milli_ -= milli;
  milli_ns_ += static_cast<Int128>(milli) * run.ns;
  ++result_.events;
  if (now > result_.last_end) result_.last_end = now;
  const auto rows = jobs_.rows_of(job);
  if (rows.size() == 1) {
    ended_row(job, rows.front(), jobs_.arrival(job), now);
    return;
  }
  const JobNumber first = job - static_cast<JobNumber>(jobs_.row(job));
  for (const std::uint32_t row : rows) {
    ended_row(first + row, row, jobs_.arrival(first + row), now);
  }
}

void ReplayRecord::ended_row(JobNumber job, std::size_t row, TimePoint arrival, TimePoint now) {
  const scenarios::JobTrace& trace = jobs_.trace();
  const std::int64_t each = trace.gpu_milli.empty() ? 1000 : trace.gpu_milli[row];
  const Duration completion = now - arrival;
  // Of a gang each row has waited for the run time of the longest less than all of them.
  const Duration wait = completion - trace.run[row];
  ReplayClass& size = classes_[class_of(trace.gpus[row] * each)];
  ++size.finished;
  size.wait.add(wait);
  size.completion.add(completion);
  result_.wait.add(wait);
  result_.completion.add(completion);
  ++result_.finished;
  result_.started_at_once += wait.ns == 0 ? 1 : 0;
  if (!result_.job_times.empty()) result_.job_times[job].end = now;
}

ReplayResult ReplayRecord::take(std::int64_t total_milli, bool interrupted) {
  for (ReplayClass& size : classes_) {
    if (size.finished > 0) result_.classes.push_back(std::move(size));
  }
  for (const Duration run : jobs_.trace().run.values()) result_.without_run += run.ns < 0 ? 1 : 0;
  if (const auto rows = static_cast<std::int64_t>(jobs_.trace().size()); rows > 0) {
    result_.without_run *= static_cast<std::int64_t>(jobs_.size()) / rows;
  }
  result_.total_gpus = static_cast<double>(total_milli) / 1000;
  result_.peak_gpus = static_cast<double>(peak_milli_) / 1000;
  result_.gpu_hours = static_cast<double>(milli_ns_) / kMilliNsPerGpuHour;
  result_.lost_gpu_hours = static_cast<double>(lost_milli_ns_) / kMilliNsPerGpuHour;
  result_.interrupted = interrupted;
  return std::move(result_);
}

}  // namespace slicewise::sim
