#include "slicewise/sim/neighbours.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ServiceTime;
using scenarios::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload called(Workload workload, const std::string& name) {
  workload.name.value = name;
  return workload;
}

// A Job that keeps the GPU busy all the time.
Workload trainer(const std::string& name) {
  Workload workload = called(demo::training(1), name);
  workload.measured->gpu_busy = 1;
  workload.work->units = 20;
  return workload;
}

Workload api_named(const std::string& name) {
  return called(demo::service(1, 5, milliseconds(10), ServiceTime::Law::Exponential), name);
}

// A node with one V100.
scenarios::NodePool one_gpu_pool(int replicas) {
  scenarios::NodePool pool = demo::pool(replicas);
  pool.instance_type.value = "p3.2xlarge";
  return pool;
}

Scenario three_runs_on(scenarios::NodePool pool, std::vector<Workload> workloads) {
  Scenario scenario = demo::scenario(std::move(pool), std::move(workloads));
  scenario.replications = 3;
  return scenario;
}

scenarios::ScenarioSet flat_set(Scenario scenario) {
  scenarios::ScenarioSet set;
  set.name = "flat";
  set.variants.push_back(std::move(scenario));
  return set;
}

NeighbourMatrix matrix_of(Scenario scenario, int threads = 1) {
  NeighbourOptions options;
  options.run.threads = threads;
  auto matrix = find_neighbours(flat_set(std::move(scenario)), 0, demo::catalogue(), options);
  if (!matrix) throw std::runtime_error(matrix.error().front().message);
  return std::move(*matrix);
}

TEST(Neighbours, TwoTrainersOnOneTimeSlicedGpuEachTakeTwiceAsLong) {
  const NeighbourMatrix matrix =
      matrix_of(three_runs_on(one_gpu_pool(2), {trainer("a"), trainer("b")}));
  EXPECT_THAT(matrix.workloads, ElementsAre("a", "b"));
  ASSERT_EQ(matrix.rows.size(), 2U);
  for (const NeighbourRow& row : matrix.rows) {
    const NeighbourEffect& effect = row.beside[1 - row.workload];
    EXPECT_EQ(row.figure, NeighbourFigure::TimePerUnit);
    EXPECT_NEAR(*row.alone, 18, 0.1);
    EXPECT_GE(*effect.slowdown, 2.0);
    EXPECT_LT(*effect.slowdown, 2.3);  // the rest are the switches
    EXPECT_TRUE(effect.shares_gpu);
    EXPECT_FALSE(row.beside[row.workload].slowdown);
  }
}

// An epoch that takes longer than the run, beside another one: no unit is over, alone or beside it.
TEST(Neighbours, WhatWasDoneOfAUnitCounts) {
  Scenario scenario = three_runs_on(one_gpu_pool(2), {trainer("a"), trainer("b")});
  scenario.duration = seconds(15);
  const NeighbourMatrix matrix = matrix_of(scenario);
  for (const NeighbourRow& row : matrix.rows) {
    EXPECT_NEAR(row.alone.value_or(0), 18, 0.1);
    EXPECT_GE(row.beside[1 - row.workload].slowdown.value_or(0), 2.0);
    EXPECT_LT(row.beside[1 - row.workload].slowdown.value_or(0), 2.3);
  }
}

TEST(Neighbours, WhoNeverSharesAGpuIsNotSlowedDown) {
  const NeighbourMatrix matrix =
      matrix_of(three_runs_on(demo::pool(0), {trainer("a"), trainer("b")}));
  const NeighbourEffect& effect = matrix.rows[0].beside[1];
  EXPECT_FALSE(effect.shares_gpu);
  EXPECT_NEAR(*effect.slowdown, 1, 1e-6);
}

// Three empty nodes: kube-scheduler spreads two pods, and the device plugin spreads them on a node.
TEST(Neighbours, WhoTheSchedulerKeepsApartIsPutOnOneGpu) {
  Workload api =
      called(demo::service(2, 10, milliseconds(10), ServiceTime::Law::Exponential), "api");
  Scenario scenario = three_runs_on(demo::pool(4, 3), {api, trainer("a"), trainer("b")});
  scenario.duration = minutes(5);
  const NeighbourMatrix matrix = matrix_of(scenario);
  const NeighbourEffect& beside_a = matrix.rows[1].beside[1];
  EXPECT_TRUE(beside_a.put_together);
  EXPECT_TRUE(beside_a.shares_gpu);
  EXPECT_GT(*beside_a.slowdown, 1.5);
  const NeighbourEffect& twins = matrix.rows[2].beside[2];
  EXPECT_TRUE(twins.put_together);
  EXPECT_GE(*twins.slowdown, 2.0);  // they take turns
  EXPECT_LT(*twins.slowdown, 2.3);
  // Where they meet by themselves they are left alone.
  const NeighbourMatrix one_gpu =
      matrix_of(three_runs_on(one_gpu_pool(2), {api_named("api"), trainer("a")}));
  EXPECT_FALSE(one_gpu.rows[0].beside[1].put_together);
}

