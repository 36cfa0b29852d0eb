#include "slicewise/sim/max_load.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::Scenario;
using scenarios::ServiceTime;
using ::testing::HasSubstr;

constexpr double kServed = 100;  // requests/s of one GPU at 10 ms each

scenarios::Workload api(double rate, ServiceTime::Law law, Duration p99) {
  scenarios::Workload workload = demo::service(1, rate, milliseconds(10), law);
  workload.objectives.push_back({Figure::LatencyP99, p99, {}});
  return workload;
}

Scenario alone(double rate, Duration p99, ServiceTime::Law law = ServiceTime::Law::Exponential) {
  Scenario scenario = demo::scenario(demo::pool(0), {api(rate, law, p99)});
  scenario.duration = minutes(15);
  scenario.warmup = minutes(1);
  scenario.replications = 4;
  return scenario;
}

scenarios::ScenarioSet load_set(Scenario scenario) {
  scenarios::ScenarioSet set;
  set.name = "load";
  set.variants.push_back(std::move(scenario));
  return set;
}

MaxLoad found(Scenario scenario, const MaxLoadOptions& options = {}) {
  auto answer = find_max_load(load_set(std::move(scenario)), 0, demo::catalogue(), options);
  if (!answer) throw std::runtime_error(answer.error().front().message);
  return std::move(*answer);
}

Diagnostic error_of(Scenario scenario, const MaxLoadOptions& options = {}) {
  const auto answer = find_max_load(load_set(std::move(scenario)), 0, demo::catalogue(), options);
  if (answer) throw std::runtime_error("no error");
  return answer.error().front();
}

// Response times of M/M/1 are exponential with rate mu - lambda: the 99th percentile is
// ln(100) / (mu - lambda). Source: Kleinrock, Queueing Systems I, section 5.12.
double largest_mm1(Duration p99) { return kServed - std::log(100.0) / to_seconds(p99); }

// Searched once for several tests: a GPU at 20 requests/s with a limit of 200 ms.
const MaxLoad& at_200_ms() {
  static const MaxLoad answer = found(alone(20, milliseconds(200)));
  return answer;
}

MaxLoadOptions roughly() {
  MaxLoadOptions options;
  options.precision = 0.1;
  return options;
}

void expect_around(const MaxLoad& answer, double load) {
  ASSERT_TRUE(answer.passed && answer.failed);
  // The ends are right in 95 % of the cases; a hair beyond them is not a mistake.
  constexpr double kHair = 1.005;
  EXPECT_LE(*answer.loads.front().passed, load * kHair);
  EXPECT_GE(*answer.loads.front().failed * kHair, load);
}

// With the rates of the load that stood.
TEST(ThoroughMaxLoad, IsOfThePeakUnlessARunIsNamedThatHasNone) {
  Scenario scenario = alone(20, milliseconds(200));
  scenario.duration = minutes(3);
  scenario.replications = 2;
  scenarios::Diurnal day;
  day.peak = {40};
  day.peak_at = hours(12);
  scenario.workloads.front().traffic->shape = day;
  const MaxLoad at_peak = found(scenario, roughly());
  ASSERT_EQ(at_peak.notes.size(), 1U);
  EXPECT_EQ(at_peak.notes.front().code, Code::StartsAtPeak);
  EXPECT_EQ(at_peak.stamp.starts_at, "Mon 11:55");
  scenario.starts_at = Duration{};
  const MaxLoad night = found(scenario, roughly());
  ASSERT_EQ(night.notes.size(), 1U);
  EXPECT_EQ(night.notes.front().code, Code::PeakNotInRun);
  EXPECT_THAT(night.notes.front().message, HasSubstr(fmt::format("and {:.0f}/s at its busiest",
                                                                 2 * *night.loads.front().passed)));
  EXPECT_EQ(night.stamp.starts_at, "");
  EXPECT_GT(*night.loads.front().passed, 1.5 * *at_peak.loads.front().passed);
  scenario.starts_at = hours(12);
  EXPECT_THAT(found(scenario, roughly()).notes, ::testing::IsEmpty());
}

