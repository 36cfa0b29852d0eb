#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// From the present pools to cheaper ones.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;
using small_plans::limit;
using small_plans::pool;
using small_plans::set_with;
using small_plans::small_space;

// Four services of one pod; a T4 bears all of them.
Scenario four_services(double rate = 2) {
  std::vector<Workload> workloads;
  for (const std::string name : {"a", "b", "c", "d"}) {
    Workload api =
        demo::service(1, rate, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
    api.name.value = name;
    api.measured->device.value = "T4";
    api.startup.model_load = seconds(5);
    api.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(200)));
    workloads.push_back(std::move(api));
  }
  Scenario scenario = demo::scenario(demo::pool(0), std::move(workloads));
  scenario.node_pools.front().instance_type.value = "g4dn.xlarge";
  scenario.node_pools.front().nodes = 4;
  scenario.duration = seconds(30);
  scenario.warmup = seconds(20);
  scenario.replications = 3;
  return scenario;
}

PlanOptions from(std::vector<PoolChoice> pools) {
  PlanOptions options = small_space();
  options.replicas = {2, 4};
  options.split = true;
  options.from = std::move(pools);
  return options;
}

const std::vector<PoolChoice> kDear = {pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"a", "b"}),
                                       pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"c", "d"})};

// Four nodes at the least, of which fewer are enough: what the pool costs is simulated.
TEST(ThoroughPlanPath, WeighsAPoolWhoseNodesComeAndGo) {
  PoolChoice now = pool("g4dn.xlarge", Strategy::Exclusive, 1, 8, {"a", "b", "c", "d"});
  now.elastic = true;
  now.least_nodes = 4;
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from({now}));
  ASSERT_TRUE(plan && plan->path);
  const PlanPath& path = *plan->path;
  EXPECT_TRUE(path.now.figures.stands());
  EXPECT_EQ(path.kept, 0);
  ASSERT_FALSE(path.steps.empty());
  EXPECT_EQ(path.steps.back().monthly, plan->options.front().figures.monthly);
}

TEST(ThoroughPlanPath, KeepsSeveralPoolsWhoseNodesComeAndGo) {
  std::vector<PoolChoice> now = kDear;
  for (PoolChoice& each : now) {
    each.elastic = true;
    each.least_nodes = each.nodes;
  }
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from(now));
  ASSERT_TRUE(plan && plan->path);
  EXPECT_EQ(plan->path->kept, 2);
  EXPECT_TRUE(plan->path->steps.empty());
}

TEST(ThoroughPlanPath, EndsNoDearerThanTheBestOptionAndEachStepSaves) {
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from(kDear));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->path);
  const PlanPath& path = *plan->path;
  EXPECT_TRUE(path.now.figures.stands());
  ASSERT_FALSE(path.steps.empty());
  Usd before = path.now.figures.monthly;
  for (const PathStep& step : path.steps) {
    EXPECT_NEAR(to_dollars(before - step.monthly), to_dollars(step.saves), 0.01);
    EXPECT_GT(step.saves, Usd{});
    before = step.monthly;
  }
  ASSERT_TRUE(path.end);
  EXPECT_TRUE(path.end->figures.stands());
  EXPECT_EQ(path.end->figures.monthly, before);
  EXPECT_LE(before, plan->options.front().figures.monthly);
  // Of what costs the same, it ends at what is recommended.
  if (before == plan->options.front().figures.monthly) {
    EXPECT_THAT(path.end->pools, ::testing::UnorderedElementsAreArray(plan->options.front().pools));
  }
  EXPECT_FALSE(path.ended_by_limit);
}

// Two requests a second of each service that restarts find nobody for the five seconds that its
// model takes to load.
TEST(ThoroughPlanPath, SaysWhatRequestsAStepCosts) {
  const auto plan =
      make_plan(set_with(four_services()), 0, demo::catalogue(),
                from({pool("g4dn.xlarge", Strategy::Exclusive, 1, 4, {"a", "b", "c", "d"})}));
  ASSERT_TRUE(plan && plan->path && !plan->path->steps.empty());
  for (const PathStep& step : plan->path->steps) {
    ASSERT_GT(step.pods_restarted, 0);
    ASSERT_TRUE(step.disruption);
    const double expected = 2.0 * 5 * step.pods_restarted;
    EXPECT_GT(step.disruption->lost, 0.7 * expected);
    EXPECT_LT(step.disruption->lost, 1.5 * expected);
    EXPECT_GE(step.disruption->late, 0);
  }
}

