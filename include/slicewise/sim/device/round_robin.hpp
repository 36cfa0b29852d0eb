#pragma once

#include <cstddef>
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
// whole rounds instead of slices (models/MODELS.md, "Exact turns, by whole rounds").
//
// Semantics. A context is active while it has GPU work. The running context keeps the GPU for one
// turn q; if another context is active when the turn ends, the GPU switches to the next active one
// in the ring (by context number), which costs c of GPU time and is not charged to any turn; if
// none is, the turn renews at no cost. A context that runs dry gives up the rest of its turn at
// once (early yield: the switch to the next active context costs `yield_cost` instead of c). An
// arrival never cuts a turn. A switch under way is not re-targeted; if its target is cancelled
// meanwhile, the next active context after it is switched to at full cost.
// Starting on an idle GPU costs nothing: overhead vanishes as load goes to 0.
// A context that starts its next request at the very instant of a completion does not run dry,
// unless it yields: its host waited for the end, and the GPU does not wait for what it says next.
//
// Ties. What happens at an instant is decided when the clock leaves it, with everything known that
// was started or cancelled at it: a request that arrives in the nanosecond in which a turn, a
// switch or another request ends counts as there, in whatever order the calls were made. A request
// that ends with its turn ends first: its context yields (yield_cost), or, if it starts another
// request at once, has used up its turn (c). Of several contexts that start on an idle GPU at the
// same instant, the first call runs first.
//
// Cost: O(active contexts) per start, cancel, completion or shortening, independent of the number
// of turns. No allocation after construction. Times are integers: the result equals a turn-by-turn
// simulation exactly (tests/sim/device/round_robin_test.cpp).
class RoundRobin {
 public:
  // REQUIRES: turn > 0; switch cost and yield cost >= 0.
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

  // A context that starts again in the instant in which its request ended has run dry in between.
  // REQUIRES: it has no request. No effect when none of it ended at now().
  void yield(std::uint32_t context);

  // Work that the context's request still needs. REQUIRES: it has one.
  Duration left(std::uint32_t context) const;

  // Takes `less` off the request, which keeps its turn. REQUIRES: 0 <= less < left(context).
  void shorten(std::uint32_t context, Duration less);

  // The process died: its request vanishes. No effect when it has none.
  void cancel(std::uint32_t context);

  TimePoint now() const { return now_; }
  EngineTime time() const { return time_; }
  Duration busy_of(std::uint32_t context) const;

  // What the GPU does from now() on, once all that happens at now() has: a context's turn, a switch
  // to it, or nothing; and until when at the most, if nobody starts, ends or is cancelled.
  struct Doing {
    enum class What : std::uint8_t { Nothing, Turn, Switch };
    What what = What::Nothing;
    std::uint32_t context = 0;
    TimePoint until = kNever;
    friend bool operator==(const Doing&, const Doing&) = default;
  };
  Doing doing() const;

 private:
  enum class Phase : std::uint8_t { Idle, Running, Switching };

  // The turn that goes on, or begins after `lead` of switching.
  struct Turn {
    std::int64_t lead_ns;
    std::size_t slot;  // of its context in ring_
    std::int64_t left_ns;
  };
  Turn upcoming_turn() const;  // REQUIRES: a context is active

  bool current_is_active() const { return slot_ < ring_.size() && ring_[slot_] == current_; }
  std::size_t wrapped(std::size_t slot) const {
    return slot < ring_.size() ? slot : slot - ring_.size();
  }
  std::size_t find(std::uint32_t context) const;
  void remove(std::size_t slot);
  void project();
  void decide();
  std::int64_t advance_switch(std::int64_t step_ns);
  void advance_running(std::int64_t step_ns);
  void advance_turns(std::int64_t step_ns);

  std::int64_t turn_ns_;
  std::int64_t switch_ns_;
  std::int64_t yield_ns_;
  TimePoint now_;
  Completion next_{kNever, 0};
  EngineTime time_;
  Phase phase_ = Phase::Idle;
  std::uint32_t current_ = 0;        // runs, ran last, or is switched to
  std::size_t slot_ = 0;             // of current_ in ring_; where it would be if it is not active
  std::int64_t used_ns_ = 0;         // of the turn, while Running
  bool ran_dry_ = false;             // at now(), and has work again
  std::int64_t switch_left_ = 0;     // ns, while Switching
  std::vector<std::uint32_t> ring_;  // active contexts, ascending
  std::vector<std::int64_t> work_ns_;     // left, by position in ring_
  std::vector<std::int64_t> granted_ns_;  // by context: work of all requests so far, ended ones cut
};

}  // namespace slicewise::sim
