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

// Pools of their own by memory, and by how their nodes are bought.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// Two busy services overload a GPU where they meet, which one placement in three or so brings
// about: what three replications seldom see must not be recommended.
TEST(ThoroughPlan, WhatStandsHoldsWhicheverPodsMeet) {
  std::vector<Workload> workloads;
  for (int w = 0; w < 6; ++w) {
    const bool busy = w == 0 || w == 5;
    Workload api = demo::service(1, busy ? 60 : 2, milliseconds(10),
                                 scenarios::ServiceTime::Law::Deterministic);
    api.name.value = fmt::format("api-{}", w);
    api.measured->device.value = "A10G";
    api.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(200)));
    workloads.push_back(std::move(api));
  }
  Scenario scenario = demo::scenario(demo::pool(0), workloads);
  scenario.node_pools.front().instance_type.value = "g5.12xlarge";
  scenario.duration = seconds(20);
  scenario.warmup = seconds(1);
  scenario.replications = 3;
  PlanOptions options = small_space();
  options.instance_types = {"g5.12xlarge"};
  options.strategies = {"exclusive", "timeSlicing"};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    scenario.seed = seed;
    const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    scenario.workloads[0].starts_on = {{{"today", {}}, 1, 1, {}}};
    Scenario planned = planned_scenario(scenario, plan->options.front().pools, demo::catalogue());
    EXPECT_TRUE(planned.workloads[0].starts_on.empty()) << "they are not there yet";
    scenario.workloads[0].starts_on.clear();
    planned.seed = seed + 1000;
    planned.replications = 12;
    EXPECT_TRUE(demo::result(planned).verdict.stands()) << seed;
  }
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
  EXPECT_EQ(plan->purchases, (std::vector<std::string>{"on-demand", "spot-fallback", "spot"}));
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

// A node group keeps its type: its files made nodes of the old one, and its scripts refused to go
// on.
TEST(Plan, NodesOfAnotherTypeAreInAGroupOfTheirOwn) {
  const Scenario base = interrupted_set().variants.front();
  const auto name_of = [&](const std::string& type) {
    PoolChoice choice;
    choice.instance_type = type;
    choice.purchase = base.node_pools.front().capacity_type == scenarios::CapacityType::Spot
                          ? "spot"
                          : "on-demand";
    choice.workloads = {"api"};
    choice.nodes = 2;
    return planned_scenario(base, {&choice, 1}, demo::catalogue()).node_pools.front().name.value;
  };
  const std::string own = base.node_pools.front().name.value;
  EXPECT_EQ(name_of(base.node_pools.front().instance_type.value), own);
  EXPECT_EQ(name_of("p3.8xlarge"), "p3-8xlarge-exclusive");
}

// Of two sizes: by memory, four small ones or one large one fill a T4.
ScenarioSet fleet(int small, int large) {
  std::vector<Workload> workloads;
  for (int n = 0; n < small + large; ++n) {
    Workload api = demo::service(1, 2, milliseconds(5), scenarios::ServiceTime::Law::Deterministic);
    api.name.value = "s" + std::to_string(n);
    api.measured->device.value = "T4";
    api.gpu_memory.resident = n < small ? gibibytes(3) : gibibytes(12);
    api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(500)));
    workloads.push_back(std::move(api));
  }
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = seconds(12);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

PlanOptions fleet_space() {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive", "timeSlicing"};
  options.replicas = {};
  options.max_nodes = 32;
  options.split = true;
  return options;
}

// Twenty services: too many to try every division. One pool would have to give each a GPU.
TEST(ThoroughPlannedFleet, PutsSmallOnesTogetherWhateverTheirNumber) {
  const auto plan = make_plan(fleet(16, 4), 0, demo::catalogue(), fleet_space());
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  int nodes = 0;
  std::size_t workloads = 0;
  for (const PoolChoice& pool : best.pools) {
    nodes += pool.nodes;
    workloads += pool.workloads.size();
  }
  EXPECT_EQ(workloads, 20U);
  EXPECT_EQ(nodes, 16 / 4 + 4);
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_LE(*plan->least_monthly, to_dollars(best.figures.monthly));
  EXPECT_GT(*plan->least_monthly, to_dollars(best.figures.monthly) / 2);
}

