#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/plan.hpp"

#include "../demo.hpp"

// Nodes that come and go: times and dollars by hand.
namespace slicewise::sim {
namespace {

using scenarios::Provisioner;
using scenarios::Scenario;
using scenarios::Workload;

constexpr double kPrice = 0.526;  // USD/h, g4dn.xlarge in us-east-1

Usd price_of(Duration node_time) { return cost_of({from_dollars(kPrice)}, node_time); }

// One T4 for `replicas` pods, at most `most` nodes. Jobs of 100 s; image pull 10 s, model load 9 s.
Scenario elastic(int jobs, int replicas, int most) {
  scenarios::Workload job = demo::training(jobs);
  job.pod.cpu_request = {500};
  job.pod.memory_request = gibibytes(1);
  job.work->units = 1;
  job.work->steps_per_unit = 10;
  job.measured->device.value = "T4";
  job.measured->unit_time = seconds(100);
  job.measured->gpu_busy = 0.1;
  job.startup = {seconds(10), seconds(9)};
  scenarios::NodePool pool = demo::pool(replicas);
  pool.name.value = "t4";
  pool.instance_type.value = "g4dn.xlarge";
  pool.nodes = 0;
  pool.most_nodes = most;
  Scenario s = demo::scenario(pool, {job});
  s.duration = seconds(1'000);
  s.provisioner.kind = Provisioner::Kind::Karpenter;
  s.provisioner.start_up.variation = 0;
  s.provisioner.consolidate_after = seconds(60);
  return s;
}

Usd parts_of(const CostLedger& ledger) {
  return ledger.useful + ledger.idle + ledger.switching + ledger.failed + ledger.cold_start +
         ledger.missed_slo + ledger.thrash;
}

// Batching window 1 s, launch 12 s, Ready 40 s, GPU 36 s: the node costs from 13 s and its pods are
// bound at 89 s, work from 108 s to 208 s. Empty for 60 s and 15 s more, at Karpenter's next look
// (290 s) it goes.
TEST(Karpenter, WithNodeOverlayOneNodeTakesAllPods) {
  Scenario s = elastic(4, 4, 8);
  s.provisioner.node_overlay = true;
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 4);
  EXPECT_EQ(r.workloads[0].wait->mean, seconds(99));
  EXPECT_NEAR(to_seconds(r.workloads[0].job_completion->p99), 208, 0.5);  // and switches
  const NodeDynamics& nodes = r.node_pools[0].dynamics.value();
  EXPECT_EQ(nodes.launches, 1);
  EXPECT_EQ(nodes.surplus, 0);
  EXPECT_EQ(nodes.removed, 1);
  EXPECT_EQ(nodes.max_nodes, 1);
  EXPECT_DOUBLE_EQ(nodes.mean_nodes, 0.277);
  EXPECT_EQ(r.cost.ledger.total, price_of(seconds(277)));
  EXPECT_EQ(r.cost.ledger.cold_start, price_of(seconds(76)) + price_of(seconds(19)));
  EXPECT_EQ(r.cost.ledger.thrash, Usd{});
  EXPECT_EQ(parts_of(r.cost.ledger), r.cost.ledger.total);
  EXPECT_NEAR(figures_of(r).gpu_busy, 4 * 10 / 277.0, 1e-6);  // of the time that it was there
  EXPECT_FALSE(demo::has(r.findings, Code::KarpenterOverprovisions));

  const NodeStartUpFigures& start_up = r.node_start_up.value();
  EXPECT_EQ(start_up.pods, 4);
  EXPECT_EQ(start_up.decision, seconds(1));
  EXPECT_EQ(start_up.launch, seconds(12));
  EXPECT_EQ(start_up.ready, seconds(40));
  EXPECT_EQ(start_up.gpu_allocatable, seconds(36));
  EXPECT_EQ(start_up.scheduling, Duration{});
  EXPECT_EQ(start_up.image_pull, seconds(10));
  EXPECT_EQ(start_up.model_load, seconds(9));
  EXPECT_EQ(start_up.total.mean, seconds(108));
}

// It takes a node for one GPU, one pod: four nodes, of which the first takes all pods. The others
// are empty from 89 s on and go at 170, 180 and 190 s, one at a time by Karpenter's default budget,
// after 157 s on the bill and more.
TEST(Karpenter, WithoutNodeOverlayStartsANodePerPod) {
  const VariantResult r = demo::result(elastic(4, 4, 8));
  const NodeDynamics& nodes = r.node_pools[0].dynamics.value();
  EXPECT_NEAR(to_seconds(r.workloads[0].job_completion->p99), 208, 0.5);  // and switches
  EXPECT_EQ(nodes.launches, 4);
  EXPECT_EQ(nodes.surplus, 3);
  EXPECT_EQ(nodes.removed, 4);
  EXPECT_EQ(nodes.max_nodes, 4);
  EXPECT_DOUBLE_EQ(nodes.thrash_node_hours, (157 + 167 + 177) / 3600.0);
  EXPECT_EQ(r.cost.ledger.thrash.nano,
            (price_of(seconds(157)) + price_of(seconds(167)) + price_of(seconds(177))).nano);
  EXPECT_EQ(r.cost.ledger.total, r.cost.ledger.thrash + price_of(seconds(277)));
  EXPECT_NEAR(figures_of(r).gpu_busy, 4 * 10 / (277.0 + 157 + 167 + 177), 1e-6);
  EXPECT_EQ(parts_of(r.cost.ledger), r.cost.ledger.total);
  EXPECT_TRUE(demo::has(r.findings, Code::KarpenterOverprovisions));
}

// Nodes have it from GPU Feature Discovery, once they are there: Karpenter starts none for it.
TEST(Karpenter, DoesNotKnowTheLabelsThatNodesGetOnceTheyHaveJoined) {
  Scenario s = elastic(1, 0, 1);
  s.workloads.front().pod.node_selector["nvidia.com/gpu.product"] = "Tesla-T4";
  const VariantResult never = demo::result(s);
  EXPECT_EQ(never.pods.succeeded, 0);
  EXPECT_EQ(never.node_pools[0].dynamics->launches, 0);
  ASSERT_TRUE(demo::has(never.findings, Code::NodesNeverLaunched));
  EXPECT_TRUE(std::ranges::any_of(never.findings, [](const Diagnostic& finding) {
    return finding.message.find("they select nvidia.com/gpu.product") != std::string::npos;
  }));
  s.node_pools.front().labels["nvidia.com/gpu.product"] = "Tesla-T4";
  EXPECT_EQ(demo::result(s).pods.succeeded, 1) << "the NodePool gives it to its nodes";
}

// Its pools are the instance types of one NodePool.
void make_one_node_pool(Scenario& s) {
  for (scenarios::NodePool& pool : s.node_pools) {
    pool.labels[std::string(scenarios::kNodePoolLabel)] = "gpus";
  }
}

// Sizes of one GPU, of one GPU and more CPU, and of four, the dearest first in the file.
std::vector<double> launches_of_sizes(
    int jobs, Provisioner::Kind kind, const std::vector<int>& weights = {0, 0, 0},
    int most_nodes = 8, const std::vector<std::pair<int, const char*>>& preferred = {}) {
  Scenario s = elastic(jobs, 0, most_nodes);
  for (const auto& [weight, type] : preferred) {
    s.workloads.front().pod.preferences.nodes.push_back(
        {weight, {{std::string(scenarios::kInstanceTypeLabel), "In", {type}, {}}}, {}});
  }
  s.provisioner.kind = kind;
  for (const char* type : {"g4dn.2xlarge", "g4dn.12xlarge"}) {
    scenarios::NodePool larger = s.node_pools.back();
    larger.name.value = larger.instance_type.value = type;
    s.node_pools.insert(s.node_pools.begin(), larger);
  }
  make_one_node_pool(s);
  for (std::size_t p = 0; p < weights.size(); ++p) s.node_pools[p].weight = weights[p];
  std::vector<double> launches;
  for (const NodePoolResult& pool : demo::result(s).node_pools) {
    launches.push_back(pool.dynamics->launches);
  }
  return launches;
}

TEST(Karpenter, TakesTheCheapestSizeThatHoldsMostPods) {
  using Launches = std::vector<double>;
  constexpr auto kKarpenter = Provisioner::Kind::Karpenter;
  EXPECT_EQ(launches_of_sizes(1, kKarpenter), (Launches{0, 0, 1}));  // the cheapest
  EXPECT_EQ(launches_of_sizes(4, kKarpenter), (Launches{1, 0, 0}));  // one node for all
  EXPECT_EQ(launches_of_sizes(5, kKarpenter), (Launches{1, 0, 1}));
  // The least waste of CPU and memory, wherever it is in the file.
  const Launches least = launches_of_sizes(1, Provisioner::Kind::ClusterAutoscaler);
  EXPECT_EQ(least[0], 0);
  EXPECT_GE(least[2], 1);
}

// Pods that are put on a node together may be of any workload, as long as all may be there.
TEST(Karpenter, PacksThePodsOfAllWorkloadsOntoOneNode) {
  Scenario s = elastic(1, 0, 8);
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[1].name.value = s.node_pools[1].instance_type.value = "g4dn.12xlarge";
  for (const char* name : {"b", "c"}) {
    s.workloads.push_back(s.workloads[0]);
    s.workloads.back().name.value = name;
  }
  make_one_node_pool(s);
  const auto launches = [&] {
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.pods.succeeded, s.workloads[0].count + 2);
    return std::pair(r.node_pools[0].dynamics->launches, r.node_pools[1].dynamics->launches);
  };
  EXPECT_EQ(launches(), std::pair(0.0, 1.0));
  s.workloads[0].count = 4;  // the large one is full: the others are alone on another
  EXPECT_EQ(launches(), std::pair(0.0, 2.0));
  s.workloads[0].count = 1;
  scenarios::NodeLimit limit;
  for (const auto& pool : s.node_pools) limit.pools.push_back(pool.name);
  limit.gpus = 3;
  s.provisioner.limits = {limit};
  EXPECT_EQ(launches(), std::pair(3.0, 0.0));
}

TEST(Karpenter, TakesPoolsOfMoreWeightFirst) {
  using Launches = std::vector<double>;
  constexpr auto kKarpenter = Provisioner::Kind::Karpenter;
  EXPECT_EQ(launches_of_sizes(1, kKarpenter, {0, 10, 0}), (Launches{0, 1, 0}));  // not the cheapest
  EXPECT_EQ(launches_of_sizes(4, kKarpenter, {1, 10, 10}), (Launches{0, 0, 4}));
  // Those of less weight when the others may not grow any more.
  EXPECT_EQ(launches_of_sizes(2, kKarpenter, {0, 10, 5}, 1), (Launches{0, 1, 1}));
  const Launches first = launches_of_sizes(1, Provisioner::Kind::ClusterAutoscaler, {0, 10, 0});
  EXPECT_EQ(first[1], 0);
}

// Its name, whatever they cost and hold: prices are compared within a NodePool alone.
TEST(Karpenter, TakesTheLastNameOfNodePoolsOfOneWeight) {
  Scenario s = elastic(2, 0, 8);
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[1].instance_type.value = "g4dn.12xlarge";
  const auto launches = [&](const char* small, const char* large) {
    s.node_pools[0].name.value = small;
    s.node_pools[1].name.value = large;
    const VariantResult r = demo::result(s);
    return std::pair(r.node_pools[0].dynamics->launches, r.node_pools[1].dynamics->launches);
  };
  EXPECT_EQ(launches("a", "z"), std::pair(0.0, 1.0));
  EXPECT_EQ(launches("small", "large"), std::pair(2.0, 0.0));
  EXPECT_TRUE(demo::has(demo::result(s).findings, Code::NodePoolsTie));
  s.node_pools[1].weight = 1;
  EXPECT_EQ(launches("small", "large"), std::pair(0.0, 1.0));
  EXPECT_FALSE(demo::has(demo::result(s).findings, Code::NodePoolsTie));
  s.node_pools[1].weight = 0;
  make_one_node_pool(s);
  EXPECT_FALSE(demo::has(demo::result(s).findings, Code::NodePoolsTie));
}

// The heaviest preference is required at first, whatever it costs and weighs, then the next, then
// none.
TEST(Karpenter, RequiresWhatPodsPreferAsLongAsItMay) {
  using Launches = std::vector<double>;
  constexpr auto kKarpenter = Provisioner::Kind::Karpenter;
  const auto launches = [](int jobs, int most, const auto& preferred) {
    return launches_of_sizes(jobs, kKarpenter, {0, 0, 1}, most, preferred);
  };
  using Preferred = std::vector<std::pair<int, const char*>>;
  EXPECT_EQ(launches(1, 8, Preferred{}), (Launches{0, 0, 1}));
  EXPECT_EQ(launches(1, 8, (Preferred{{1, "g4dn.2xlarge"}})), (Launches{0, 1, 0}));
  EXPECT_EQ(launches(2, 1, (Preferred{{1, "g4dn.2xlarge"}})), (Launches{0, 1, 1}));
  EXPECT_EQ(launches(1, 8, (Preferred{{1, "g4dn.2xlarge"}, {9, "g4dn.12xlarge"}})),
            (Launches{1, 0, 0}));
  EXPECT_EQ(launches(1, 8, (Preferred{{1, "g4dn.2xlarge"}, {9, "p5.48xlarge"}})),
            (Launches{0, 1, 0}));
  // The Cluster Autoscaler does not know of it.
  EXPECT_EQ(launches_of_sizes(1, Provisioner::Kind::ClusterAutoscaler, {0, 0, 0}, 8,
                              {{1, "g4dn.2xlarge"}})[1],
            0);
}

// A short pod is on the only node that stays when a long one comes. Once it is done, the long one
// would fit there.
TEST(Karpenter, StartsWhatPodsPreferBeforeItMovesThemElsewhere) {
  Scenario s = elastic(1, 0, 2);
  scenarios::NodePool stays = s.node_pools.front();
  stays.name.value = "stays";
  stays.most_nodes.reset();
  stays.nodes = 1;
  s.node_pools.front().instance_type.value = "g4dn.2xlarge";
  s.node_pools.push_back(stays);
  const std::string type(scenarios::kInstanceTypeLabel);
  s.workloads.push_back(s.workloads.front());
  s.workloads[0].pod.node_selector[type] = "g4dn.xlarge";
  s.workloads[1].name.value = "long";
  s.workloads[1].submit_at = seconds(10);
  s.workloads[1].measured->unit_time = seconds(600);
  EXPECT_EQ(demo::result(s).pods.evicted, 1);
  s.workloads[1].pod.preferences.nodes = {{1, {{type, "In", {"g4dn.2xlarge"}, {}}}, {}}};
  EXPECT_EQ(demo::result(s).pods.evicted, 0);
  s.node_pools.front().most_nodes = 1;  // no other may start
  EXPECT_EQ(demo::result(s).pods.evicted, 1);
}

// A renamed resource is in no instance type: no node, no cost, pods Pending to the end.
TEST(Karpenter, NeverStartsANodeForAResourceThatItDoesNotKnow) {
  Scenario s = elastic(2, 4, 8);
  s.node_pools[0].device_plugin->time_slicing->rename_by_default = true;
  s.workloads[0].pod.extended[0].name.value = "nvidia.com/gpu.shared";
  const VariantResult never = demo::result(s);
  EXPECT_EQ(never.node_pools[0].dynamics->launches, 0);
  EXPECT_EQ(never.cost.ledger.total, Usd{});
  EXPECT_EQ(never.pods.succeeded, 0);
  EXPECT_TRUE(demo::has(never.findings, Code::NodesNeverLaunched));
  s.provisioner.node_overlay = true;
  EXPECT_EQ(demo::result(s).node_pools[0].dynamics->launches, 1);
}

TEST(Karpenter, StopsAtTheMostNodes) {
  const VariantResult r = demo::result(elastic(3, 0, 2));
  EXPECT_EQ(r.node_pools[0].dynamics->max_nodes, 2);
  EXPECT_EQ(r.pods.succeeded, 3);
  EXPECT_TRUE(demo::has(r.findings, Code::NodeLimitReached));
  EXPECT_FALSE(demo::has(demo::result(elastic(2, 0, 2)).findings, Code::NodeLimitReached));
}

// As the limits of one NodePool with both types: the second pool has room, and may not use it.
TEST(Karpenter, PoolsMayHaveSoMuchTogether) {
  Scenario s = elastic(4, 0, 4);
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[1].name.value = "a10g";
  s.node_pools[1].instance_type.value = "g5.xlarge";
  const auto most_nodes = [&](const std::function<void(scenarios::NodeLimit&)>& set) {
    scenarios::NodeLimit limit;
    for (const auto& pool : s.node_pools) limit.pools.push_back(pool.name);
    set(limit);
    s.provisioner.limits = {limit};
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.pods.succeeded, 4);
    return r.node_pools[0].dynamics->max_nodes + r.node_pools[1].dynamics->max_nodes;
  };
  EXPECT_EQ(most_nodes([](auto&) {}), 4);
  EXPECT_EQ(most_nodes([](auto& limit) { limit.gpus = 2; }), 2);
  EXPECT_EQ(most_nodes([](auto& limit) { limit.nodes = 3; }), 3);
  EXPECT_EQ(most_nodes([](auto& limit) { limit.cpu = {11'000}; }), 2);  // of 4 each
  EXPECT_EQ(most_nodes([](auto& limit) { limit.memory = gibibytes(16); }), 1);
  s.node_pools[0].most_nodes = 1;
  EXPECT_EQ(most_nodes([](auto& limit) { limit.gpus = 3; }), 3);  // the other type takes the rest
  EXPECT_TRUE(demo::has(demo::result(s).findings, Code::NodeLimitReached));
}

// The job takes 600 s, its nodes live for 300 s from the decision: it starts over at Karpenter's
// next look (310 s), and again.
TEST(Karpenter, EndsNodesWhoseLifeIsOver) {
  Scenario s = elastic(1, 0, 2);
  s.workloads[0].measured->unit_time = seconds(600);
  s.workloads[0].ignore_disruptions = true;  // it comes back at once
  EXPECT_EQ(demo::result(s).pods.succeeded, 1);
  s.node_pools[0].expire_after = seconds(300);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 0);
  EXPECT_GE(r.pods.evicted, 2);
  EXPECT_EQ(r.node_pools[0].dynamics->launches, r.pods.evicted + 1);
  const auto told = std::ranges::find(r.findings, Code::JobsDisrupted, &Diagnostic::code);
  ASSERT_NE(told, r.findings.end());
  EXPECT_NE(told->message.find("for its age (expireAfter)"), std::string::npos) << told->message;
}

// Two places on each node: a short and a long pod on the first, a long one on the second. When the
// short one is done, one of the others moves and starts over.
TEST(Karpenter, MovesThePodsOfUnderutilizedNodes) {
  Scenario s = elastic(1, 2, 8);
  s.workloads.push_back(s.workloads[0]);
  s.workloads[1].name.value = "long";
  s.workloads[1].count = 2;
  s.workloads[1].measured->unit_time = seconds(600);
  s.provisioner.node_overlay = true;
  s.duration = seconds(2'000);
  const VariantResult moved = demo::result(s);
  EXPECT_EQ(moved.node_pools[0].dynamics->launches, 2);
  EXPECT_EQ(moved.pods.evicted, 1);
  EXPECT_GT(moved.cost.ledger.failed, Usd{});
  EXPECT_EQ(parts_of(moved.cost.ledger), moved.cost.ledger.total);
  s.provisioner.consolidation = Provisioner::Consolidation::WhenEmpty;
  const VariantResult stayed = demo::result(s);
  EXPECT_EQ(stayed.pods.evicted, 0);
  EXPECT_EQ(stayed.cost.ledger.failed, Usd{});
  s.provisioner.consolidation = Provisioner::Consolidation::WhenEmptyOrUnderutilized;
  s.node_pools[0].consolidation = Provisioner::Consolidation::WhenEmpty;
  EXPECT_EQ(demo::result(s).pods.evicted, 0) << "a NodePool says it for itself";
  s.node_pools[0].consolidation.reset();
  s.node_pools[0].consolidate_after = hours(1);
  EXPECT_EQ(demo::result(s).pods.evicted, 0);
  s.node_pools[0].consolidate_after.reset();
  EXPECT_LT(stayed.workloads[1].job_completion->p99, moved.workloads[1].job_completion->p99);
  EXPECT_TRUE(demo::has(moved.findings, Code::JobsDisrupted));
  EXPECT_FALSE(demo::has(stayed.findings, Code::JobsDisrupted));
  // Nor does it go where its pods say that they must not be disturbed.
  s.provisioner.consolidation = Provisioner::Consolidation::WhenEmptyOrUnderutilized;
  s.workloads[0].pod.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  EXPECT_EQ(demo::result(s).pods.evicted, 1);  // is not for Karpenter
  for (Workload& workload : s.workloads) {
    workload.pod.annotations["karpenter.sh/do-not-disrupt"] = "true";
  }
  const VariantResult kept = demo::result(s);
  EXPECT_EQ(kept.pods.evicted, 0);
  EXPECT_EQ(kept.node_pools[0].dynamics->removed, 2);  // once they are empty
}

// Three short pods and a long one on a node of four GPUs; of the same NodePool are nodes of one.
Scenario left_alone(const char* small) {
  Scenario s = elastic(3, 0, 8);
  Workload rest = s.workloads[0];
  rest.name.value = "long";
  rest.count = 1;
  rest.measured->unit_time = seconds(2'000);
  rest.ignore_disruptions = true;  // it comes back at once
  s.workloads.push_back(rest);
  scenarios::NodePool large = s.node_pools[0];
  s.node_pools[0].instance_type.value = small;
  large.name.value = large.instance_type.value = "g4dn.12xlarge";
  s.node_pools.insert(s.node_pools.begin(), large);
  make_one_node_pool(s);
  s.duration = seconds(4'000);
  return s;
}

// The short ones end at 208 s, and 75 s later, at the look of 290 s, the small node starts. With
// its GPU at 378 s the pod starts over there, in 19 s, and works 2000 s; the old one ends in 30 s.
TEST(Karpenter, ReplacesANodeByACheaperOne) {
  Scenario s = left_alone("g4dn.xlarge");
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.node_pools[0].dynamics->launches, 1);
  EXPECT_EQ(r.node_pools[1].dynamics->launches, 1);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_EQ(r.pods.succeeded, 4);
  EXPECT_NEAR(r.node_pools[0].dynamics->node_hours * 3600, 408 - 13, 0.5);
  EXPECT_NEAR(to_seconds(r.workloads[1].job_completion->p99), 378 + 19 + 2'000, 1);
  EXPECT_EQ(parts_of(r.cost.ledger), r.cost.ledger.total);
  s.node_pools[1].most_nodes = 1;
  s.node_pools[0].most_nodes = 1;
  EXPECT_EQ(demo::result(s).pods.evicted, 1) << "each type has its own limit";
  s.provisioner.limits.emplace_back().gpus = 4;
  for (const auto& pool : s.node_pools) s.provisioner.limits[0].pools.push_back(pool.name);
  EXPECT_EQ(demo::result(s).pods.evicted, 1) << "the node that goes does not count";
}

TEST(Karpenter, KeepsANodeThatNoCheaperOneReplaces) {
  const auto evicted = [](const Scenario& s) { return demo::result(s).pods.evicted; };
  Scenario s = left_alone("g4dn.12xlarge");
  EXPECT_EQ(evicted(s), 0);
  s = left_alone("g4dn.xlarge");
  s.provisioner.consolidation = Provisioner::Consolidation::WhenEmpty;
  EXPECT_EQ(evicted(s), 0);
  s = left_alone("g4dn.xlarge");
  s.workloads[1].pod.annotations["karpenter.sh/do-not-disrupt"] = "true";
  EXPECT_EQ(evicted(s), 0);
  s = left_alone("g4dn.xlarge");
  s.workloads[1].disruption_budget = scenarios::DisruptionBudget{};
  s.workloads[1].disruption_budget->keeps = true;
  s.workloads[1].disruption_budget->value = 1;
  EXPECT_EQ(evicted(s), 0);
  // Karpenter gives up what takes 10 minutes to start.
  s = left_alone("g4dn.xlarge");
  s.provisioner.start_up.ready = seconds(700);
  const VariantResult slow = demo::result(s);
  EXPECT_EQ(slow.node_pools[1].dynamics->launches, 0);
  // From spot to spot only behind a feature gate; from on-demand to spot always.
  s = left_alone("g4dn.xlarge");
  s.node_pools[1].capacity_type = scenarios::CapacityType::Spot;
  s.node_pools[1].spot.emplace().interruptions = Rate{0};
  EXPECT_EQ(evicted(s), 1);
  s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
  s.node_pools[0].spot = s.node_pools[1].spot;
  EXPECT_EQ(evicted(s), 0);
}

// The node is there from 1 s to 20 s.
TEST(Billing, AMinuteAtLeastForEachLaunch) {
  Scenario s = elastic(1, 0, 1);
  s.workloads[0].startup = {};
  s.workloads[0].measured->unit_time = seconds(1);
  s.provisioner.start_up = {Duration{}, Duration{}, Duration{}, 0};
  s.provisioner.consolidate_after = {};
  const VariantResult r = demo::result(s);
  EXPECT_DOUBLE_EQ(r.node_pools[0].dynamics->node_hours, 19 / 3600.0);
  EXPECT_EQ(r.cost.ledger.total, price_of(seconds(60)));
  EXPECT_NEAR(to_dollars(r.cost.monthly), kPrice / 60 * 730 * 3.6, 1e-5);
}

// A job of some minutes has a day of it, and what is left of that is idle; a run of an hour stands
// for longer ones.
TEST(Billing, ACapacityBlockIsPaidForUntilItEnds) {
  Scenario s = elastic(1, 1, 1);
  s.workloads[0].measured->device.value = "H200";
  s.node_pools[0].instance_type.value = "p5e.48xlarge";
  s.node_pools[0].capacity_type = scenarios::CapacityType::CapacityBlock;
  s.node_pools[0].nodes = 1;
  s.node_pools[0].most_nodes.reset();
  s.provisioner = {};
  s.duration = hours(1);
  const UsdPerHour price{from_dollars(39.8)};
  const CostLedger sample = demo::result(s).cost.ledger;
  EXPECT_EQ(sample.total - sample.control_plane, cost_of(price, hours(1)));
  s.duration.reset();
  const CostLedger block = demo::result(s).cost.ledger;
  EXPECT_EQ(block.total - block.control_plane, cost_of(price, hours(24)));
  EXPECT_EQ(parts_of(block) + block.control_plane, block.total);
  EXPECT_EQ(block.useful, sample.useful);
}

// AWS sells a block for 182 days at the most.
TEST(Billing, JobsThatOutlastACapacityBlockAreTold) {
  Scenario s = elastic(1, 1, 1);
  s.workloads[0].measured->device.value = "H200";
  s.node_pools[0].instance_type.value = "p5e.48xlarge";
  s.node_pools[0].capacity_type = scenarios::CapacityType::CapacityBlock;
  s.node_pools[0].nodes = 1;
  s.node_pools[0].most_nodes.reset();
  s.provisioner = {};
  s.duration.reset();
  const auto warns = [&] {
    return std::ranges::any_of(demo::result(s).findings, [](const Diagnostic& finding) {
      return finding.code == Code::PriceDerived && finding.severity == Severity::Warning;
    });
  };
  EXPECT_FALSE(warns());
  s.workloads[0].measured->unit_time = hours(std::int64_t{24} * 183);
  EXPECT_TRUE(warns());
}

// The first scan that finds the pod 30 s old starts a node: on the bill from 42 s, Ready at 82 s,
// GPU at 118 s. Without the label it is a node without GPUs at 90 s, and another starts.
TEST(ClusterAutoscaler, NeedsTheAcceleratorLabelToWaitForTheGpu) {
  Scenario s = elastic(1, 0, 8);
  s.provisioner.kind = Provisioner::Kind::ClusterAutoscaler;
  s.duration = seconds(2'000);
  const VariantResult blind = demo::result(s);
  EXPECT_EQ(blind.workloads[0].wait->mean, seconds(128));
  EXPECT_EQ(blind.node_pools[0].dynamics->launches, 2);
  EXPECT_EQ(blind.node_pools[0].dynamics->surplus, 1);
  s.node_pools[0].labels["k8s.amazonaws.com/accelerator"] = "nvidia-tesla-t4";
  const VariantResult sees = demo::result(s);
  EXPECT_EQ(sees.node_pools[0].dynamics->launches, 1);
  // Empty at 237 s, seen so at 240 s, unneeded for 10 minutes at 840 s.
  EXPECT_EQ(sees.cost.ledger.total, price_of(seconds(840 - 42)));
}

Scenario spot_nodes(int nodes, double per_hour) {
  Scenario s = elastic(1, 0, 1);
  scenarios::NodePool& pool = s.node_pools[0];
  pool.nodes = nodes;
  pool.most_nodes.reset();
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace().interruptions = Rate{per_hour / 3600};
  s.provisioner = {};
  s.duration = hours(100);
  return s;
}

// Interruptions of a node are a Poisson process while it runs.
TEST(Spot, TakesNodesBackAtItsRateAndTheGroupReplacesThem) {
  const VariantResult r = demo::result(spot_nodes(10, 0.1));
  const NodeDynamics& nodes = r.node_pools[0].dynamics.value();
  const double expected = 0.1 * nodes.node_hours;
  EXPECT_NEAR(nodes.interruptions, expected, 4 * std::sqrt(expected));
  EXPECT_NEAR(nodes.launches, nodes.interruptions, 1);
  EXPECT_GT(nodes.mean_nodes, 9.9);
  // Nine of them have no pod, but the group is to have ten.
  EXPECT_EQ(nodes.surplus, 0);
  EXPECT_EQ(nodes.thrash_node_hours, 0);
  EXPECT_EQ(r.cost.ledger.thrash, Usd{});
  EXPECT_EQ(parts_of(r.cost.ledger), r.cost.ledger.total);
  EXPECT_TRUE(demo::has(r.findings, Code::SpotInterrupted));
}

// A job in the queue may get the node that replaces another one: nobody decided for hours.
TEST(Spot, TimeInTheQueueIsNoDecision) {
  Scenario s = spot_nodes(1, 6);
  s.workloads[0].count = 60;
  s.duration = hours(3);
  const NodeStartUpFigures start_up = demo::result(s).node_start_up.value();
  EXPECT_GT(start_up.pods, 0);
  EXPECT_EQ(start_up.decision, Duration{});
  const Duration stages = start_up.launch + start_up.ready + start_up.gpu_allocatable +
                          start_up.scheduling + start_up.image_pull + start_up.model_load;
  EXPECT_NEAR(to_seconds(start_up.total.mean), to_seconds(stages), 1e-6);
}

TEST(Spot, FallsBackToOnDemandNodesThatStay) {
  Scenario s = spot_nodes(10, 0.1);
  s.node_pools[0].spot->falls_back_to_on_demand = true;
  const VariantResult r = demo::result(s);
  const NodeDynamics& nodes = r.node_pools[0].dynamics.value();
  EXPECT_EQ(nodes.interruptions, 10);
  EXPECT_EQ(nodes.on_demand_nodes, 10);
  EXPECT_GT(r.cost.ledger.total, demo::result(spot_nodes(10, 0.1)).cost.ledger.total);
}

// EC2 charges nothing for a node that it takes back within the hour.
TEST(Spot, ChargesNothingForAShortLife) {
  const VariantResult r = demo::result(spot_nodes(1, 60));
  EXPECT_GT(r.node_pools[0].dynamics->node_hours, 90);
  EXPECT_LT(r.cost.ledger.total.nano, cost_of({from_dollars(kPrice)}, hours(1)).nano);
}

// Parts add up whatever happens, and the same seed gives the same bill.
TEST(Billing, PartsAddUpToTheBill) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Scenario s = elastic(static_cast<int>(3 + seed % 5), static_cast<int>(seed % 4), 4);
    s.seed = seed;
    s.replications = 3;
    s.provisioner.start_up.variation = 0.3;
    s.workloads[0].submit_interval = seconds(static_cast<std::int64_t>(seed * 7));
    s.node_pools[0].nodes = static_cast<int>(seed % 2);
    s.node_pools[0].capacity_type = scenarios::CapacityType::Spot;
    s.node_pools[0].spot.emplace().interruptions = Rate{0.003};
    s.node_pools[0].spot->falls_back_to_on_demand = seed % 3 == 0;
    if (seed % 2 == 0) s.provisioner.kind = Provisioner::Kind::ClusterAutoscaler;
    const VariantResult r = demo::result(s);
    const CostLedger& ledger = r.cost.ledger;
    EXPECT_EQ(parts_of(ledger), ledger.total) << seed;
    for (const Usd part :
         {ledger.useful, ledger.switching, ledger.failed, ledger.cold_start, ledger.thrash}) {
      EXPECT_GE(part, Usd{}) << seed;
    }
    EXPECT_GT(ledger.idle.nano, -1'000) << seed;
    EXPECT_EQ(demo::result(s).cost.ledger.total, ledger.total) << seed;
  }
}

}  // namespace
}  // namespace slicewise::sim
