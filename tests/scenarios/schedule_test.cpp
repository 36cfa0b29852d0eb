// CronJobs: when they are due, and what a scenario makes of them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/cron.hpp"

#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

// In minutes from Monday 2026-01-05 00:00 on.
std::vector<std::int64_t> due(const char* text, int days, Duration from = {}) {
  std::vector<std::int64_t> found;
  const auto cron = parse_cron(text);
  EXPECT_TRUE(cron) << text;
  if (!cron) return found;
  for (const Duration at : cron_times(*cron, from, from + hours(24) * days, 1000)) {
    found.push_back(at.ns / minutes(1).ns);
  }
  return found;
}

using Minutes = std::vector<std::int64_t>;
constexpr int kDay = 24 * 60;

TEST(Cron, IsDueAsItsPartsSay) {
  EXPECT_EQ(due("30 2 * * *", 2), (Minutes{150, kDay + 150}));
  EXPECT_EQ(due("*/20 1 * * *", 1), (Minutes{60, 80, 100}));
  EXPECT_EQ(due("5,10-12 0 * * *", 1), (Minutes{5, 10, 11, 12}));
  EXPECT_EQ(due("0 20/2 * * *", 1), (Minutes{20 * 60, 22 * 60}));
  EXPECT_EQ(due("0 0 * * sat,SUN", 7), (Minutes{5 * kDay, 6 * kDay}));
  EXPECT_EQ(due("@weekly", 7), (Minutes{6 * kDay}));
  EXPECT_EQ(due("0 0 1 FEB *", 31), (Minutes{27 * kDay}));
  EXPECT_EQ(due("@monthly", 31), (Minutes{27 * kDay}));
  EXPECT_EQ(due("0 12 * * ?", 1, hours(-24)), (Minutes{-12 * 60})) << "the Sunday before";
}

// Where both are given, one of the days is enough.
TEST(Cron, DaysOfTheMonthAndOfTheWeek) {
  EXPECT_EQ(due("0 0 7 * 1", 7), (Minutes{0, 2 * kDay}));
  EXPECT_EQ(due("0 0 7 * *", 7), (Minutes{2 * kDay}));
  EXPECT_EQ(due("0 0 7 * */2", 7), (Minutes{kDay, 2 * kDay, 3 * kDay, 5 * kDay, 6 * kDay}));
}

TEST(Cron, RefusesWhatTheControllerRefuses) {
  for (const char* text : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
                           "* * * 13 *", "* * * * 7", "5-1 * * * *", "*/0 * * * *", "x * * * *",
                           "1- * * * *", "@often", ", * * * *", "0 ,, * * *"}) {
    EXPECT_FALSE(parse_cron(text)) << text;
  }
}

// In the week of 2026-01-05: New York has winter, Sydney summer time.
TEST(Cron, ZonesAreAsFarFromUtcAsInTheWeekOfTheRun) {
  const auto is_at = [](const char* name, Duration offset, bool changes) {
    const auto zone = time_zone(name);
    ASSERT_TRUE(zone) << name;
    EXPECT_EQ(zone->offset, offset) << name;
    EXPECT_EQ(zone->changes, changes) << name;
  };
  is_at("Etc/GMT-1", hours(1), false);
  is_at("", Duration{}, false);
  for (const char* utc : {"UTC", "Etc/UTC", "Etc/GMT0"}) is_at(utc, Duration{}, false);
  is_at("Europe/Berlin", hours(1), true);
  is_at("America/New_York", hours(-5), true);
  is_at("Australia/Sydney", hours(11), true);
  is_at("Asia/Kolkata", minutes(330), false);
  for (const char* none :
       {"Etc/GMTx", "Etc/GMT+13", "Etc/GMT-15", "Local", "constant", "+01:00", "America/NewYork"}) {
    EXPECT_FALSE(time_zone(none)) << none;
  }
  EXPECT_EQ(unknown_zone_help("America/NewYork"), "did you mean America/New_York?");
  for (const int zone : {-5, 0, 1, 9}) {
    EXPECT_EQ(time_zone(*zone_of_offset(hours(zone)))->offset, hours(zone));
  }
  EXPECT_FALSE(zone_of_offset(minutes(330)));
}