TEST(ThoroughMaxLoad, FindsTheRateThatMm1Allows) {
  expect_around(at_200_ms(), largest_mm1(milliseconds(200)));
  EXPECT_LE(*at_200_ms().width(), 0.04);
  expect_around(found(alone(20, milliseconds(100)), roughly()), largest_mm1(milliseconds(100)));
}

TEST(ThoroughMaxLoad, SaysWhatWasScaledAndWhatGivesWay) {
  const MaxLoad& answer = at_200_ms();
  const ScaledLoad& load = answer.loads.front();
  EXPECT_EQ(load.unit, LoadUnit::RequestsPerSecond);
  EXPECT_EQ(load.scenario, 20);
  ASSERT_TRUE(answer.binding);
  EXPECT_EQ(answer.probes[*answer.failed].objectives[*answer.binding].result.name, "latencyP99");
  ASSERT_TRUE(answer.at_passed);
  EXPECT_NEAR(answer.at_passed->workloads.front().throughput_per_second, *load.passed, 0.5);
}

TEST(ThoroughMaxLoad, ScalesDownFromALoadThatFails) {
  const MaxLoad answer = found(alone(95, milliseconds(100)), roughly());
  EXPECT_EQ(answer.probes.front().verdict, LoadVerdict::Fails);
  EXPECT_LT(answer.probes[*answer.passed].factor, 1);
  expect_around(answer, largest_mm1(milliseconds(100)));
}

TEST(ThoroughMaxLoad, SteadyServiceTimesAllowMoreThanRandomOnes) {
  const auto load = [](ServiceTime::Law law) {
    return *found(alone(20, milliseconds(60), law), roughly()).loads.front().passed;
  };
  EXPECT_GT(load(ServiceTime::Law::Deterministic), 1.5 * load(ServiceTime::Law::Exponential));
}

TEST(ThoroughMaxLoad, AnIntervalHasNoPassAboveItNorAFailBelow) {
  const MaxLoad& answer = at_200_ms();
  for (const LoadProbe& probe : answer.probes) {
    if (probe.verdict == LoadVerdict::Passes) {
      EXPECT_LE(probe.factor, answer.probes[*answer.passed].factor);
    }
    if (probe.verdict == LoadVerdict::Fails) {
      EXPECT_GE(probe.factor, answer.probes[*answer.failed].factor);
    }
    EXPECT_GE(probe.replications, 4);
    EXPECT_LE(probe.replications, 16);
  }
}

TEST(ThoroughMaxLoad, IsTheSameWithAnyNumberOfThreads) {
  const auto probes = [](int threads) {
    MaxLoadOptions options = roughly();
    options.run.threads = threads;
    Scenario scenario = alone(20, milliseconds(100));
    scenario.duration = minutes(5);
    std::vector<std::pair<double, std::int64_t>> figures;
    for (const LoadProbe& probe : found(scenario, options).probes) {
      figures.emplace_back(probe.factor, std::get<Duration>(probe.objectives[0].result.value).ns);
    }
    return figures;
  };
  EXPECT_EQ(probes(1), probes(3));
}

TEST(ThoroughMaxLoad, SaysWhenNothingFailsOrNothingPasses) {
  MaxLoadOptions options;
  options.most = 4;
  const MaxLoad light = found(alone(1, seconds(5)), options);
  EXPECT_FALSE(light.failed);
  EXPECT_EQ(*light.loads.front().passed, 4);
  EXPECT_FALSE(light.width());
  const MaxLoad hopeless = found(alone(40, milliseconds(1)), options);
  EXPECT_FALSE(hopeless.passed);
  EXPECT_EQ(*hopeless.loads.front().failed, 10);
  EXPECT_FALSE(hopeless.at_passed);
}

