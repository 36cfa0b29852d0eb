#include "slicewise/sim/replay/replay.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "replay_state.hpp"
#include "schedulers.hpp"

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

namespace {

constexpr std::int64_t kEventsPerLook = 65'536;  // at the interrupt flag

// No event is later: a run that starts then ends before the clock does.
constexpr TimePoint kLatest{INT64_MAX / 2};

Diagnostic too_long() {
  return make_diagnostic(Code::ValueRange, {}, "the replay lasts longer than 146 years",
                         "more GPUs, or a shorter window of the trace");
}

bool was_interrupted(const ReplaySettings& settings) {
  return settings.interrupted != nullptr && settings.interrupted->load();
}

enum class Outcome : std::uint8_t { Whole, Interrupted, TooLong };

// The event loop: ends at an instant, then arrivals, then the scheduler.
template <class Resources, class Queue>
Outcome run_events(ReplayState<Resources>& state, Queue& queue, const ReplaySettings& settings) {
  const JobNumber total = state.jobs.size();
  JobNumber next = 0;
  std::int64_t looks = 0;
  while (next < total || !state.running.empty()) {
    const TimePoint arrival = next < total ? state.jobs.arrival(next) : kNever;
    const TimePoint now = std::min(arrival, state.running.next_end());
    if (now > kLatest) return Outcome::TooLong;
    while (state.running.next_end() == now) {
      queue.freed(state.finish(state.running.next_to_end(), now));
    }
    for (; next < total && state.jobs.arrival(next) == now; ++next) {
      state.record.arrived();
      if (!state.jobs.is_submitted(next)) continue;
      if (state.resources.fits_empty(next)) {
        queue.add(next);
      } else {
        state.record.never_fits(next);
      }
    }
    queue.schedule(now);
    state.record.waiting(queue.waiting());
    if (++looks % kEventsPerLook != 0) continue;
    if (was_interrupted(settings)) return Outcome::Interrupted;
    if (settings.progress) settings.progress(next, total);
  }
  return Outcome::Whole;
}

// How many jobs can run at once: by their GPUs, and all of those without one.
std::size_t most_running(const JobStream& jobs, std::int64_t total_milli) {
  std::int64_t least = INT64_MAX;
  std::size_t without_gpu = 0;
  const auto rows = static_cast<JobNumber>(jobs.trace().size());
  for (JobNumber row = 0; row < rows; ++row) {
    if (!jobs.is_submitted(row)) continue;
    const std::int64_t milli = jobs.gpu_milli(row);
    if (milli == 0) {
      ++without_gpu;
    } else {
      least = std::min(least, milli);
    }
  }
  const std::size_t repeats = rows == 0 ? 0 : jobs.size() / rows;
  const auto by_gpus = static_cast<std::size_t>(total_milli / std::max<std::int64_t>(1, least));
  return std::min<std::size_t>(jobs.size(), by_gpus + without_gpu * repeats) + 1;
}

template <class Resources>
Expected<ReplayResult> replay_on(const JobStream& jobs, Resources resources,
                                 const TraceShapes& shapes, const ReplaySettings& settings) {
  const bool preemptive = settings.queue == QueuePolicy::Priority ||
                          settings.queue == QueuePolicy::ShortestTime ||
                          settings.queue == QueuePolicy::ShortestService;
  ReplayState<Resources> state(jobs, resources, most_running(jobs, resources.total_milli()),
                               settings, preemptive);
  const auto with = [&](auto queue) { return run_events(state, queue, settings); };
  const Outcome outcome = [&] {
    switch (settings.queue) {
      case QueuePolicy::Fifo:
        return with(Fifo<Resources>(state));
      case QueuePolicy::Easy:
        return with(Easy<Resources>(state));
      case QueuePolicy::Backfill:
      case QueuePolicy::Priority:
        return with(Backfill<Resources>(state, shapes, settings.queue == QueuePolicy::Priority));
      case QueuePolicy::ShortestTime:
      case QueuePolicy::ShortestService:
        return with(Shortest<Resources>(state, settings.queue == QueuePolicy::ShortestService));
    }
    return Outcome::Whole;
  }();
  if (outcome == Outcome::TooLong) return tl::unexpected(Diagnostics{too_long()});
  ReplayResult result = state.record.take(resources.total_milli(), outcome == Outcome::Interrupted);
  result.perfect_estimates = settings.queue == QueuePolicy::Easy && jobs.trace().time_limit.empty();
  return result;
}

std::optional<Diagnostic> time_problem(const scenarios::JobTrace& trace,
                                       const ReplaySettings& settings) {
  if (trace.size() == 0) return std::nullopt;
  const auto too_late = [](Int128 ns) { return ns > kLatest.ns; };
  const Duration first = trace.arrival[0];
  const Duration last = trace.arrival[trace.size() - 1];
  if (settings.repeat > 1 && settings.shift < last - first) {
    return make_diagnostic(
        Code::ValueRange, {},
        fmt::format("the trace lasts {:.0f} s, longer than its repetitions are shifted by",
                    to_seconds(last - first)),
        "shift them by at least that");
  }
  if (static_cast<Int128>(trace.size()) * settings.repeat >= UINT32_MAX) {
    return make_diagnostic(Code::ValueRange, {}, "more than 4,294,967,294 jobs",
                           "repeat the trace less often");
  }
  if (too_late(last.ns + static_cast<Int128>(settings.shift.ns) * settings.repeat) ||
      std::ranges::any_of(trace.run.values(), [&](Duration run) { return too_late(run.ns); })) {
    return too_long();
  }
  return std::nullopt;
}

}  // namespace

std::string_view policy_name(QueuePolicy policy) {
  switch (policy) {
    case QueuePolicy::Fifo:
      return "fifo";
    case QueuePolicy::Backfill:
      return "backfill";
    case QueuePolicy::Easy:
      return "easy";
    case QueuePolicy::Priority:
      return "priority";
    case QueuePolicy::ShortestTime:
      return "srtf";
    case QueuePolicy::ShortestService:
      return "srsf";
  }
  return {};
}

double ReplayResult::utilization() const {
  const double hours = to_seconds(makespan()) / 3600;
  return hours > 0 && total_gpus > 0 ? gpu_hours / (total_gpus * hours) : 0;
}

Expected<ReplayResult> replay(const scenarios::JobTrace& trace, const ReplaySettings& settings) {
  if (const auto problem = time_problem(trace, settings)) {
    return tl::unexpected(Diagnostics{*problem});
  }
  const bool pool = settings.cluster.nodes.empty();
  const JobStream jobs(trace, settings.repeat, settings.shift);
  const bool needs_shapes =
      !pool || settings.queue == QueuePolicy::Backfill || settings.queue == QueuePolicy::Priority;
  const TraceShapes shapes = needs_shapes ? shapes_of(trace, settings.cluster) : TraceShapes{};
  if (pool) return replay_on(jobs, GpuPool(jobs, settings.cluster.pool_gpus), shapes, settings);
  return replay_on(jobs, NodeResources(jobs, shapes, settings), shapes, settings);
}

}  // namespace slicewise::sim
