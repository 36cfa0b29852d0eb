#include "slicewise/sim/metrics/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace slicewise::sim {
namespace {

constexpr int kSubBits = 7;  // 2^7 buckets per octave
constexpr std::size_t kPerOctave = std::size_t{1} << kSubBits;
// Octaves 2^7 .. 2^62 and one block of exact values below them.
constexpr std::size_t kBuckets = (63 - kSubBits + 1) * kPerOctave;

// The leading bit and the seven below it select the bucket.
std::size_t bucket_of(std::int64_t value) {
  const auto v = static_cast<std::uint64_t>(value);
  const int octave = std::max(static_cast<int>(std::bit_width(v)) - 1 - kSubBits, 0);
  return static_cast<std::size_t>(octave) * kPerOctave + (v >> octave);
}

// Of 2^n values.
int log2_width(std::size_t bucket) {
  return bucket < 2 * kPerOctave ? 0 : static_cast<int>(bucket / kPerOctave) - 1;
}

std::int64_t lowest_of(std::size_t bucket) {
  const int octave = log2_width(bucket);
  return static_cast<std::int64_t>(bucket - static_cast<std::size_t>(octave) * kPerOctave)
         << octave;
}

std::int64_t middle_of(std::size_t bucket) {
  return lowest_of(bucket) + ((std::int64_t{1} << log2_width(bucket)) - 1) / 2;
}

}  // namespace

void Histogram::add(Duration value) {
  const std::int64_t ns = std::max<std::int64_t>(value.ns, 0);
  if (buckets_.size() != kBuckets) widen();
  ++buckets_[bucket_of(ns)];
  ++count_;
  sum_ += ns;
  least_ = std::min(least_, ns);
  most_ = std::max(most_, ns);
}

void Histogram::merge(const Histogram& other) {
  if (other.buckets_.empty()) return;
  if (buckets_.size() != kBuckets) widen();
  for (std::size_t n = 0; n < other.buckets_.size(); ++n) {
    buckets_[other.first_ + n] += other.buckets_[n];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

void Histogram::pack() {
  const auto holds = [](std::int64_t count) { return count != 0; };
  const auto begin = std::ranges::find_if(buckets_, holds);
  const auto end = std::find_if(buckets_.rbegin(), std::make_reverse_iterator(begin), holds).base();
  std::vector<std::int64_t> held(begin, end);
  first_ += static_cast<std::size_t>(begin - buckets_.begin());
  buckets_ = std::move(held);
}

void Histogram::widen() {
  std::vector<std::int64_t> all(kBuckets);
  std::ranges::copy(buckets_,
                    all.begin() + static_cast<std::ptrdiff_t>(buckets_.empty() ? 0 : first_));
  buckets_ = std::move(all);
  first_ = 0;
}

Duration Histogram::mean() const {
  assert(count_ > 0);
  return {static_cast<std::int64_t>((sum_ + count_ / 2) / count_)};
}

Histogram::Place Histogram::place_of(double q) const {
  assert(q > 0 && q <= 1 && count_ > 0);
  const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  const std::int64_t rank = std::clamp<std::int64_t>(wanted, 1, count_);
  std::int64_t seen = 0;
  std::size_t bucket = 0;
  // Most of the way in whole octaves: they are added up several buckets at once.
  for (auto octave = buckets_.begin(); bucket + kPerOctave < buckets_.size();
       bucket += kPerOctave) {
    const auto end = octave + kPerOctave;
    const std::int64_t inside = std::accumulate(octave, end, std::int64_t{0});
    if (seen + inside >= rank) break;
    seen += inside;
    octave = end;
  }
  while (seen + buckets_[bucket] < rank) seen += buckets_[bucket++];
  std::optional<std::int64_t> exact;
  if (rank == 1) exact = least_;
  if (rank == count_) exact = most_;
  return {bucket, rank - seen, exact};
}

Duration Histogram::quantile(double q) const {
  const Place place = place_of(q);
  return {place.exact.value_or(std::clamp(middle_of(first_ + place.bucket), least_, most_))};
}

double Histogram::within_bucket(double q) const {
  const Place place = place_of(q);
  if (place.exact) return static_cast<double>(*place.exact);
  const std::size_t bucket = first_ + place.bucket;
  const double width = static_cast<double>((std::int64_t{1} << log2_width(bucket)) - 1);
  const double part =
      (static_cast<double>(place.rank) - 0.5) / static_cast<double>(buckets_[place.bucket]);
  return std::clamp(static_cast<double>(lowest_of(bucket)) + part * width,
                    static_cast<double>(least_), static_cast<double>(most_));
}

std::int64_t Histogram::count_above(Duration value) const {
  const std::size_t bucket = bucket_of(std::max<std::int64_t>(value.ns, 0)) + 1;
  const std::size_t from = std::clamp(bucket, first_, first_ + buckets_.size()) - first_;
  return std::accumulate(buckets_.begin() + static_cast<std::ptrdiff_t>(from), buckets_.end(),
                         std::int64_t{0});
}

Duration Histogram::rounding(Duration value) {
  return {(std::int64_t{1} << log2_width(bucket_of(std::max<std::int64_t>(value.ns, 0)))) / 2};
}

}  // namespace slicewise::sim
