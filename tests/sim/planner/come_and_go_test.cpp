#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"
#include "small_plans.hpp"

// Nodes for pods that come and go.
namespace slicewise::sim {
namespace {

using scenarios::Figure;
using scenarios::Scenario;
using scenarios::Workload;
using small_plans::limit;
using small_plans::small_space;

constexpr double kMonthOfG4dn = 0.526 * 730;  // dollars

// A service, with what else it has, and maybe a job of ten minutes each night. No two of their pods
// fit on a T4.
scenarios::ScenarioSet with_a_service(const std::string& more, bool nightly) {
  const std::string job = nightly ? R"(
  - name: nightly
    kind: Job
    count: 1
    schedule: {cron: "0 2 * * *"}
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 9Gi}
    work: {units: 60}
    measured: {unitTime: 10s, gpuBusy: 90%, provenance: Assumed}
)"
                                  : "";
  auto set = scenarios::load_scenario({"s.yaml", fmt::format(R"(
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {{name: nightly}}
spec:
  duration: 1d
  warmup: 5m
  replications: 2
  nodePools: [{{name: gpus, instanceType: g4dn.xlarge, nodes: 2}}]
  workloads:
  - name: api
    kind: Service
    podTemplate: {{resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
    gpuMemory: {{resident: 9Gi}}
    measured: {{requestGpuTime: {{mean: 50ms}}, provenance: Assumed}}
    traffic: {{shape: Poisson, mean: 2/m}}
    {}{})",
                                                             more, job)});
  if (!set) throw set.error();
  return *set;
}

Plan plan_of(const scenarios::ScenarioSet& set) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.split = true;
  return make_plan(set, 0, demo::catalogue(), options).value();
}

TEST(Plan, NodesOfANightlyJobComeAndGo) {
  const Plan plan = plan_of(with_a_service("", true));
  ASSERT_FALSE(plan.options.empty());
  const PlanOption& best = plan.options.front();
  EXPECT_TRUE(best.pools.back().elastic) << describe(best.pools.back());
  EXPECT_EQ(best.pools.back().nodes, 2) << "as many as are needed, not as may be tried";
  // One that stays, and another for a quarter of an hour a day.
  EXPECT_GT(to_dollars(best.figures.monthly), kMonthOfG4dn * 1.001);
  EXPECT_LT(to_dollars(best.figures.monthly), kMonthOfG4dn * 1.05);
  ASSERT_TRUE(plan.least_monthly);
  EXPECT_LE(*plan.least_monthly, to_dollars(best.figures.monthly));
}

// A Job that ends needs its node no longer than a CronJob does: nodes that come and go for both
// cost next to nothing, and no bound says otherwise.
TEST(Plan, AJobThatEndsMayShareNodesThatComeAndGo) {
  scenarios::ScenarioSet set = with_a_service("", true);
  Scenario& scenario = set.variants.front();
  Workload once = scenario.workloads.back();
  once.name.value = "once";
  once.schedule.reset();
  scenario.workloads.erase(scenario.workloads.begin());
  scenario.workloads.push_back(once);
  const Plan plan = plan_of(set);
  ASSERT_FALSE(plan.options.empty());
  const double monthly = to_dollars(plan.options.front().figures.monthly);
  EXPECT_LT(monthly, 0.2 * kMonthOfG4dn);
  EXPECT_LE(plan.least_monthly.value_or(0), monthly);
}

// More than four groups: jobs at different hours have a node of their own that comes and goes,
// beside the Services' one that stays.
TEST(ThoroughPlan, FleetsHaveNodesThatComeAndGo) {
  scenarios::ScenarioSet set = with_a_service("", true);
  Scenario& scenario = set.variants.front();
  scenario.workloads.front().gpu_memory.resident = gibibytes(2);
  const std::vector<Workload> both = scenario.workloads;
  scenario.workloads.clear();
  for (int n = 0; n < 3; ++n) {
    for (Workload workload : both) {
      workload.name.value += std::to_string(n);
      if (workload.schedule) workload.schedule->utc_offset = hours(4 * n);
      scenario.workloads.push_back(workload);
    }
  }
  const Plan plan = plan_of(set);
  ASSERT_FALSE(plan.options.empty());
  const double monthly = to_dollars(plan.options.front().figures.monthly);
  EXPECT_LT(monthly, 1.2 * kMonthOfG4dn);
  EXPECT_LE(plan.least_monthly.value_or(0), monthly);
}

