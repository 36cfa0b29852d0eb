#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../demo.hpp"
#include "studies/plan/plan_sections.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using Law = scenarios::ServiceTime::Law;

constexpr Duration kDay = hours(24);

// Busiest at 14:00 where it is two hours later than UTC, and half as busy at the weekend.
scenarios::Workload by_day(double mean) {
  scenarios::Workload w = demo::service(2, mean, milliseconds(10), Law::Exponential);
  scenarios::Diurnal day;
  day.peak = {2 * mean};
  day.peak_at = hours(14);
  day.utc_offset = hours(2);
  day.weekend = 0.5;
  w.traffic->shape = day;
  return w;
}

Scenario long_scenario(scenarios::Workload workload, Duration length = kDay) {
  Scenario s = demo::scenario(demo::pool(0), {std::move(workload)});
  s.duration = length;
  s.warmup = minutes(3);
  s.replications = 5;
  return s;
}

// Ten minutes after the warm-up, in the middle of which is noon UTC, but for a piece of the curve.
void expect_at(const std::optional<Scenario>& busiest, Duration day) {
  ASSERT_TRUE(busiest);
  EXPECT_EQ(*busiest->duration, minutes(13));
  EXPECT_EQ(busiest->replications, 1);
  const Duration middle = busiest->start() + minutes(8);
  EXPECT_LE(std::abs((middle - day - hours(12)).ns), minutes(5).ns);
}

TEST(BusiestMinutes, AreAroundThePeak) {
  expect_at(busiest_minutes(long_scenario(by_day(10))), {});
  // From Tuesday evening on it is Wednesday's.
  Scenario later = long_scenario(by_day(10));
  later.starts_at = hours(24 + 18);
  expect_at(busiest_minutes(later), hours(48));
  // From Saturday noon on it is Monday's of the next week.
  Scenario weekend = long_scenario(by_day(10), kDay * 3);
  weekend.starts_at = kDay * 5 + hours(13);
  expect_at(busiest_minutes(weekend), {});
}

// The day is over before the peak comes: its last minutes.
TEST(BusiestMinutes, LieWithinTheRun) {
  const auto busiest = busiest_minutes(long_scenario(by_day(10), hours(8)));
  ASSERT_TRUE(busiest);
  EXPECT_EQ(busiest->start() + *busiest->duration, hours(8));
}

TEST(BusiestMinutes, OfASteadyRateAreAnyOfThem) {
  const auto busiest =
      busiest_minutes(long_scenario(demo::service(1, 10, milliseconds(10), Law::Exponential)));
  ASSERT_TRUE(busiest);
  EXPECT_LE(busiest->start() + *busiest->duration, kDay);
}

// The warm-up before them is for the autoscaler, too.
TEST(BusiestMinutes, AreThoseOfScaledServices) {
  scenarios::Workload scaled = by_day(10);
  scaled.autoscaling.emplace().max_replicas = 4;
  expect_at(busiest_minutes(long_scenario(scaled)), {});
}

TEST(BusiestMinutes, AreNotThereWhereMinutesDoNotStandForTheRest) {
  EXPECT_FALSE(busiest_minutes(long_scenario(by_day(10), minutes(40))));
  scenarios::Workload stepped = by_day(10);
  stepped.traffic->shape = std::vector<scenarios::RateStep>{{{}, {10}}, {hours(1), {20}}};
  EXPECT_FALSE(busiest_minutes(long_scenario(stepped)));
  Scenario with_job = long_scenario(by_day(10));
  with_job.workloads.push_back(demo::training(1));
  EXPECT_FALSE(busiest_minutes(with_job));
}

}  // namespace
}  // namespace slicewise::sim
