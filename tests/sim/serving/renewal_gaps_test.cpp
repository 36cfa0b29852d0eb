#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/weibull.hpp>
#include <gtest/gtest.h>

#include "slicewise/sim/serving/arrivals.hpp"

#include "../device/confidence.hpp"

namespace slicewise::sim {
namespace {

using Gaps = scenarios::Traffic::Gaps;

RenewalGaps gaps_of(Gaps law, double variation) {
  scenarios::Traffic traffic;
  traffic.gaps = law;
  traffic.gap_variation = variation;
  return RenewalGaps(traffic);
}

// Law: gaps have mean 1 and the coefficient of variation that was asked for.
TEST(ThoroughRenewalGaps, HaveTheMomentsAskedFor) {
  for (const Gaps law : {Gaps::Gamma, Gaps::Weibull}) {
    for (const double variation : {0.1, 0.5, 1.0, 3.0}) {
      SCOPED_TRACE(variation);
      const RenewalGaps gaps = gaps_of(law, variation);
      std::vector<double> means;
      std::vector<double> squares;
      for (std::uint32_t replication = 0; replication < 30; ++replication) {
        constexpr int kGapsDrawn = 50'000;
        RandomStream random(2, replication, 0, Purpose::Test);
        double sum = 0;
        double sum_of_squares = 0;
        for (int draw = 0; draw < kGapsDrawn; ++draw) {
          const double gap = gaps.draw(random);
          sum += gap;
          sum_of_squares += gap * gap;
        }
        means.push_back(sum / kGapsDrawn);
        squares.push_back(sum_of_squares / kGapsDrawn);
      }
      expect_mean(means, 1, 0.02);
      expect_mean(squares, 1 + variation * variation, 0.06);
    }
  }
}

// Kolmogorov-Smirnov: the distance stays below 1.95 / sqrt(n) with probability 99.9 %.
template <class Law>
void expect_law(const RenewalGaps& gaps, const Law& law) {
  constexpr std::size_t kGapsDrawn = 100'000;
  RandomStream random(3, 0, 0, Purpose::Test);
  std::vector<double> draws(kGapsDrawn);
  for (double& draw : draws) draw = gaps.draw(random);
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  for (std::size_t rank = 0; rank < kGapsDrawn; ++rank) {
    const double expected = cdf(law, draws[rank]);
    const auto below = static_cast<double>(rank);
    distance =
        std::max({distance, expected - below / kGapsDrawn, (below + 1) / kGapsDrawn - expected});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(kGapsDrawn)));
}

TEST(ThoroughRenewalGaps, GammaIsGamma) {
  for (const double variation : {0.3, 1.0, 2.5}) {
    const double shape = 1 / (variation * variation);
    expect_law(gaps_of(Gaps::Gamma, variation),
               boost::math::gamma_distribution<double>(shape, 1 / shape));
  }
}

// Shapes whose coefficient of variation is known: 1/2 (cv^2 = 24/4 - 1 = 5, mean = 2 scale) and 2
// (cv^2 = 4/pi - 1, mean = scale sqrt(pi)/2).
TEST(RenewalGaps, WeibullIsWeibull) {
  const double pi = std::acos(-1.0);
  expect_law(gaps_of(Gaps::Weibull, std::sqrt(5.0)),
             boost::math::weibull_distribution<double>(0.5, 0.5));
  expect_law(gaps_of(Gaps::Weibull, std::sqrt(4 / pi - 1)),
             boost::math::weibull_distribution<double>(2, 2 / std::sqrt(pi)));
}

TEST(RenewalGaps, AlmostNoVariationIsNone) {
  RandomStream random(1, 0, 0, Purpose::Test);
  for (const Gaps law : {Gaps::Gamma, Gaps::Weibull}) {
    EXPECT_EQ(gaps_of(law, 0).draw(random), 1);
    EXPECT_NEAR(gaps_of(law, 0.002).draw(random), 1, 0.02);
  }
}

TEST(RenewalGaps, AHugeVariationStaysFinite) {
  RandomStream random(1, 0, 0, Purpose::Test);
  for (const Gaps law : {Gaps::Gamma, Gaps::Weibull}) {
    const RenewalGaps gaps = gaps_of(law, 100);
    for (int draw = 0; draw < 100'000; ++draw) {
      const double gap = gaps.draw(random);
      ASSERT_GE(gap, 0);
      ASSERT_TRUE(std::isfinite(gap));
    }
  }
}

}  // namespace
}  // namespace slicewise::sim
