#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/placement/placement.hpp"

#include "../../../sim/cluster/control/scheduling_queue.hpp"
#include "../demo.hpp"

// kube-scheduler, device plugin, kubelet and controllers, each in the smallest setting that shows
// its rule.
namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<int> busy_gpus_by_node(const VariantResult& r, std::size_t gpus_per_node) {
  std::vector<int> busy(r.gpus.size() / gpus_per_node, 0);
  for (std::size_t g = 0; g < r.gpus.size(); ++g) {
    if (r.gpus[g].time_busy_ratio > 0) ++busy[g / gpus_per_node];
  }
  return busy;
}

TEST(Scheduler, LeastAllocatedSpreadsAndMostAllocatedPacks) {
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {demo::training(4)});
  EXPECT_THAT(busy_gpus_by_node(demo::result(s), 4), ElementsAre(2, 2));
  s.score_policy = scenarios::ScorePolicy::MostAllocated;
  EXPECT_THAT(busy_gpus_by_node(demo::result(s), 4), UnorderedElementsAre(4, 0));
}

// Spread over both nodes the four leave none to the pod that asks for four GPUs, as it has them in
// the cluster.
TEST(Scheduler, PodsStartOnTheNodesWhereTheyAre) {
  scenarios::Workload small = demo::training(4);
  scenarios::Workload big = demo::training(1);
  big.name.value = "big";
  big.pod.extended.front().count = 4;
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {small, big});
  EXPECT_EQ(demo::result(s).pods.pending_max, 1);
  s.workloads[0].starts_on = {{{"v100", {}}, 2, 4, {}}};
  s.workloads[1].starts_on = {{{"v100", {}}, 1, 1, {}}};
  const VariantResult there = demo::result(s);
  EXPECT_EQ(there.pods.pending_max, 0);
  EXPECT_EQ(there.pods.running_max, 5);
  EXPECT_FALSE(demo::has(there.findings, Code::PodStartsElsewhere));
  // Before pods of higher priority, too.
  s.workloads[0].starts_on.clear();
  s.workloads[0].priority = 1000;
  EXPECT_EQ(demo::result(s).pods.pending_max, 0);
}

// Six on a node of four GPUs, and some on a node that is not there: they go where there is room.
TEST(Scheduler, PodsWithoutRoomWhereTheyAreArePlacedAnew) {
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {demo::training(8)});
  s.workloads[0].starts_on = {{{"v100", {}}, 1, 6, {}}};
  const VariantResult full = demo::result(s);
  EXPECT_TRUE(demo::has(full.findings, Code::PodStartsElsewhere));
  EXPECT_EQ(full.pods.running_max, 8);
  EXPECT_EQ(full.pods.pending_max, 0);
  s.workloads[0].starts_on = {{{"v100", {}}, 3, 6, {}}};
  const VariantResult gone = demo::result(s);
  EXPECT_TRUE(demo::has(gone.findings, Code::PodStartsElsewhere));
  EXPECT_EQ(gone.pods.running_max, 8);
}

// A gang whose pods are on both nodes.
TEST(Scheduler, AGangStartsWhereItsPodsAre) {
  scenarios::Workload gang = demo::training(4);
  gang.pods_per_job = 4;
  gang.starts_on = {{{"v100", {}}, 2, 3, {}}, {{"v100", {}}, 1, 1, {}}};
  EXPECT_THAT(busy_gpus_by_node(demo::result(demo::scenario(demo::pool(0, 2), {gang})), 4),
              ElementsAre(1, 3));
}

// Pods of 1, 2 and 4 GPUs that come one after the other and stay, as a replay would place them.
struct Stayers {
  std::vector<scenarios::Workload> workloads;
  std::vector<JobShape> shapes;
};

