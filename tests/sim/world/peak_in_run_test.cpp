#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "../demo.hpp"

// Traffic that is at its peak when nobody looks.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using ::testing::HasSubstr;
using Law = scenarios::ServiceTime::Law;

// 120 requests a second on the mean of a day, and 240 at two in the afternoon.
Scenario by_day() {
  scenarios::Workload api = demo::service(2, 120, milliseconds(6), Law::Exponential);
  scenarios::Diurnal day;
  day.peak = {240};
  day.peak_at = hours(14);
  api.traffic->shape = day;
  Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.duration = minutes(20);
  scenario.warmup = minutes(2);
  return scenario;
}

TEST(PeakInRun, IsToldWhereANightIsSimulated) {
  const Diagnostics found = peaks_not_in_run(by_day());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::PeakNotInRun);
  EXPECT_EQ(found.front().workloads, std::vector<std::string>{"api"});
  EXPECT_THAT(found.front().message, HasSubstr("in the run of 20m from Mon 00:00 on, and 240/s"));
  EXPECT_THAT(found.front().message, HasSubstr("startsAt: Mon 13:45 has it, or duration: 14h"));
}

TEST(PeakInRun, IsThereWhenTheMessageSays) {
  Scenario then = by_day();
  then.starts_at = hours(13) + minutes(45);
  EXPECT_TRUE(peaks_not_in_run(then).empty());
  Scenario longer = by_day();
  longer.duration = hours(14);
  EXPECT_TRUE(peaks_not_in_run(longer).empty());
  Scenario near = by_day();
  near.starts_at = hours(12) + minutes(30);  // 93 % of it
  EXPECT_TRUE(peaks_not_in_run(near).empty());
}

TEST(PeakInRun, MayBeOfTheDayBeforeOrOfSteps) {
  Scenario scenario = by_day();
  scenarios::Traffic& traffic = *scenario.workloads.front().traffic;
  std::get<scenarios::Diurnal>(traffic.shape).peak_at = {};
  scenario.starts_at = hours(12);
  EXPECT_THAT(peaks_not_in_run(scenario).front().message, HasSubstr("startsAt: Mon 23:45 has it"));
  traffic.shape = std::vector<scenarios::RateStep>{{{}, {20}}, {minutes(30), {60}}};
  const Diagnostics found = peaks_not_in_run(scenario);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.front().message, HasSubstr("at most 20/s"));
  EXPECT_THAT(found.front().message, HasSubstr("60/s later"));
  EXPECT_THAT(found.front().message, HasSubstr("(duration: 1h)"));
  scenario.duration = minutes(40);
  EXPECT_TRUE(peaks_not_in_run(scenario).empty());
}

// Three hours around a nightly Job are a night of each eighth of a day.
TEST(ScheduleInRun, ANightThatIsAllThereIsOfADayIsTold) {
  Scenario nightly = demo::scenario(demo::pool(0), {demo::training(1)});
  scenarios::Schedule& schedule = nightly.workloads.front().schedule.emplace();
  schedule.cron = *scenarios::parse_cron("0 2 * * *");
  schedule.runs = {hours(2)};
  nightly.duration = hours(3);
  EXPECT_TRUE(peaks_not_in_run(nightly).empty()) << "all nodes are there the whole month";
  nightly.node_pools.front().most_nodes = 2;
  const Diagnostics found = peaks_not_in_run(nightly);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::ScheduleNotInRun);
  EXPECT_THAT(found.front().message,
              HasSubstr("runs 1 time in the run of 3h, as 56 would be a week"));
  EXPECT_THAT(found.front().message, HasSubstr("and 7 a week by its schedule"));
  EXPECT_EQ(found.front().help, "duration: 24h");
  EXPECT_TRUE(schedules_not_in_run(nightly).empty()) << "said already";
  nightly.duration = hours(24);
  EXPECT_TRUE(peaks_not_in_run(nightly).empty());
  schedule.cron = *scenarios::parse_cron("0 2 * * 1-5");
  EXPECT_EQ(peaks_not_in_run(nightly).front().help, "duration: 168h");
  schedule.cron = *scenarios::parse_cron("0 2 1 * *");
  EXPECT_TRUE(peaks_not_in_run(nightly).empty()) << "no two weeks are alike";
}

// A plan's pools may come and go where the scenario's do not.
TEST(ScheduleInRun, FixedNodesAreThereTheWholeMonth) {
  Scenario nightly = demo::scenario(demo::pool(0), {demo::training(1)});
  scenarios::Schedule& schedule = nightly.workloads.front().schedule.emplace();
  schedule.cron = *scenarios::parse_cron("0 2 * * *");
  schedule.runs = {hours(2)};
  nightly.duration = hours(3);
  Diagnostics found;
  tell_of_peak(nightly, nightly, found);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(schedules_not_in_run(nightly).size(), 1U);
}