// One pod of each, whatever its Job has: the others would be beyond the pods that there are.
TEST(Neighbours, OnePodOfAGangIsPutTogether) {
  Workload gang = trainer("gang");
  gang.count = 4;
  gang.pods_per_job = gang.parallelism.emplace(2);
  Scenario scenario = three_runs_on(demo::pool(4, 3), {gang, trainer("b")});
  const NeighbourMatrix matrix = matrix_of(scenario);
  EXPECT_TRUE(matrix.rows[1].beside[0].put_together);
  EXPECT_GE(matrix.rows[1].beside[0].slowdown.value_or(0), 2.0);
}

// The first pool could hold each of them, but gives a GPU to one pod only, and neither ran there.
TEST(Neighbours, APairIsPutTogetherWhereBothRan) {
  Scenario scenario = three_runs_on(one_gpu_pool(0), {trainer("a"), trainer("b")});
  scenario.node_pools.push_back(demo::pool(2));
  scenario.node_pools.front().name.value = "small";
  const NeighbourEffect effect = matrix_of(scenario).rows[0].beside[1];
  EXPECT_TRUE(effect.put_together);
  EXPECT_GE(*effect.slowdown, 2.0);
}

TEST(Neighbours, ARequestWaitsForTheTurnsOfTheTrainer) {
  Scenario scenario =
      three_runs_on(one_gpu_pool(3), {api_named("api"), trainer("a"), trainer("b")});
  scenario.duration = minutes(5);
  const NeighbourMatrix matrix = matrix_of(scenario);
  ASSERT_EQ(matrix.rows.size(), 4U);
  const NeighbourRow& p99 = matrix.rows[0];
  const NeighbourRow& mean = matrix.rows[1];
  EXPECT_EQ(p99.figure, NeighbourFigure::LatencyP99);
  EXPECT_EQ(mean.figure, NeighbourFigure::LatencyMean);
  // Alone M/M/1 with rho = 0.05: 10 ms / 0.95.
  EXPECT_NEAR(*mean.alone, 0.010526, 0.0006);
  EXPECT_GT(*mean.beside[1].slowdown, 1.5);
  EXPECT_TRUE(mean.beside[1].ci95);
  EXPECT_NEAR(*mean.beside[1].slowdown, *mean.beside[2].slowdown, 1e-9);  // twins
  EXPECT_GT(*mean.beside_all.slowdown, *mean.beside[1].slowdown);
  // 5 % of the GPU's time goes to the Service.
  const NeighbourRow& a = matrix.rows[2];
  EXPECT_GT(*a.beside[0].slowdown, 1.02);
  EXPECT_LT(*a.beside[0].slowdown, 1.2);
  EXPECT_GT(*a.beside[2].slowdown, 1.9);
}

TEST(Neighbours, AServiceAloneLastsAsLongAsTheScenario) {
  const NeighbourMatrix matrix =
      matrix_of(three_runs_on(one_gpu_pool(2), {api_named("api"), trainer("a")}));
  EXPECT_TRUE(matrix.rows[0].alone);
  EXPECT_GT(*matrix.rows[0].beside[1].slowdown, 1);
}

TEST(Neighbours, StagesOfAPipelineHaveItsRequests) {
  Workload asr = api_named("asr");
  asr.traffic.reset();
  Scenario scenario = three_runs_on(one_gpu_pool(3), {asr, api_named("tts")});
  scenario.duration = minutes(5);
  scenarios::Pipeline pipeline;
  pipeline.name.value = "talk";
  pipeline.traffic.mean = {5};
  pipeline.stages.push_back({{"asr", {}}, {}, {}, {}});
  pipeline.stages.push_back({{"tts", {}}, {{"asr", {}}}, {}, {}});
  scenario.pipelines.push_back(pipeline);
  const NeighbourMatrix matrix = matrix_of(scenario);
  EXPECT_NEAR(*matrix.rows[1].alone, 0.010526, 0.0006);  // rho = 0.05
  EXPECT_NEAR(*matrix.rows[3].alone, 0.011111, 0.0006);  // its own requests too: rho = 0.1
  ASSERT_EQ(matrix.notes.size(), 1U);
  EXPECT_THAT(matrix.notes.front().message, HasSubstr("taken apart"));
}

