#include "slicewise/sim/kernel/random.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <boost/math/distributions/normal.hpp>
#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

// Random123, tests/kat_vectors, rows "philox4x32 10".
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, EachPartOfTheKeyGivesOtherNumbers) {
  std::set<std::uint64_t> first;
  first.insert(RandomStream(1, 2, 3, Purpose::Arrival).next_u64());
  first.insert(RandomStream(2, 2, 3, Purpose::Arrival).next_u64());
  first.insert(RandomStream(1ULL << 32, 2, 3, Purpose::Arrival).next_u64());
  first.insert(RandomStream(1, 3, 3, Purpose::Arrival).next_u64());
  first.insert(RandomStream(1, 2, 4, Purpose::Arrival).next_u64());
  first.insert(RandomStream(1, 2, 3, Purpose::Service).next_u64());
  EXPECT_EQ(first.size(), 6U);
}

TEST(RandomStream, ACopyRepeats) {
  RandomStream stream(7, 0, 0, Purpose::Test);
  stream.next_u32();
  RandomStream copy = stream;
  for (int draw = 0; draw < 20; ++draw) EXPECT_EQ(stream.next_u32(), copy.next_u32());
}

// Any change of these bits changes every result: first draws of seed 1.
TEST(RandomStream, DrawsTheSameBitsOnEveryMachine) {
  RandomStream stream(1, 0, 0, Purpose::Test);
  EXPECT_EQ(stream.uniform(), 0x1.99ad3b943520bp-1);
  EXPECT_EQ(stream.exponential(), 0x1.e18b6bfb79c0ep+0);
  EXPECT_EQ(stream.normal(), -0x1.ace143fe9a769p-1);
}

// Blocks are made two or four at a time: the words are those of single blocks in turn.
TEST(RandomStream, WordsAreThoseOfBlocksInTurn) {
  RandomStream stream((5ULL << 32) + 7, 3, 2, Purpose::Service);
  for (std::uint32_t block = 0; block < 5; ++block) {
    const auto purpose = static_cast<std::uint32_t>(Purpose::Service);
    for (const std::uint32_t word : philox4x32_10({block, purpose, 2, 3}, {7, 5})) {
      EXPECT_EQ(stream.next_u32(), word);
    }
  }
}

TEST(RandomStream, ExponentialsAheadAreTheSameAsOneByOne) {
  for (std::uint32_t words_before = 0; words_before < 9; ++words_before) {
    RandomStream one_by_one(9, 0, 0, Purpose::Test);
    for (std::uint32_t word = 0; word < words_before; ++word) one_by_one.next_u32();
    Exponentials ahead(one_by_one);
    for (int draw = 0; draw < 1'000; ++draw) ASSERT_EQ(ahead.next(), one_by_one.exponential());
  }
}

// Kolmogorov-Smirnov at 10^5 draws: the statistic stays below 1.95/sqrt(n) with probability 99.9 %.
double distance_from_law(std::vector<double> draws, double (*distribution)(double)) {
  std::sort(draws.begin(), draws.end());
  const auto count = static_cast<double>(draws.size());
  double distance = 0;
  for (std::size_t rank = 0; rank < draws.size(); ++rank) {
    const double expected = distribution(draws[rank]);
    const auto below = static_cast<double>(rank);
    distance = std::max({distance, expected - below / count, (below + 1) / count - expected});
  }
  return distance;
}

constexpr int kDraws = 100'000;
const double kDistance = 1.95 / std::sqrt(static_cast<double>(kDraws));

template <class Sampler>
std::vector<double> draw(Sampler sampler) {
  RandomStream stream(11, 0, 0, Purpose::Test);
  std::vector<double> draws;
  draws.reserve(kDraws);
  for (int count = 0; count < kDraws; ++count) draws.push_back(sampler(stream));
  return draws;
}

TEST(RandomStream, UniformIsUniform) {
  const auto draws = draw([](RandomStream& stream) { return stream.uniform(); });
  EXPECT_LT(distance_from_law(draws, [](double x) { return x; }), kDistance);
}

TEST(RandomStream, ExponentialIsExponential) {
  const auto draws = draw([](RandomStream& stream) { return stream.exponential(); });
  EXPECT_LT(distance_from_law(draws, [](double x) { return 1 - std::exp(-x); }), kDistance);
}

TEST(RandomStream, NormalIsNormal) {
  const auto draws = draw([](RandomStream& stream) { return stream.normal(); });
  const auto law = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  EXPECT_LT(distance_from_law(draws, law), kDistance);
}

// Against Boost's quantile from 10^-300 to 1 - 10^-12: AS 241 is good to about 1e-15.
// Mean, variance and third central moment 3 variance^2 / mean.
TEST(RandomStream, InverseGaussianHasItsMoments) {
  RandomStream stream(7, 0, 0, Purpose::Test);
  constexpr int kTimes = 400'000;
  constexpr double kMean = 2;
  constexpr double kVariance = 3;
  double sum = 0;
  double squares = 0;
  double cubes = 0;
  for (int n = 0; n < kTimes; ++n) {
    const double x = stream.inverse_gaussian(kMean, kVariance);
    ASSERT_GT(x, 0);
    sum += x;
    squares += (x - kMean) * (x - kMean);
    cubes += (x - kMean) * (x - kMean) * (x - kMean);
  }
  EXPECT_NEAR(sum / kTimes, kMean, 0.02);
  EXPECT_NEAR(squares / kTimes, kVariance, 0.1);
  EXPECT_NEAR(cubes / kTimes, 3 * kVariance * kVariance / kMean, 2);
}

TEST(RandomStream, NormalQuantileMatchesBoost) {
  const boost::math::normal law;
  for (double p = 1e-300; p < 0.5; p *= 1.7) {
    const double expected = boost::math::quantile(law, p);
    EXPECT_NEAR(normal_quantile(p) / expected, 1, 2e-15) << p;
  }
  for (double upper = 1e-12; upper < 0.5; upper *= 1.3) {
    const double expected = boost::math::quantile(law, 1 - upper);
    EXPECT_NEAR(normal_quantile(1 - upper) / expected, 1, 2e-15) << upper;
  }
}

// 3 does not divide 2^32; chi-square with 2 degrees of freedom stays below 13.8 in 99.9 %.
TEST(RandomStream, BelowIsUnbiased) {
  RandomStream stream(3, 0, 0, Purpose::Test);
  std::array<double, 3> counts{};
  for (int count = 0; count < kDraws; ++count) counts.at(stream.below(3)) += 1;
  double chi_square = 0;
  const double expected = kDraws / 3.0;
  for (const double count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 13.8);
  EXPECT_EQ(stream.below(1), 0U);
}

}  // namespace
}  // namespace slicewise::sim