// Its only pod is there from the first to the last second.
TEST(Plan, ANodeThatStartsLateSavesNothing) {
  const Plan plan =
      plan_of(with_a_service("replicas: 1\n    autoscaling: {max: 2, target: 50}", false));
  ASSERT_FALSE(plan.options.empty());
  const PlanOption& best = plan.options.front();
  EXPECT_FALSE(best.pools.front().elastic) << describe(best.pools.front());
}

// One pod for a load of two: the autoscaler sees it too late, however many nodes there are.
TEST(Plan, SaysHowManyPodsAnAutoscalerMustKeep) {
  auto set = with_a_service("replicas: 1\n    autoscaling: {min: 1, max: 9, target: 2}", false);
  Scenario& scenario = set.variants.front();
  scenario.duration = seconds(120);
  scenario.warmup = seconds(1);
  scenario.workloads.front().traffic->mean.per_second = 40;
  scenario.workloads.front().objectives = {limit(Figure::LatencyP99, seconds(1))};
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.max_nodes = 9;
  options.flips = true;
  const Plan plan = make_plan(set, 0, demo::catalogue(), options).value();
  EXPECT_TRUE(plan.options.empty());
  ASSERT_EQ(plan.other_pods.size(), 1U);
  const PoolChoice& pool = plan.other_pods.front().pools.front();
  ASSERT_EQ(pool.pods.size(), 1U);
  EXPECT_GE(pool.pods.front(), 2);
  EXPECT_LE(pool.pods.front(), 6);
  const Scenario planned = planned_scenario(scenario, {&pool, 1}, demo::catalogue());
  EXPECT_EQ(planned.workloads.front().autoscaling->min_replicas, pool.pods.front());
  EXPECT_EQ(planned.workloads.front().autoscaling->max_replicas, 9);
}

// Four pods, each of which answers 2/s, for up to `traffic` at 14:00 in Berlin.
scenarios::ScenarioSet with_a_day(const std::string& traffic) {
  auto set = with_a_service("replicas: 4", false);
  auto read = scenarios::load_scenario({"d.yaml", R"(
apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: day}
spec:
  duration: 24h
  nodePools: [{name: gpus, instanceType: g4dn.xlarge}]
  workloads:
  - name: api
    kind: Service
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    measured: {requestGpuTime: {mean: 500ms}, provenance: Assumed}
    traffic: )" + traffic});
  if (!read) throw read.error();
  Workload& api = set.variants.front().workloads.front();
  api.traffic = read->variants.front().workloads.front().traffic;
  api.measured = read->variants.front().workloads.front().measured;
  api.objectives = {limit(Figure::LatencyP99, seconds(10))};
  return set;
}

const std::string kBusyAfternoon =
    "{shape: Diurnal, mean: 80/m, peak: 4/s, peakAt: \"14:00\", utcOffset: \"+01:00\"}";

Plan hinted_plan(const scenarios::ScenarioSet& set) {
  PlanOptions options = small_space();
  options.instance_types = {"g4dn.xlarge"};
  options.strategies = {"exclusive"};
  options.max_nodes = 4;
  options.flips = true;
  Plan plan = make_plan(set, 0, demo::catalogue(), options).value();
  EXPECT_FALSE(plan.options.empty());
  return plan;
}

TEST(ThoroughPlan, SaysWhatAScheduleSaves) {
  const scenarios::ScenarioSet set = with_a_day(kBusyAfternoon);
  const Plan plan = hinted_plan(set);
  ASSERT_FALSE(plan.options.empty());
  EXPECT_EQ(plan.options.front().pools.front().nodes, 4);
  ASSERT_TRUE(plan.scheduled);
  EXPECT_TRUE(plan.scheduled->figures.stands());
  const PoolChoice& pool = plan.scheduled->pools.front();
  EXPECT_TRUE(pool.elastic);
  ASSERT_EQ(pool.schedules.size(), 1U) << describe(pool);
  const PodSchedule& schedule = pool.schedules.front();
  EXPECT_EQ(schedule.workload, "api");
  EXPECT_EQ(schedule.replicas, 4);
  EXPECT_LT(schedule.otherwise, 4);
  EXPECT_EQ(schedule.time_zone, "Etc/GMT-1");
  EXPECT_NE(describe(pool).find(describe(schedule)), std::string::npos);
  // Half a day with half of the nodes at the least.
  const double monthly = to_dollars(plan.options.front().figures.monthly);
  EXPECT_LT(to_dollars(plan.scheduled->figures.monthly), 0.75 * monthly);
  const Scenario planned = planned_scenario(set.variants.front(), {&pool, 1}, demo::catalogue());
  const scenarios::Autoscaling& scaling = planned.workloads.front().autoscaling.value();
  EXPECT_FALSE(scaling.has_metric());
  EXPECT_EQ(scaling.min_replicas, schedule.otherwise);
  EXPECT_EQ(scaling.max_replicas, 4);
  EXPECT_EQ(scaling.schedule.front().end.text, schedule.end);
}

