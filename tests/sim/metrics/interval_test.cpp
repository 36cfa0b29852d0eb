#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/metrics/time_summary.hpp"

namespace slicewise::sim {
namespace {

TEST(HalfWidth95, NeedsTwoValues) {
  EXPECT_FALSE(half_width_95({}).has_value());
  EXPECT_FALSE(half_width_95(std::array{1.0}).has_value());
}

// n values half at m + 1, half at m - 1: variance n/(n-1), so the half width is t/sqrt(n-1).
// t quantiles at 97.5 %: NIST/SEMATECH e-Handbook, table 1.3.6.7.2.
TEST(HalfWidth95, UsesStudentsQuantile) {
  const std::vector<std::pair<std::size_t, double>> table = {
      {2, 12.706}, {4, 3.182}, {6, 2.571}, {10, 2.262}, {20, 2.093}, {30, 2.045}, {100, 1.984}};
  for (const auto& [count, quantile] : table) {
    std::vector<double> means;
    for (std::size_t place = 0; place < count; ++place) means.push_back(place % 2 == 0 ? 8 : 10);
    const double expected = quantile / std::sqrt(static_cast<double>(count) - 1);
    EXPECT_NEAR(half_width_95(means).value(), expected, 0.0006) << count;
  }
}

TEST(HalfWidth95, EqualValuesHaveNone) { EXPECT_EQ(half_width_95(std::array{3.0, 3.0, 3.0}), 0.0); }

}  // namespace
}  // namespace slicewise::sim
