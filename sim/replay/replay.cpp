#include "slicewise/sim/replay/replay.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "backfill.hpp"
#include "easy.hpp"
#include "fifo.hpp"
#include "shortest.hpp"

namespace slicewise::sim {
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