// Of two pods one is always there: it has all the requests, and nobody finds the service away.
TEST(ThoroughPlanPath, LosesNothingWhereOnePodAfterTheOtherRestarts) {
  Scenario scenario = four_services();
  for (Workload& workload : scenario.workloads) workload.count = 2;
  const auto plan =
      make_plan(set_with(scenario), 0, demo::catalogue(),
                from({pool("g4dn.xlarge", Strategy::Exclusive, 1, 8, {"a", "b", "c", "d"})}));
  ASSERT_TRUE(plan && plan->path && !plan->path->steps.empty());
  for (const PathStep& step : plan->path->steps) {
    ASSERT_TRUE(step.disruption && step.one_by_one);
    EXPECT_GT(step.disruption->lost, 0);
    EXPECT_EQ(step.one_by_one->lost, 0);
    EXPECT_EQ(step.one_by_one_takes, seconds(10));
  }
  // A service of one pod is away while it starts.
  const auto single =
      make_plan(set_with(four_services()), 0, demo::catalogue(),
                from({pool("g4dn.xlarge", Strategy::Exclusive, 1, 4, {"a", "b", "c", "d"})}));
  ASSERT_TRUE(single && single->path && !single->path->steps.empty());
  EXPECT_FALSE(single->path->steps.front().one_by_one);
}

// Of a one pod cannot do alone, of the others it can: they take more rounds, of which a has none.
TEST(ThoroughPlanPath, LosesOfEachServiceWhatItsOwnPodsDo) {
  Scenario scenario = four_services();
  scenario.workloads.resize(2);
  Workload& busy = scenario.workloads.front();
  busy.count = 2;
  busy.traffic->mean.per_second = 150;
  scenario.workloads.back().count = 6;
  const auto step_of = [](const Scenario& base, const PoolChoice& present) {
    PlanOptions options = from({present});
    options.instance_types = {"g4dn.xlarge"};
    options.strategies = {"exclusive"};
    options.split = false;
    options.max_nodes = 8;
    const auto plan = make_plan(set_with(base), 0, demo::catalogue(), options);
    EXPECT_TRUE(plan && plan->path && plan->path->steps.size() == 1);
    return plan->path->steps.front();
  };
  const PathStep both = step_of(scenario, pool("g5.xlarge", Strategy::Exclusive, 1, 8, {"a", "b"}));
  // Of a pool of as many nodes as it has pods, and as many more, half the pods restart.
  const PathStep fewer =
      step_of(scenario, pool("g4dn.xlarge", Strategy::Exclusive, 1, 16, {"a", "b"}));
  scenario.workloads.resize(1);
  const PathStep alone = step_of(scenario, pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"a"}));
  ASSERT_TRUE(both.one_by_one && fewer.one_by_one && alone.one_by_one);
  EXPECT_GT(alone.one_by_one->late, 100);
  EXPECT_NEAR(both.one_by_one->late, alone.one_by_one->late, 0.05 * alone.one_by_one->late);
  EXPECT_EQ(both.one_by_one_takes, seconds(5) * 6);
  EXPECT_NEAR(fewer.one_by_one->late, alone.one_by_one->late / 2, 0.05 * alone.one_by_one->late);
  EXPECT_EQ(fewer.one_by_one_takes, seconds(5) * 3);
}

