#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/device/round_robin.hpp"

namespace slicewise::sim {

// One GPU that belongs to one context at a time: requests run whole, in order of start, and
// changing contexts costs nothing. The same interface as RoundRobin; several contexts (which
// exclusive use does not produce, but a pod that ignores the device plugin does) are served first
// come, first served.
//
// Cost: O(1) per start, completion or shortening, O(waiting) per cancel. No allocation after
// construction.
class Exclusive {
 public:
  explicit Exclusive(std::uint32_t contexts);

  // When the next request finishes; at == kNever when idle.
  Completion next() const { return next_; }

  // Moves the clock. REQUIRES: now() <= t <= next().at.
  void advance(TimePoint t);

  // REQUIRES: now() == next().at. Takes the finished request off. Returns the context.
  std::uint32_t complete();

  // Gives `context` a request of `work` > 0 at now(). REQUIRES: the context has none.
  void start(std::uint32_t context, Duration work);

  // Work that the context's request still needs. REQUIRES: it has one.
  Duration left(std::uint32_t context) const;

  // Takes `less` off the request, which keeps its turn. REQUIRES: 0 <= less < left(context).
  void shorten(std::uint32_t context, Duration less);

  // The process died: its request vanishes. No effect when it has none.
  void cancel(std::uint32_t context);

  TimePoint now() const { return now_; }
  EngineTime time() const { return time_; }
  Duration busy_of(std::uint32_t context) const { return busy_[context]; }

 private:
  std::size_t slot(std::size_t place) const { return (head_ + place) % queue_.size(); }
  void drop_head();
  void project();

  TimePoint now_;
  Completion next_{kNever, 0};
  EngineTime time_;
  std::vector<Duration> busy_;
  std::vector<Duration> work_;        // left, by context
  std::vector<std::uint32_t> queue_;  // circular, in order of start; the head runs
  std::size_t head_ = 0;
  std::size_t waiting_ = 0;  // in the queue, the running one included
};

}  // namespace slicewise::sim
