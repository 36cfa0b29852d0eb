#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace slicewise::sim {

// First in, first out. Grows to the longest queue seen, then allocates no more.
template <class T>
class RingQueue {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const T& front() const { return ring_[head_]; }
  const T& operator[](std::size_t place) const { return ring_[slot(place)]; }

  void push(const T& item) {
    if (count_ == ring_.size()) grow();
    ring_[slot(count_++)] = item;
  }
  // The front one. REQUIRES: not empty.
  T pop() {
    const std::size_t first = std::exchange(head_, slot(1));
    --count_;
    return ring_[first];
  }
  // Cost: O(place). REQUIRES: place < size().
  void erase(std::size_t place) {
    for (; place > 0; --place) ring_[slot(place)] = ring_[slot(place - 1)];
    pop();
  }

 private:
  std::size_t slot(std::size_t place) const { return (head_ + place) & (ring_.size() - 1); }
  void grow() {
    std::vector<T> larger(std::max<std::size_t>(16, ring_.size() * 2));
    for (std::size_t place = 0; place < count_; ++place) larger[place] = ring_[slot(place)];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> ring_;  // size is 0 or a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace slicewise::sim