// The first pod that moves leaves the other alone on the pool as it was, which is too slow for all.
TEST(PlanPath, LosesOneByOneWhatThePresentPoolsDo) {
  Scenario scenario = four_services();
  scenario.workloads.resize(1);
  Workload& busy = scenario.workloads.front();
  busy.count = 2;
  busy.traffic->mean.per_second = 110;
  PlanOptions options = from({pool("g4dn.xlarge", Strategy::Exclusive, 1, 8, {"a"})});
  options.instance_types = {"g5.xlarge"};
  options.strategies = {"exclusive"};
  options.split = false;
  options.max_nodes = 2;
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->path && plan->path->steps.size() == 1);
  const PathStep& step = plan->path->steps.front();
  ASSERT_TRUE(step.one_by_one);
  EXPECT_GT(step.one_by_one->late, 100);
}

TEST(ThoroughPlanPath, ChangesNoMorePoolsThanItMay) {
  PlanOptions options = from(kDear);
  options.max_changes = 1;
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->path->steps.size(), 1U);
  const PathStep& step = plan->path->steps.front();
  EXPECT_EQ(step.changes, 1);
  EXPECT_EQ(step.from.size(), 1U);
  // Two pods on one node of another type: both start anew.
  EXPECT_EQ(step.pods_restarted, 2);
  EXPECT_EQ(step.restarts.size(), 2U);
  EXPECT_EQ(step.start, seconds(5));
  EXPECT_EQ(step.nodes_launched, 1);
  EXPECT_EQ(step.nodes_removed, 2);
  EXPECT_TRUE(plan->path->ended_by_limit);
}

// By what each pool saves the dear one would be planned anew alone, and its pods would start twice.
TEST(ThoroughPlanPath, IsTheCheapestOfAllWaysAndRestartsNobodyTwice) {
  PlanOptions options = from({pool("g5.12xlarge", Strategy::Exclusive, 1, 1, {"a"}),
                              pool("g5.xlarge", Strategy::Exclusive, 1, 1, {"b"}),
                              pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"c", "d"})});
  const auto whole = make_plan(set_with(four_services()), 0, demo::catalogue(), options);
  ASSERT_TRUE(whole && whole->path);
  EXPECT_TRUE(whole->path->is_cheapest);
  std::vector<std::string> restarted;
  for (const PathStep& step : whole->path->steps) {
    restarted.insert(restarted.end(), step.restarts.begin(), step.restarts.end());
  }
  EXPECT_THAT(restarted, ::testing::UnorderedElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(whole->path->end->figures.monthly, whole->options.front().figures.monthly);

  // Two changes save more together than the best one and then another: c and d move to one of the
  // others' nodes, or all that are left do.
  options.max_changes = 2;
  const auto two = make_plan(set_with(four_services()), 0, demo::catalogue(), options);
  ASSERT_TRUE(two && two->path);
  EXPECT_TRUE(two->path->is_cheapest);
  EXPECT_TRUE(two->path->ended_by_limit);
  ASSERT_EQ(two->path->steps.size(), 1U);
  EXPECT_EQ(two->path->steps.front().from.size(), 2U);
  EXPECT_EQ(two->path->steps.front().to.size(), 1U);
}

// What a step leaves is the present pools with the step's in place of those that go.
TEST(ThoroughPlanPath, PoolsAfterItsStepsAreThoseOfItsEnd) {
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from(kDear));
  ASSERT_TRUE(plan && plan->path && plan->path->end);
  const PlanPath& path = *plan->path;
  EXPECT_EQ(pools_after(path, 0), kDear);
  EXPECT_EQ(pools_after(path, path.steps.size()), path.end->pools);
}

TEST(ThoroughPlanPath, StaysWhereNothingSaves) {
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from(kDear));
  ASSERT_TRUE(plan);
  const auto again =
      make_plan(set_with(four_services()), 0, demo::catalogue(), from(plan->options.front().pools));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->path->steps.empty());
  EXPECT_FALSE(again->path->end);
  EXPECT_FALSE(again->path->ended_by_limit);
}

// Nodes that are bought in two ways stay as they are, dear or not, where nobody knows what each
// pool costs: no number of changes would do.
TEST(ThoroughPlanPath, EndsByNoLimitThatNobodySet) {
  std::vector<PoolChoice> pools = kDear;
  for (PoolChoice& each : pools) {
    each.purchase = "spot";
    each.on_demand = 1;
  }
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), from(pools));
  ASSERT_TRUE(plan && plan->path && !plan->options.empty());
  EXPECT_EQ(plan->path->kept, 2);
  EXPECT_LT(plan->options.front().figures.monthly, plan->path->now.figures.monthly);
  EXPECT_FALSE(plan->path->ended_by_limit);
}

