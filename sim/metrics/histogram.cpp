#include "slicewise/sim/metrics/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>

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
  if (buckets_.empty()) widen();
  ++buckets_[bucket_of(ns)];
  ++count_;
  sum_ += ns;
  least_ = std::min(least_, ns);
  most_ = std::max(most_, ns);
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (buckets_.empty()) widen();
  for (std::size_t n = 0; n < other.buckets_.size(); ++n) buckets_[n] += other.buckets_[n];
  for (std::size_t n = 0; n < other.held_.size(); ++n) buckets_[other.held_[n]] += other.counts_[n];
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

void Histogram::pack() {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  static_assert(kBuckets <= std::numeric_limits<std::uint16_t>::max());
  const auto used = static_cast<std::size_t>(
      std::ranges::count_if(buckets_, [](std::int64_t count) { return count != 0; }));
  if (used == 0) return;
  held_.reserve(used);
  counts_.reserve(used);
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (std::int64_t left = buckets_[bucket]; left > 0; left -= kMost) {
      held_.push_back(static_cast<std::uint16_t>(bucket));
      counts_.push_back(static_cast<std::uint32_t>(std::min(left, kMost)));
    }
  }
  buckets_ = std::vector<std::int64_t>();  // {} would keep the room
}

void Histogram::widen() {
  buckets_.assign(kBuckets, 0);
  for (std::size_t n = 0; n < held_.size(); ++n) buckets_[held_[n]] += counts_[n];
  held_ = std::vector<std::uint16_t>();
  counts_ = std::vector<std::uint32_t>();
}

Duration Histogram::mean() const {
  assert(count_ > 0);
  return {static_cast<std::int64_t>((sum_ + count_ / 2) / count_)};
}

std::int64_t Histogram::rank_of(double q) const {
  assert(q > 0 && q <= 1 && count_ > 0);
  const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  return std::clamp<std::int64_t>(wanted, 1, count_);
}

std::optional<std::int64_t> Histogram::known(std::int64_t rank) const {
  if (rank == count_) return most_;
  return rank == 1 ? std::optional(least_) : std::nullopt;
}

Histogram::Place Histogram::place_of(std::int64_t rank) const {
  if (is_packed()) return packed_place(rank);
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
  return {bucket, rank - seen, buckets_[bucket]};
}

Histogram::Place Histogram::packed_place(std::int64_t rank) const {
  std::int64_t seen = 0;
  for (std::size_t n = 0;;) {
    const std::uint16_t bucket = held_[n];
    std::int64_t inside = 0;
    for (; n < held_.size() && held_[n] == bucket; ++n) inside += counts_[n];
    if (seen + inside >= rank) return {bucket, rank - seen, inside};
    seen += inside;
  }
}

Duration Histogram::quantile(double q) const {
  const std::int64_t rank = rank_of(q);
  if (const auto value = known(rank)) return {*value};
  return {std::clamp(middle_of(place_of(rank).bucket), least_, most_)};
}

double Histogram::within_bucket(double q) const {
  const std::int64_t rank = rank_of(q);
  if (const auto value = known(rank)) return static_cast<double>(*value);
  const Place place = place_of(rank);
  const double width = static_cast<double>((std::int64_t{1} << log2_width(place.bucket)) - 1);
  const double part = (static_cast<double>(place.rank) - 0.5) / static_cast<double>(place.count);
  return std::clamp(static_cast<double>(lowest_of(place.bucket)) + part * width,
                    static_cast<double>(least_), static_cast<double>(most_));
}

std::int64_t Histogram::count_above(Duration value) const {
  const std::size_t bucket = bucket_of(std::max<std::int64_t>(value.ns, 0)) + 1;
  std::int64_t above = 0;
  for (std::size_t b = bucket; b < buckets_.size(); ++b) above += buckets_[b];
  for (std::size_t n = 0; n < held_.size(); ++n) above += held_[n] >= bucket ? counts_[n] : 0;
  return above;
}

Duration Histogram::rounding(Duration value) {
  return {(std::int64_t{1} << log2_width(bucket_of(std::max<std::int64_t>(value.ns, 0)))) / 2};
}

}  // namespace slicewise::sim
