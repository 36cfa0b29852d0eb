#pragma once

#include <algorithm>
#include <cstdint>

#include "slicewise/sim/replay/replay.hpp"

#include "job_stream.hpp"

// The one event loop of replays, whatever the jobs are given and whichever goes next.
namespace slicewise::sim {

// No event is later: a run that starts then ends before the clock does.
inline constexpr TimePoint kLatestEvent{INT64_MAX / 2};

inline Diagnostic replay_too_long() {
  return make_diagnostic(Code::ValueRange, {}, "the replay lasts longer than 146 years",
                         "more GPUs, or a shorter window of the trace");
}

enum class Outcome : std::uint8_t { Whole, Interrupted, TooLong };

// At the interrupt flag; a queue that plans all jobs anew at each event looks more often.
template <class Queue>
constexpr std::int64_t events_per_look() {
  if constexpr (requires { Queue::kEventsPerLook; }) return Queue::kEventsPerLook;
  return 65'536;
}

// Ends at an instant, then arrivals, then the scheduler.
template <class State, class Queue>
Outcome run_events(State& state, Queue& queue, const ReplaySettings& settings) {
  const JobNumber total = state.jobs.size();
  JobNumber next = 0;
  std::int64_t events = 0;
  while (next < total || !state.running.empty() || state.next_retry() != kNever) {
    const TimePoint arrival = next < total ? state.jobs.arrival(next) : kNever;
    const TimePoint now = std::min({arrival, state.running.next_end(), state.next_retry()});
    if (now > kLatestEvent) return Outcome::TooLong;
    state.look(now, queue.waiting());
    while (state.running.next_end() == now) {
      queue.freed(state.finish(state.running.next_to_end(), now));
    }
    for (; next < total && state.jobs.arrival(next) == now; ++next) {
      state.record.arrived();
      if (!state.jobs.is_submitted(next)) continue;
      if (state.resources.fits_empty(next)) {
        queue.add(next);
      } else {
        state.turn_away(next);
      }
    }
    if constexpr (State::kShared) {
      while (state.next_retry() == now) queue.add_again(state.killed.take());
    }
    queue.schedule(now);
    state.record.waiting(queue.waiting());
    if (++events % events_per_look<Queue>() != 0) continue;
    if (settings.interrupted != nullptr && settings.interrupted->load()) {
      return Outcome::Interrupted;
    }
    if (settings.progress) settings.progress(next, total, now);
  }
  return Outcome::Whole;
}

template <class State>
Expected<ReplayResult> result_of(State& state, Outcome outcome) {
  if (outcome == Outcome::TooLong) return tl::unexpected(Diagnostics{replay_too_long()});
  return state.record.take(state.resources.total_milli(), outcome == Outcome::Interrupted);
}

}  // namespace slicewise::sim
