#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../sim/studies/probe/loads.hpp"
#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Traffic;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> paths_of(const std::vector<LoadTarget>& targets) {
  std::vector<std::string> paths;
  for (const LoadTarget& target : targets) paths.push_back(target.path);
  return paths;
}

scenarios::Workload named(scenarios::Workload workload, const std::string& name) {
  workload.name.value = name;
  return workload;
}

scenarios::Workload notebook(int users) {
  scenarios::Workload workload = named(demo::training(users), "lab");
  workload.kind = scenarios::WorkloadKind::Notebook;
  workload.notebooks.emplace().users = users;
  return workload;
}

Scenario voice() {
  const scenarios::Workload api =
      demo::service(1, 20, milliseconds(10), scenarios::ServiceTime::Law::Exponential);
  scenarios::Workload idle = named(api, "idle");
  idle.count = 0;
  scenarios::Workload tts = named(api, "tts");
  tts.traffic.reset();
  Scenario scenario = demo::scenario(
      demo::pool(4), {named(api, "asr"), tts, idle, demo::training(1), notebook(60)});
  scenarios::Pipeline pipeline;
  pipeline.name.value = "talk";
  pipeline.traffic.mean = {5};
  scenario.pipelines.push_back(pipeline);
  return scenario;
}

// The traffic of the only target, scaled.
Traffic scaled_traffic(const Traffic& traffic, double factor) {
  Scenario scenario = voice();
  scenario.workloads.front().traffic = traffic;
  const auto targets = load_targets(scenario, std::vector<std::string>{"workloads.asr.traffic"});
  return *scaled(scenario, *targets, factor).workloads.front().traffic;
}

TEST(LoadTargets, AreAllTrafficOrAllUsersWhereThereIsNoTraffic) {
  EXPECT_THAT(paths_of(*load_targets(voice(), {})),
              ElementsAre("workloads.asr.traffic", "pipelines.talk.traffic"));
  const Scenario lab = demo::scenario(demo::pool(4), {notebook(60), demo::training(1)});
  EXPECT_THAT(paths_of(*load_targets(lab, {})), ElementsAre("workloads.lab.notebooks"));
}

TEST(LoadTargets, AreThoseThatAreNamedOnceEach) {
  const std::vector<std::string> asked = {"pipelines.talk.traffic", "workloads.lab.notebooks",
                                          "pipelines.talk.traffic"};
  EXPECT_THAT(paths_of(*load_targets(voice(), asked)),
              ElementsAre("pipelines.talk.traffic", "workloads.lab.notebooks"));
}

TEST(LoadTargets, AnUnknownPathNamesTheNearest) {
  const std::vector<std::string> asked = {"workloads.asr.trafic"};
  const auto targets = load_targets(voice(), asked);
  ASSERT_FALSE(targets);
  EXPECT_EQ(targets.error().front().code, Code::PathUnknown);
  EXPECT_THAT(targets.error().front().help, HasSubstr("workloads.asr.traffic"));
  const std::vector<std::string> no_load = {"workloads.cifar10.count"};
  EXPECT_THAT(load_targets(voice(), no_load).error().front().help,
              HasSubstr("there is load at workloads.asr.traffic"));
}

TEST(LoadTargets, WithoutAnyLoadThereIsNothingToScale) {
  const auto targets = load_targets(demo::scenario(demo::pool(4), {demo::training(1)}), {});
  ASSERT_FALSE(targets);
  EXPECT_EQ(targets.error().front().code, Code::InputMissing);
}

TEST(LoadTargets, AreNothingThatIsNothing) {
  Scenario scenario = voice();
  scenario.workloads.front().traffic->mean = {};
  EXPECT_THAT(paths_of(*load_targets(scenario, {})), ElementsAre("pipelines.talk.traffic"));
  scenario.pipelines.clear();
  scenario.workloads.resize(1);
  const auto targets = load_targets(scenario, {});
  ASSERT_FALSE(targets);
  EXPECT_EQ(targets.error().front().code, Code::InputMissing);
}

TEST(LoadTargets, EveryRateOfATrafficGrows) {
  Traffic traffic;
  traffic.mean = {10};  // of every shape: readers of files see to it
  EXPECT_EQ(scaled_traffic(traffic, 2.5).mean.per_second, 25);

  traffic.shape = scenarios::Diurnal{{30}, hours(14), {}, 0.5};
  const auto diurnal = std::get<scenarios::Diurnal>(scaled_traffic(traffic, 2).shape);
  EXPECT_EQ(diurnal.peak.per_second, 60);
  EXPECT_EQ(diurnal.weekend, 0.5);

  traffic.shape = scenarios::Bursts{{100}, seconds(5), minutes(1)};
  const auto bursts = std::get<scenarios::Bursts>(scaled_traffic(traffic, 2).shape);
  EXPECT_EQ(bursts.rate.per_second, 200);
  EXPECT_EQ(bursts.length, seconds(5));

  traffic.shape = std::vector<scenarios::RateStep>{{{}, {4}}, {hours(1), {0}}, {hours(2), {8}}};
  const auto steps = std::get<std::vector<scenarios::RateStep>>(scaled_traffic(traffic, 3).shape);
  EXPECT_EQ(steps[0].rate.per_second, 12);
  EXPECT_EQ(steps[1].rate.per_second, 0);
  EXPECT_EQ(steps[2].rate.per_second, 24);
}

TEST(LoadTargets, ATraceIsReplayedFaster) {
  scenarios::RequestTrace trace;
  for (int n = 0; n <= 100; ++n) trace.rows.push_back({seconds(n), 0, 0});
  trace.scale = 2;
  Traffic traffic;
  traffic.shape = trace;
  EXPECT_EQ(std::get<scenarios::RequestTrace>(scaled_traffic(traffic, 3).shape).scale, 6);
  Scenario scenario = voice();
  scenario.workloads.front().traffic = traffic;
  const auto targets = load_targets(scenario, std::vector<std::string>{"workloads.asr.traffic"});
  EXPECT_DOUBLE_EQ(load_of(scenario, targets->front()), 2);
  EXPECT_EQ(unit_of(scenario, targets->front()), LoadUnit::RequestsPerSecond);
}

TEST(LoadTargets, CountsStayWholeAndAtLeastOne) {
  Scenario scenario = voice();
  scenario.workloads.front().traffic->shape = scenarios::ClosedLoop{8, seconds(1)};
  const auto targets = *load_targets(
      scenario, std::vector<std::string>{"workloads.asr.traffic", "workloads.lab.notebooks"});
  EXPECT_EQ(unit_of(scenario, targets[0]), LoadUnit::Streams);
  EXPECT_EQ(unit_of(scenario, targets[1]), LoadUnit::Users);
  const Scenario more = scaled(scenario, targets, 1.33);
  EXPECT_EQ(load_of(more, targets[0]), 11);    // 10.64
  EXPECT_EQ(load_of(more, targets[1]), 80);    // 79.8
  EXPECT_EQ(more.workloads.back().count, 80);  // a pod for each user
  const Scenario least = scaled(scenario, targets, 0.001);
  EXPECT_EQ(load_of(least, targets[0]), 1);
  EXPECT_EQ(load_of(least, targets[1]), 1);
}

}  // namespace
}  // namespace slicewise::sim
