#pragma once

#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "slicewise/sim/metrics/time_summary.hpp"

namespace slicewise::sim {

// Law: the mean of the replications is `expected`. Fails when it lies outside the 99.9 % interval,
// or when the interval is wider than `resolution` of the expected value, too wide to tell a wrong
// model from a right one.
inline void expect_mean(std::span<const double> replications, double expected, double resolution) {
  // Student's t at 99.95 % over 97.5 %, 29 degrees of freedom: 3.659 / 2.045.
  constexpr double kTo999 = 1.789;
  ASSERT_EQ(replications.size(), 30U);
  const double mean = std::accumulate(replications.begin(), replications.end(), 0.0) / 30;
  const double half_width = half_width_95(replications).value() * kTo999;
  EXPECT_NEAR(mean, expected, half_width) << "relative error " << mean / expected - 1;
  EXPECT_LT(half_width, resolution * expected);
}

}  // namespace slicewise::sim