Stayers stayers(const std::vector<int>& gpus) {
  Stayers all;
  for (std::size_t n = 0; n < gpus.size(); ++n) {
    scenarios::Workload w = demo::training(1);
    w.name.value = "pod-" + std::to_string(n);
    w.submit_at = seconds(static_cast<std::int64_t>(n));
    w.pod.cpu_request = {1000 * (1 + static_cast<std::int64_t>(n * 5 % 7))};
    w.pod.extended.front().count = gpus[n];
    all.shapes.push_back({w.pod.cpu_request, w.pod.memory_request, gpus[n], 1000, {}});
    all.workloads.push_back(std::move(w));
  }
  return all;
}

std::vector<int> replayed_gpus_by_node(const Stayers& all, const PoolModel& pool, int nodes,
                                       NodePolicy policy) {
  NodeShape node;
  node.cpu = pool.allocatable_cpu;
  node.memory = pool.allocatable_memory;
  node.gpus = pool.gpus_per_node;
  const std::vector<NodeShape> cluster(static_cast<std::size_t>(nodes), node);
  const std::vector<std::int64_t> counts(all.shapes.size(), 1);
  Placement placement(cluster, all.shapes, policy, 42, typical_jobs(all.shapes, counts));
  std::vector<int> taken(cluster.size(), 0);
  for (ShapeId shape = 0; shape < all.shapes.size(); ++shape) {
    const auto id = placement.place(shape);
    if (id) taken[placement.parts(*id).front().node] += all.shapes[shape].gpus;
  }
  return taken;
}

TEST(Scheduler, APolicyOfReplayChoosesTheNodesThatItChoosesThere) {
  std::set<std::vector<int>> different;
  for (const std::vector<int>& gpus :
       {std::vector{1, 2, 1, 2, 1, 2}, std::vector{2, 1, 2, 1, 1}, std::vector{1, 1, 2, 2, 1, 4}}) {
    const Stayers all = stayers(gpus);
    for (const NodePolicy policy :
         {NodePolicy::FirstFit, NodePolicy::LeastAllocated, NodePolicy::MostAllocated,
          NodePolicy::BestFit, NodePolicy::DotProduct, NodePolicy::Fgd, NodePolicy::Clustering,
          NodePolicy::Packing}) {
      constexpr int kNodes = 4;
      scenarios::Scenario s = demo::scenario(demo::pool(0, kNodes), all.workloads);
      s.placement = policy_name(policy);
      s.duration = minutes(1);  // nobody ends
      const auto chosen = busy_gpus_by_node(demo::result(s), 4);
      EXPECT_EQ(chosen, replayed_gpus_by_node(all, demo::world(s).pools.front(), kNodes, policy))
          << policy_name(policy);
      different.insert(chosen);
    }
  }
  EXPECT_GT(different.size(), 5U);  // the policies do differ on them
}

// A replay knows no job with parts of several GPUs.
TEST(Scheduler, APolicyBearsPodsWhoseReplicasLieOnSeveralGpus) {
  scenarios::Workload wide = demo::training(2);
  wide.pod.extended.front().count = 3;
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {wide});
  scenarios::PluginSharing sharing;
  sharing.resources.push_back({{"nvidia.com/gpu", {}}, 2, {}});
  s.node_pools[0].device_plugin.emplace().time_slicing = sharing;
  for (const NodePolicy policy : {NodePolicy::BestFit, NodePolicy::Fgd, NodePolicy::Packing}) {
    s.placement = policy_name(policy);
    EXPECT_EQ(demo::result(s).pods.succeeded, 2) << policy_name(policy);
  }
}