TEST(ThoroughPlan, SaysWhatAnAutoscalerSaves) {
  const scenarios::ScenarioSet set = with_a_day(kBusyAfternoon);
  const Plan plan = hinted_plan(set);
  ASSERT_TRUE(plan.over_days && plan.by_load);
  EXPECT_EQ(plan.over_days->figures.monthly, plan.options.front().figures.monthly);
  const PoolChoice& pool = plan.by_load->pools.front();
  EXPECT_TRUE(pool.elastic);
  ASSERT_EQ(pool.scalings.size(), 1U) << describe(pool);
  const PodScaling& scaling = pool.scalings.front();
  EXPECT_EQ(std::pair(scaling.least, scaling.most), std::pair(1, 4));
  EXPECT_NEAR(scaling.per_second, 1, 0.01) << "4/s on 4 pods";
  EXPECT_LT(plan.by_load->figures.monthly, plan.over_days->figures.monthly);
  const Scenario planned = planned_scenario(set.variants.front(), {&pool, 1}, demo::catalogue());
  const scenarios::Autoscaling& written = planned.workloads.front().autoscaling.value();
  EXPECT_EQ(written.metric, scenarios::Autoscaling::Metric::RequestRate);
  EXPECT_EQ(written.target, scaling.per_second);
  EXPECT_EQ(std::pair(written.min_replicas, written.max_replicas), std::pair(1, 4));
}

// Pods that an autoscaler asks for come five hours later: what that misses costs something all the
// same.
TEST(ThoroughPlan, PricesAnAutoscalerThatIsTooLate) {
  scenarios::ScenarioSet set = with_a_day(kBusyAfternoon);
  set.variants.front().warmup = hours(5) + minutes(10);
  Workload& api = set.variants.front().workloads.front();
  api.startup.model_load = hours(5);
  api.objectives = {limit(Figure::LatencyP99, seconds(2))};
  const Plan plan = hinted_plan(set);
  ASSERT_TRUE(plan.over_days && plan.by_load);
  EXPECT_FALSE(plan.by_load->figures.stands());
  EXPECT_GT(to_dollars(plan.by_load->figures.monthly), kMonthOfG4dn);
}

// The run has a few minutes of the day, a month has its nights.
TEST(ThoroughPlan, SaysWhatTheNightSavesOfAShortRun) {
  scenarios::ScenarioSet set = with_a_day(kBusyAfternoon);
  set.variants.front().duration = minutes(20);
  const Plan plan = hinted_plan(set);
  EXPECT_EQ(plan.stamp.starts_at, "Mon 12:45");
  EXPECT_EQ(plan.options.front().pools.front().nodes, 4) << "at night one is enough";
  ASSERT_TRUE(plan.over_days && plan.scheduled && plan.by_load);
  EXPECT_LT(to_dollars(plan.scheduled->figures.monthly),
            0.75 * to_dollars(plan.options.front().figures.monthly));
}

TEST(ThoroughPlan, NoScheduleWithoutANight) {
  const Plan plan = hinted_plan(with_a_day("{mean: 80/m}"));
  EXPECT_FALSE(plan.scheduled || plan.by_load || plan.over_days) << "at one rate";
  scenarios::ScenarioSet half =
      with_a_day("{shape: Steps, steps: [{at: 0s, rate: 4/s}, {at: 6h, rate: 20/m}]}");
  half.variants.front().duration = hours(12);
  EXPECT_FALSE(hinted_plan(half).over_days) << "nobody knows the other half of the day";
}

}  // namespace
}  // namespace slicewise::sim