int nodes_of(const PlanOption& option) {
  int nodes = 0;
  for (const PoolChoice& pool : option.pools) nodes += pool.nodes;
  return nodes;
}

// Two services of 9 GiB, four pods of 2 GiB: three on a T4 as long as the large ones do not meet.
// By an anti-affinity they never do; the cheapest that needs none is beside it.
TEST(Plan, KeepsTheLargestPodsApartWhereThatSaves) {
  ScenarioSet set = fleet(1, 2);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  workloads[0].gpu_memory.resident = gibibytes(9);
  workloads[1].gpu_memory.resident = gibibytes(9);
  workloads[2].gpu_memory.resident = gibibytes(2);
  workloads[2].count = 4;
  const PlanOptions options = fleet_space();
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_GE(plan->options.size(), 2U);
  const PlanOption& best = plan->options.front();
  ASSERT_EQ(best.pools.size(), 1U);
  EXPECT_EQ(best.pools.front().nodes, 2);
  EXPECT_EQ(best.pools.front().replicas, 3);
  EXPECT_EQ(best.pools.front().apart, (std::vector<ApartClass>{ApartClass{"s0", "s1"}}));
  EXPECT_TRUE(best.figures.stands());
  ASSERT_TRUE(plan->kept_apart);
  EXPECT_EQ(plan->kept_apart->pools, best.pools);
  EXPECT_EQ(nodes_of(plan->options[1]), 3);
  for (const PoolChoice& pool : plan->options[1].pools) EXPECT_TRUE(pool.apart.empty());
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_LE(*plan->least_monthly, to_dollars(best.figures.monthly));

  // Whatever the seed no pod dies, also where the scheduler packs nodes; without the rule some do.
  Scenario planned = planned_scenario(set.variants.front(), best.pools, demo::catalogue());
  planned.score_policy = scenarios::ScorePolicy::MostAllocated;
  Scenario without = planned;
  for (Workload& workload : without.workloads) workload.pod.anti_affinity.clear();
  double lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    planned.seed = without.seed = seed;
    const VariantResult run = demo::result(planned);
    EXPECT_EQ(run.pods.oom_kills, 0) << seed;
    EXPECT_EQ(run.pods.running_max, 6) << seed;
    lost += demo::result(without).pods.oom_kills;
  }
  EXPECT_GT(lost, 0);

  for (Workload& workload : workloads) workload.gpu_memory.resident = gibibytes(3);
  const auto alike = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(alike);
  EXPECT_FALSE(alike->kept_apart);
}

// Of more groups than are divided in every way: two nodes for two pods of 9 GiB, where a third
// would have those of 3 GiB.
TEST(ThoroughPlan, KeepsTheLargestPodsOfAFleetApart) {
  ScenarioSet set = fleet(5, 0);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  for (Workload& workload : workloads) workload.gpu_memory.resident = mebibytes(800);
  workloads[0].gpu_memory.resident = gibibytes(9);
  workloads[1].gpu_memory.resident = gibibytes(3);
  workloads[0].count = workloads[1].count = 2;
  const auto plan = make_plan(set, 0, demo::catalogue(), fleet_space());
  ASSERT_TRUE(plan && plan->options.size() > 1);
  EXPECT_EQ(nodes_of(plan->options[0]), 2);
  EXPECT_TRUE(plan->kept_apart);
  EXPECT_EQ(nodes_of(plan->options[1]), 3);
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_LE(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly));
}

// By memory, twelve Services fill five T4: more types to choose from make that no dearer.
TEST(ThoroughPlannedFleet, MoreTypesCostNoMore) {
  ScenarioSet set = fleet(12, 0);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  for (std::size_t n = 0; n < workloads.size(); ++n) {
    workloads[n].gpu_memory.resident = mebibytes(2048 + static_cast<std::int64_t>(n) * 717);
  }
  PlanOptions options = fleet_space();
  const auto of_one_type = make_plan(set, 0, demo::catalogue(), options);
  options.instance_types = {"g4dn.xlarge", "g5.xlarge", "g6.xlarge"};
  const auto of_three = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(of_one_type && of_three);
  EXPECT_EQ(nodes_of(of_one_type->options.front()), 5);
  EXPECT_LE(of_three->options.front().figures.monthly,
            of_one_type->options.front().figures.monthly);
}

