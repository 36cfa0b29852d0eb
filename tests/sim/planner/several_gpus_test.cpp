#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../comparison/comparisons.hpp"
#include "../demo.hpp"
#include "small_plans.hpp"

// Pods that ask for several whole GPUs, beside others that share theirs.
namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using ::testing::HasSubstr;

Workload gpus_each(Workload workload, const std::string& name, int gpus) {
  workload.name.value = name;
  workload.pod.extended.front().count = gpus;
  workload.measured->device.value = "A10G";
  return workload;
}

Workload small_service(const std::string& name, int gpus = 1, int pods = 1) {
  Workload api =
      gpus_each(demo::service(pods, 10, milliseconds(5), scenarios::ServiceTime::Law::Exponential),
                name, gpus);
  api.gpu_memory.resident = gibibytes(3);
  api.objectives.push_back(limit(scenarios::Figure::LatencyP95, milliseconds(200)));
  return api;
}

Scenario half_a_minute(std::vector<Workload> workloads) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g5.12xlarge";
  Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = seconds(30);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return scenario;
}

PlanOptions without_extras(std::vector<std::string> types) {
  PlanOptions options;
  options.instance_types = std::move(types);
  options.headroom = false;
  options.risk = false;
  options.flips = false;
  return options;
}

// A server with four GPUs and three small ones: the four GPUs as they are, the others share one.
TEST(PlanOfSeveralGpus, GivesThemPoolsOfTheirOwn) {
  const Scenario scenario = half_a_minute(
      {small_service("large", 4), small_service("a"), small_service("b"), small_service("c")});
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(),
                              without_extras({"g5.xlarge", "g5.12xlarge", "g5.48xlarge"}));
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  ASSERT_EQ(best.pools.size(), 2U);
  for (const PoolChoice& pool : best.pools) {
    const bool large = pool.workloads == std::vector<std::string>{"large"};
    EXPECT_EQ(pool.instance_type, large ? "g5.12xlarge" : "g5.xlarge");
    EXPECT_EQ(pool.strategy == Strategy::Exclusive, large);
    EXPECT_EQ(pool.nodes, 1);
  }
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_NEAR(*plan->least_monthly, *best.goal, 0.01);
  Scenario planned = planned_scenario(scenario, best.pools, demo::catalogue());
  for (planned.seed = 101; planned.seed < 106; ++planned.seed) {
    EXPECT_TRUE(demo::result(planned).verdict.stands()) << planned.seed;
  }
}

// Seven GPUs fit two nodes of four; pods with three of them do not.
TEST(PlanOfSeveralGpus, SplitsNoPodOverNodes) {
  const Scenario scenario = half_a_minute({small_service("three", 3, 2), small_service("one")});
  PlanOptions options = without_extras({"g5.12xlarge"});
  options.strategies = {"exclusive"};
  for (const bool beside : {true, false}) {
    Scenario asked = scenario;
    // Beside them one fits, three do not.
    asked.workloads[1].count = beside ? 1 : 3;
    const auto plan = make_plan(set_with(asked), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->options.empty());
    EXPECT_EQ(plan->options.front().pools.front().nodes, beside ? 2 : 3);
  }
  Scenario many = scenario;
  many.workloads[0].count = 5;
  many.workloads[1].count = 0;
  const auto plan = make_plan(set_with(many), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  EXPECT_EQ(plan->options.front().pools.front().nodes, 5) << "15 GPUs would fit four";
}

// Two pods of eight GPUs each work together: jobs may wait, but not for a half of themselves. On
// two such nodes another job waits its turn.
TEST(PlanOfSeveralGpus, BoundsWhatAGangTakesAtOnce) {
  Workload training = gpus_each(demo::training(2), "training", 8);
  training.pods_per_job = 2;
  const Scenario scenario =
      demo::scenario(demo::pool(0), {training, gpus_each(demo::training(1), "small", 1)});
  PlanOptions options = without_extras({"g5.xlarge", "g5.48xlarge"});
  options.goal = scenarios::PlanGoal::MonthlyCost;
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan) << plan.error().front().message;
  ASSERT_FALSE(plan->options.empty());
  const PlanOption& best = plan->options.front();
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_LE(*plan->least_monthly, *best.goal + 0.01);
  EXPECT_NEAR(*plan->least_monthly, 2 * 16.288 * 730, 1);
}

