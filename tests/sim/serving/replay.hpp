#pragma once

#include <cstddef>
#include <vector>

#include "slicewise/sim/serving/continuous_batching.hpp"

#include "step_by_step.hpp"

namespace slicewise::sim {

struct Replay {
  std::vector<StepByStep::Outcome> outcomes;
  Duration attributed;  // to requests
  Duration busy;
  std::int64_t steps = 0;
  std::int64_t pieces = 0;
};

// On a GPU of its own.
inline Replay replay(ContinuousBatching& server, const std::vector<LlmRequest>& arrivals) {
  Replay out;
  TimePoint begun;
  TimePoint end = kNever;
  std::size_t next = 0;
  while (next < arrivals.size() || server.working()) {
    if (next < arrivals.size() && arrivals[next].arrived <= end) {
      const TimePoint now = arrivals[next].arrived;
      for (; next < arrivals.size() && arrivals[next].arrived == now; ++next) {
        server.push(arrivals[next]);
      }
      if (!server.working()) {
        begun = now;
        end = now + server.begin(now);
      } else if (now < end) {
        end = begun + server.cut(now - begun);
      }
      continue;
    }
    ++out.pieces;
    out.steps += server.piece().steps;
    out.busy += server.piece().work;
    for (const LlmAnswer& answer : server.end(end)) {
      out.outcomes.push_back({answer.request.ticket, answer.started, answer.first_token, end});
      out.attributed += answer.gpu_work;
    }
    if (server.idle()) {
      end = kNever;
    } else {
      begun = end;
      end = begun + server.begin(begun);
    }
  }
  return out;
}

}  // namespace slicewise::sim