// Of T4 and A10G together twelve Services cost less than closed forms allow of either alone: nobody
// plans them of one type only to see that.
TEST(ThoroughPlannedFleet, LooksAtNoTypeByItselfThatCannotSave) {
  ScenarioSet set = fleet(12, 0);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  for (std::size_t n = 0; n < workloads.size(); ++n) {
    workloads[n].gpu_memory.resident = mebibytes(2048 + static_cast<std::int64_t>(n) * 1024);
  }
  PlanOptions options = fleet_space();
  options.instance_types = {"g4dn.xlarge", "g5.xlarge", "g6.xlarge"};
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->least_monthly);
  EXPECT_LE(to_dollars(plan->options.front().figures.monthly), 1.02 * *plan->least_monthly);
  EXPECT_LT(plan->counts.simulations, 60);
}

// Three pods of 8.8 GiB, three of 3.9, two of 1.5: a T4 holds one of each, so three nodes do, with
// one pod of the first service a node and one of the second. One class of both takes six.
TEST(Plan, KeepsWorkloadsApartInClassesOfTheirOwn) {
  ScenarioSet set = fleet(1, 2);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  workloads[0].gpu_memory.resident = mebibytes(4000);
  workloads[1].gpu_memory.resident = mebibytes(9000);
  workloads[2].gpu_memory.resident = mebibytes(1500);
  workloads[0].count = workloads[1].count = 3;
  workloads[2].count = 2;
  const auto plan = make_plan(set, 0, demo::catalogue(), fleet_space());
  ASSERT_TRUE(plan);
  const PlanOption& best = plan->options.front();
  ASSERT_EQ(best.pools.size(), 1U);
  EXPECT_EQ(best.pools.front().nodes, 3);
  EXPECT_EQ(best.pools.front().apart, (std::vector<ApartClass>{{"s1"}, {"s0"}}));
  EXPECT_TRUE(describe(best.pools.front()).ends_with(", one of s1 and one of s0 a node"));

  // Whatever the seed no pod dies, also where the scheduler packs nodes.
  Scenario planned = planned_scenario(set.variants.front(), best.pools, demo::catalogue());
  planned.score_policy = scenarios::ScorePolicy::MostAllocated;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    planned.seed = seed;
    const VariantResult run = demo::result(planned);
    EXPECT_EQ(run.pods.oom_kills, 0) << seed;
    EXPECT_EQ(run.pods.running_max, 8) << seed;
  }
}

// Terms of a workload's namespace do not reach the others': the rule names them.
TEST(PlannedScenario, KeepsPodsOfTwoNamespacesApart) {
  ScenarioSet set = fleet(1, 2);
  std::vector<Workload>& workloads = set.variants.front().workloads;
  workloads[1].namespace_name = "team-a";
  workloads[2].namespace_name = "team-b";
  PoolChoice pool;
  pool.instance_type = "g4dn.xlarge";
  pool.strategy = Strategy::TimeSlicing;
  pool.replicas = 2;
  pool.nodes = 2;
  pool.workloads = {"s0", "s1", "s2"};
  pool.apart.push_back({"s1", "s2"});
  const Scenario planned =
      planned_scenario(set.variants.front(), std::vector{pool}, demo::catalogue());
  EXPECT_TRUE(planned.workloads[0].pod.anti_affinity.empty());
  for (const std::size_t w : {1U, 2U}) {
    ASSERT_EQ(planned.workloads[w].pod.anti_affinity.size(), 1U);
    const auto& term = planned.workloads[w].pod.anti_affinity.front();
    EXPECT_EQ(term.namespaces, (std::vector<std::string>{"team-a", "team-b"}));
    const auto& label = *term.match_labels.begin();
    EXPECT_EQ(planned.workloads[w].pod.labels.at(label.first), label.second);
  }
  // Once more changes nothing.
  EXPECT_EQ(planned_scenario(planned, std::vector{pool}, demo::catalogue())
                .workloads[1]
                .pod.anti_affinity.size(),
            1U);
}

