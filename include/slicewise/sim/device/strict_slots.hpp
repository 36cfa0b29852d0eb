#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// One GPU under NVIDIA vGPU's equal-share or fixed-share scheduler: time is a row of slots, each
// belongs to one context (a vGPU) whether it has work or not. The same interface as RoundRobin,
// and join and leave for vGPUs that are powered on and off.
//
// Semantics. The slots of a cycle are q + c long, one for each context in order of number: first
// the switch c to the context, then its turn q. Fixed share: a cycle has a slot for every context
// of the GPU for ever. Equal share: for every context that has joined; when one joins or leaves, a
// new cycle begins at once, and the work that the others have done is kept. A cycle of one context
// has nobody to switch to: its turns follow each other without c. A request that comes during its
// context's own turn runs in what is left of it; one that comes during the switch starts with the
// turn. A turn that is not used passes.
//
// Time. A switch counts as switching, up to the end of the request, where the context has work as
// the slot begins (a request that starts at that very instant included); else it is idle time, as
// is the turn of a context without work.
//
// Contexts do not influence each other, so every completion is a closed form: O(1) per start or
// cancel for its own context, plus O(contexts) comparisons for next(). No walk over slots, no
// allocation after construction, integers throughout: equal to a slot-by-slot simulation.
class StrictSlots {
 public:
  // REQUIRES: at least one context; turn > 0; switch cost >= 0; policy is EqualShare or FixedShare.
  StrictSlots(std::uint32_t contexts, models::TimeSlice slice, models::Vgpu::Policy policy);

  // Equal share: powers the context on or off. Leaving drops its request. No effect when it is so
  // already, nor (but for the request) with fixed share, where all contexts belong to every cycle.
  void join(std::uint32_t context);
  void leave(std::uint32_t context);

  // When the next request finishes; at == kNever when idle.
  Completion next() const { return next_; }

  // Moves the clock. REQUIRES: now() <= t <= next().at.
  void advance(TimePoint t);

  // REQUIRES: now() == next().at. Takes the finished request off. Returns the context.
  std::uint32_t complete();

  // Gives `context` a request of `work` > 0 at now(). REQUIRES: the context has none and belongs to
  // the cycle.
  void start(std::uint32_t context, Duration work);

  // Work that the context's request still needs. REQUIRES: it has one.
  Duration left(std::uint32_t context) const;

  // Takes `less` off the request, which keeps its turn. REQUIRES: 0 <= less < left(context).
  void shorten(std::uint32_t context, Duration less);

  // The process died: its request vanishes. No effect when it has none.
  void cancel(std::uint32_t context);

  TimePoint now() const { return now_; }

  // O(contexts). busy is the sum of busy_of over contexts.
  EngineTime time() const;
  Duration busy_of(std::uint32_t context) const;

 private:
  static constexpr std::int64_t kNotInCycle = -1;

  struct Context {
    std::int64_t place = kNotInCycle;  // in the cycle
    bool working = false;
    TimePoint since;     // of the request or of the cycle, the later
    Duration left;       // work as of `since`
    TimePoint finish;    // of the request, while working
    Duration busy;       // until `since`
    Duration switching;  // until `since`
  };

  // Of the cycle so far, what falls into one context's switches and turns.
  struct Split {
    std::int64_t switching_ns;
    std::int64_t turn_ns;
  };
  Split split_until(TimePoint t, std::int64_t place) const;
  Split used_since(const Context& context) const;
  TimePoint finish_of(const Context& context) const;
  std::int64_t switch_ns() const { return slots_ > 1 ? slice_.switch_cost.ns : 0; }
  std::int64_t slot_ns() const { return slice_.turn.ns + switch_ns(); }
  std::int64_t cycle_ns() const { return slots_ * slot_ns(); }
  void settle(Context& context);
  void begin_cycle(std::uint32_t changed, bool joins);
  void project();

  models::TimeSlice slice_;
  bool fixed_;
  TimePoint now_;
  TimePoint origin_;        // of the cycle
  std::int64_t slots_ = 0;  // in a cycle
  Completion next_{kNever, 0};
  std::vector<Context> contexts_;
};

}  // namespace slicewise::sim
