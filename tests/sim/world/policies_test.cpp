#include "slicewise/sim/policies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/isolation.hpp"

#include "../comparison/comparisons.hpp"

// What must hold, in the world that a scenario makes: policies, isolation, agreed prices.
namespace slicewise::sim {
namespace {

using ::testing::HasSubstr;
using Verdict = PolicyResult::Verdict;

// Two Jobs of different namespaces on one p3.2xlarge; `sharing` of its pool, `lines` of spec.
std::string two_teams(const std::string& sharing, const std::string& lines) {
  return R"(apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  replications: 1
  nodePools:
  - {name: gpu, instanceType: p3.2xlarge, devicePlugin: {)" +
         sharing + "}}\n" + lines +
         R"(  workloads:
  - name: train
    namespace: team-a
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 1Gi}
    work: {units: 2}
    measured: {device: V100-SXM2-16GB, unitTime: 18s, gpuBusy: 38%, smActive: 21%}
    slo: {completionP95: 5m}
  - name: tune
    namespace: team-b
    podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}
    gpuMemory: {resident: 1Gi}
    work: {units: 1}
    measured: {device: V100-SXM2-16GB, unitTime: 18s, gpuBusy: 38%, smActive: 21%}
)";
}

const std::string kTurns = "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2}]}}";
const std::string kSideBySide = "sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}";

scenarios::ScenarioSet teams_set(const std::string& sharing, const std::string& lines) {
  auto loaded = scenarios::load_scenario({"s.yaml", two_teams(sharing, lines)});
  if (!loaded) throw std::runtime_error(loaded.error().front().message);
  return std::move(*loaded);
}

scenarios::Scenario teams(const std::string& sharing, const std::string& lines) {
  return teams_set(sharing, lines).variants.at(0);
}

PolicyResult judged(const VariantResult& result, const std::string& assertion,
                    std::optional<double> headroom = std::nullopt) {
  const auto scenario = teams(kTurns, "  policies: [{name: p, assert: \"" + assertion + "\"}]\n");
  return judge_policies(scenario.policies, result, headroom).at(0);
}

// "" when the world has none.
std::string isolation_error(const scenarios::Scenario& scenario) {
  const auto world = build_world(scenario, demo::catalogue());
  if (world) return "";
  for (const Diagnostic& d : world.error()) {
    if (d.code != Code::IsolationTooWeak) continue;
    EXPECT_EQ(d.where.line, 8);
    return d.message;
  }
  ADD_FAILURE() << world.error().front().message;
  return "";
}

TEST(JudgePolicies, FollowsTheFigures) {
  const VariantResult result = demo::result(teams(kTurns, ""));
  const auto verdict = [&](const std::string& assertion) {
    return judged(result, assertion).verdict;
  };
  // One p3.2xlarge at 3.06 USD/h for 730 h.
  EXPECT_EQ(verdict("cost.monthly <= 2233.8"), Verdict::Pass);
  EXPECT_EQ(verdict("cost.monthly < 2233"), Verdict::Fail);
  EXPECT_EQ(verdict("nodes == 1 and pods.failed == 0 and pods.restarts < 1"), Verdict::Pass);
  EXPECT_EQ(verdict("gpu.busy > 10% and gpu.busy < 100%"), Verdict::Pass);
  EXPECT_EQ(verdict("strategy == timeSlicing and instanceType != g5.xlarge"), Verdict::Pass);
  EXPECT_EQ(verdict("strategy == mig or not sharedGpu"), Verdict::Fail);
  EXPECT_EQ(verdict("not sharedGpu(namespaceA != namespaceB)"), Verdict::Fail);
  EXPECT_EQ(verdict("isolation.memory == none and isolation.fault == process"), Verdict::Pass);
  EXPECT_EQ(verdict("workloads.train.completionP95 >= 36s"), Verdict::Pass);
  EXPECT_EQ(verdict("workloads.train.slo.pass and slo.pass"), Verdict::Pass);
  EXPECT_EQ(judged(result, "cost.monthly < 1").figures.at(0).value, "2233.80 USD");
}

