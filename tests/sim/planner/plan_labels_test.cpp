#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// Pools by the labels and taints of their nodes, which go with those that select them.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// Two labelled and tainted pools of one type, each with a service that selects it.
ScenarioSet labelled_set() {
  std::vector<Workload> workloads;
  std::vector<scenarios::NodePool> pools;
  for (const std::string team : {"speech", "vision"}) {
    Workload api = demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
    api.name.value = team;
    api.measured->device.value = "A10G";
    api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(200)));
    api.pod.node_selector["team"] = team;
    api.pod.tolerations = {{"team", "Equal", team, "NoSchedule"}};
    workloads.push_back(api);
    scenarios::NodePool pool = demo::pool(0);
    pool.name.value = team;
    pool.instance_type.value = "g5.xlarge";
    pool.labels = {{"team", team}, {"of", team}};
    pool.taints = {{"team", team, "NoSchedule"}};
    pools.push_back(pool);
  }
  Scenario scenario = demo::scenario(pools[0], workloads);
  scenario.node_pools.push_back(pools[1]);
  scenario.duration = seconds(12);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

TEST(Plan, LabelsAndTaintsGoWithThoseThatSelectThem) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge", "g5.xlarge"};
  options.split = true;
  const ScenarioSet set = labelled_set();
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  // One pool cannot have both labels; a T4 each is the cheapest.
  ASSERT_EQ(plan->options.front().pools.size(), 2U);
  const Scenario planned =
      planned_scenario(set.variants.front(), plan->options.front().pools, demo::catalogue());
  for (std::size_t p = 0; p < 2; ++p) {
    const scenarios::NodePool& pool = planned.node_pools[p];
    const std::string& team = planned.workloads[p].name.value;
    EXPECT_EQ(pool.instance_type.value, "g4dn.xlarge");
    EXPECT_EQ(pool.labels.at("team"), team);
    ASSERT_EQ(pool.taints.size(), 1U);
    EXPECT_EQ(pool.taints[0].value, team);
  }
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_NEAR(*plan->least_monthly, *plan->options.front().goal, 0.01);
  // The pods of both teams in one pool are refused before any run.
  EXPECT_TRUE(std::ranges::any_of(plan->rejected, [](const RejectedChoice& rejected) {
    return rejected.reason.text().find("selects other nodes") != std::string::npos;
  }));
}

// It may be the only node with that label that is tainted; who does not tolerate it stays off.
TEST(Plan, TaintsStayWithThoseThatHaveNoOtherNode) {
  PlanOptions options = small_space();
  options.instance_types = {"g5.xlarge"};
  options.split = true;
  ScenarioSet set = labelled_set();
  Scenario& scenario = set.variants.front();
  scenario.workloads[1].pod.node_selector.clear();
  scenario.workloads[1].pod.tolerations.clear();
  scenario.node_pools[1].taints.clear();
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  const Scenario planned =
      planned_scenario(scenario, plan->options.front().pools, demo::catalogue());
  ASSERT_EQ(planned.node_pools.size(), 2U);
  EXPECT_EQ(planned.node_pools[0].taints.size(), 1U);
  EXPECT_TRUE(planned.node_pools[1].taints.empty());
}

// The labels that Karpenter and EKS give to nodes: a plan said that no pool has them.
TEST(Plan, PoolsThatAreSelectedByTheirNamesAreHomes) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.split = true;
  ScenarioSet set = labelled_set();
  std::vector<Workload>& workloads = set.variants.front().workloads;
  workloads[0].pod.node_selector = {{"karpenter.sh/nodepool", "speech"},
                                    {"karpenter.sh/capacity-type", "on-demand"}};
  workloads[1].pod.node_selector = {{"eks.amazonaws.com/nodegroup", "vision"}};
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  Scenario planned =
      planned_scenario(set.variants.front(), plan->options.front().pools, demo::catalogue());
  ASSERT_EQ(planned.node_pools.size(), 2U) << "each has the taint of its home";
  EXPECT_EQ(planned.node_pools[0].taints.size(), 1U);
  EXPECT_TRUE(demo::result(planned).verdict.stands());
}

TEST(Plan, NamesTheLabelThatNoPoolHas) {
  ScenarioSet set = labelled_set();
  set.variants.front().workloads[0].pod.node_selector = {{"zone", "nowhere"}};
  PlanOptions options = small_space();
  options.split = true;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->options.empty());
  ASSERT_EQ(plan->nearest.size(), 1U);
  EXPECT_EQ(plan->nearest.front(),
            "\"speech\" selects nodes with zone=nowhere, which no node pool of the scenario has");
}

// Pools of the same type by label: without the selectors both share a node.
TEST(ThoroughPlan, SaysWhatSelectorsCost) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.split = true;
  ScenarioSet set = labelled_set();
  for (scenarios::NodePool& pool : set.variants.front().node_pools) pool.taints.clear();
  const auto quiet = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(quiet);
  EXPECT_FALSE(quiet->unselected);
  options.flips = true;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->unselected);
  EXPECT_EQ(plan->unselected->workloads, (std::vector<std::string>{"speech", "vision"}));
  EXPECT_LT(plan->unselected->option.figures.monthly, plan->options.front().figures.monthly);
  EXPECT_TRUE(plan->unselected->option.figures.stands());

  // A label that says what the image runs on is no choice of a team.
  Scenario& scenario = set.variants.front();
  for (scenarios::Workload& workload : scenario.workloads) workload.pod.node_selector.clear();
  for (scenarios::Workload& workload : scenario.workloads) {
    workload.pod.node_selector["kubernetes.io/arch"] = "amd64";
  }
  const auto image = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(image);
  EXPECT_FALSE(image->unselected);
}

}  // namespace
}  // namespace slicewise::sim
