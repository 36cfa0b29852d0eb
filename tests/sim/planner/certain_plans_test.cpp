#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// A plan's answer does not hang on chance where as good a one does not, and no more is said of it
// than is so.
namespace slicewise::sim {
namespace {

using scenarios::ScenarioSet;
using scenarios::Workload;
using small_plans::limit;
using small_plans::set_with;
using small_plans::small_space;

Workload t4_service(std::string name, int pods, double rate, Bytes memory) {
  Workload api =
      demo::service(pods, rate, milliseconds(10), scenarios::ServiceTime::Law::LogNormal);
  api.name.value = std::move(name);
  api.measured->device.value = "T4";
  api.gpu_memory.resident = memory;
  api.objectives.push_back(limit(scenarios::Figure::LatencyP99, milliseconds(400)));
  return api;
}

ScenarioSet t4_set(std::vector<Workload> workloads) {
  scenarios::NodePool pool = demo::pool(0);
  pool.instance_type.value = "g4dn.xlarge";
  scenarios::Scenario scenario = demo::scenario(pool, std::move(workloads));
  scenario.duration = seconds(20);
  scenario.warmup = seconds(1);
  scenario.replications = 2;
  return set_with(std::move(scenario));
}

PlanOptions on_t4_by(std::vector<std::string> strategies) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = std::move(strategies);
  options.replicas = {};
  return options;
}

// A plan of which one option, or all, would have such a latency with numbers that chose nothing.
Expected<Plan> plan_where_others_say(const PlanOption& lucky, bool all, Duration latency) {
  PlanOptions options = on_t4_by({"exclusive", "timeSlicing"});
  options.journal = ProbeJournal{[&](const PlanProbe& probe) -> std::optional<PlanAnswer> {
                                   if (probe.draw != 2 || (!all && probe.pools != lucky.pools))
                                     return {};
                                   PlanAnswer answer;
                                   answer.figures = lucky.figures;
                                   ObjectiveResult& objective =
                                       answer.figures->objectives.front().result;
                                   objective.value = latency;
                                   objective.ci95 = milliseconds(48);
                                   return answer;
                                 },
                                 [](const PlanProbe&, const PlanAnswer&) {}};
  return make_plan(t4_set({t4_service("a", 2, 20, gibibytes(2))}), 0, demo::catalogue(), options);
}

// 350 ms +- 48 ms is within 400 ms, but not with an interval as wide as those of all that stood.
TEST(Plan, WhatIsFirstHoldsBesideAllThatCouldHaveBeen) {
  const ScenarioSet set = t4_set({t4_service("a", 2, 20, gibibytes(2))});
  const auto plan = make_plan(set, 0, demo::catalogue(), on_t4_by({"exclusive", "timeSlicing"}));
  ASSERT_TRUE(plan && !plan->options.empty() && plan->confirmed);
  EXPECT_TRUE(plan->confirmed->holds);
  EXPECT_GE(plan->confirmed->intervals, 2);
  const PlanOption& lucky = plan->options.front();
  for (const auto& [latency, stays] : {std::pair{100, true}, {350, false}}) {
    const auto others = plan_where_others_say(lucky, false, milliseconds(latency));
    ASSERT_TRUE(others && !others->options.empty() && others->confirmed);
    EXPECT_EQ(others->options.front().pools == lucky.pools, stays) << latency;
    EXPECT_EQ(*others->options.front().goal > *lucky.goal, !stays) << latency;
    EXPECT_TRUE(others->confirmed->holds) << latency;
  }
  // Where none is confirmed, the cheapest that misses nothing is the answer, and it is said.
  const auto doubted = plan_where_others_say(lucky, true, milliseconds(350));
  ASSERT_TRUE(doubted && !doubted->options.empty() && doubted->confirmed);
  EXPECT_EQ(doubted->options.front().pools, lucky.pools);
  EXPECT_FALSE(doubted->confirmed->holds);
}

// MPS divides the 15360 MiB that nvidia-smi prints by two; 15080 MiB are left to its clients.
TEST(Plan, WhatMpsSharesFitsBesideItsServer) {
  for (const auto& [mebibytes_each, fits] : {std::pair{7400, true}, {7500, false}}) {
    const ScenarioSet set = t4_set({t4_service("large", 2, 20, mebibytes(mebibytes_each))});
    const auto plan = make_plan(set, 0, demo::catalogue(), on_t4_by({"mps"}));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->options.empty(), !fits) << mebibytes_each;
    EXPECT_EQ(!plan->rejected.empty() && plan->rejected.front().code == Code::GpuOom, !fits);
  }
}