// Memory is what each GPU of the pod has.
TEST(PlanOfSeveralGpus, NeedsGpusThatAreLargeEnough) {
  Scenario scenario = half_a_minute({small_service("large", 4)});
  scenario.workloads.front().gpu_memory.resident = gibibytes(30);
  const auto plan = make_plan(set_with(scenario), 0, demo::catalogue(),
                              without_extras({"g5.12xlarge", "g6e.xlarge", "g6e.12xlarge"}));
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  EXPECT_EQ(plan->options.front().pools.front().instance_type, "g6e.12xlarge");
  const auto says = [&](const std::string& words) {
    return std::ranges::any_of(plan->rejected, [&](const RejectedChoice& rejected) {
      return rejected.reason.text().find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("asks for 4 GPUs, a node of g6e.xlarge has 1"));
  EXPECT_TRUE(says("parts of GPUs do not work together"));
}

// How many GPUs replicas are of hangs on how each option shares them; `run` simulates them.
TEST(PlanOfSeveralGpus, RefusesSeveralPartsOfGpus) {
  Scenario scenario = half_a_minute({small_service("large", 2)});
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 4, {}});
  Scenario sliced = scenario;
  sliced.node_pools.front().device_plugin.emplace().time_slicing = sharing;
  Scenario by_name = scenario;
  by_name.workloads.front().pod.extended.front().name.value = "nvidia.com/mig-3g.20gb";
  for (const Scenario& refused : {sliced, by_name}) {
    const auto plan = make_plan(set_with(refused), 0, demo::catalogue(), without_extras({}));
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().front().message,
                HasSubstr("parts of GPUs: of how many differs with how they are shared"));
    EXPECT_TRUE(demo::has(demo::errors_of(demo::set_of(refused)), Code::StrategyNotModelled));
  }
  // Under another name the whole GPU is another resource.
  sliced.node_pools.front().device_plugin->time_slicing->rename_by_default = true;
  EXPECT_TRUE(make_plan(set_with(sliced), 0, demo::catalogue(), without_extras({"g5.12xlarge"})));
}

// Nodes of their own beside those that the others share; in all as many as somebody asks for.
TEST(ComparisonOfSeveralGpus, GivesThemNodesOfTheirOwn) {
  const ScenarioSet set = demo::set_of(
      half_a_minute({small_service("large", 4), small_service("a"), small_service("b")}));
  ComparisonOptions options = demo::on({"g5.12xlarge"});
  const StrategyComparison few = demo::compared(set, options);
  const ComparedOption* shared = demo::find(few, "g5.12xlarge", Strategy::TimeSlicing);
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->configuration.nodes, 1);
  EXPECT_EQ(shared->configuration.unshared, 1);
  EXPECT_TRUE(shared->result.verdict.stands());
  const ComparedOption* exclusive = demo::find(few, "g5.12xlarge", Strategy::Exclusive);
  ASSERT_NE(exclusive, nullptr);
  EXPECT_EQ(exclusive->configuration.nodes, 2);
  EXPECT_EQ(exclusive->configuration.unshared, 0);
  // Four GPUs of six that pods hold.
  options.nodes = 3;
  const StrategyComparison three = demo::compared(set, options);
  const ComparedOption* of_three = demo::find(three, "g5.12xlarge", Strategy::TimeSlicing);
  ASSERT_NE(of_three, nullptr);
  EXPECT_EQ(of_three->configuration.nodes, 1);
  EXPECT_EQ(of_three->configuration.unshared, 2);
}

TEST(ComparisonOfSeveralGpus, SharesNothingWhereAllPodsHaveSeveral) {
  const StrategyComparison comparison = demo::compared(
      demo::set_of(half_a_minute({small_service("large", 4)})), demo::on({"g5.12xlarge"}));
  EXPECT_NE(demo::find(comparison, "g5.12xlarge", Strategy::Exclusive), nullptr);
  const RefusedOption* sliced =
      demo::find_refused(comparison, "g5.12xlarge", Strategy::TimeSlicing);
  ASSERT_NE(sliced, nullptr);
  EXPECT_THAT(sliced->message, HasSubstr("several GPUs"));
}

}  // namespace
}  // namespace slicewise::sim