// Either is served at 0.7 of a GPU alone, and together they ask for 1.4.
TEST(Neighbours, FactorsOfQueuesThatOnlyGrowAreNamed) {
  const auto busy = [](const std::string& name) {
    return called(demo::service(1, 70, milliseconds(10), ServiceTime::Law::Exponential), name);
  };
  Scenario scenario = three_runs_on(one_gpu_pool(2), {busy("a"), busy("b")});
  scenario.duration = minutes(3);
  const NeighbourMatrix matrix = matrix_of(scenario);
  ASSERT_EQ(matrix.notes.size(), 2U);
  EXPECT_EQ(matrix.notes.front().code, Code::QueueUnstable);
  EXPECT_THAT(matrix.notes.front().message,
              HasSubstr("\"a\" arrive faster than they are served beside b"));
  EXPECT_THAT(matrix.notes.back().message, HasSubstr("beside a"));
}

// A fault ends all clients of an MPS server: those who are ended are not slow.
TEST(Neighbours, FaultsThatEndOthersContainersAreNamed) {
  scenarios::NodePool pool = one_gpu_pool(2);
  pool.device_plugin->mps = std::exchange(pool.device_plugin->time_slicing, {});
  Workload faulty = trainer("faulty");
  faulty.work->units = 1'000;
  faulty.restart_policy = scenarios::RestartPolicy::Always;
  faulty.kind = scenarios::WorkloadKind::Deployment;
  faulty.faults = Rate{1.0 / 300};
  Scenario scenario = three_runs_on(pool, {api_named("api"), faulty});
  scenario.duration = minutes(40);
  const NeighbourMatrix matrix = matrix_of(scenario);
  const auto found = std::ranges::find(matrix.notes, Code::FaultShared, &Diagnostic::code);
  ASSERT_NE(found, matrix.notes.end());
  EXPECT_THAT(found->message, HasSubstr("faults of \"faulty\" end \"api\"'s containers"));
}

TEST(Neighbours, AreTheSameWithAnyNumberOfThreads) {
  const auto slowdowns = [](int threads) {
    Scenario scenario =
        three_runs_on(one_gpu_pool(3), {api_named("api"), trainer("a"), trainer("b")});
    scenario.duration = minutes(2);
    std::vector<double> values;
    for (const NeighbourRow& row : matrix_of(scenario, threads).rows) {
      for (const NeighbourEffect& effect : row.beside) {
        values.push_back(effect.slowdown.value_or(0));
        values.push_back(effect.ci95.value_or(0));
      }
      values.push_back(*row.beside_all.slowdown);
    }
    return values;
  };
  EXPECT_EQ(slowdowns(1), slowdowns(3));
}

// Their quotas would keep them from ever meeting.
TEST(Neighbours, AreSimulatedWithoutQuotas) {
  const auto matrix = [](const char* queue) {
    Scenario scenario = three_runs_on(one_gpu_pool(2), {trainer("a"), trainer("b")});
    scenario.flavors.push_back({{"any", {}}, {}, {}, {}});
    scenarios::ClusterQueue& one = scenario.cluster_queues.emplace_back();
    one.name.value = "one";
    const scenarios::ResourceQuota gpus{{"nvidia.com/gpu", {}}, {"1", {}}, {}, {}, {}};
    one.groups.push_back({{{"nvidia.com/gpu", {}}}, {{{"any", {}}, {gpus}, {}}}, {}});
    for (Workload& workload : scenario.workloads) workload.queue.value = queue;
    return matrix_of(scenario);
  };
  const NeighbourMatrix queued = matrix("one");
  EXPECT_EQ(queued.rows.front().beside.back().slowdown,
            matrix("").rows.front().beside.back().slowdown);
  ASSERT_FALSE(queued.notes.empty());
  EXPECT_THAT(queued.notes.front().message,
              HasSubstr("without quotas: queue \"one\" of \"a\", queue \"one\" of \"b\" are "
                        "not kept"));
}

TEST(Neighbours, WithoutPodsThereIsNoNeighbour) {
  Workload gone = trainer("b");
  gone.count = 0;
  const auto matrix = find_neighbours(
      flat_set(three_runs_on(one_gpu_pool(2), {trainer("a"), gone})), 0, demo::catalogue());
  ASSERT_FALSE(matrix);
  EXPECT_THAT(matrix.error().front().message, HasSubstr("fewer than two workloads"));
}

}  // namespace
}  // namespace slicewise::sim
