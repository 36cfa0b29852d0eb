#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// Pools of their own by label, and by how their nodes are bought.
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
  // The pods of both teams in one pool are refused before any run.
  EXPECT_TRUE(std::ranges::any_of(plan->rejected, [](const RejectedChoice& rejected) {
    return rejected.reason.text().find("selects other nodes") != std::string::npos;
  }));
}

// Two pods on two nodes that EC2 takes back every other minute.
ScenarioSet interrupted_set() {
  Workload api = demo::service(2, 5, milliseconds(5), scenarios::ServiceTime::Law::Exponential);
  api.measured->device.value = "T4";
  scenarios::Objective available;
  available.figure = scenarios::Figure::Availability;
  available.limit = scenarios::Share{0.98};
  api.objectives.push_back(available);
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  pool.spot.emplace().interruptions = Rate{30.0 / 3600};
  Scenario scenario = demo::scenario(pool, {api});
  scenario.duration = minutes(20);
  scenario.warmup = minutes(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

TEST(Plan, KeepsSomeNodesOnDemandWhereSpotAloneFails) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.purchases = {"on-demand", "spot"};
  options.max_nodes = 2;
  const auto plan = make_plan(interrupted_set(), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->purchases, (std::vector<std::string>{"on-demand", "spot", "spot-fallback"}));
  std::map<std::string, Usd> monthly;
  for (const PlanOption& option : plan->options) {
    monthly[describe(option.pools.front())] = option.figures.monthly;
  }
  const std::string both = "2 x g4dn.xlarge spot but 1 on-demand, exclusive";
  ASSERT_TRUE(monthly.contains(both) && monthly.contains("2 x g4dn.xlarge, exclusive"));
  EXPECT_FALSE(monthly.contains("2 x g4dn.xlarge spot, exclusive"));
  EXPECT_LT(monthly[both], monthly["2 x g4dn.xlarge, exclusive"]);
  const PoolChoice mixed = std::ranges::find(plan->options, both, [](const PlanOption& option) {
                             return describe(option.pools.front());
                           })->pools.front();
  const Scenario planned =
      planned_scenario(interrupted_set().variants.front(), {&mixed, 1}, demo::catalogue());
  ASSERT_EQ(planned.node_pools.size(), 2U);
  EXPECT_EQ(planned.node_pools[0].capacity_type, scenarios::CapacityType::OnDemand);
  EXPECT_EQ(planned.node_pools[1].capacity_type, scenarios::CapacityType::Spot);
  EXPECT_EQ(planned.node_pools[0].nodes + planned.node_pools[1].nodes, 2);
}

TEST(Plan, FallsBackToOnDemandWhereThatWasChosen) {
  PoolChoice choice;
  choice.instance_type = "g4dn.xlarge";
  choice.purchase = kSpotFallback;
  choice.workloads = {"api"};
  choice.nodes = 2;
  const Scenario planned =
      planned_scenario(interrupted_set().variants.front(), {&choice, 1}, demo::catalogue());
  ASSERT_EQ(planned.node_pools.size(), 1U);
  EXPECT_EQ(planned.node_pools[0].capacity_type, scenarios::CapacityType::Spot);
  EXPECT_TRUE(planned.node_pools[0].spot->falls_back_to_on_demand);
  EXPECT_EQ(describe(choice), "2 x g4dn.xlarge spot, on-demand when there is none, exclusive");
}

}  // namespace
}  // namespace slicewise::sim