// Two of three may share a T4 as long as the two large ones do not meet there.
TEST(Plan, PodsThatMpsHasNoRoomForTogetherAreKeptApart) {
  const ScenarioSet set = t4_set(
      {t4_service("large", 2, 20, mebibytes(7500)), t4_service("small", 1, 10, mebibytes(2000))});
  const auto plan = make_plan(set, 0, demo::catalogue(), on_t4_by({"exclusive", "mps"}));
  ASSERT_TRUE(plan && plan->options.size() > 1);
  EXPECT_EQ(describe(plan->options.front().pools.front()),
            "2 x g4dn.xlarge, MPS x2, one of large a node");
  EXPECT_TRUE(plan->kept_apart);
  EXPECT_EQ(plan->options[1].pools.front().strategy, Strategy::Exclusive);
}

// Each has a GPU to itself either way; of slices of time that is up to the scheduler.
TEST(Plan, PodsHaveTheirOwnGpusWhereSharingSavesNothing) {
  ScenarioSet set = t4_set({t4_service("api", 2, 100, mebibytes(3000))});
  set.variants.front().workloads.front().objectives = {
      limit(scenarios::Figure::LatencyP99, milliseconds(150))};
  const auto plan = make_plan(set, 0, demo::catalogue(), on_t4_by({"timeSlicing", "exclusive"}));
  ASSERT_TRUE(plan && !plan->options.empty());
  EXPECT_EQ(describe(plan->options.front().pools.front()), "2 x g4dn.xlarge, exclusive");
}

TEST(Plan, SpotFallsBackWhereThatCostsNoMore) {
  PlanOptions options = on_t4_by({"exclusive"});
  options.purchases = {"spot"};
  const auto plan =
      make_plan(t4_set({t4_service("api", 1, 10, mebibytes(3000))}), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->options.size() == 2);
  EXPECT_EQ(plan->options[0].pools.front().purchase, kSpotFallback);
  EXPECT_EQ(plan->options[1].pools.front().purchase, "spot");
  EXPECT_EQ(plan->options[0].figures.monthly, plan->options[1].figures.monthly);
}

// Whichever of them has the larger slice, it is one line.
TEST(ThoroughPlan, NoTwoOptionsReadTheSame) {
  PlanOptions options = on_t4_by({"mig"});
  options.instance_types = {"p4d.24xlarge"};
  const auto plan = make_plan(t4_set({t4_service("first", 1, 10, mebibytes(3000)),
                                      t4_service("second", 1, 10, mebibytes(3000))}),
                              0, demo::catalogue(), options);
  ASSERT_TRUE(plan && plan->options.size() > 1);
  std::set<std::string> lines;
  for (const PlanOption& option : plan->options) lines.insert(describe(option.pools.front()));
  EXPECT_EQ(lines.size(), plan->options.size());
}

// One Service has one pool: all that costs less was tried.
TEST(Plan, OneGroupHasABound) {
  PlanOptions options = on_t4_by({"exclusive", "timeSlicing"});
  options.split = true;
  const auto plan =
      make_plan(t4_set({t4_service("a", 3, 5, mebibytes(3000))}), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && !plan->options.empty());
  EXPECT_EQ(plan->least_monthly, plan->options.front().goal);
}

// The bound is of what was tried: none where what there is, which was not, costs less.
TEST(Plan, NoBoundLiesAboveWhatIsKept) {
  PlanOptions options = on_t4_by({"exclusive"});
  options.split = true;
  ScenarioSet today =
      t4_set({t4_service("a", 1, 5, mebibytes(3000)), t4_service("b", 1, 5, mebibytes(3000))});
  today.variants.front().node_pools.front().nodes = 2;
  for (const auto& [type, is_bound] : {std::pair{"g4dn.xlarge", true}, {"g5.xlarge", false}}) {
    options.instance_types = {type};
    const auto plan = make_plan(today, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan && !plan->options.empty());
    EXPECT_TRUE(plan->keep_as_is) << type;
    EXPECT_EQ(plan->least_monthly.has_value(), is_bound) << type;
  }
}