// Five pods, each with a GPU to itself: a node more than they need, or half as many again.
TEST(Plan, HoldsAfterALoss) {
  PlanOptions options = fleet_space();
  options.split = false;
  for (const auto& [loss, nodes] : std::vector<std::pair<Outage, int>>{
           {Outage::None, 5}, {Outage::Node, 6}, {Outage::Zone, 8}}) {
    options.survive = loss;
    const auto plan = make_plan(fleet(0, 5), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    const PlanOption& best = plan->options.front();
    EXPECT_EQ(best.pools.front().nodes, nodes);
    EXPECT_EQ(best.figures.running_max, 5);
    EXPECT_EQ(survivors(loss, nodes), 5);
    EXPECT_GT(best.figures.monthly, from_dollars(384 * (nodes - 1)));
    EXPECT_EQ(plan->replicas.empty(), loss != Outage::None);  // judged without a loss
  }
  options.max_nodes = 7;  // of eight
  EXPECT_TRUE(make_plan(fleet(0, 5), 0, demo::catalogue(), options)->options.empty());
}

// More than one pool may hold, of which each has its limit.
TEST(PlannedFleet, MayHaveMoreNodesThanOnePool) {
  PlanOptions options = fleet_space();
  options.max_nodes = 3;
  const auto plan = make_plan(fleet(0, 7), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  int nodes = 0;
  for (const PoolChoice& pool : plan->options.front().pools) {
    EXPECT_LE(pool.nodes, 3);
    nodes += pool.nodes;
  }
  EXPECT_EQ(nodes, 7);
}

// The bound holds for whatever is found.
TEST(ThoroughPlannedFleet, CostsNoLessThanItsBound) {
  constexpr std::pair<int, int> kFleets[] = {{5, 0}, {3, 3}, {0, 5}, {9, 1}};
  for (const auto& [small, large] : kFleets) {
    const auto plan = make_plan(fleet(small, large), 0, demo::catalogue(), fleet_space());
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    ASSERT_TRUE(plan->least_monthly);
    EXPECT_LE(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly));
  }
}

// Slices hold more pods of a GPU than its replicas say.
TEST(PlannedFleet, CostsNoLessThanItsBoundWhereSlicesAreShared) {
  for (const std::vector<std::string>& strategies :
       {std::vector<std::string>{"mig", "timeSlicing"}, {"mig+timeSlicing"}}) {
    ScenarioSet set = fleet(2, 0);
    for (Workload& workload : set.variants.front().workloads) {
      workload.count = 28;
      workload.gpu_memory.resident = gibibytes(1);
    }
    PlanOptions options = fleet_space();
    options.instance_types = {"p4d.24xlarge"};
    options.strategies = strategies;
    options.replicas = {2};
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    EXPECT_LE(plan->least_monthly.value_or(0), to_dollars(plan->options.front().figures.monthly));
  }
}

// Four nodes at 0.8 an hour, in a month of 730 hours.
TEST(PlannedSpot, CountsWhatEc2TakesBackOfTheNodesThereAre) {
  ScenarioSet set = fleet(0, 4);
  Scenario& scenario = set.variants.front();
  scenario.node_pools.front().spot.emplace().interruptions = Rate{0.8 / 3600};
  PlanOptions options = fleet_space();
  options.purchases = {"spot"};
  options.strategies = {"exclusive"};
  for (Workload& workload : scenario.workloads) workload.objectives.clear();
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  ASSERT_EQ(plan->spot.size(), 1U);
  EXPECT_NEAR(plan->spot.front().a_month, 4 * 0.8 * 730, 1e-6);
  EXPECT_GT(plan->spot.front().most, plan->spot.front().a_month);
}

// The only node is away for as long as another one takes to come and the pod to start: so many
// requests find nobody, each time.
TEST(PlannedSpot, SaysWhatAnInterruptionCosts) {
  ScenarioSet set = fleet(0, 1);
  Scenario& scenario = set.variants.front();
  scenario.node_pools.front().spot.emplace().interruptions = Rate{0.01 / 3600};
  scenario.workloads.front().objectives.clear();
  PlanOptions options = fleet_space();
  options.purchases = {"spot"};
  options.strategies = {"exclusive"};
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty()) << plan->rejected.front().reason.form;
  ASSERT_EQ(plan->spot.size(), 1U);
  const PlannedSpot& spot = plan->spot.front();
  ASSERT_TRUE(spot.lost);
  // Two a second.
  const double away_s = *spot.lost / spot.a_month / 2;
  EXPECT_GT(away_s, 60);
  EXPECT_LT(away_s, 600);
}

