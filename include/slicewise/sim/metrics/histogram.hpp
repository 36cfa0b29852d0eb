#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Latencies from 1 ns to 292 years in log-linear buckets: 128 per octave, so a quantile is off by
// less than 0.4 % of its value (half a bucket), and exact below 256 ns and of the least and the
// greatest value: no quantile is outside of them. Adding is a few instructions and a store;
// merging adds counts, so the order of merging does not matter.
// Allocates once, 57 KiB, when the first value comes.
class Histogram {
 public:
  void add(Duration value);  // negative counts as 0
  void merge(const Histogram& other);
  std::int64_t count() const { return count_; }
  Duration mean() const;  // exact, to the nearest ns. REQUIRES: count() > 0
  // The smallest bucket middle v with at least ceil(q * count()) values <= v's bucket; the least
  // value where that is one, the greatest where it is all.
  // REQUIRES: 0 < q <= 1, count() > 0.
  Duration quantile(double q) const;
  // Where in its bucket that is, in ns, if the values of a bucket are spread evenly: what changes a
  // little changes it a little. REQUIRES: as quantile().
  double within_bucket(double q) const;
  // Values in the buckets above that of `value`.
  std::int64_t count_above(Duration value) const;
  // A quantile of `value` is off by no more: half the width of its bucket.
  static Duration rounding(Duration value);
  // Gives back the room of empty buckets: what is left takes 6 bytes for each that a value is in.
  // What is added later takes the room again.
  void pack();

  // All that it knows, for another process.
  template <class Archive>
  void visit(Archive& archive) {
    archive(buckets_, held_, counts_, count_, sum_, least_, most_);
  }

 private:
  struct Place {
    std::size_t bucket;
    std::int64_t rank;   // in it, from 1 on
    std::int64_t count;  // of its values
  };
  std::int64_t rank_of(double q) const;
  // The value itself, where it is the least or the greatest.
  std::optional<std::int64_t> known(std::int64_t rank) const;
  Place place_of(std::int64_t rank) const;
  Place packed_place(std::int64_t rank) const;
  bool is_packed() const { return !held_.empty(); }
  void widen();

  std::vector<std::int64_t> buckets_;  // all, or none
  // Of what is packed, ascending: the buckets that a value is in, and how many are. One with more
  // than fit its place has several.
  std::vector<std::uint16_t> held_;
  std::vector<std::uint32_t> counts_;
  std::int64_t count_ = 0;
  Int128 sum_ = 0;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ = 0;
};

}  // namespace slicewise::sim
