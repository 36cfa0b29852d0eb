#include "one_workload.hpp"

namespace slicewise::scenarios {
namespace {

std::string with_traffic(const std::string& traffic) {
  return with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: {" + traffic +
                       "}");
}

Traffic traffic_read(const std::string& traffic) {
  return workload_of(with_traffic(traffic)).traffic.value_or(Traffic{});
}

void expect_traffic_problem(const std::string& traffic, Code code, const std::string& message) {
  expect_problem(with_traffic(traffic), code, message);
}

TEST(Traffic, GapsFollowTheirLaw) {
  EXPECT_EQ(traffic_read("mean: 3/s").gaps, Traffic::Gaps::Poisson);
  EXPECT_EQ(traffic_read("shape: Constant, mean: 3/s").gaps, Traffic::Gaps::Constant);
  const Traffic gamma = traffic_read("shape: Gamma, mean: 90/m, variation: 2.5");
  EXPECT_EQ(gamma.gaps, Traffic::Gaps::Gamma);
  EXPECT_DOUBLE_EQ(gamma.gap_variation, 2.5);
  EXPECT_DOUBLE_EQ(gamma.mean.per_second, 1.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(gamma.shape));
  EXPECT_EQ(traffic_read("shape: Weibull, mean: 3/s, variation: 1").gaps, Traffic::Gaps::Weibull);
}

TEST(Traffic, DayHasPeakOffsetAndWeekend) {
  const Traffic traffic = traffic_read(
      "shape: Diurnal, mean: 12/s, peak: 40/s, peakAt: 14:30, utcOffset: -05:30, "
      "weekend: 40%, variation: 3");
  const auto& day = std::get<Diurnal>(traffic.shape);
  EXPECT_DOUBLE_EQ(day.peak.per_second, 40);
  EXPECT_EQ(day.peak_at, minutes(14 * 60 + 30));  // not 870, which YAML 1.1 would read
  EXPECT_EQ(day.utc_offset, minutes(-(5 * 60 + 30)));
  EXPECT_DOUBLE_EQ(day.weekend, 0.4);
  EXPECT_EQ(traffic.gaps, Traffic::Gaps::Gamma);
  const Traffic plain = traffic_read("shape: Diurnal, mean: 12/s, peak: 40/s, peakAt: \"00:00\"");
  EXPECT_EQ(plain.gaps, Traffic::Gaps::Poisson);
  EXPECT_DOUBLE_EQ(std::get<Diurnal>(plain.shape).weekend, 1);
}

TEST(Traffic, BurstsStepsAndClientsAreRead) {
  const auto bursts = std::get<Bursts>(
      traffic_read("shape: Bursts, mean: 12/s, bursts: {rate: 80/s, length: 20s, every: 5m}")
          .shape);
  EXPECT_DOUBLE_EQ(bursts.rate.per_second, 80);
  EXPECT_EQ(bursts.length, seconds(20));
  EXPECT_EQ(bursts.every, minutes(5));
  const auto steps = std::get<std::vector<RateStep>>(
      traffic_read("shape: Steps, steps: [{at: 0, rate: 5/s}, {at: 10m, rate: 0/s}]").shape);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].at, minutes(10));
  EXPECT_EQ(steps[1].rate.per_second, 0);
  const auto loop =
      std::get<ClosedLoop>(traffic_read("shape: ClosedLoop, clients: 50, thinkTime: 5s").shape);
  EXPECT_EQ(loop.clients, 50);
  EXPECT_EQ(loop.think_time, seconds(5));
}

// Nothing for a minute, 5/s until the tenth and 20/s from then on.
TEST(Traffic, StepsHaveAMeanOverTheRun) {
  const auto mean = [](const std::string& run) {
    const std::string steps = "{at: 1m, rate: 5/s}, {at: 10m, rate: 20/s}, {at: 30m, rate: 80/s}";
    return workload_of(with_workload("kind: Service, measured: {requestGpuTime: 9ms}, traffic: "
                                     "{shape: Steps, steps: [" +
                                         steps + "]}",
                                     run))
        .traffic->mean.per_second;
  };
  EXPECT_DOUBLE_EQ(mean("  duration: 20m\n"), (9 * 5 + 10 * 20) / 20.0);
  EXPECT_DOUBLE_EQ(mean("  duration: 5m\n"), 4);
  EXPECT_DOUBLE_EQ(mean(""), 80);
}

