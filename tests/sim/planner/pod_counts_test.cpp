#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// The number of pods of a Service as a decision.
namespace slicewise::sim {
namespace {

using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

// So many pods share the requests, of 50 ms each.
ScenarioSet pods_at(int pods, double rate) {
  Workload api =
      demo::service(pods, rate, milliseconds(50), scenarios::ServiceTime::Law::Deterministic);
  api.name.value = "api";
  api.measured->device.value = "T4";
  api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(400)));
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  scenarios::Scenario scenario = demo::scenario(pool, {api});
  scenario.duration = seconds(20);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

PlanOptions one_pod_a_gpu() {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  return options;
}

// One pod is 1.2 times as busy as can be.
TEST(PlannedPods, OneMoreIsSaidWhereNothingStandsWithout) {
  PlanOptions options = one_pod_a_gpu();
  options.flips = true;
  const auto plan = make_plan(pods_at(1, 24), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->options.empty());
  ASSERT_EQ(plan->other_pods.size(), 1U);
  EXPECT_TRUE(plan->other_pods.front().figures.stands());
  EXPECT_EQ(describe(plan->other_pods.front().pools.front()),
            "2 x g4dn.xlarge, exclusive, 2 pods of api");
}

TEST(PlannedPods, OneFewerIsSaidWhereItIsCheaper) {
  PlanOptions options = one_pod_a_gpu();
  options.flips = true;
  const auto plan = make_plan(pods_at(3, 4), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  EXPECT_TRUE(plan->options.front().pools.front().pods.empty());
  ASSERT_EQ(plan->other_pods.size(), 1U);
  EXPECT_EQ(plan->other_pods.front().pools.front().pods, std::vector<int>{2});
  EXPECT_LT(plan->other_pods.front().figures.monthly, plan->options.front().figures.monthly);
}

// The option is what `run` and exports make of it; the best with the scenario's pods stays beside
// it.
TEST(PlannedPods, AreFreeWithinWhatIsAllowed) {
  PlanOptions options = one_pod_a_gpu();
  for (const auto& [most, pods] : std::vector<std::pair<int, int>>{{1, 2}, {2, 1}, {9, 1}}) {
    options.vary_pods = most;
    const ScenarioSet set = pods_at(3, 4);
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_GE(plan->options.size(), 2U);
    const PlanOption& best = plan->options.front();
    EXPECT_EQ(best.pools.front().pods, std::vector<int>{pods});
    EXPECT_EQ(best.pools.front().nodes, pods);
    EXPECT_EQ(planned_scenario(set.variants.front(), best.pools, demo::catalogue())
                  .workloads.front()
                  .count,
              pods);
    EXPECT_TRUE(std::ranges::any_of(plan->options, [](const PlanOption& option) {
      return option.pools.front().pods.empty() && option.pools.front().nodes == 3;
    }));
  }
  options.vary_pods = 1;
  const auto more = make_plan(pods_at(1, 24), 0, demo::catalogue(), options);
  ASSERT_TRUE(more);
  ASSERT_FALSE(more->options.empty());
  EXPECT_EQ(more->options.front().pools.front().pods, std::vector<int>{2});
  EXPECT_GT(more->counts.simulations, 0);
}

// Of what Services might have, and not only of the pods that the scenario has.
TEST(PlannedPods, TheNearestIsOneWithMoreWhereNothingStands) {
  PlanOptions options = one_pod_a_gpu();
  options.vary_pods = 1;
  ScenarioSet set = pods_at(1, 39.8);  // two are 99.5 % busy, of which no closed form knows
  scenarios::Traffic& traffic = *set.variants.front().workloads.front().traffic;
  traffic.gaps = scenarios::Traffic::Gaps::Gamma;
  traffic.gap_variation = 1.5;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->options.empty());
  EXPECT_EQ(plan->vary_pods, 1);
  EXPECT_TRUE(std::ranges::any_of(plan->rejected, [](const RejectedChoice& other) {
    return other.figures && other.choice.pods == std::vector<int>{2};
  }));
}

// The cheapest that stands is found by simulations, whatever it may cost.
TEST(PlannedPods, WhatIsBeyondThePriceIsCounted) {
  PlanOptions options = one_pod_a_gpu();
  options.max_monthly_cost = from_dollars(100);
  const auto plan = make_plan(pods_at(1, 4), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->options.empty());
  ASSERT_EQ(plan->nearest.size(), 1U);
  EXPECT_GT(plan->counts.simulations, 0);
}

// What a flip says is best then, a plan with that traffic finds: with more pods, or with fewer.
TEST(ThoroughPlannedPods, FlipsPlanAnewWithOtherNumbers) {
  PlanOptions options = one_pod_a_gpu();
  options.vary_pods = 1;
  options.top = 1;
  options.flips = true;
  for (const auto& [pods, then] : std::vector<std::pair<int, int>>{{1, 2}, {2, 1}}) {
    const double rate = 12 * pods;
    const auto plan = make_plan(pods_at(pods, rate), 0, demo::catalogue(), options);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->options.size(), 1U);
    EXPECT_EQ(plan->options.front().pools.front().nodes, pods);
    const bool is_more = then > pods;
    const auto flip = std::ranges::find_if(plan->flips, [is_more](const Flip& each) {
      return each.input == "traffic" && each.misses == is_more;
    });
    ASSERT_NE(flip, plan->flips.end());
    ASSERT_TRUE(flip->winner);
    EXPECT_EQ(flip->winner->pools.front().nodes, then);
    // Less of it is looked for where that just does, which other random numbers may say no to.
    const double factor = then > pods ? flip->factor : 0.5;
    const auto anew = make_plan(pods_at(pods, rate * factor), 0, demo::catalogue(), options);
    ASSERT_TRUE(anew && !anew->options.empty());
    EXPECT_EQ(describe(anew->options.front().pools.front()), describe(flip->winner->pools.front()));
  }
}