// As the verdict has it: an objective whose interval reaches over its limit is not met yet.
TEST(JudgePolicies, AnUndecidedObjectiveDoesNotPass) {
  VariantResult result = demo::result(teams(kTurns, ""));
  for (WorkloadResult& w : result.workloads) {
    for (ObjectiveResult& objective : w.objectives) {
      objective.ci95 = objective.limit;
    }
  }
  EXPECT_EQ(judged(result, "workloads.train.slo.pass").verdict, Verdict::Fail);
  EXPECT_EQ(judged(result, "slo.pass").verdict, Verdict::Fail);
}

// An absent figure decides nothing, unless the other side decides alone.
TEST(JudgePolicies, UnknownIsNeitherTrueNorFalse) {
  const VariantResult result = demo::result(teams(kTurns, ""));
  const auto verdict = [&](const std::string& assertion) {
    return judged(result, assertion).verdict;
  };
  EXPECT_EQ(verdict("headroom >= 1.2"), Verdict::Unknown);
  EXPECT_EQ(verdict("not headroom >= 1.2"), Verdict::Unknown);
  EXPECT_EQ(verdict("headroom >= 1.2 or nodes == 1"), Verdict::Pass);
  EXPECT_EQ(verdict("headroom >= 1.2 and nodes == 2"), Verdict::Fail);
  EXPECT_EQ(verdict("headroom >= 1.2 and nodes == 1"), Verdict::Unknown);
  EXPECT_EQ(verdict("workloads.train.latencyP99 < 1s"), Verdict::Unknown);
  EXPECT_EQ(verdict("workloads.tune.slo.pass"), Verdict::Unknown);  // it has no objective
  VariantResult unasked = result;
  for (WorkloadResult& w : unasked.workloads) {
    for (ObjectiveResult& objective : w.objectives) objective.is_unasked = true;
  }
  EXPECT_EQ(judged(unasked, "workloads.train.slo.pass").verdict, Verdict::Unknown);
  EXPECT_EQ(judged(unasked, "slo.pass").verdict, Verdict::Unknown);
  EXPECT_EQ(judged(result, "headroom >= 1.2", 1.3).verdict, Verdict::Pass);
  EXPECT_EQ(judged(result, "headroom >= 1.2").figures.at(0).value, "");
}

TEST(JudgePolicies, AFailedOneIsAFinding) {
  const VariantResult result = demo::result(
      teams(kTurns,
            "  policies: [{name: deny, assert: nodes > 1}, {name: warn, assert: nodes > 2, "
            "severity: Warn}, {name: good, assert: nodes < 3}, {name: open, assert: headroom > "
            "1}]\n"));
  ASSERT_EQ(result.policies.size(), 4U);
  std::vector<Severity> severities;
  for (const Diagnostic& d : result.findings) {
    if (d.code == Code::PolicyFailed) severities.push_back(d.severity);
  }
  EXPECT_THAT(severities, ::testing::ElementsAre(Severity::Error, Severity::Warning));
}

// It passed without a word: a limit that a run cannot hold anybody to.
TEST(JudgePolicies, OneThatNothingDecidesIsTold) {
  const auto told = [](const std::string& severity) {
    const VariantResult result = demo::result(teams(
        kTurns, "  policies: [{name: open, assert: headroom > 1, severity: " + severity + "}]\n"));
    std::vector<Severity> severities;
    for (const Diagnostic& d : result.findings) {
      if (d.code == Code::PolicyNotJudged) severities.push_back(d.severity);
    }
    return std::pair(severities, result.verdict.has(sim::Verdict::Cause::PolicyDenies));
  };
  EXPECT_EQ(told("Deny"), std::pair(std::vector{Severity::Warning}, false));
  EXPECT_EQ(told("Require"), std::pair(std::vector{Severity::Error}, true));
  EXPECT_EQ(told("Warn"), std::pair(std::vector<Severity>{}, false));
}

TEST(GpuNeighbours, MeetWhereTicketsAreLeft) {
  const auto neighbours = [](const std::string& sharing) {
    return gpu_neighbours(demo::world(teams(sharing, "")));
  };
  EXPECT_FALSE(neighbours("").pods);
  EXPECT_TRUE(neighbours(kTurns).namespaces);
  scenarios::Scenario one_team = teams(kTurns, "");
  one_team.workloads[1].namespace_name = "team-a";
  EXPECT_TRUE(gpu_neighbours(demo::world(one_team)).pods);
  EXPECT_FALSE(gpu_neighbours(demo::world(one_team)).namespaces);
}

