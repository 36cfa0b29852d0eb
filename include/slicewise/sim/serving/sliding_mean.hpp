#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace slicewise::sim {

// The mean of the last samples of a gauge. Allocates in the constructor only.
class SlidingMean {
 public:
  // REQUIRES: samples > 0.
  explicit SlidingMean(std::size_t samples) : ring_(samples, 0.0) {}

  void add(double sample) {
    ring_[next_] = sample;
    next_ = next_ + 1 < ring_.size() ? next_ + 1 : 0;
    taken_ = taken_ < ring_.size() ? taken_ + 1 : taken_;
  }

  // Of those taken so far while they are fewer; 0 before the first. O(samples).
  double mean() const {
    if (taken_ == 0) return 0;
    return std::accumulate(ring_.begin(), ring_.end(), 0.0) / static_cast<double>(taken_);
  }

 private:
  std::vector<double> ring_;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace slicewise::sim