// Of local times, in seconds as if they were UTC. Expected: Python zoneinfo.
TEST(TimeZone, SummerTimeIsThatOfTheDay) {
  const auto offset = [](const char* zone, std::int64_t local_s) {
    return time_zone(zone)->offset_at(local_s * 1'000'000'000).ns / minutes(1).ns;
  };
  EXPECT_EQ(offset("Europe/Berlin", 1718007200), 120);     // 2024-06-10T08:13:20
  EXPECT_EQ(offset("Europe/Berlin", 1704874400), 60);      // 2024-01-10T08:13:20
  EXPECT_EQ(offset("Europe/Berlin", 1711850399), 60);      // 2024-03-31T01:59:59
  EXPECT_EQ(offset("Europe/Berlin", 1711852200), 60);      // 02:30, which is not there
  EXPECT_EQ(offset("Europe/Berlin", 1711854000), 120);     // 03:00
  EXPECT_EQ(offset("Europe/Berlin", 1729996200), 120);     // 2024-10-27T02:30, the first
  EXPECT_EQ(offset("Europe/Berlin", 1729998000), 60);      // 03:00
  EXPECT_EQ(offset("Australia/Sydney", 1704874400), 660);  // summer there
  EXPECT_EQ(offset("Australia/Sydney", 1718007200), 600);
  EXPECT_EQ(offset("America/New_York", 1718007200), -240);
  EXPECT_EQ(offset("Europe/Dublin", 1718007200), 60);
  EXPECT_EQ(offset("Europe/Dublin", 1704874400), 0);
  EXPECT_EQ(offset("Asia/Kolkata", 1718007200), 330);
  EXPECT_EQ(parse_time_zone("-03:30")->offset_at(0), minutes(-210));
  EXPECT_FALSE(parse_time_zone("8"));
}

const std::string kWork = "work: {units: 1}, measured: {unitTime: 18s, gpuBusy: 50%}";

std::string nightly(const std::string& schedule, const std::string& more = "",
                    const std::string& spec = "  duration: 24h\n") {
  return with_workload("kind: Job, count: 2, schedule: {" + schedule + "}, " + more + kWork, spec);
}

TEST(Schedule, MakesTheJobsOfEachRunWithinTheDuration) {
  const Workload w = workload_of(nightly("cron: \"0 */6 * * *\", concurrencyPolicy: Forbid"));
  EXPECT_EQ(w.count, 8);
  EXPECT_EQ(w.pods_at_once(), 2);
  ASSERT_TRUE(w.schedule);
  EXPECT_EQ(w.schedule->runs, (std::vector{Duration{}, hours(6), hours(12), hours(18)}));
  EXPECT_EQ(w.schedule->concurrency, Schedule::Concurrency::Forbid);
  const Workload there = workload_of(nightly("cron: \"0 10 * * *\", utcOffset: \"+01:00\"", "",
                                             "  duration: 24h\n  startsAt: Mon 08:00\n"));
  EXPECT_EQ(there.schedule->runs, std::vector{hours(1)});
  const Workload in_zone = workload_of(nightly("cron: \"0 10 * * *\", timeZone: America/New_York"));
  EXPECT_EQ(in_zone.schedule->runs, std::vector{hours(15)});
  const Workload suspended = workload_of(nightly("cron: \"* * * * *\", suspend: true"));
  EXPECT_EQ(suspended.count, 0);
  EXPECT_EQ(suspended.pods_at_once(), 0);
  EXPECT_EQ(suspended.pods_of_run(), 2);
}

// They go into scripts and patches.
TEST(Manifest, NamesAreThoseThatKubernetesAccepts) {
  const auto with = [](const std::string& manifest) {
    return with_workload("kind: Job, manifest: {" + manifest + "}, " + kWork);
  };
  const Workload named = workload_of(
      with("kind: PyTorchJob, name: a.b, containers: [main], oldSelectors: [a.io/b], oldResources: "
           "[nvidia.com/gpu]"));
  EXPECT_EQ(named.manifest.name, "a.b");
  expect_problem(with("name: \"a; touch x\""), Code::NameInvalid, "a; touch x");
  expect_problem(with("kind: \"Job'\""), Code::NameInvalid, "is not a kind");
  expect_problem(with("containers: [\"a b\"]"), Code::NameInvalid, "a b");
  expect_problem(with("oldSelectors: [\"a b\"]"), Code::NameInvalid, "is not a label");
  expect_problem(with("scaledBy: VerticalPodAutoscaler/a"), Code::NameInvalid,
                 "or ScaledObject/NAME");
}

TEST(Schedule, MistakesAreSaid) {
  expect_problem(nightly("cron: \"0 25 * * *\""), Code::ValueRange, "\"25\" is no hour");
  expect_problem(nightly("cron: \"0 2 * * *\"", "", ""), Code::SettingConflict, "no duration");
  expect_problem(nightly("cron: \"* * * * *\"", "", "  duration: 100d\n"), Code::ValueRange,
                 "more than 100000 runs");
  expect_problem(nightly("cron: \"0 2 * * *\", timeZone: America/NewYork"), Code::ValueRange,
                 "unknown time zone \"America/NewYork\"");
  expect_problem(nightly("cron: \"0 2 * * *\", timeZone: Asia/Tokyo, utcOffset: \"+09:00\""),
                 Code::SettingConflict, "utcOffset beside timeZone");
  expect_problem(nightly("cron: \", * * * *\""), Code::ValueRange, "\",\" is no minute");
  expect_problem(nightly("cron: \"0 2 * * 3\""), Code::SettingConflict, "no run of the schedule");
  expect_problem(nightly("cron: \"0 2 * * *\"", "submitAt: 1h, "), Code::SettingConflict,
                 "submitAt beside schedule");
}

// Windows of KEDA's cron scaler.

using Steps = std::vector<std::pair<std::int64_t, int>>;  // minutes, replicas

struct Window {
  const char* start;
  const char* end;
  int replicas;
  const char* zone = "";
};

Steps steps_of(const std::vector<Window>& windows, Duration starts_at, Duration duration) {
  std::vector<ReplicaWindow> read;
  for (const Window& window : windows) {
    read.push_back(
        {*parse_cron(window.start), *parse_cron(window.end), window.zone, window.replicas, {}});
  }
  Steps steps;
  const auto found = replica_steps(read, starts_at, duration, 1000);
  if (!found) throw std::string("too many");
  for (const ReplicaStep& step : *found) {
    steps.emplace_back(step.at.ns / minutes(1).ns, step.replicas);
  }
  return steps;
}

TEST(ReplicaWindows, HoldFromEachStartToTheNextEnd) {
  const Window office{"0 7 * * 1-5", "0 20 * * 1-5", 6, "Europe/Berlin"};
  EXPECT_EQ(steps_of({office}, {}, hours(24)), (Steps{{0, 0}, {6 * 60, 6}, {19 * 60, 0}}));
  EXPECT_EQ(steps_of({office}, hours(12), hours(12)), (Steps{{0, 6}, {7 * 60, 0}}));
  // Friday's end is the last before Monday's start.
  EXPECT_EQ(steps_of({office}, hours(5 * 24), hours(48)), (Steps{{0, 0}}));
  // What comes next decides: an end.
  EXPECT_EQ(steps_of({{"0 22 * * *", "0 6 * * *", 2}}, {}, hours(24)),
            (Steps{{0, 2}, {6 * 60, 0}, {22 * 60, 2}}));
}

TEST(ReplicaWindows, TheLargestThatIsOpenCounts) {
  EXPECT_EQ(
      steps_of({{"0 6 * * *", "0 22 * * *", 2}, {"0 9 * * *", "0 17 * * *", 5}}, {}, hours(24)),
      (Steps{{0, 0}, {6 * 60, 2}, {9 * 60, 5}, {17 * 60, 2}, {22 * 60, 0}}));
  const std::vector<ReplicaWindow> often = {
      {*parse_cron("* * * * *"), *parse_cron("@daily"), "", 1, {}}};
  EXPECT_FALSE(replica_steps(often, {}, hours(24), 1000));
}

std::string with_scaling(const std::string& scaling) {
  return with_workload("kind: Service, autoscaling: {" + scaling +
                           "}, measured: {requestGpuTime: 20ms}, "
                           "traffic: {mean: 1/s}",
                       "  duration: 24h\n");
}

TEST(ReplicaWindows, AreReadWithAMetricOrWithout) {
  const std::string window =
      "schedule: [{start: \"0 7 * * *\", end: \"0 20 * * *\", desiredReplicas: 3, timeZone: "
      "Asia/Tokyo}]";
  const Workload alone = workload_of(with_scaling("max: 4, " + window));
  ASSERT_TRUE(alone.autoscaling);
  EXPECT_FALSE(alone.autoscaling->has_metric());
  ASSERT_EQ(alone.autoscaling->schedule.size(), 1U);
  EXPECT_EQ(alone.autoscaling->schedule.front().time_zone, "Asia/Tokyo");
  EXPECT_EQ(alone.autoscaling->schedule.front().end.text, "0 20 * * *");
  const Workload both = workload_of(with_scaling("min: 0, max: 4, target: 2, " + window));
  EXPECT_TRUE(both.autoscaling->has_metric());
  EXPECT_TRUE(both.autoscaling->holds_requests());
}

TEST(ReplicaWindows, MistakesAreSaid) {
  const auto with = [](const std::string& window) {
    return with_scaling("max: 4, schedule: [{" + window + "}]");
  };
  expect_problem(with_scaling("max: 4"), Code::FieldMissing, "autoscaling has no target");
  expect_problem(with_scaling("max: 4, metric: Queue, schedule: [{start: \"0 7 * * *\", end: "
                              "\"0 8 * * *\", desiredReplicas: 2}]"),
                 Code::SettingConflict, "metric without target");
  expect_problem(with("start: \"0 25 * * *\", end: \"0 8 * * *\", desiredReplicas: 2"),
                 Code::ValueRange, "\"25\" is no hour");
  expect_problem(with("start: \"0 7 * * *\", end: \"0 7 * * *\", desiredReplicas: 2"),
                 Code::SettingConflict, "ends when it starts");
  expect_problem(with("start: \"0 7 * * *\", end: \"@daily\", desiredReplicas: 2"),
                 Code::ValueRange, "KEDA does not know \"@daily\"");
  expect_problem(with("start: \"0 7 * * *\", end: \"0 8 * * *\", desiredReplicas: 5"),
                 Code::SettingConflict, "desiredReplicas 5 is above max 4");
  // Jobs end a run of which nobody knows before when it does.
  std::string endless = with("start: \"0 7 * * *\", end: \"0 8 * * *\", desiredReplicas: 2");
  endless.replace(endless.find("  duration: 24h\n"), 16, "");
  expect_problem(endless, Code::SettingConflict,
                 "a schedule goes on for ever, and the run has no duration");
}

}  // namespace
}  // namespace slicewise::scenarios