TEST(IsolationGap, NamesWhatIsMissing) {
  const auto error = [](const std::string& sharing, const std::string& require) {
    return isolation_error(teams(sharing, "  isolation: {require: " + require + "}\n"));
  };
  EXPECT_THAT(error(kTurns, "memory"), HasSubstr("one can take the GPU memory of the other"));
  EXPECT_THAT(error(kTurns, "memory"), HasSubstr("namespaces team-a and team-b"));
  EXPECT_EQ(error(kTurns, "fault"), "");
  EXPECT_EQ(error(kSideBySide, "memory"), "");
  EXPECT_THAT(error(kSideBySide, "[memory, fault]"), HasSubstr("a fatal fault of one ends"));
  EXPECT_THAT(error(kSideBySide, "compute"), HasSubstr("one can slow the other"));
  EXPECT_EQ(error("", "[memory, compute, fault]"), "");
}

TEST(IsolationGap, IsBetweenNamespacesUnlessItSaysPods) {
  scenarios::Scenario one_team = teams(kTurns, "  isolation: {require: memory}\n");
  one_team.workloads[1].namespace_name = "team-a";
  EXPECT_EQ(isolation_error(one_team), "");
  one_team.isolation->between = scenarios::IsolationRule::Between::Pods;
  EXPECT_THAT(isolation_error(one_team), HasSubstr("pods of train and tune may share a GPU"));
}

// A slice of MIG isolates by itself; shared, it is no better than what shares it.
TEST(IsolationGap, IsThatInsideAMigInstance) {
  const auto gap = [](const std::string& sharing) {
    scenarios::Scenario s = teams(sharing, "  isolation: {require: memory}\n");
    s.node_pools[0].instance_type.value = "p4d.24xlarge";
    s.node_pools[0].mig.emplace().config.value = "all-1g.5gb";
    return isolation_error(s);
  };
  EXPECT_EQ(gap(""), "");
  EXPECT_THAT(gap(kTurns), HasSubstr("may share a MIG instance"));
}

TEST(IsolationGap, RefusesOptionsOfAComparison) {
  const auto comparison = demo::compared(
      teams_set(kTurns, "  isolation: {require: [memory, fault]}\n"), demo::on({"p4d.24xlarge"}));
  for (const Strategy strategy : {Strategy::TimeSlicing, Strategy::Mps}) {
    const RefusedOption* refused = demo::find_refused(comparison, "p4d.24xlarge", strategy);
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(refused->code, Code::IsolationTooWeak);
  }
  EXPECT_NE(demo::find(comparison, "p4d.24xlarge", Strategy::Mig), nullptr);
  EXPECT_NE(demo::find(comparison, "p4d.24xlarge", Strategy::Exclusive), nullptr);
}

TEST(PricePlan, LowersTheOnDemandPriceOfItsType) {
  const std::string plan =
      "  pricing: {plans: {p3.2xlarge: {type: savingsPlan3y, discount: 50%}}}\n";
  const models::Price agreed = demo::world(teams(kTurns, plan)).pools[0].price;
  EXPECT_EQ(agreed.usd.per_hour, from_dollars(1.53));
  EXPECT_THAT(agreed.source.text, HasSubstr("on-demand less 50 % (savingsPlan3y)"));
  EXPECT_EQ(demo::result(teams(kTurns, plan)).node_pools[0].price_plan, "savingsPlan3y");
  scenarios::Scenario other = teams(kTurns, plan);
  other.price_plans[0].instance_type.value = "p3.8xlarge";
  EXPECT_EQ(demo::world(other).pools[0].price.usd.per_hour, from_dollars(3.06));
  scenarios::Scenario spot = teams(kTurns, plan);
  spot.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  const auto unlike = build_world(spot, demo::catalogue());
  EXPECT_TRUE(!unlike || unlike->pools[0].price.usd.per_hour != from_dollars(1.53));
}

}  // namespace
}  // namespace slicewise::sim