// What a pod that ends frees goes to one that waits at once, also while it backs off: since
// Kubernetes 1.33 a scheduler that has nothing else to do tries those, too.
TEST(Scheduler, WhatIsFreedIsForThoseWhoBackOffToo) {
  const auto wait_s = [](Duration submitted) {
    scenarios::Workload late = demo::training(1);
    late.name.value = "late";
    late.submit_at = submitted;
    const VariantResult r =
        demo::result(demo::scenario(demo::pool(0, 1), {demo::training(4), late}));
    EXPECT_DOUBLE_EQ(to_seconds(r.workloads[0].job_completion->p50), 1800);
    return to_seconds(r.workloads[1].wait->mean);
  };
  EXPECT_NEAR(wait_s(seconds(1)), 1799, 1e-6);
  EXPECT_NEAR(wait_s(milliseconds(1'799'500)), 0.5, 1e-6);
}

TEST(Scheduler, EveryResourceCountsAndTheMessageNamesTheOneThatIsShort) {
  scenarios::Workload w = demo::training(8);
  w.pod.cpu_request = {7000};  // 31.85 allocatable vCPU hold four of them, 40 tickets or not
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {w}));
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_EQ(r.pods.pending_max, 4);
  EXPECT_THAT(r.pods.pending_reasons, ElementsAre("0/1 nodes are available: 1 Insufficient cpu."));
}

// Without a duration a run goes on until the last one is there.
TEST(Scheduler, PodsThatFitNowhereAreAllSubmitted) {
  scenarios::Workload w = demo::training(10);
  w.submit_interval = minutes(10);
  w.pod.cpu_request = {99'000};
  const VariantResult r = demo::result(demo::scenario(demo::pool(2), {w}));
  EXPECT_EQ(r.pods.submitted, 10);
  EXPECT_EQ(r.pods.pending_max, 10);
  EXPECT_EQ(r.workloads[0].left_behind.pending, 10);
}

TEST(Scheduler, PendingPodsAreReportedWhereTheirWorkloadStands) {
  scenarios::Workload fits = demo::training(1);
  fits.name.where.line = 3;
  scenarios::Workload large = demo::training(1);
  large.name.value = "large";
  large.name.where.line = 30;
  large.pod.cpu_request = {99'000};
  const VariantResult r = demo::result(demo::scenario(demo::pool(2), {fits, large}));
  const auto found = std::ranges::find(r.findings, Code::PodPending, &Diagnostic::code);
  ASSERT_NE(found, r.findings.end());
  EXPECT_EQ(found->where.line, 30);
}

TEST(Scheduler, TaintsNeedATolerationAndSelectorsALabel) {
  scenarios::NodePool tainted = demo::pool(0);
  tainted.taints.push_back({"dedicated", "gpu", "NoSchedule"});
  const scenarios::Workload plain = demo::training(1);
  scenarios::Workload tolerant = plain;
  tolerant.pod.tolerations.push_back({"dedicated", "Exists", "", "NoSchedule"});
  const VariantResult refused = demo::result(demo::scenario(tainted, {plain}));
  EXPECT_EQ(refused.pods.running_max, 0);
  EXPECT_THAT(refused.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 node(s) had untolerated taint(s)."));
  EXPECT_NE(std::ranges::find(refused.findings,
                              "add the toleration of dedicated to podTemplate.tolerations",
                              &Diagnostic::help),
            refused.findings.end());
  EXPECT_EQ(demo::result(demo::scenario(tainted, {tolerant})).pods.succeeded, 1);

  scenarios::Workload picky = plain;
  picky.pod.node_selector["eks-node"] = "gpu";
  EXPECT_THAT(demo::result(demo::scenario(demo::pool(0), {picky})).pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 node(s) didn't match Pod's node "
                          "affinity/selector."));
  scenarios::NodePool labelled = demo::pool(0);
  labelled.labels["eks-node"] = "gpu";
  EXPECT_EQ(demo::result(demo::scenario(labelled, {picky})).pods.succeeded, 1);
}

// EKS's API server adds the toleration, of the resource's own name and of NoSchedule.
TEST(Taints, AreToleratedByPodsThatAskForTheResourceOfThatName) {
  const auto ran = [](scenarios::NodePool pool, const scenarios::Taint& taint) {
    pool.taints.push_back(taint);
    scenarios::Workload work = demo::training(1);
    if (pool.device_plugin && pool.device_plugin->time_slicing->rename_by_default) {
      work.pod.extended.front().name.value = "nvidia.com/gpu.shared";
    }
    return demo::result(demo::scenario(pool, {work})).pods.succeeded == 1;
  };
  scenarios::NodePool renamed = demo::pool(2);
  renamed.device_plugin->time_slicing->rename_by_default = true;
  const scenarios::Taint of_gpus{"nvidia.com/gpu", "true", "NoSchedule"};
  EXPECT_TRUE(ran(demo::pool(0), of_gpus));
  EXPECT_FALSE(ran(demo::pool(0), {"nvidia.com/gpu", "true", "NoExecute"}));
  EXPECT_FALSE(ran(demo::pool(0), {"dedicated", "gpu", "NoSchedule"}));
  EXPECT_FALSE(ran(renamed, of_gpus));
  EXPECT_TRUE(ran(renamed, {"nvidia.com/gpu.shared", "true", "NoSchedule"}));
}

// A pod that no node could ever hold does not keep the run from ending.
TEST(Scheduler, ARunEndsWhenWhatCanRunHasRun) {
  scenarios::Workload giant = demo::training(1);
  giant.name.value = "giant";
  giant.pod.cpu_request = {64000};
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {demo::training(2), giant}));
  EXPECT_EQ(r.makespan.mean, minutes(30));
  EXPECT_EQ(r.pods.succeeded, 2);
  EXPECT_EQ(r.pods.pending_max, 1);
}

