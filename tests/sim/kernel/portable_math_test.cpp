#include "slicewise/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

constexpr double kRelativeError = 4e-16;
constexpr int kPoints = 200'000;

TEST(PortableMath, LogMatchesLibm) {
  RandomStream random(5, 0, 0, Purpose::Test);
  for (int point = 0; point < kPoints; ++point) {
    const double u = random.uniform();
    const double wide = std::exp((random.uniform() - 0.5) * 1'400);
    for (const double x : {u, 1 - u * 1e-3, 1 + u * 1e-6, wide}) {
      const double expected = std::log(x);
      ASSERT_LE(std::abs(portable_log(x) - expected), kRelativeError * std::abs(expected)) << x;
    }
  }
}

TEST(PortableMath, LogOfSpecialPoints) {
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_DOUBLE_EQ(portable_log(2), std::log(2.0));
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_DOUBLE_EQ(portable_log(least), std::log(least));
  const double most = std::numeric_limits<double>::max();
  EXPECT_DOUBLE_EQ(portable_log(most), std::log(most));
}

TEST(PortableMath, ExpMatchesLibm) {
  RandomStream random(6, 0, 0, Purpose::Test);
  for (int point = 0; point < kPoints; ++point) {
    const double u = 2 * random.uniform() - 1;
    for (const double x : {u, u * 1e-8, u * 30, u * 699}) {
      const double expected = std::exp(x);
      ASSERT_LE(std::abs(portable_exp(x) - expected), kRelativeError * expected) << x;
    }
  }
}

TEST(PortableMath, CosMatchesLibm) {
  RandomStream random(7, 0, 0, Purpose::Test);
  for (int point = 0; point < kPoints; ++point) {
    const double u = 2 * random.uniform() - 1;
    for (const double x : {u, u * 1e-8, u * 7, u * 1e3, u * 0.99e5}) {
      ASSERT_NEAR(portable_cos(x), std::cos(x), 1e-15) << x;
    }
  }
  EXPECT_EQ(portable_cos(0), 1);
  EXPECT_EQ(portable_cos(portable::kPi), -1);
}

TEST(PortableMath, LogGammaMatchesLibm) {
  RandomStream random(8, 0, 0, Purpose::Test);
  for (int point = 0; point < kPoints / 10; ++point) {
    const double u = random.uniform();
    for (const double x : {u, 1 + u, 20 * u, 1e-5 * u, 300 * u, 1e12 * u}) {
      const double expected = std::lgamma(x);
      ASSERT_NEAR(portable_log_gamma(x), expected, 1e-14 * std::max(1.0, std::abs(expected))) << x;
    }
  }
}

}  // namespace
}  // namespace slicewise::sim