TEST(AtItsPeak, ARunBeginsAroundItWhereNobodySaysWhen) {
  const Scenario judged = at_its_peak(by_day());
  EXPECT_EQ(judged.start(), hours(13) + minutes(45));
  EXPECT_TRUE(peaks_not_in_run(judged).empty());
  Diagnostics found;
  tell_of_peak(by_day(), judged, found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::StartsAtPeak);
  EXPECT_THAT(found.front().message, HasSubstr("judged from Mon 13:45 on"));
  EXPECT_EQ(at_its_peak(judged).starts_at, judged.starts_at);
}

TEST(AtItsPeak, AStartThatIsNamedIsKept) {
  Scenario named = by_day();
  named.starts_at = Duration{};
  EXPECT_EQ(at_its_peak(named).start(), Duration{});
  Diagnostics found;
  tell_of_peak(named, at_its_peak(named), found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::PeakNotInRun);
  Scenario whole = by_day();
  whole.duration = hours(24);
  EXPECT_FALSE(at_its_peak(whole).starts_at) << "the peak is in the run";
  Scenario nightly = by_day();
  nightly.workloads.push_back(demo::training(1));
  nightly.workloads.back().schedule.emplace();
  EXPECT_FALSE(at_its_peak(nightly).starts_at) << "of CronJobs the run's times are known";
  nightly.workloads.back().count = 0;
  EXPECT_TRUE(at_its_peak(nightly).starts_at) << "it has no pods";
}

// The one that is four times its mean counts more than the other that is twice.
TEST(AtItsPeak, OfSeveralSourcesItIsThatOfAllTogether) {
  Scenario two = by_day();
  two.workloads.push_back(two.workloads.front());
  scenarios::Workload& other = two.workloads.back();
  other.name.value = "other";
  auto& day = std::get<scenarios::Diurnal>(other.traffic->shape);
  day.peak = {480};
  day.peak_at = hours(2);
  const Scenario judged = at_its_peak(two);
  EXPECT_EQ(judged.start(), hours(1) + minutes(45));
  const Diagnostics missed = peaks_not_in_run(judged);
  ASSERT_EQ(missed.size(), 1U);
  EXPECT_EQ(missed.front().workloads, std::vector<std::string>{"api"});
  ASSERT_EQ(judged.other_peaks.size(), 1U);
  EXPECT_EQ(judged.other_peaks[0].starts_at, hours(13) + minutes(45));
  EXPECT_EQ(judged.other_peaks[0].whose, std::vector<std::string>{"api"});
  Diagnostics told;
  tell_of_peak(two, judged, told);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message, HasSubstr("and from Mon 13:45 on, at that of api"));
}

// The light one has the steeper curve; the heavy one is too much for its pods in the afternoon.
TEST(ThoroughAtItsPeak, EachServiceStandsAtItsOwn) {
  Scenario two = by_day();
  two.workloads[0].objectives = {{scenarios::Figure::LatencyP99, milliseconds(200), {}}};
  std::get<scenarios::Diurnal>(two.workloads[0].traffic->shape).peak = {400};
  two.workloads.push_back(two.workloads.front());
  scenarios::Workload& light = two.workloads.back();
  light.name.value = "light";
  light.traffic->mean = {1};
  std::get<scenarios::Diurnal>(light.traffic->shape) = {{4}, hours(2), {}, 1};
  two.replications = 2;
  const auto figures = [&](const Scenario& scenario) {
    return *probe_answerer(scenario, demo::catalogue())({.replications = 2}, 1).figures;
  };
  Scenario night_only = at_its_peak(two);
  night_only.other_peaks.clear();
  EXPECT_TRUE(figures(night_only).stands());
  EXPECT_FALSE(figures(at_its_peak(two)).stands()) << "400/s for two pods of 167/s";
}

// Saturdays are the busiest.
TEST(AtItsPeak, MayBeAtTheWeekend) {
  Scenario scenario = by_day();
  std::get<scenarios::Diurnal>(scenario.workloads.front().traffic->shape).weekend = 2;
  EXPECT_EQ(at_its_peak(scenario).start(), hours(24 * 5 + 13) + minutes(45));
}

TEST(PeakInRun, IsAFindingOfTheRun) {
  scenarios::ScenarioSet set;
  set.variants.push_back(by_day());
  set.variants.front().duration = minutes(3);
  const auto result = run_scenario(set, demo::catalogue(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(demo::has(result->variants.front().findings, Code::PeakNotInRun));
}

}  // namespace
}  // namespace slicewise::sim