// Pods without requests are scored with the scheduler's defaults (100m, 200 MiB), so on small nodes
// they spread, whatever the seed: scores are whole percents, as in kube-scheduler.
TEST(Scheduler, PodsWithoutRequestsSpread) {
  scenarios::Workload w = demo::training(4);
  w.pod.cpu_request = {};
  w.pod.memory_request = {};
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    scenarios::Scenario s = demo::scenario(demo::pool(4, 4), {w});
    s.node_pools[0].instance_type.value = "g4dn.xlarge";
    s.seed = seed;
    EXPECT_THAT(busy_gpus_by_node(demo::result(s), 1), ElementsAre(1, 1, 1, 1));
  }
}

TEST(Scheduler, BoundByNamesWhatThePodsWaitFor) {
  scenarios::Workload w = demo::training(8);
  w.pod.cpu_request = {7000};
  EXPECT_EQ(demo::result(demo::scenario(demo::pool(10), {w})).workloads[0].bound_by,
            "waiting for CPU");
  w.pod.cpu_request = {100};
  EXPECT_EQ(demo::result(demo::scenario(demo::pool(0), {w})).workloads[0].bound_by,
            "waiting for a GPU");
}

// Nothing to wait for: the run is over at once, it does not last a year.
TEST(Scheduler, ARunWithoutPodsEndsAtOnce) {
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {demo::training(0)}));
  EXPECT_EQ(r.makespan.mean, Duration{});
}

// Older pods go first, also when pods of two workloads alternate.
TEST(Scheduler, EqualPrioritiesGoByAge) {
  scenarios::Workload first = demo::training(6);
  scenarios::Workload second = demo::training(6);
  first.name.value = "first";
  second.name.value = "second";
  first.submit_interval = seconds(60);
  second.submit_interval = seconds(60);
  second.submit_at = seconds(30);
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {first, second}));
  // Waves of four: 30 min each; arrivals alternate, so both wait alike but for the 30 s.
  EXPECT_EQ(r.workloads[0].wait->p99, minutes(60 - 4));
  EXPECT_EQ(r.workloads[1].wait->p99, minutes(60 - 4));
}

