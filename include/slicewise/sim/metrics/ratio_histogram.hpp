#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace slicewise::sim {

// Ratios of 1 and more, such as slowdowns, in log-linear buckets: 128 per octave, so a quantile is
// off by less than 0.4 % of its value. Grows with the largest of them, 4 bytes per bucket: there
// may be one per user. What is less than 1 counts as 1 in quantiles and as it is in the mean.
class RatioHistogram {
 public:
  void add(double ratio) {
    const std::size_t bucket = bucket_of(ratio);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    ++count_;
    sum_ += ratio;
    least_ = std::min(least_, std::max(ratio, 1.0));
    most_ = std::max(most_, ratio);
  }

  std::int64_t count() const { return count_; }
  // REQUIRES of all: count() > 0.
  double mean() const { return sum_ / static_cast<double>(count_); }
  double most() const { return most_; }
  // The middle of the bucket below which the share q of all lies, within the least and the largest
  // ratio.
  double quantile(double q) const {
    const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
    std::int64_t seen = 0;
    std::size_t bucket = 0;
    while (bucket + 1 < buckets_.size() && (seen += buckets_[bucket]) < wanted) ++bucket;
    return std::min(most_, std::max(least_, (bottom_of(bucket) + bottom_of(bucket + 1)) / 2));
  }

  // All that it knows, for another process.
  template <class Archive>
  void visit(Archive& archive) {
    archive(buckets_, count_, sum_, least_, most_);
  }

 private:
  // The exponent and the seven bits below it.
  static constexpr int kDroppedBits = 52 - 7;
  static constexpr std::uint64_t kOne = std::bit_cast<std::uint64_t>(1.0) >> kDroppedBits;

  static std::size_t bucket_of(double ratio) {
    return (std::bit_cast<std::uint64_t>(std::max(ratio, 1.0)) >> kDroppedBits) - kOne;
  }
  static double bottom_of(std::size_t bucket) {
    return std::bit_cast<double>((bucket + kOne) << kDroppedBits);
  }

  std::vector<std::uint32_t> buckets_;
  std::int64_t count_ = 0;
  double sum_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = 0;
};

}  // namespace slicewise::sim
