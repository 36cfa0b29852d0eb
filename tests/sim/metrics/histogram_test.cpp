#include "slicewise/sim/metrics/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

using Sampler = std::function<double(RandomStream&)>;  // ns

// Law: a quantile is within half a bucket, 0.4 %, of the order statistic of the same rank.
void expect_quantiles_of(const Sampler& sampler) {
  RandomStream random(9, 0, 0, Purpose::Test);
  Histogram histogram;
  std::vector<std::int64_t> values;
  Int128 sum = 0;
  for (int draw = 0; draw < 50'000; ++draw) {
    values.push_back(static_cast<std::int64_t>(sampler(random)));
    histogram.add({values.back()});
    sum += values.back();
  }
  std::sort(values.begin(), values.end());
  for (const double q : {1e-5, 0.01, 0.25, 0.5, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 50'000)) - 1;
    const auto exact = static_cast<double>(values[rank]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q).ns), exact, 0.004 * exact) << q;
  }
  EXPECT_EQ(histogram.mean().ns, static_cast<std::int64_t>((sum + 25'000) / 50'000));
}

TEST(Histogram, QuantilesOfExponential) {
  expect_quantiles_of([](RandomStream& random) { return 5e6 * random.exponential(); });
}
TEST(Histogram, QuantilesOfLognormal) {
  expect_quantiles_of(
      [](RandomStream& random) { return portable_exp(14 + 2.5 * random.normal()); });
}
TEST(Histogram, QuantilesOfUniform) {
  expect_quantiles_of([](RandomStream& random) { return 1e12 * random.uniform(); });
}
TEST(Histogram, QuantilesOfTwoFarPoints) {
  expect_quantiles_of([](RandomStream& random) { return random.below(100) < 3 ? 9e15 : 300; });
}

// Of a few jobs p95 is the greatest of all, beside which its bucket's middle would contradict.
TEST(Histogram, TheLeastAndTheGreatestAreExact) {
  Histogram histogram;
  for (const std::int64_t value : {3'570'000'000'001, 3'600'000'000'007, 3'731'209'000'003}) {
    histogram.add({value});
  }
  EXPECT_EQ(histogram.quantile(0.01).ns, 3'570'000'000'001);
  EXPECT_EQ(histogram.quantile(0.95).ns, 3'731'209'000'003);
  EXPECT_EQ(histogram.within_bucket(0.99), 3'731'209'000'003.);
  Histogram more;
  more.add({5'000'000'000'009});
  more.merge(histogram);
  more.pack();
  EXPECT_EQ(more.quantile(1).ns, 5'000'000'000'009);
  EXPECT_EQ(more.quantile(0.2).ns, 3'570'000'000'001);
  Histogram same;
  for (int i = 0; i < 3; ++i) same.add({3'731'209'000'003});
  EXPECT_EQ(same.quantile(0.5).ns, 3'731'209'000'003);
}

TEST(Histogram, ExactBelow256NanosecondsAndOverTheWholeRange) {
  for (std::int64_t value = 0; value < 256; ++value) {
    Histogram histogram;
    histogram.add({value});
    EXPECT_EQ(histogram.quantile(0.5).ns, value);
  }
  Histogram histogram;
  histogram.add({-5});
  EXPECT_EQ(histogram.quantile(1).ns, 0);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  histogram.add({kMost});
  EXPECT_NEAR(static_cast<double>(histogram.quantile(1).ns) / static_cast<double>(kMost), 1, 0.004);
}

TEST(Histogram, MergingEqualsAddingInAnyOrder) {
  RandomStream random(10, 0, 0, Purpose::Test);
  Histogram all;
  Histogram first;
  Histogram second;
  for (int draw = 0; draw < 10'000; ++draw) {
    const Duration value{static_cast<std::int64_t>(random.exponential() * 1e6)};
    all.add(value);
    (draw % 3 == 0 ? first : second).add(value);
  }
  Histogram merged = second;
  merged.merge(first);
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.mean(), all.mean());
  for (const double q : {0.1, 0.5, 0.9, 0.999}) EXPECT_EQ(merged.quantile(q), all.quantile(q));
}

// Of what is packed nothing is lost, and more can come.
TEST(Histogram, IsTheSameWhenItIsPacked) {
  Histogram wide;
  Histogram packed;
  packed.pack();
  for (const std::int64_t ns : {700, 90'000, 3, 5'000'000, 0, 88'000}) {
    wide.add({ns});
    packed.add({ns});
    packed.pack();
    Histogram merged;
    merged.merge(packed);
    for (const double q : {0.01, 0.3, 0.5, 0.9, 1.0}) {
      EXPECT_EQ(packed.quantile(q), wide.quantile(q)) << ns;
      EXPECT_EQ(packed.within_bucket(q), wide.within_bucket(q)) << ns;
      EXPECT_EQ(merged.quantile(q), wide.quantile(q)) << ns;
    }
    EXPECT_EQ(packed.count_above({ns}), wide.count_above({ns}));
    packed.merge({});
    EXPECT_EQ(packed.count(), wide.count());
    EXPECT_EQ(packed.mean(), wide.mean());
  }
}

}  // namespace
}  // namespace slicewise::sim
