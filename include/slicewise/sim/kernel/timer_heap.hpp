#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// The event queue: one slot per timer, not per event. A timer belongs to one entity for the whole
// run; setting it replaces its earlier time. Ties fire in order of timer number, so the order of
// events never depends on the shape of the heap.
//
// Index-tracked 4-ary heap; set and clear are O(log n), top is O(1). Nothing is allocated after
// construction. Not thread-safe.
class TimerHeap {
 public:
  explicit TimerHeap(std::size_t timers);

  // REQUIRES: timer < timers. Sets or moves the timer; kNever clears it.
  void set(std::uint32_t timer, TimePoint at);
  void clear(std::uint32_t timer);

  bool empty() const { return heap_.empty(); }
  // REQUIRES: !empty().
  std::uint32_t top() const { return heap_.front().timer; }
  TimePoint top_time() const { return heap_.front().at; }
  void pop();

  // Fires the first timer in two steps: most timers are set anew while they fire, and then move
  // once instead of leaving and coming back. Between the two it counts as popped; end_firing()
  // takes it off unless it was set or cleared. REQUIRES: !empty(); no firing inside a firing.
  std::uint32_t begin_firing() { return firing_ = heap_.front().timer; }
  void end_firing();

  TimePoint time_of(std::uint32_t timer) const;  // kNever when not set
  std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    TimePoint at;
    std::uint32_t timer;
  };
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  static bool before(const Entry& a, const Entry& b);
  void place(std::size_t slot, Entry entry);
  void sift_up(std::size_t slot, Entry entry);
  void sift_down(std::size_t slot, Entry entry);
  void remove(std::size_t slot);

  std::uint32_t firing_ = kAbsent;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // of a timer in heap_, kAbsent when not set
};

}  // namespace slicewise::sim
