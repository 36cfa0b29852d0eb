#pragma once

#include <algorithm>
#include <cstdint>

#include "slicewise/units.hpp"

namespace slicewise::sim {

// Source: EC2 API Reference, DescribeCapacityBlockOfferings (CapacityDurationHours).
inline constexpr std::int64_t kDaysOfLongestBlock = 182;

// How many days of a Capacity Block are paid for that is there for so long: it is sold in days up
// to 14, then in weeks. Source: as above.
inline std::int64_t days_of_block(Duration length) {
  constexpr std::int64_t kMostSingleDays = 14;
  const Duration day = hours(24);
  const std::int64_t days = std::max<std::int64_t>(1, (length.ns + day.ns - 1) / day.ns);
  return days <= kMostSingleDays ? days : (days + 6) / 7 * 7;
}

}  // namespace slicewise::sim