TEST(Scheduler, HigherPriorityGoesFirst) {
  scenarios::Workload low = demo::training(4);
  scenarios::Workload high = demo::training(4);
  low.name.value = "low";
  high.name.value = "high";
  high.priority = 10;
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {low, high}));
  EXPECT_EQ(r.workloads[0].wait->p50, minutes(30));
  EXPECT_EQ(r.workloads[1].wait->p50, Duration{});
}

TEST(DevicePlugin, DistributedSpreadsOverGpusAndPackedFillsThem) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(8)});
  for (const GpuResult& gpu : demo::result(s).gpus) EXPECT_GT(gpu.time_busy_ratio, 0.6);
  s.node_pools[0].device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  EXPECT_THAT(busy_gpus_by_node(demo::result(s), 1), UnorderedElementsAre(1, 0, 0, 0));
}

TEST(DevicePlugin, RenameReplacesTheResourceName) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(1)});
  s.node_pools[0].device_plugin->time_slicing->rename_by_default = true;
  const auto refused = build_world(s, demo::catalogue());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(demo::has(refused.error(), Code::ResourceNameMismatch));
  s.workloads[0].pod.extended[0].name.value = "nvidia.com/gpu.shared";
  EXPECT_EQ(demo::result(s).node_pools[0].advertised.at("nvidia.com/gpu.shared"), 40);
}

TEST(DevicePlugin, TwoReplicasAreRefusedOrOfTwoGpusOrUseless) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(1)});
  s.workloads[0].pod.extended[0].count = 2;
  const VariantResult two = demo::result(s);
  EXPECT_NEAR(to_seconds(two.makespan.mean), 1800, 0.1);
  EXPECT_THAT(busy_gpus_by_node(two, 1), UnorderedElementsAre(1, 1, 0, 0));
  EXPECT_TRUE(demo::has(two.findings, Code::RequestNoEffect));
  EXPECT_FALSE(demo::has(two.findings, Code::StrategyNotModelled));
  s.node_pools[0].device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  EXPECT_TRUE(demo::has(demo::result(s).findings, Code::RequestNoEffect));
  s.node_pools[0].device_plugin->time_slicing->fail_requests_greater_than_one = true;
  const auto refused = build_world(s, demo::catalogue());
  ASSERT_FALSE(refused);
  EXPECT_TRUE(demo::has(refused.error(), Code::RequestTooLarge));
}

// restartPolicy Never: each crash is a failed pod; the Job gives up after backoffLimit + 1 of them.
TEST(JobController, ReplacesFailedPodsUpToTheBackoffLimit) {
  scenarios::Workload hog = demo::training(1);
  hog.gpu_memory.resident = gibibytes(40);  // never fits a V100
  hog.restart_policy = scenarios::RestartPolicy::Never;
  hog.backoff_limit = 3;
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {hog}));
  EXPECT_EQ(r.pods.submitted, 4);
  EXPECT_EQ(r.pods.oom_kills, 4);
  EXPECT_EQ(r.pods.restarts, 0);
  EXPECT_EQ(r.pods.failed, 1);
  EXPECT_EQ(r.makespan.mean, seconds(10 + 20 + 40));
}

// What the AWS demo deploys never finishes: a Deployment starts completed training again. A run
// of over 10 minutes resets the back-off, so there is no pause.
TEST(DeploymentController, RestartsWhatCompletes) {
  scenarios::Workload w = demo::training(4);
  w.kind = scenarios::WorkloadKind::Deployment;
  w.restart_policy = scenarios::RestartPolicy::Always;
  scenarios::Scenario s = demo::scenario(demo::pool(0), {w});
  s.duration = minutes(119);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[0].completed, 4 * 3);  // at 30, 60 and 90 min
  EXPECT_EQ(r.pods.restarts, 4 * 3);
  EXPECT_EQ(r.pods.succeeded, 0);
}

