#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/pool_choice.hpp"

#include "../../../sim/studies/plan/plan_sections.hpp"
#include "../demo.hpp"
#include "small_plans.hpp"

// What of a cluster goes on in the scenario of a plan: nodes that nobody wants to touch kept
// neither their group nor the names by which pods ask for their GPUs.
namespace slicewise::sim {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using scenarios::Workload;

NodePool own_pool(const std::string& name, const std::string& type, int nodes) {
  NodePool pool = demo::pool(0);
  pool.name.value = name;
  pool.instance_type.value = type;
  pool.nodes = nodes;
  pool.labels = {{std::string(scenarios::kManagedGroupLabel), name}};
  return pool;
}

Workload pods(const std::string& name, const std::string& group, const std::string& resource) {
  Workload workload = demo::training(2);
  workload.name.value = name;
  workload.pod.extended.front().name.value = resource;
  workload.pod.node_selector = {{std::string(scenarios::kManagedGroupLabel), group}};
  return workload;
}

// Whole GPUs, a time-sliced one that is not renamed, and MIG by strategy mixed.
Scenario cluster() {
  NodePool shared = own_pool("shared", "g4dn.xlarge", 2);
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{std::string(scenarios::kGpuResource), {}}, 4, {}});
  shared.device_plugin.emplace().time_slicing = sharing;
  NodePool cut = own_pool("cut", "p4d.24xlarge", 1);
  cut.mig.emplace().strategy = scenarios::MigStrategy::Mixed;
  cut.mig->config.value = "all-3g.20gb";
  Scenario scenario = demo::scenario(own_pool("whole", "g5.xlarge", 3),
                                     {pods("chat", "whole", std::string(scenarios::kGpuResource)),
                                      pods("draw", "whole", std::string(scenarios::kGpuResource)),
                                      pods("embed", "shared", std::string(scenarios::kGpuResource)),
                                      pods("tune", "cut", scenarios::mig_resource("3g.20gb"))});
  scenario.node_pools.push_back(shared);
  scenario.node_pools.push_back(cut);
  return scenario;
}

// "draw" moves to new nodes; the other pools have other numbers of nodes at most.
std::vector<PoolChoice> chosen_pools() {
  PoolChoice cut = small_plans::pool("p4d.24xlarge", Strategy::Mig, 1, 1, {"tune"});
  cut.mig = {{"3g.20gb", 2}};
  return {small_plans::pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"chat"}),
          small_plans::pool("g4dn.xlarge", Strategy::Exclusive, 1, 2, {"draw"}),
          small_plans::pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 1, {"embed"}), cut};
}

TEST(StayingPools, KeepTheirNamesAndWhatPodsAskFor) {
  const Scenario today = cluster();
  const Scenario planned = planned_scenario(today, chosen_pools(), demo::catalogue());
  ASSERT_EQ(planned.node_pools.size(), 4U);
  EXPECT_EQ(planned.node_pools[0].name.value, "whole");
  EXPECT_EQ(planned.node_pools[0].nodes, 2);
  EXPECT_EQ(planned.node_pools[2].name.value, "shared");
  EXPECT_FALSE(planned.node_pools[2].device_plugin->time_slicing->rename_by_default);
  EXPECT_EQ(planned.node_pools[3].name.value, "cut");
  EXPECT_EQ(planned.node_pools[3].mig->strategy, scenarios::MigStrategy::Mixed);
  for (const std::size_t w : {0U, 2U, 3U}) {
    SCOPED_TRACE(planned.workloads[w].name.value);
    const scenarios::PodTemplate& pod = planned.workloads[w].pod;
    EXPECT_EQ(pod.node_selector, today.workloads[w].pod.node_selector);
    EXPECT_EQ(pod.extended.front().name.value, today.workloads[w].pod.extended.front().name.value);
    EXPECT_TRUE(planned.workloads[w].manifest.old_resources.empty());
    EXPECT_TRUE(planned.workloads[w].manifest.old_selectors.empty());
  }
}

// Of two pools that both go on: pods that select the type of the one move to the other.
TEST(StayingPools, AreNoHomeOfPodsThatSelectAnotherType) {
  Scenario today = cluster();
  today.workloads[1].pod.node_selector = {{"node.kubernetes.io/instance-type", "g5.xlarge"}};
  std::vector<PoolChoice> pools = chosen_pools();
  pools[0].workloads = {"chat"};
  pools[1] = small_plans::pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 2, {"draw", "embed"});
  pools.erase(pools.begin() + 2);
  const Scenario planned = planned_scenario(today, pools, demo::catalogue());
  EXPECT_EQ(planned.node_pools[1].name.value, "shared");
  const auto& selector = planned.workloads[1].pod.node_selector;
  EXPECT_EQ(selector.size(), 1U);
  EXPECT_EQ(selector.at(scenarios::kPoolLabel), "shared");
  EXPECT_EQ(planned.node_pools[1].labels.at(scenarios::kPoolLabel), "shared");
  EXPECT_EQ(planned.workloads[2].pod.node_selector, today.workloads[2].pod.node_selector);
}

TEST(StayingPools, LeaveNewNodesAGroupOfTheirOwn) {
  const Scenario planned = planned_scenario(cluster(), chosen_pools(), demo::catalogue());
  const NodePool& fresh = planned.node_pools[1];
  EXPECT_EQ(fresh.name.value, "g4dn-xlarge-exclusive");
  EXPECT_EQ(fresh.labels.at(std::string(scenarios::kManagedGroupLabel)), fresh.name.value);
  EXPECT_EQ(planned.workloads[1].pod.node_selector.at(scenarios::kPoolLabel), fresh.name.value);
}