TEST(ThoroughPlanPath, MendsWhatMissesAnObjectiveWhateverThatCosts) {
  // Four times 40 requests/s of 10 ms on one GPU.
  const auto plan =
      make_plan(set_with(four_services(40)), 0, demo::catalogue(),
                from({pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 1, {"a", "b", "c", "d"})}));
  ASSERT_TRUE(plan);
  const PlanPath& path = *plan->path;
  EXPECT_FALSE(path.now.figures.stands());
  ASSERT_FALSE(path.steps.empty());
  EXPECT_LT(path.steps.front().saves, Usd{});
  ASSERT_TRUE(path.end);
  EXPECT_TRUE(path.end->figures.stands());
}

// What misses an objective costs what it does, by whomever its nodes are added and removed.
TEST(ThoroughPlanPath, PricesPoolsThatMissAnObjective) {
  PoolChoice now = pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 2, {"a", "b", "c", "d"});
  for (const bool elastic : {false, true}) {
    now.elastic = elastic;
    now.nodes = elastic ? 2 : 1;
    now.least_nodes = elastic ? 1 : 0;
    const auto plan = make_plan(set_with(four_services(40)), 0, demo::catalogue(), from({now}));
    ASSERT_TRUE(plan && plan->path);
    const PlanPath& path = *plan->path;
    EXPECT_FALSE(path.now.figures.stands());
    EXPECT_GT(to_dollars(path.now.figures.monthly), 0.526 * 730 - 1);
    ASSERT_FALSE(path.steps.empty());
    EXPECT_NEAR(to_dollars(path.now.figures.monthly - path.steps.front().monthly),
                to_dollars(path.steps.front().saves), 1);
  }
}

// One node of the first pool stands, but nothing is left without it.
TEST(ThoroughPlanPath, EndsWhereALostNodeIsBorne) {
  PlanOptions options = from({pool("g4dn.xlarge", Strategy::Mps, 2, 1, {"a", "b"}),
                              pool("g5.xlarge", Strategy::Exclusive, 1, 3, {"c", "d"})});
  const auto whole = make_plan(set_with(four_services()), 0, demo::catalogue(), options);
  ASSERT_TRUE(whole && whole->path);
  EXPECT_TRUE(whole->path->now.figures.stands());
  options.survive = Outage::Node;
  const auto plan = make_plan(set_with(four_services()), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->path);
  const PlanPath& path = *plan->path;
  EXPECT_FALSE(path.now.figures.stands());
  ASSERT_TRUE(path.end);
  EXPECT_TRUE(path.end->figures.stands());
  for (const PoolChoice& each : path.end->pools) EXPECT_GE(each.nodes, 2);
  EXPECT_EQ(path.end->figures.monthly, plan->options.front().figures.monthly);
}

// The own pools stand where a plan's options do: without a lost node, too.
TEST(PlanPath, OwnPoolsAreJudgedAsTheOptionsAre) {
  Scenario scenario = four_services();
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.survive = Outage::Node;
  const auto four = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(four && four->today);
  EXPECT_FALSE(four->today->figures.stands()) << "a pod has no GPU then";
  EXPECT_NE(four->today->figures.verdict.reasons.front().brief.find("after the loss"),
            std::string::npos);
  const Usd price = four->today->figures.monthly;
  scenario.node_pools.front().nodes = 5;
  const auto five = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(five && five->today);
  EXPECT_TRUE(five->today->figures.stands());
  EXPECT_NEAR(to_dollars(price) / 4, to_dollars(five->today->figures.monthly) / 5, 0.01);
}