// Containers that complete within 10 minutes are in CrashLoopBackOff: 0, 10, 20, 40 s, ...
TEST(DeploymentController, ShortRunsBackOffLikeCrashes) {
  scenarios::Workload w = demo::training(1);
  w.kind = scenarios::WorkloadKind::Deployment;
  w.work->units = 1;  // 18 s
  scenarios::Scenario s = demo::scenario(demo::pool(0), {w});
  s.duration = seconds(18 + 18 + 10 + 18 + 20 + 18 + 1);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[0].completed, 4);
  EXPECT_TRUE(demo::has(r.findings, Code::CrashLoopBackOff));
}

TEST(Kubelet, OnePullServesAllPodsOfAWorkloadAndIsColdStart) {
  scenarios::Workload w = demo::training(4);
  w.startup = {minutes(3), minutes(2)};
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {w}));
  EXPECT_EQ(r.makespan.mean, minutes(35));
  EXPECT_EQ(r.workloads[0].wait->mean, minutes(3));
  // All four GPUs idle for 5 of 35 minutes.
  EXPECT_EQ(r.cost.ledger.cold_start, cost_of({from_dollars(12.24)}, minutes(5)));
}

TEST(RunScenario, ThreadsDoNotChangeTheResult) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(9)});
  s.workloads[0].measured->unit_time_cv = 0.3;
  s.replications = 8;
  const VariantResult one = demo::result(s, 1);
  const VariantResult four = demo::result(s, 4);
  EXPECT_EQ(one.makespan.mean, four.makespan.mean);
  EXPECT_EQ(one.makespan.ci95, four.makespan.ci95);
  EXPECT_EQ(one.cost.ledger.useful, four.cost.ledger.useful);
  EXPECT_GT(*one.makespan.ci95, Duration{});
}

// kube-scheduler's own book-keeping: each pod has its tries in vain and its last one.
class OneByOne {
 public:
  void push_back(std::uint32_t pod, TimePoint now) { pods_.push_back({pod, 0, now}); }
  void remove(std::uint32_t pod) {
    std::erase_if(pods_, [&](const One& one) { return one.pod == pod; });
  }
  void turn_down(TimePoint now, bool all) {
    if (all) std::ranges::stable_sort(pods_, {}, [now](const One& one) { return turn(one, now); });
    for (One& one : pods_) {
      if (one.tries > 0 && !all) continue;
      ++one.tries;
      one.since = now;
    }
  }
  // A list that is looked through from its front.
  std::optional<std::uint32_t> next(TimePoint now) const {
    const auto first =
        std::ranges::min_element(pods_, {}, [now](const One& one) { return turn(one, now); });
    return first == pods_.end() ? std::nullopt : std::optional(first->pod);
  }
  std::size_t size() const { return pods_.size(); }

 private:
  struct One {
    std::uint32_t pod = 0;
    std::size_t tries = 0;
    TimePoint since;
  };
  static std::tuple<bool, std::int64_t, TimePoint> turn(const One& one, TimePoint now) {
    constexpr std::array kBackoffs = {0, 1, 2, 4, 8, 10};
    const std::int64_t ends =
        (one.since + seconds(kBackoffs[std::min<std::size_t>(one.tries, 5)])).ns / seconds(1).ns;
    const bool over = one.tries == 0 || ends < now.ns / seconds(1).ns;
    return {!over, over ? 0 : ends, one.since};
  }
  std::vector<One> pods_;
};