// Seven pods on two T4: what is found first shares one by time-slicing and takes nine tenths of a
// limit, what costs as much by MPS a third.
TEST(ThoroughPlan, OfOnePriceIsFirstWhatIsNotCloseToItsLimits) {
  for (const std::int64_t most : {140, 150}) {
    std::vector<Workload> workloads = {t4_service("api", 3, 40, mebibytes(3000)),
                                       t4_service("emb", 2, 20, mebibytes(5000)),
                                       t4_service("cls", 2, 20, mebibytes(2000))};
    const std::int64_t mean_us[] = {10'800, 8'650, 6'400};
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      workloads[w].objectives = {limit(scenarios::Figure::LatencyP99, milliseconds(most))};
      workloads[w].measured->sm_active = 0.4;
      workloads[w].measured->request_gpu_time->sigma = 0.39;
      workloads[w].measured->request_gpu_time->mean = microseconds(mean_us[w]);
    }
    ScenarioSet set = t4_set(std::move(workloads));
    set.variants.front().duration = minutes(2);
    PlanOptions options = on_t4_by({"timeSlicing", "mps"});
    options.split = true;
    const auto plan = make_plan(set, 0, demo::catalogue(), options);
    ASSERT_TRUE(plan && !plan->options.empty());
    const PlanOption& best = plan->options.front();
    int nodes = 0;
    for (const PoolChoice& pool : best.pools) nodes += pool.nodes;
    EXPECT_EQ(nodes, 2) << most;
    EXPECT_LT(best.figures.worst_ratio, 0.85) << most;
  }
}

// Two services that take most of two GPUs.
ScenarioSet close_to_its_limits(double times) {
  auto set = scenarios::load_scenario({"close.yaml", R"(
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: fl}
spec:
  region: us-east-1
  duration: 5m
  warmup: 40s
  nodePools:
  - name: gpu
    instanceType: g4dn.xlarge
  workloads:
  - name: s0
    kind: Service
    replicas: 2
    podTemplate:
      resources:
        requests: {cpu: 500m, memory: 2Gi}
        limits: {nvidia.com/gpu: 1}
    gpuMemory: {allocator: OnDemand, resident: 9000Mi}
    startup: {imagePull: 20s, modelLoad: 10s}
    measured: {device: T4, requestGpuTime: {p50: 5ms, p99: 12.5ms}, smActive: 40%, cpu: 300m, provenance: Assumed}
    traffic: {shape: Poisson, mean: 45/s}
    slo: {latencyP99: 80ms}
  - name: s1
    kind: Service
    replicas: 1
    podTemplate:
      resources:
        requests: {cpu: 500m, memory: 2Gi}
        limits: {nvidia.com/gpu: 1}
    gpuMemory: {allocator: OnDemand, resident: 6000Mi}
    startup: {imagePull: 20s, modelLoad: 10s}
    measured: {device: T4, requestGpuTime: {p50: 8ms, p99: 20.0ms}, smActive: 40%, cpu: 300m, provenance: Assumed}
    traffic: {shape: Poisson, mean: 67.5/s}
    slo: {latencyP99: 80ms}
  objective: {minimize: monthlyCost}
)"});
  for (Workload& each : set->variants.front().workloads) each.traffic->mean.per_second *= times;
  return *set;
}

// What is best once an input has changed stands there with the random numbers of a plan of its own.
TEST(ThoroughPlan, WhatAFlipNamesAPlanFindsToo) {
  PlanOptions options;
  options.instance_types = {"g5.xlarge", "g6.xlarge"};
  options.headroom = options.risk = false;
  options.flips = true;
  const auto plan = make_plan(close_to_its_limits(1), 0, demo::catalogue(), options);
  ASSERT_TRUE(plan && !plan->options.empty());
  const auto flip = std::ranges::find_if(
      plan->flips, [](const Flip& each) { return each.input == "traffic" && each.misses; });
  ASSERT_NE(flip, plan->flips.end());
  options.flips = false;
  const auto then = make_plan(close_to_its_limits(flip->factor), 0, demo::catalogue(), options);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->options.empty(), !flip->winner) << flip->factor;
  if (flip->winner && !then->options.empty()) {
    EXPECT_NEAR(*flip->winner->goal, *then->options.front().goal, 0.01);
  }
}

}  // namespace
}  // namespace slicewise::sim