TEST(ThoroughMaxLoad, OnlyWhatIsNamedGrows) {
  Scenario scenario = alone(20, milliseconds(100));
  scenario.node_pools.front() = demo::pool(0);
  scenarios::Workload other = api(10, ServiceTime::Law::Exponential, milliseconds(100));
  other.name.value = "other";
  scenario.workloads.push_back(other);
  MaxLoadOptions options = roughly();
  options.scale = {"workloads.other.traffic"};
  const MaxLoad answer = found(scenario, options);
  ASSERT_EQ(answer.loads.size(), 1U);
  EXPECT_EQ(answer.loads.front().name, "other");
  EXPECT_NEAR(answer.at_passed->workloads[0].throughput_per_second, 20, 1);
  EXPECT_NEAR(answer.at_passed->workloads[1].throughput_per_second, *answer.loads.front().passed,
              1);
}

TEST(ThoroughMaxLoad, NeedsAnObjectiveAndALoad) {
  Scenario without = alone(20, milliseconds(100));
  without.workloads.front().objectives.clear();
  EXPECT_EQ(error_of(without).code, Code::InputMissing);
  EXPECT_THAT(error_of(without).help, HasSubstr("slo"));
  without.workloads.front().objectives.push_back({Figure::Throughput, Rate{10}, {}});
  EXPECT_THAT(error_of(without).message, HasSubstr("no objective"));
  MaxLoadOptions options;
  options.scale = {"workloads.apu.traffic"};
  EXPECT_EQ(error_of(alone(20, milliseconds(100)), options).code, Code::PathUnknown);
}

// A least throughput is no reason to call a small load bad.
TEST(ThoroughMaxLoad, LeavesTheThroughputObjectiveOut) {
  Scenario scenario = alone(20, milliseconds(100));
  scenario.workloads.front().objectives.push_back({Figure::Throughput, Rate{1000}, {}});
  const MaxLoad answer = found(scenario, roughly());
  EXPECT_TRUE(answer.passed);
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_THAT(answer.notes.front().message, HasSubstr("throughput"));
}

TEST(ThoroughMaxLoad, StopsWhereNoPodEverRuns) {
  Scenario scenario = alone(20, milliseconds(100));
  scenario.workloads.front().pod.cpu_request = {1'000'000};
  const MaxLoad answer = found(scenario);
  EXPECT_TRUE(answer.nothing_runs());
  EXPECT_EQ(answer.probes.size(), 1U);
}

// Services on GPUs of their own are judged one by one: the weakest decides, and what is shown of
// the ends of the interval is a run of all of them.
TEST(ThoroughMaxLoad, OfServicesApartIsThatOfTheWeakest) {
  Scenario scenario = alone(20, milliseconds(200));
  scenario.duration = minutes(3);
  const MaxLoad weakest = found(scenario, roughly());
  scenario.node_pools.front().nodes = 3;
  for (const char* name : {"light", "lighter"}) {
    scenario.workloads.push_back(api(6, ServiceTime::Law::Exponential, milliseconds(200)));
    scenario.workloads.back().name.value = name;
  }
  const MaxLoad all = found(scenario, roughly());
  ASSERT_EQ(all.probes.size(), weakest.probes.size());
  for (std::size_t p = 0; p < all.probes.size(); ++p) {
    EXPECT_EQ(all.probes[p].factor, weakest.probes[p].factor);
    EXPECT_EQ(all.probes[p].verdict, weakest.probes[p].verdict);
  }
  for (const auto end : {all.passed, all.failed}) {
    const LoadProbe& probe = all.probes[end.value()];
    ASSERT_EQ(probe.objectives.size(), 3U);
    EXPECT_EQ(probe.objectives.front().result.value,
              weakest.probes[*end].objectives.front().result.value);
  }
  EXPECT_EQ(all.probes[*all.failed].objectives[*all.binding].workload, "api");
  EXPECT_EQ(all.at_passed->workloads.size(), 3U);
}

}  // namespace
}  // namespace slicewise::sim