TEST(PendingPods, TheNextIsTheOneThatKubeSchedulerWouldPop) {
  constexpr std::uint32_t kMost = 20;
  RandomStream random(1, 0, 0, Purpose::Test);
  PendingPods pods(kMost);
  OneByOne list;
  TimePoint now;
  for (std::uint32_t step = 0; step < 5'000; ++step) {
    now = now + milliseconds(1 + random.below(step % 100 < 50 ? 900 : 9'000));
    const auto place_of_next = pods.next(now);
    const auto expected = list.next(now);
    ASSERT_EQ(place_of_next.has_value(), expected.has_value()) << step;
    if (expected) {
      ASSERT_EQ(pods[place_of_next->first], *expected) << step;
    }
    ASSERT_EQ(pods.size(), list.size());
    const auto what = random.below(4);
    if (what < 2 && list.size() < kMost) {
      pods.push_back(step, now);
      list.push_back(step, now);
      const bool all = random.below(2) == 0;
      pods.turn_down(now, all);
      list.turn_down(now, all);
    } else if (what == 2 && expected) {
      pods.remove(place_of_next->first);
      list.remove(*expected);
    } else {
      pods.turn_down(now, true);
      list.turn_down(now, true);
    }
  }
}

// Four pods that ask for a quarter of the node's CPU each, and DaemonSets that ask for some of it.
TEST(DaemonSets, TakeCpuMemoryAndPlacesFromTheScenariosPods) {
  scenarios::Scenario s = demo::scenario(demo::pool(4), {demo::training(4)});
  const PoolModel bare = demo::world(s).pools[0];
  const auto run = [&] { return demo::result(s).pods.running_max; };
  s.workloads[0].pod.cpu_request = {bare.allocatable_cpu.count / 4};
  EXPECT_EQ(run(), 4);
  s.node_pools[0].daemon_sets = {{"kube-proxy", {100}, {}}, {"dcgm-exporter", {}, {}}};
  EXPECT_EQ(run(), 3);
  const PoolModel with = demo::world(s).pools[0];
  EXPECT_EQ(with.max_pods, bare.max_pods - 2);
  EXPECT_EQ(with.allocatable_cpu.count, bare.allocatable_cpu.count - 100);
  EXPECT_EQ(with.node_cpu(), bare.allocatable_cpu);
  const DaemonSetResult shown = demo::result(s).node_pools[0].daemon_sets.at(0);
  EXPECT_EQ(shown.name, "kube-proxy");
  EXPECT_DOUBLE_EQ(shown.cpus, 0.1);
  s.workloads[0].pod.cpu_request = {1};
  s.workloads[0].pod.memory_request = Bytes{bare.allocatable_memory.count / 4};
  EXPECT_EQ(run(), 4);
  s.node_pools[0].daemon_sets[1].memory_request = mebibytes(128);
  EXPECT_EQ(run(), 3);
}

// Of a kubelet that keeps more back than the instance type's figures say.
TEST(Allocatable, OfAPoolTakesThePlaceOfItsInstanceTypes) {
  scenarios::Scenario s = demo::scenario(demo::pool(4), {demo::training(4)});
  const PoolModel bare = demo::world(s).pools[0];
  const auto run = [&] { return demo::result(s).pods.running_max; };
  s.workloads[0].pod.cpu_request = {bare.allocatable_cpu.count / 4};
  s.node_pools[0].allocatable.cpu = {bare.allocatable_cpu.count / 2};
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(demo::world(s).pools[0].allocatable_memory, bare.allocatable_memory);
  s.node_pools[0].allocatable = {{}, {}, 3};
  EXPECT_EQ(run(), 3);
  s.workloads[0].pod.memory_request = Bytes{bare.allocatable_memory.count / 4};
  s.node_pools[0].allocatable = {{}, Bytes{bare.allocatable_memory.count / 4}, {}};
  EXPECT_EQ(run(), 1);
}

TEST(DaemonSets, ThatLeaveNothingAreRefused) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), {demo::training(1)});
  s.node_pools[0].daemon_sets = {{"greedy", demo::world(s).pools[0].allocatable_cpu, {}}};
  const auto built = build_world(s, demo::catalogue());
  ASSERT_FALSE(built.has_value());
  EXPECT_TRUE(std::ranges::any_of(built.error(), [](const Diagnostic& d) {
    return d.code == Code::SettingConflict && d.message.find("greedy") != std::string::npos;
  }));
}

}  // namespace
}  // namespace slicewise::sim
