#pragma once

#include <cmath>
#include <cstdint>

#include "slicewise/longest_duration.hpp"
#include "slicewise/units.hpp"

// Times at the far end of the clock, where sums and products would leave it.
namespace slicewise::sim {

// What takes longer than a time of a file may, and so longer than any run, takes this: it can be
// added to any moment of a run. A second more, so that it comes after the end of all.
inline constexpr auto kLongestNs = static_cast<double>((kLongestDuration + seconds(1)).ns);

// A real number of nanoseconds, to the nearest.
inline Duration rounded_time(double ns) {
  return nanoseconds(std::llround(ns < kLongestNs ? ns : kLongestNs));
}

// The moment after so many periods and a rest. What ends later than the clock can say never does.
inline TimePoint after(TimePoint now, std::int64_t periods, std::int64_t period_ns,
                       std::int64_t rest_ns) {
  std::int64_t ns = 0;
  const bool beyond = __builtin_mul_overflow(periods, period_ns, &ns) ||
                      __builtin_add_overflow(ns, rest_ns, &ns) ||
                      __builtin_add_overflow(ns, now.ns, &ns);
  return beyond ? kNever : TimePoint{ns};
}

}  // namespace slicewise::sim
