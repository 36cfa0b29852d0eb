#include "slicewise/sim/kernel/timer_heap.hpp"

#include <algorithm>
#include <cassert>

namespace slicewise::sim {
namespace {

// Four children share one or two cache lines; the tree is half as deep as a binary one.
constexpr std::size_t kArity = 4;

}  // namespace

TimerHeap::TimerHeap(std::size_t timers) : position_(timers, kAbsent) { heap_.reserve(timers); }

// One 128-bit comparison: no branch to mispredict on the order of two random times.
bool TimerHeap::before(const Entry& a, const Entry& b) {
  const auto key = [](const Entry& entry) {
    return (static_cast<Int128>(entry.at.ns) << 64) | static_cast<Int128>(entry.timer);
  };
  return key(a) < key(b);
}

void TimerHeap::place(std::size_t slot, Entry entry) {
  heap_[slot] = entry;
  position_[entry.timer] = static_cast<std::uint32_t>(slot);
}

void TimerHeap::sift_up(std::size_t slot, Entry entry) {
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / kArity;
    if (!before(entry, heap_[parent])) break;
    place(slot, heap_[parent]);
    slot = parent;
  }
  place(slot, entry);
}

void TimerHeap::sift_down(std::size_t slot, Entry entry) {
  const std::size_t size = heap_.size();
  for (std::size_t child = kArity * slot + 1; child < size; child = kArity * slot + 1) {
    const std::size_t end = std::min(child + kArity, size);
    std::size_t least = child;
    for (++child; child < end; ++child) {
      least = before(heap_[child], heap_[least]) ? child : least;
    }
    if (!before(heap_[least], entry)) break;
    place(slot, heap_[least]);
    slot = least;
  }
  place(slot, entry);
}

void TimerHeap::remove(std::size_t slot) {
  position_[heap_[slot].timer] = kAbsent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (slot == heap_.size()) return;
  if (slot > 0 && before(last, heap_[(slot - 1) / kArity])) {
    sift_up(slot, last);
  } else {
    sift_down(slot, last);
  }
}

void TimerHeap::set(std::uint32_t timer, TimePoint at) {
  assert(timer < position_.size());
  if (at == kNever) return clear(timer);
  if (timer == firing_) firing_ = kAbsent;
  const Entry entry{at, timer};
  std::size_t slot = position_[timer];
  if (slot == kAbsent) {
    slot = heap_.size();
    heap_.push_back(entry);
    sift_up(slot, entry);
  } else if (heap_[slot].at == at) {
    return;
  } else if (before(entry, heap_[slot])) {
    sift_up(slot, entry);
  } else {
    sift_down(slot, entry);
  }
}

void TimerHeap::clear(std::uint32_t timer) {
  assert(timer < position_.size());
  if (timer == firing_) firing_ = kAbsent;
  if (position_[timer] != kAbsent) remove(position_[timer]);
}

void TimerHeap::end_firing() {
  if (firing_ != kAbsent) clear(firing_);
}

void TimerHeap::pop() {
  assert(!heap_.empty());
  remove(0);
}

TimePoint TimerHeap::time_of(std::uint32_t timer) const {
  const std::uint32_t slot = position_[timer];
  return slot == kAbsent ? kNever : heap_[slot].at;
}

}  // namespace slicewise::sim
