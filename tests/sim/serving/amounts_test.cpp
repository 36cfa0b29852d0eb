#include "slicewise/sim/serving/amounts.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/longest_duration.hpp"
#include "slicewise/portable_math.hpp"

#include "../device/confidence.hpp"

namespace slicewise::sim {
namespace {

using scenarios::RandomAmount;
using scenarios::ServiceTime;

template <class Draw>
std::vector<double> means_of(Draw draw) {
  std::vector<double> means;
  for (std::uint32_t replication = 0; replication < 30; ++replication) {
    constexpr int kAmountsDrawn = 20'000;
    RandomStream random(5, replication, 0, Purpose::Test);
    double sum = 0;
    for (int count = 0; count < kAmountsDrawn; ++count) sum += draw(random);
    means.push_back(sum / kAmountsDrawn);
  }
  return means;
}

TEST(Amounts, TimesHaveTheirMean) {
  for (const auto law : {ServiceTime::Law::Exponential, ServiceTime::Law::LogNormal}) {
    const ServiceTime time{law, milliseconds(8), 0.7};
    expect_mean(means_of([&](RandomStream& random) { return to_seconds(draw_time(time, random)); }),
                0.008, 0.01);
  }
}

// Golden outputs depend on these very numbers.
TEST(Amounts, ATimeIsRoundedToTheNearestNanosecond) {
  RandomStream random(1, 0, 0, Purpose::Test);
  RandomStream same = random;
  const ServiceTime log_normal{ServiceTime::Law::LogNormal, {}, 0.4};
  const double factor = portable_exp(0.4 * same.normal() - 0.4 * 0.4 / 2);
  EXPECT_EQ(draw_time(log_normal, seconds(1), random).ns,
            static_cast<std::int64_t>(1e9 * factor + 0.5));
}

TEST(Amounts, NoTimeIsSoLongThatTheClockOfARunCannotTakeIt) {
  RandomStream random(1, 0, 0, Purpose::Test);
  const Duration longest = kLongestDuration;
  Duration most;
  for (int n = 0; n < 100; ++n) {
    for (const ServiceTime::Law law :
         {ServiceTime::Law::Exponential, ServiceTime::Law::LogNormal}) {
      most = std::max(most, draw_time({law, longest, 3}, random));
    }
  }
  EXPECT_EQ(most, longest + seconds(1));
  EXPECT_LT(longest + most, kNever - TimePoint{});
}

TEST(Amounts, AConstantTimeTakesNoNumber) {
  RandomStream random(1, 0, 0, Purpose::Test);
  RandomStream untouched = random;
  EXPECT_EQ(draw_time({ServiceTime::Law::Deterministic, milliseconds(3), 0}, random),
            milliseconds(3));
  EXPECT_EQ(draw_time({ServiceTime::Law::Deterministic, {}, 0}, random), nanoseconds(1));
  EXPECT_EQ(random.next_u64(), untouched.next_u64());
}

TEST(Amounts, NumbersHaveTheirMean) {
  for (const auto law : {RandomAmount::Law::Exponential, RandomAmount::Law::LogNormal}) {
    const RandomAmount tokens{law, 1'000, 1.0, {}, {}};
    expect_mean(means_of([&](RandomStream& random) {
                  return static_cast<double>(draw_amount(tokens, random));
                }),
                1'000, 0.02);
  }
}

TEST(Amounts, NumbersStayBetweenTheirLimits) {
  RandomStream random(1, 0, 0, Purpose::Test);
  RandomAmount tokens{RandomAmount::Law::LogNormal, 100, 2.0, 50, 200};
  bool least = false;
  bool most = false;
  for (int draw = 0; draw < 1'000; ++draw) {
    const std::int64_t drawn = draw_amount(tokens, random);
    ASSERT_GE(drawn, 50);
    ASSERT_LE(drawn, 200);
    least = least || drawn == 50;
    most = most || drawn == 200;
  }
  EXPECT_TRUE(least && most);
  tokens = {RandomAmount::Law::Exponential, 0.01, 0, {}, {}};
  EXPECT_EQ(draw_amount(tokens, random), 1);
  tokens = {RandomAmount::Law::LogNormal, 1e18, 9, {}, {}};
  for (int draw = 0; draw < 100; ++draw) EXPECT_GE(draw_amount(tokens, random), 1);
}

}  // namespace
}  // namespace slicewise::sim
