#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Memory that begins on a cache line.
template <class T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  // clang 14 has the form with a size only on request.
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kLine); }
  friend bool operator==(LineAllocator, LineAllocator) { return true; }

 private:
  static constexpr std::align_val_t kLine{64};
};

// The event queue: one slot per timer, not per event. A timer belongs to one entity for the whole
// run; setting it replaces its earlier time. Ties fire in order of timer number, so the order of
// events never depends on the shape of the heap.
//
// Index-tracked 4-ary heap; set and clear are O(log n), top is O(1). Nothing is allocated after
// construction but by grow(). Not thread-safe. Everything is inline: an event of a small model
// costs less than a call would.
class TimerHeap {
 public:
  explicit TimerHeap(std::size_t timers);

  // More timers, the new ones not set. REQUIRES: not fewer than before.
  void grow(std::size_t timers);

  // REQUIRES: timer < timers. Sets or moves the timer; kNever clears it.
  void set(std::uint32_t timer, TimePoint at);
  void clear(std::uint32_t timer);

  bool empty() const { return size_ == 0; }
  // REQUIRES: !empty().
  std::uint32_t top() const { return timer_of(key(0)); }
  TimePoint top_time() const { return time_of_key(key(0)); }
  void pop();

  // Fires the first timer in two steps: most timers are set anew while they fire, and then move
  // once instead of leaving and coming back. Between the two it counts as popped; end_firing()
  // takes it off unless it was set or cleared. REQUIRES: !empty(); no firing inside a firing.
  std::uint32_t begin_firing() { return firing_ = top(); }
  void end_firing();
  // Whether the timer that fires was neither set nor cleared since.
  bool is_firing() const { return firing_ != kAbsent; }

  TimePoint time_of(std::uint32_t timer) const;  // kNever when not set
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  static constexpr std::size_t kArity = 4;

  // Time above timer number: order is one comparison, without a branch to mispredict on the order
  // of two random times.
  using Key = Int128;
  static Key key_of(TimePoint at, std::uint32_t timer) {
    return (static_cast<Key>(at.ns) << 64) | timer;
  }
  static std::uint32_t timer_of(Key key) { return static_cast<std::uint32_t>(key); }
  static TimePoint time_of_key(Key key) { return {static_cast<std::int64_t>(key >> 64)}; }
  static constexpr Key kNoTimer = (static_cast<Key>(kNever.ns) << 64) | kAbsent;

  // Four children fill one cache line: the tree is half as deep as a binary one, and a level costs
  // one line. The root stands before a line, so that children begin one. Places beyond the end hold
  // kNoTimer: the least of four is always found among four.
  static constexpr std::size_t kRoot = kArity - 1;

  Key& key(std::size_t slot) { return keys_[slot + kRoot]; }
  Key key(std::size_t slot) const { return keys_[slot + kRoot]; }
  static std::size_t least_of_four(const Key* child);
  void place(std::size_t slot, Key moved);
  void sift_up(std::size_t slot, Key moved);
  void sift_down(std::size_t slot, Key moved);
  void remove(std::size_t slot);

  std::uint32_t firing_ = kAbsent;
  std::size_t size_ = 0;
  std::vector<Key, LineAllocator<Key>> keys_;
  std::vector<std::uint32_t> position_;  // slot of a timer, kAbsent when not set
};

inline TimerHeap::TimerHeap(std::size_t timers)
    : keys_(kRoot + timers + kArity, kNoTimer), position_(timers, kAbsent) {}

inline void TimerHeap::grow(std::size_t timers) {
  keys_.resize(kRoot + timers + kArity, kNoTimer);
  position_.resize(timers, kAbsent);
}

inline std::size_t TimerHeap::least_of_four(const Key* child) {
  const std::size_t low = child[1] < child[0] ? 1 : 0;
  const std::size_t high = child[3] < child[2] ? 3 : 2;
  const std::size_t take_high = 0 - static_cast<std::size_t>(child[high] < child[low]);  // a mask
  return low ^ ((low ^ high) & take_high);
}

inline void TimerHeap::place(std::size_t slot, Key moved) {
  key(slot) = moved;
  position_[timer_of(moved)] = static_cast<std::uint32_t>(slot);
}

inline void TimerHeap::sift_up(std::size_t slot, Key moved) {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / kArity;
    if (key(parent) < moved) break;
    place(slot, key(parent));
    slot = parent;
  }
  place(slot, moved);
}

inline void TimerHeap::sift_down(std::size_t slot, Key moved) {
  for (std::size_t first = kArity * slot + 1; first < size_; first = kArity * slot + 1) {
    const Key* const child = &key(first);
    const std::size_t least = first + 1 == size_ ? 0 : least_of_four(child);
    if (moved < child[least]) break;
    place(slot, child[least]);
    slot = first + least;
  }
  place(slot, moved);
}

inline void TimerHeap::remove(std::size_t slot) {
  position_[timer_of(key(slot))] = kAbsent;
  const Key last = key(--size_);
  key(size_) = kNoTimer;
  if (slot == size_) return;
  if (slot > 0 && last < key((slot - 1) / kArity)) {
    sift_up(slot, last);
  } else {
    sift_down(slot, last);
  }
}

inline void TimerHeap::set(std::uint32_t timer, TimePoint at) {
  assert(timer < position_.size());
  if (at == kNever) return clear(timer);
  if (timer == firing_) firing_ = kAbsent;
  const Key moved = key_of(at, timer);
  const std::size_t slot = position_[timer];
  if (slot == kAbsent) {
    sift_up(size_++, moved);
  } else if (key(slot) < moved) {
    sift_down(slot, moved);
  } else {
    sift_up(slot, moved);
  }
}

inline void TimerHeap::clear(std::uint32_t timer) {
  assert(timer < position_.size());
  if (timer == firing_) firing_ = kAbsent;
  if (position_[timer] != kAbsent) remove(position_[timer]);
}

inline void TimerHeap::end_firing() {
  if (firing_ != kAbsent) clear(firing_);
}

inline void TimerHeap::pop() {
  assert(!empty());
  remove(0);
}

inline TimePoint TimerHeap::time_of(std::uint32_t timer) const {
  const std::uint32_t slot = position_[timer];
  return slot == kAbsent ? kNever : time_of_key(key(slot));
}

}  // namespace slicewise::sim
