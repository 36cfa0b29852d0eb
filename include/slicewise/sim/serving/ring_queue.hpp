#pragma once

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

  void push_back(const T& item) {
    grow();
    ring_[slot(count_++)] = item;
  }
  // REQUIRES: not empty.
  void pop_front() {
    head_ = slot(1);
    --count_;
  }

 private:
  static constexpr std::size_t kFirstSize = 16;

  std::size_t slot(std::size_t place) const { return (head_ + place) & (ring_.size() - 1); }
  void grow() {
    if (count_ < ring_.size()) return;
    std::vector<T> larger(ring_.size() * 2);
    for (std::size_t place = 0; place < count_; ++place) larger[place] = ring_[slot(place)];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> ring_ = std::vector<T>(kFirstSize);  // size is a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace slicewise::sim