TEST(Traffic, FieldsOfOtherShapesAreRefused) {
  expect_traffic_problem("mean: 1/s, peak: 4/s", Code::SettingConflict, "peak with shape Poisson");
  expect_traffic_problem("mean: 1/s, variation: 2", Code::SettingConflict,
                         "variation with shape Poisson");
  expect_traffic_problem("shape: Steps, mean: 1/s, steps: [{at: 0, rate: 1/s}]",
                         Code::SettingConflict, "mean with shape Steps");
  expect_traffic_problem("shape: ClosedLoop, clients: 3, mean: 1/s", Code::SettingConflict,
                         "mean with shape ClosedLoop");
  expect_traffic_problem("mean: 1/s, clients: 3", Code::SettingConflict, "clients with shape");
  expect_traffic_problem("mean: 1/s, trace: {file: a.csv}", Code::SettingConflict, "trace with");
}

TEST(Traffic, FieldsOfTheShapeAreNeeded) {
  expect_traffic_problem("shape: Constant", Code::FieldMissing, "\"mean\" is missing");
  expect_traffic_problem("shape: Gamma, mean: 1/s", Code::FieldMissing, "\"variation\" is missing");
  expect_traffic_problem("shape: Diurnal, mean: 1/s, peak: 3/s", Code::FieldMissing,
                         "\"peakAt\" is missing");
  expect_traffic_problem("shape: Bursts, mean: 1/s", Code::FieldMissing, "\"bursts\" is missing");
  expect_traffic_problem("shape: Trace", Code::FieldMissing, "\"trace\" is missing");
  expect_traffic_problem("shape: ClosedLoop", Code::FieldMissing, "\"clients\" is missing");
  // Which fields a misspelt shape needs nobody knows.
  expect_traffic_problem("shape: Poison", Code::EnumUnknown, "Poison");
}

TEST(Traffic, NumbersFitEachOther) {
  const std::string day = "shape: Diurnal, mean: 10/s, peakAt: 14:00, ";
  expect_traffic_problem(day + "peak: 10/s", Code::SettingConflict, "peak is not above mean");
  expect_traffic_problem(day + "peak: 241/s", Code::SettingConflict, "24 times mean");
  const std::string bursts = "shape: Bursts, mean: 10/s, bursts: ";
  // 80/s over 20 of 100 s is 16/s by itself.
  expect_traffic_problem(bursts + "{rate: 80/s, length: 20s, every: 100s}", Code::SettingConflict,
                         "the bursts alone");
  expect_traffic_problem(bursts + "{rate: 80/s, length: 2m, every: 100s}", Code::SettingConflict,
                         "not shorter");
  expect_traffic_problem(bursts + "{rate: 9/s, length: 2s, every: 100s}", Code::SettingConflict,
                         "not above mean");
  EXPECT_TRUE(std::holds_alternative<Bursts>(
      traffic_read(bursts + "{rate: 50/s, length: 20s, every: 100s}").shape));  // silence between
  expect_traffic_problem("shape: Steps, steps: [{at: 1m, rate: 1/s}, {at: 1m, rate: 2/s}]",
                         Code::SettingConflict, "does not come after");
  expect_traffic_problem("shape: Steps, steps: [{at: 0, rate: 0/s}]", Code::ValueRange,
                         "rate of zero");
  expect_traffic_problem("shape: Gamma, mean: 1/s, variation: 0.001", Code::ValueRange,
                         "at least 0.01");
}

TEST(Traffic, ClockTimesAreText) {
  const std::string day = "shape: Diurnal, mean: 10/s, peak: 20/s, ";
  expect_traffic_problem(day + "peakAt: 840", Code::FieldType, "is not a time of day");
  expect_traffic_problem(day + "peakAt: 24:00", Code::FieldType, "is not a time of day");
  expect_traffic_problem(day + "peakAt: 9:30", Code::FieldType, "is not a time of day");
  expect_traffic_problem(day + "peakAt: 14:00, utcOffset: 60", Code::FieldType,
                         "distance from UTC");
  expect_traffic_problem(day + "peakAt: 14:00, utcOffset: +15:00", Code::FieldType,
                         "distance from UTC");
}

TEST(StartsAt, IsAWeekdayAndATime) {
  const std::string job = "work: {units: 1}, measured: {unitTime: 1s}";
  EXPECT_FALSE(scenario_of(with_workload(job)).starts_at);
  EXPECT_EQ(scenario_of(with_workload(job)).start(), Duration{});
  EXPECT_EQ(scenario_of(with_workload(job, "  startsAt: Wed 08:15\n")).starts_at,
            hours(2 * 24 + 8) + minutes(15));
  expect_problem(with_workload(job, "  startsAt: 08:15\n"), Code::FieldType, "weekday");
  expect_problem(with_workload(job, "  startsAt: Mit 08:15\n"), Code::FieldType, "weekday");
}

}  // namespace
}  // namespace slicewise::scenarios
