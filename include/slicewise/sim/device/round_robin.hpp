#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {

// The context whose head request is done, and when.
struct Completion {
  TimePoint at;
  std::uint32_t context = 0;
};

// Where the time of a GPU went since the engine was built. Sums to the time advanced.
struct EngineTime {
  Duration busy;       // kernels ran
  Duration switching;  // contexts were switched
  Duration idle;
};

// One GPU under the driver's time-slicing: exact round robin over contexts in a fixed ring, by
// whole rounds instead of slices (MODELS: "exact and fast time-slicing").
//
// Semantics. A context is active while it has GPU work. The running context keeps the GPU for one
// turn q; if another context is active when the turn ends, the GPU switches to the next active one
// in the ring, which costs c of GPU time and is not charged to any turn; if none is, the turn
// renews at no cost. A context that runs dry gives up the rest of its turn at once (early yield,
// costs `yield_cost`). An arrival never cuts a turn. A switch under way is not re-targeted; if its
// target is cancelled meanwhile, the next active context after it is switched to at full cost.
// Starting on an idle GPU costs nothing: overhead vanishes as load goes to 0.
// A context that starts its next request at the very instant of a completion does not run dry.
//
// Cost: O(active contexts) per start, cancel or completion, independent of the number of turns.
// No allocation after construction. Times are integers: the result equals a turn-by-turn
// simulation exactly (tests/sim/device/round_robin_test.cpp).
class RoundRobin {
 public:
  RoundRobin(std::uint32_t contexts, models::TimeSlice slice, Duration yield_cost);

  // When the next request finishes if nothing else starts; at == kNever when idle.
  Completion next() const { return next_; }

  // Moves the clock. REQUIRES: now() <= t <= next().at.
  void advance(TimePoint t);

  // REQUIRES: now() == next().at. Takes the finished request off; its context runs dry unless
  // start() is called for it before the clock moves. Returns the context.
  std::uint32_t complete();

  // Gives `context` a request of `work` > 0 at now(). REQUIRES: the context has none.
  void start(std::uint32_t context, Duration work);

  // The process died: its request vanishes. No effect when it has none.
  void cancel(std::uint32_t context);

  TimePoint now() const { return now_; }
  EngineTime time() const { return time_; }
  Duration busy_of(std::uint32_t context) const { return busy_[context]; }

 private:
  TimePoint now_;
  Completion next_{kNever, 0};
  EngineTime time_;
  std::vector<Duration> busy_;
  // (H3 completes the private part.)
};

}  // namespace slicewise::sim
