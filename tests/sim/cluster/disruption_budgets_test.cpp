#include <string>

#include <gtest/gtest.h>

#include "sharing_scenarios.hpp"

// PodDisruptionBudgets: who drains a node waits for them, who takes it away does not.
namespace slicewise::sim::sharing {
namespace {

using scenarios::DisruptionBudget;
using scenarios::Provisioner;

DisruptionBudget min_available(std::int64_t value, bool is_percent = false) {
  return {true, is_percent, value, {}};
}

DisruptionBudget max_unavailable(std::int64_t value, bool is_percent = false) {
  return {false, is_percent, value, {}};
}

// Two replicas on the node whose layout changes at 600.5 s, because the other one is disliked; each
// needs 31 s to load its model. A request comes every second.
Scenario leaving(std::optional<DisruptionBudget> budget) {
  Workload api = demo::service(2, 1, milliseconds(1), Law::Deterministic);
  api.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  api.startup = {{}, seconds(31), false};
  api.pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  api.disruption_budget = budget;
  Scenario s = with_mig({api}, "all-1g.10gb");
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[0].mig->changes.push_back({milliseconds(600'500), {"all-3g.40gb", {}}});
  s.node_pools[1].name.value = "other";
  s.node_pools[1].taints.push_back({"old", "true", "PreferNoSchedule"});
  s.duration = seconds(1'000);
  return s;
}

// Both go at once, and nobody answers for 31 s. Else the second waits until the first is ready
// again: it goes when it is asked at 635.5 s.
TEST(DisruptionBudgets, ADrainTakesOnePodAfterTheOther) {
  const VariantResult at_once = demo::result(leaving(std::nullopt));
  EXPECT_EQ(at_once.pods.evicted, 2);
  EXPECT_NEAR(at_once.workloads[0].requests->refused, 31, 1);
  for (const DisruptionBudget& budget :
       {max_unavailable(1), min_available(1), max_unavailable(10, true), min_available(50, true)}) {
    const VariantResult in_turn = demo::result(leaving(budget));
    EXPECT_EQ(in_turn.pods.evicted, 2);
    EXPECT_EQ(in_turn.workloads[0].requests->refused, 0);
  }
  for (const DisruptionBudget& budget : {max_unavailable(0), min_available(51, true)}) {
    EXPECT_EQ(demo::result(leaving(budget)).pods.evicted, 0);  // asked for ever
  }
}

// The Job controller waits 10 s from when the pod was deleted, which is when it is evicted here.
TEST(DisruptionBudgets, ADrainedJobComesBackAfterItsBackOff) {
  Scenario s = leaving(std::nullopt);
  Workload job = demo::training(1);
  job.pod.extended = s.workloads[0].pod.extended;
  s.workloads = {job};
  s.duration = hours(2);
  const auto completion = [&](bool ignores) {
    s.workloads[0].ignore_disruptions = ignores;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.pods.evicted, 1);
    return r.workloads[0].job_completion->p99;
  };
  EXPECT_EQ(completion(false) - completion(true), seconds(10));
}

// A pod on each of two nodes, where one would do for both.
Scenario half_empty(std::optional<DisruptionBudget> budget) {
  Workload first = demo::training(1);
  first.pod.cpu_request = {500};
  first.pod.memory_request = gibibytes(1);
  first.work->units = 1;
  first.work->steps_per_unit = 10;
  first.measured->device.value = "T4";
  first.measured->unit_time = seconds(100);
  Workload rest = first;
  rest.name.value = "long";
  rest.count = 2;
  rest.measured->unit_time = seconds(900);
  rest.disruption_budget = budget;
  scenarios::NodePool pool = demo::pool(2);
  pool.instance_type.value = "g4dn.xlarge";
  pool.nodes = 0;
  pool.most_nodes = 8;
  Scenario s = demo::scenario(pool, {first, rest});
  s.duration = seconds(2'000);
  s.provisioner.kind = Provisioner::Kind::Karpenter;
  s.provisioner.node_overlay = true;
  s.provisioner.start_up.variation = 0;
  s.provisioner.consolidate_after = seconds(60);
  return s;
}

TEST(DisruptionBudgets, KarpenterKeepsNodesWhosePodsMayNotGo) {
  EXPECT_EQ(demo::result(half_empty(std::nullopt)).pods.evicted, 1);
  EXPECT_EQ(demo::result(half_empty(min_available(1))).pods.evicted, 1);
  const VariantResult kept = demo::result(half_empty(min_available(2)));
  EXPECT_EQ(kept.pods.evicted, 0);
  EXPECT_EQ(kept.node_pools[0].dynamics->removed, 2);  // once they are empty
}

// Nothing comes or goes when the pods have loaded their models, but now one of them may go.
TEST(DisruptionBudgets, KarpenterLooksAgainOncePodsAreReady) {
  Scenario s = half_empty(min_available(1));
  s.workloads[1].startup = {{}, seconds(400), true};
  EXPECT_EQ(demo::result(s).pods.evicted, 1);
}

// A drain that waits for ever: the Job that needs the new layout is Pending for good, and keeps no
// run without end.
TEST(DisruptionBudgets, AChangeOfLayoutThatNeverComesIsNotWaitedFor) {
  Workload job = demo::training(1);
  job.pod.extended[0].name.value = "nvidia.com/mig-3g.40gb";
  Workload small = demo::training(1);
  small.name.value = "small";
  small.pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  const auto with_jobs = [&](const DisruptionBudget& budget) {
    Scenario s = leaving(budget);
    s.workloads.push_back(job);
    s.workloads.push_back(small);
    for (const std::size_t w : {1U, 2U}) {
      s.workloads[w].measured->device.value = "";
      s.workloads[w].pod.cpu_request = {100};
    }
    s.duration.reset();
    return s;
  };
  Scenario never = with_jobs(max_unavailable(0));
  never.node_pools.pop_back();
  EXPECT_TRUE(demo::has(demo::world(never).findings, Code::BudgetAllowsNone));
  const VariantResult r = demo::result(never);
  EXPECT_FALSE(r.is_cut_off);
  EXPECT_EQ(r.workloads[1].left_behind.pending, 1);
  const Scenario in_turn = with_jobs(max_unavailable(1));
  EXPECT_FALSE(demo::has(demo::world(in_turn).findings, Code::BudgetAllowsNone));
  EXPECT_EQ(demo::result(in_turn).workloads[1].left_behind.pending, 0);
}

// Its budget lets one of an autoscaled Service's pods go, if the autoscaler ever has two: it does
// not. Nobody is asked for longer than a day.
TEST(DisruptionBudgets, AChangeOfLayoutThatABudgetHoldsIsGivenUp) {
  Scenario s = leaving(min_available(1));
  s.node_pools.pop_back();
  s.workloads[0].autoscaling.emplace().min_replicas = 1;
  s.workloads[0].autoscaling->max_replicas = 2;
  s.workloads[0].autoscaling->target = 1'000;
  s.duration = hours(23);
  EXPECT_FALSE(demo::has(demo::result(s).findings, Code::BudgetAllowsNone));
  s.duration = hours(25);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 0);
  EXPECT_TRUE(demo::has(r.findings, Code::BudgetAllowsNone));
}

// No pod is on the first of the two pools, whose layout changes at once.
TEST(DisruptionBudgets, APoolWhoseLayoutDoesNotChangeIsNamed) {
  Scenario s = leaving(min_available(1));
  s.node_pools[1] = s.node_pools[0];
  s.node_pools[0].name.value = "empty";
  s.node_pools[0].taints.push_back({"empty", "true", "NoSchedule"});
  s.node_pools[1].name.value = "held";
  s.workloads[0].autoscaling.emplace().min_replicas = 1;
  s.workloads[0].autoscaling->max_replicas = 2;
  s.workloads[0].autoscaling->target = 1'000;
  s.duration = hours(25);
  const VariantResult r = demo::result(s);
  std::string told;
  for (const Diagnostic& finding : r.findings) {
    if (finding.code == Code::BudgetAllowsNone) told += finding.message + "\n";
  }
  EXPECT_NE(told.find("layout of \"held\" does not"), std::string::npos) << told;
  EXPECT_EQ(told.find("\"empty\""), std::string::npos) << told;
}

// Two pods on a node, that load their models for 300 s. From 500 s on there are two free places on
// another node.
Scenario with_two_places_elsewhere() {
  Scenario s = half_empty(min_available(1));
  Workload first = s.workloads[0];
  first.count = 2;
  first.pod.cpu_request = {1500};
  first.pod.node_selector["role"] = "fixed";
  first.measured->unit_time = seconds(500);
  Workload early = s.workloads[1];
  early.pod.cpu_request = {1500};
  early.startup = {{}, seconds(300), true};
  early.ignore_disruptions = true;  // they come back at once
  s.workloads = {first, early};
  s.node_pools[0].device_plugin->time_slicing->resources[0].replicas = 4;
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[1].name.value = "fixed";
  s.node_pools[1].labels["role"] = "fixed";
  s.node_pools[1].nodes = 1;
  s.node_pools[1].most_nodes.reset();
  s.duration = seconds(1'200);
  return s;
}

// The first node is being drained, pod by pod, so there is no room for the pod of a second one.
TEST(DisruptionBudgets, PodsThatWaitForABudgetHaveTheirPlaceElsewhere) {
  Scenario s = with_two_places_elsewhere();
  Workload late = s.workloads[1];
  late.name.value = "late";
  late.count = 1;
  late.submit_at = seconds(400);
  late.disruption_budget.reset();
  s.workloads.push_back(late);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 2);
  EXPECT_EQ(r.node_pools[0].dynamics->launches, 2);
}

// The only node that starts: Karpenter begins to drain it, and EC2 takes it meanwhile.
TEST(DisruptionBudgets, ANodeThatWaitsForABudgetCanBeTaken) {
  Scenario s = with_two_places_elsewhere();
  s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  s.node_pools[0].spot.emplace().interruptions = Rate{6.0 / 3600};
  bool is_taken = false;
  for (s.seed = 1; s.seed <= 40 && !is_taken; ++s.seed) {
    const VariantResult r = demo::result(s);
    const NodeDynamics& dynamics = *r.node_pools[0].dynamics;
    is_taken = dynamics.launches == 1 && dynamics.removed == 1 && dynamics.interruptions == 1;
  }
  EXPECT_TRUE(is_taken);
}

// Two replicas on a spot node, each of which loads its model for 20 s.
Scenario on_spot(std::optional<DisruptionBudget> budget, Duration load) {
  Workload api = demo::service(4, 1, milliseconds(1), Law::Deterministic);
  api.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  api.pod.cpu_request = {500};
  api.pod.memory_request = gibibytes(1);
  api.measured->device.value = "T4";
  api.startup = {{}, load, false};
  api.disruption_budget = budget;
  scenarios::NodePool pool = demo::pool(2);
  pool.instance_type.value = "g4dn.xlarge";
  pool.nodes = 2;
  pool.most_nodes = 4;
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace().interruptions = Rate{1.0 / 3600};
  Scenario s = demo::scenario(pool, {api});
  s.duration = hours(20);
  s.provisioner.kind = Provisioner::Kind::Karpenter;
  s.provisioner.node_overlay = true;
  return s;
}

// Who drains the node in the two minutes of EC2's notice asks.
TEST(DisruptionBudgets, ASpotNodeIsDrainedPodByPod) {
  const auto refused = [](const std::optional<DisruptionBudget>& budget) {
    const VariantResult r = demo::result(on_spot(budget, seconds(20)));
    EXPECT_GT(r.node_pools[0].dynamics->interruptions, 10);
    return r.workloads[0].requests->refused;
  };
  EXPECT_GT(refused(std::nullopt), 10);
  EXPECT_EQ(refused(max_unavailable(1)), 0);
}

// Once its notice is over, EC2 does not ask.
TEST(DisruptionBudgets, AnInterruptionDoesNotWait) {
  Scenario s = half_empty(min_available(2));
  s.node_pools[0].nodes = 2;
  s.node_pools[0].most_nodes.reset();
  s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  s.node_pools[0].spot.emplace().interruptions = Rate{20.0 / 3600};
  s.provisioner = {};
  EXPECT_GT(demo::result(s).pods.evicted, 0);
}

// The lower priority goes, unless that is against its budget and the other is not; where it is of
// both, the lower one again.
TEST(DisruptionBudgets, PreemptionSparesThemWhereItCan) {
  const auto waited_longer = [](bool low_kept, bool high_kept) {
    Workload low = demo::training(1);
    low.name.value = "low";
    low.pod.extended.front().count = 4;
    Workload high = low;
    high.name.value = "high";
    high.priority = 5;
    high.preemption_policy = scenarios::PreemptionPolicy::Never;  // it waits for its turn
    if (low_kept) low.disruption_budget = min_available(1);
    if (high_kept) high.disruption_budget = min_available(1);
    Workload urgent = demo::training(1);
    urgent.name.value = "urgent";
    urgent.priority = 1000;
    urgent.submit_at = minutes(10);
    const VariantResult r = demo::result(demo::scenario(demo::pool(0, 2), {low, high, urgent}));
    EXPECT_EQ(r.pods.evicted, 1);
    return r.workloads[0].job_completion->p99 > minutes(31) ? "low" : "high";
  };
  EXPECT_STREQ(waited_longer(false, false), "low");
  EXPECT_STREQ(waited_longer(true, false), "high");
  EXPECT_STREQ(waited_longer(true, true), "low");
}

// On a node, too: those of the higher priority go, because no budget keeps them.
TEST(DisruptionBudgets, OnANodeThoseAgainstABudgetComeBackFirst) {
  Workload kept = demo::training(2);
  kept.name.value = "kept";
  kept.disruption_budget = min_available(2);
  Workload free = demo::training(2);
  free.name.value = "free";
  free.priority = 5;
  free.preemption_policy = scenarios::PreemptionPolicy::Never;
  Workload urgent = demo::training(1);
  urgent.name.value = "urgent";
  urgent.priority = 1000;
  urgent.submit_at = minutes(10);
  urgent.pod.extended.front().count = 2;
  const auto evicted_of_kept = [&] {
    const VariantResult r = demo::result(demo::scenario(demo::pool(0), {kept, free, urgent}));
    EXPECT_EQ(r.pods.evicted, 2);
    return r.workloads[0].job_completion->p99 > minutes(31);
  };
  EXPECT_FALSE(evicted_of_kept());
  kept.disruption_budget.reset();
  EXPECT_TRUE(evicted_of_kept());
}

}  // namespace
}  // namespace slicewise::sim::sharing