// Shared in another way, or cut, they are the same nodes with other settings, as a path has it.
TEST(StayingPools, MayBeSharedAnew) {
  std::vector<PoolChoice> pools = chosen_pools();
  pools[2].replicas = 8;
  const Scenario planned = planned_scenario(cluster(), pools, demo::catalogue());
  EXPECT_EQ(planned.node_pools[1].name.value, "g4dn-xlarge-exclusive");
  EXPECT_EQ(planned.node_pools[2].name.value, "shared");
  EXPECT_EQ(planned.workloads[2].pod.extended.front().name.value, "nvidia.com/gpu.shared");
}

// A group of its settings' own: nothing but user data of new nodes tells Bottlerocket how to share.
TEST(StayingPools, OfBottlerocketAreNotSharedAnew) {
  Scenario today = cluster();
  today.gpu_software.image = scenarios::NodeImage::Bottlerocket;
  std::vector<PoolChoice> pools = chosen_pools();
  const std::vector<PoolChoice> before{pools[2]};
  pools[2].replicas = 8;
  const Scenario planned = planned_scenario(today, pools, demo::catalogue());
  EXPECT_EQ(planned.node_pools[0].name.value, "whole");
  const NodePool& shared = planned.node_pools[2];
  EXPECT_EQ(shared.name.value, "g4dn-xlarge-timeslicing");
  EXPECT_EQ(shared.labels.at(std::string(scenarios::kManagedGroupLabel)), shared.name.value);
  EXPECT_EQ(planned.workloads[2].pod.node_selector.at(scenarios::kPoolLabel), shared.name.value);
  const PathStep step = step_between(today, before, {pools[2]});
  EXPECT_EQ(step.nodes_launched, 1);
  EXPECT_EQ(step.nodes_removed, 1);
  const PathStep kept = step_between(today, before, before);
  EXPECT_EQ(kept.nodes_launched, 0);
}

// A NodePool of several types is several pools of an import: one goes on as the NodePool.
TEST(StayingPools, OfOneNodePoolAreOneOfItsName) {
  const std::string label(scenarios::kNodePoolLabel);
  Scenario today = cluster();
  today.node_pools[0].name.value = "llm-2";
  today.node_pools[1].name.value = "llm";
  for (const std::size_t p : {0U, 1U}) today.node_pools[p].labels = {{label, "llm"}};
  for (Workload& workload : today.workloads) workload.pod.node_selector.clear();
  const std::vector<PoolChoice> pools = chosen_pools();
  const Scenario planned = planned_scenario(today, pools, demo::catalogue());
  EXPECT_EQ(planned.node_pools[0].name.value, "llm");
  EXPECT_EQ(planned.node_pools[0].labels.at(label), "llm");
  const NodePool& second = planned.node_pools[2];
  EXPECT_EQ(second.name.value, "g4dn-xlarge-timeslicing");
  EXPECT_EQ(second.labels.at(label), second.name.value);
  EXPECT_EQ(planned.workloads[2].pod.node_selector.at(scenarios::kPoolLabel), second.name.value);
  EXPECT_EQ(planned.node_pools[3].name.value, "cut");
}

// Pods of autoscalers that run restart, not the fewest that these keep.
TEST(StayingPools, RestartAsManyPodsAsRun) {
  Scenario scenario = small_plans::set_with(cluster()).variants.front();
  scenarios::Autoscaling scaling;
  scaling.min_replicas = 1;
  scaling.max_replicas = 6;
  scaling.start_replicas = 3;
  scenario.workloads[2].autoscaling = scaling;
  scenario.workloads[2].count = 6;
  const PathStep step = step_between(
      scenario, {small_plans::pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 2, {"embed"})},
      {small_plans::pool("g4dn.xlarge", Strategy::Mps, 4, 2, {"embed"})});
  EXPECT_EQ(step.pods_restarted, 3);
}

// The same pools were "ok" as an option and "undecided" as the scenario's own.
TEST(StayingPools, ThatAreAnOptionHaveItsVerdict) {
  auto api = demo::service(2, 20, milliseconds(20), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  NodePool pool = demo::pool(0, 2);
  pool.instance_type.value = "g4dn.xlarge";
  Scenario scenario = demo::scenario(pool, {api});
  scenario.duration = seconds(60);
  scenario.warmup = seconds(1);
  scenario.replications = 3;
  PlanOptions options = small_plans::small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  const auto loose = make_plan(small_plans::set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(loose && !loose->options.empty());
  const Duration p99 = *loose->options.front().figures.latency_p99;
  // Where more runs decide, tests/tools/verdicts_test.py holds it.
  scenario.workloads.front().objectives = {
      small_plans::limit(scenarios::Figure::LatencyP99, Duration{p99.ns * 130 / 100})};
  const auto plan = make_plan(small_plans::set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->today && !plan->options.empty());
  const OptionFigures& best = plan->options.front().figures;
  EXPECT_EQ(plan->today->figures.replications, best.replications);
  EXPECT_EQ(plan->today->figures.latency_p99, best.latency_p99);
  EXPECT_TRUE(plan->keep_as_is);
}

}  // namespace
}  // namespace slicewise::sim