// Pods of a and b wait for GPUs that their nodes do not have, and one of each would do.
TEST(ThoroughPlanPath, MendsWithOtherNumbersOfPodsWhereTheyMayVary) {
  Scenario scenario = four_services();
  for (Workload& workload : scenario.workloads) workload.count = 2;
  PlanOptions options = from({pool("g4dn.xlarge", Strategy::Exclusive, 1, 2, {"a", "b"}),
                              pool("g4dn.xlarge", Strategy::Exclusive, 1, 4, {"c", "d"})});
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.max_nodes = 8;
  options.max_changes = 1;
  options.vary_pods = 1;
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->path);
  ASSERT_EQ(plan->path->steps.size(), 1U);
  const PathStep& step = plan->path->steps.front();
  ASSERT_EQ(step.to.size(), 1U);
  EXPECT_EQ(step.to.front().workloads, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(step.to.front().pods, (std::vector<int>{1, 1}));
  EXPECT_EQ(step.to.front().nodes, 2);
}

TEST(PlanPath, NeedsTheSameWorkloadsAndABill) {
  const auto set = set_with(four_services());
  auto options = from({pool("g5.xlarge", Strategy::Exclusive, 1, 2, {"a", "b"})});
  EXPECT_FALSE(make_plan(set, 0, demo::catalogue(), options));
  options = from({pool("g5.xlarge", Strategy::Exclusive, 1, 5, {"a", "b", "c", "d", "e"})});
  EXPECT_FALSE(make_plan(set, 0, demo::catalogue(), options));
  options = from(kDear);
  options.goal = scenarios::PlanGoal::LatencyP99;
  EXPECT_FALSE(make_plan(set, 0, demo::catalogue(), options));
}

TEST(PoolsAsTheyStand, AreThoseThatTheScenarioWasMadeOf) {
  PoolChoice mig = pool("p4d.24xlarge", Strategy::Mig, 1, 1, {"c", "d"});
  mig.mig = {{"3g.20gb", 1}, {"4g.20gb", 1}};
  mig.mig_profiles = {"3g.20gb", "4g.20gb"};
  PoolChoice spot = pool("g5.xlarge", Strategy::Mps, 2, 1, {"a", "b"});
  spot.purchase = "spot";
  for (const std::vector<PoolChoice>& pools :
       {kDear,
        {pool("g4dn.xlarge", Strategy::TimeSlicing, 4, 1, {"a", "b", "c", "d"})},
        {pool("g4dn.xlarge", Strategy::Exclusive, 1, 2, {"a", "b"}), mig},
        {spot, pool("g5.xlarge", Strategy::TimeSlicing, 2, 1, {"c", "d"})}}) {
    const Scenario scenario = planned_scenario(four_services(), pools, demo::catalogue());
    const auto found = pools_as_they_stand(scenario, demo::catalogue());
    ASSERT_TRUE(found) << found.error().front().message;
    EXPECT_EQ(*found, pools);
  }
}

// Of eight GPUs one is unhealthy: the others are cut alike.
TEST(PoolsAsTheyStand, HaveGpusThatAreNotOffered) {
  PoolChoice mig = pool("p4d.24xlarge", Strategy::Mig, 1, 1, {"a", "b", "c", "d"});
  mig.mig = {{"1g.5gb", 7}};
  Scenario scenario = planned_scenario(four_services(), {{mig}}, demo::catalogue());
  scenario.node_pools.front().allocatable.gpus = 7;
  const auto found = pools_as_they_stand(scenario, demo::catalogue());
  ASSERT_TRUE(found) << found.error().front().message;
  EXPECT_EQ(found->front().mig, mig.mig);
}

TEST(PoolsAsTheyStand, HaveOnePoolForEachWorkload) {
  Scenario scenario = four_services();
  scenario.node_pools.push_back(scenario.node_pools.front());
  scenario.node_pools.back().name.value = "other";
  EXPECT_FALSE(pools_as_they_stand(scenario, demo::catalogue()));
  // A NodePool of Karpenter with several types is a pool for each: of one type there are nodes.
  scenario.node_pools.front().nodes = 0;
  const auto found = pools_as_they_stand(scenario, demo::catalogue());
  ASSERT_TRUE(found) << found.error().front().message;
  EXPECT_EQ(found->size(), 1U);
}

}  // namespace
}  // namespace slicewise::sim