// Half of the traffic: the smaller type does.
TEST(ThoroughPlan, SaysWhatLessTrafficWouldSave) {
  ScenarioSet set = fleet(2, 0);
  for (Workload& workload : set.variants.front().workloads) {
    workload.traffic->mean = Rate{110};
    workload.objectives.front().limit = milliseconds(60);
  }
  PlanOptions options = fleet_space();
  options.flips = true;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  const auto falling = std::ranges::find_if(
      plan->flips, [](const Flip& flip) { return flip.input == "traffic" && flip.factor < 1; });
  ASSERT_NE(falling, plan->flips.end());
  ASSERT_TRUE(falling->winner);
  EXPECT_LT(falling->winner->figures.monthly, plan->options.front().figures.monthly);
  EXPECT_GT(falling->holds_at, falling->factor);
}

// Pods that ask for nvidia.com/gpu tolerate the taint of that name; for gpu.shared they have to
// say.
TEST(PlannedScenario, TolerationsOfWhatPodsAskedForStay) {
  scenarios::NodePool tainted = demo::pool(0);
  tainted.taints = {{"nvidia.com/gpu", "true", "NoSchedule"}};
  const Scenario today = demo::scenario(tainted, {demo::training(2)});
  PoolChoice pool;
  pool.instance_type = "p3.8xlarge";
  pool.workloads = {today.workloads[0].name.value};
  const auto tolerations = [&] {
    return planned_scenario(today, std::span(&pool, 1), demo::catalogue())
        .workloads[0]
        .pod.tolerations;
  };
  EXPECT_TRUE(tolerations().empty());
  pool.strategy = Strategy::TimeSlicing;
  pool.replicas = 2;
  ASSERT_EQ(tolerations().size(), 1U);
  EXPECT_EQ(tolerations()[0].key, "nvidia.com/gpu");
  const Scenario shared = planned_scenario(today, std::span(&pool, 1), demo::catalogue());
  EXPECT_EQ(demo::result(shared).pods.succeeded, 2);
}

// Instances of two sizes beside each other are more than the most of either would say: one 3g.20gb
// and four 1g.5gb are a whole A100, and no 1/2 + 4/7 of it.
TEST(Plan, NoOptionIsBelowTheBoundOfMigLayouts) {
  std::vector<Workload> workloads;
  for (const auto& [pods, memory] : std::map<int, int>{{8, 15}, {32, 3}}) {
    Workload api =
        demo::service(pods, 1, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
    api.name.value = fmt::format("api-{}", memory);
    api.measured->device.value = "A100-SXM4-40GB";
    api.gpu_memory.resident = gibibytes(memory);
    api.objectives.push_back(limit(scenarios::Figure::LatencyP95, seconds(5)));
    workloads.push_back(std::move(api));
  }
  Scenario scenario = demo::scenario(demo::pool(0), workloads);
  scenario.node_pools.front().instance_type.value = "p4d.24xlarge";
  scenario.duration = seconds(60);
  PlanOptions options = small_space();
  options.instance_types = {"p4d.24xlarge"};
  options.strategies = {"mig"};
  options.split = true;
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_EQ(plan->options.front().pools.front().nodes, 1);
  EXPECT_LE(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly) + 0.01);
}

}  // namespace
}  // namespace slicewise::sim
