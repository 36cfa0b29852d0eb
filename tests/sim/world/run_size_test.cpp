#include "slicewise/sim/run_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../demo.hpp"

// What a replication is estimated to take, held against what it takes.
namespace slicewise::sim {
namespace {

using ::testing::HasSubstr;

double estimated_events(const World& world) {
  double sum = 0;
  for (const SizePart& part : estimate_size(world).events) sum += part.amount;
  return sum;
}

void expect_true_within(double factor, const scenarios::Scenario& s) {
  const World world = demo::world(s);
  const auto events = static_cast<double>(run_replication(world, 0).events);
  EXPECT_GT(estimated_events(world), events / factor);
  EXPECT_LT(estimated_events(world), events * factor);
}

scenarios::Scenario serving(double rate) {
  scenarios::Scenario s = demo::scenario(
      demo::pool(4),
      {demo::service(4, rate, milliseconds(10), scenarios::ServiceTime::Law::Exponential)});
  s.duration = minutes(10);
  return s;
}

TEST(RunSize, EventsAreEstimatedToAFactorOfThree) {
  constexpr double kFactor = 3;
  expect_true_within(kFactor, demo::scenario(demo::pool(10), {demo::training(2'000)}));
  scenarios::Scenario exact = demo::scenario(demo::pool(4), {demo::training(4)});
  exact.fidelity = scenarios::Fidelity::Exact;
  exact.workloads[0].work->units = 2;
  expect_true_within(kFactor, exact);
  expect_true_within(kFactor, serving(100));
  scenarios::Scenario closed = serving(0);
  closed.workloads[0].traffic->shape = scenarios::ClosedLoop{100, seconds(2)};
  expect_true_within(kFactor, closed);
  closed.workloads[0].traffic->shape = scenarios::ClosedLoop{100, Duration{}};
  expect_true_within(kFactor, closed);
  scenarios::Scenario steps = serving(0);
  steps.workloads[0].traffic->shape =
      std::vector<scenarios::RateStep>{{Duration{}, {10}}, {minutes(5), {50}}};
  expect_true_within(kFactor, steps);
}

TEST(RunSize, WhatIsBeyondALimitSaysHowItCameAboutAndWhatLiftsIt) {
  scenarios::Scenario s = serving(1'000);
  s.duration = hours(24 * 300);
  const Diagnostics found = beyond_limits(demo::world(s), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].code, Code::RunTooLarge);
  EXPECT_THAT(found[0].message, HasSubstr("requests of api: 1000/s x 2.592e+07 s x 3 events"));
  EXPECT_THAT(found[0].help, HasSubstr("--max-events 8553600002"));
  EXPECT_THAT(found[1].message, HasSubstr("(1000/s - 400/s answered)"));
  EXPECT_THAT(found[1].help, HasSubstr("--max-memory 26"));
  EXPECT_TRUE(beyond_limits(demo::world(s), {1e12, gibibytes(10'000)}).empty());
  s.workloads[0].serving.timeout = seconds(10);
  EXPECT_EQ(beyond_limits(demo::world(s), {1e12, gibibytes(8)}).size(), 0U);
}

TEST(RunSize, MemoryGrowsWithPodsAndNodes) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(1'000'000)});
  EXPECT_EQ(beyond_limits(demo::world(s), {1e12, mebibytes(512)}).size(), 1U);
  EXPECT_TRUE(beyond_limits(demo::world(s), {1e12, gibibytes(1)}).empty());
}

}  // namespace
}  // namespace slicewise::sim