// Three pods on three T4 would be the cheapest.
TEST(PlannedPods, AreNoMoreThanTheAutoscalerMayStart) {
  PlanOptions options = one_pod_a_gpu();
  options.flips = true;
  for (const auto& [max, pods] : std::vector<std::pair<int, int>>{{1, 0}, {2, 2}}) {
    ScenarioSet set = pods_at(1, 24);
    Workload& api = set.variants.front().workloads.front();
    api.count = api.autoscaling.emplace().max_replicas = max;
    api.autoscaling->target = 50;
    for (const int most : {0, 3}) {
      options.vary_pods = most;
      const auto plan = make_plan(set, 0, demo::catalogue(), options);
      ASSERT_TRUE(plan);
      const auto& found = most > 0 ? plan->options : plan->other_pods;
      ASSERT_EQ(found.empty(), pods == 0);
      if (found.empty()) continue;
      EXPECT_EQ(found.front().pools.front().pods, std::vector<int>{pods});
    }
  }
}

// Its node comes and goes, which no fleet for a pod that stays does: a bound of those lies above.
TEST(PlannedPods, MayBeNoneOfWhatScalesToZero) {
  ScenarioSet set = pods_at(1, 0.0005);
  scenarios::Scenario& scenario = set.variants.front();
  scenario.duration = seconds(7200);
  Workload& api = scenario.workloads.front();
  api.autoscaling.emplace().min_replicas = 0;
  api.objectives = {limit(scenarios::Figure::LatencyP99, seconds(900))};
  PlanOptions options = one_pod_a_gpu();
  options.split = true;
  options.vary_pods = 1;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && !plan->options.empty());
  EXPECT_TRUE(plan->options.front().pools.front().elastic);
  EXPECT_LE(plan->least_monthly.value_or(0), to_dollars(plan->options.front().figures.monthly));
}

// A pod more of what makes the others' GPUs dear, in a fleet of several pools.
TEST(PlannedPods, AreTriedOneServiceAfterTheOther) {
  ScenarioSet set = pods_at(3, 4);
  Workload second = set.variants.front().workloads.front();
  second.name.value = "second";
  second.count = 2;
  set.variants.front().workloads.push_back(second);
  PlanOptions options = one_pod_a_gpu();
  options.split = true;
  options.vary_pods = 2;
  options.max_nodes = 6;
  const auto plan = make_plan(set, 0, demo::catalogue(), options);
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->options.empty());
  int nodes = 0;
  for (const PoolChoice& pool : plan->options.front().pools) nodes += pool.nodes;
  EXPECT_EQ(nodes, 2);
  // The bound is of these numbers of pods: of the scenario's, 5 GPUs, it would lie above.
  ASSERT_TRUE(plan->least_monthly);
  EXPECT_LE(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly));
  EXPECT_GT(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly) / 2);
}

// Two pods of 5 GiB have room on a T4: of the four one fewer saves nothing, one fewer of both does.
TEST(PlannedPods, OfSeveralServicesAreTriedTogether) {
  ScenarioSet set = pods_at(2, 4);
  Workload second = set.variants.front().workloads.front();
  second.name.value = "second";
  set.variants.front().workloads.push_back(second);
  for (Workload& each : set.variants.front().workloads) each.gpu_memory.resident = gibibytes(5);
  PlanOptions options = one_pod_a_gpu();
  options.strategies = {"timeSlicing"};
  options.replicas = {2};
  options.split = true;
  for (const auto& [most, nodes] : std::vector<std::pair<int, int>>{{0, 2}, {1, 1}}) {
    options.vary_pods = most;
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan && !plan->options.empty());
    ASSERT_EQ(plan->options.front().pools.size(), 1U);
    EXPECT_EQ(plan->options.front().pools.front().nodes, nodes);
    ASSERT_TRUE(plan->least_monthly);
    EXPECT_LE(*plan->least_monthly, to_dollars(plan->options.front().figures.monthly));
  }
}

}  // namespace
}  // namespace slicewise::sim
