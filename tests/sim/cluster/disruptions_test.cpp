#include <gtest/gtest.h>

#include "sharing_scenarios.hpp"

// What disturbs a run: faults, changes of the MIG layout, overload, pods that nobody counts.
namespace slicewise::sim::sharing {
namespace {

// A fault takes the clients of the MPS server with it; time-slicing and MIG confine it.
TEST(Faults, AreSharedUnderMpsOnly) {
  Workload faulty = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  faulty.faults = Rate{1.0 / 600};
  Workload victim = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  victim.name.value = "victim";
  const auto run = [](Scenario s) {
    s.duration = hours(20);
    return demo::result(s);
  };
  const VariantResult mps = run(with_mps({faulty, victim}, 4, true));
  EXPECT_NEAR(mps.pods.faults, 120, 40);
  EXPECT_GT(mps.pods.fault_victims, 0.7 * mps.pods.faults);
  EXPECT_TRUE(demo::has(mps.findings, Code::FaultShared));
  EXPECT_EQ(run(with_time_slicing({faulty, victim}, 4)).pods.fault_victims, 0);
  EXPECT_EQ(run(with_mig({faulty, victim}, "all-1g.10gb")).pods.fault_victims, 0);
}

// What a container that dies did on the GPU is lost: of the busy time the jobs that end keep
// theirs, the containers that died had the rest. On a GPU of its own that is what the bill calls
// failed.
TEST(Faults, LoseTheGpuTimeOfTheContainersThatDie) {
  Workload faulty = job(1, 0, 1, 1);
  Scenario s = a100({faulty});
  s.replications = 1;
  EXPECT_EQ(demo::result(s).workloads[0].gpu_lost, seconds(0));
  s.workloads[0].faults = Rate{2 / kAlone};
  const VariantResult r = demo::result(s);
  ASSERT_GT(r.pods.faults, 0);
  const double gpus = r.node_pools[0].nodes * r.node_pools[0].gpus_per_node;
  const double busy = r.workloads[0].gpu_busy_share * gpus * to_seconds(r.makespan.mean);
  const double lost = to_seconds(r.workloads[0].gpu_lost);
  EXPECT_GT(lost, 0);
  EXPECT_NEAR(lost, busy - kAlone * r.workloads[0].completed, 1e-3);
  const double per_gpu_second = to_dollars(r.node_pools[0].price.per_hour) / gpus / 3600;
  EXPECT_NEAR(to_dollars(r.cost.ledger.failed), lost * per_gpu_second, 1e-6);
}

// Drain 30 s, destroy 5 s, create 5 s, plugin restart 30 s: the pod that was evicted at 600 s runs
// again at 670 s, on the layout that then is there.
TEST(MigChange, DrainsThenOffersTheNewLayout) {
  Workload api = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  api.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  Workload waits = demo::service(1, 1, milliseconds(1), Law::Deterministic);
  waits.name.value = "large";
  waits.traffic->gaps = scenarios::Traffic::Gaps::Constant;
  Scenario s = with_mig({api, waits}, "all-1g.10gb");
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools[0].mig->changes.push_back({seconds(600), {"all-balanced", {}}});
  s.workloads[0].pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  s.workloads[1].pod.extended[0].name.value = "nvidia.com/mig-3g.40gb";
  s.duration = seconds(1'000);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_NEAR(r.workloads[0].requests->refused, 70, 1);
  EXPECT_NEAR(r.workloads[1].requests->refused, 670, 1);
  EXPECT_EQ(r.pods.pending_max, 2);
}

// Jobs whose slice the new layout lacks are not waited for: the run ends with what can still run.
TEST(MigChange, JobsThatFitNoLongerDoNotHoldUpTheEnd) {
  Workload small = job(0.2, 0.5, 2, 2);
  small.pod.extended[0].name.value = "nvidia.com/mig-1g.10gb";
  Scenario s = with_mig({small}, "all-1g.10gb");
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools[0].mig->changes.push_back({seconds(60), {"all-3g.40gb", {}}});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.makespan.mean, seconds(130));
  EXPECT_EQ(r.pods.evicted, 2);
  EXPECT_EQ(r.pods.succeeded, 0);
}

// Throughput is what leaves in the observed time, also when a backlog from before is served.
TEST(Overload, ThroughputIsTheCapacityWhateverTheWarmup) {
  Scenario s = a100({demo::service(1, 150, milliseconds(10), Law::Deterministic)});
  s.duration = seconds(300);
  for (const auto warmup : {seconds(0), seconds(60), seconds(200)}) {
    s.warmup = warmup;
    EXPECT_NEAR(demo::result(s).workloads[0].throughput_per_second, 100, 1) << warmup.ns;
  }
}

// A latency objective is not met by refusing: 30 s of 100 without a replica miss any percentile.
TEST(Objectives, RefusedRequestsMeetNone) {
  Workload api = demo::service(1, 10, milliseconds(1), Law::Deterministic);
  api.startup.model_load = seconds(30);
  api.objectives.push_back({scenarios::Figure::LatencyP95, milliseconds(100), {}});
  Scenario s = a100({api});
  s.duration = seconds(100);
  const VariantResult r = demo::result(s);
  EXPECT_LT(std::get<Duration>(r.workloads[0].objectives[0].value), milliseconds(100));
  EXPECT_FALSE(r.workloads[0].objectives[0].pass);
  s.warmup = seconds(31);
  EXPECT_TRUE(demo::result(s).workloads[0].objectives[0].pass);
}

// Pods that ask for nothing all open GPU 0 and take turns there; three GPUs stay idle, and the
// fifth process does not fit its memory.
TEST(ManualSharing, PilesPodsUpOnGpuZero) {
  Workload w = demo::training(4);
  w.measured->gpu_busy = 1.0;
  w.pod.extended.clear();
  w.work->units = 10;
  w.gpu_memory.resident = gibibytes(3);
  const VariantResult four = demo::result(demo::scenario(demo::pool(0), {w}));
  EXPECT_GT(completion_s(four), 4 * 180);
  EXPECT_GT(four.gpus[0].time_busy_ratio, 0.8);
  EXPECT_EQ(four.gpus[1].time_busy_ratio, 0);
  EXPECT_EQ(four.pods.pending_max, 0);
  w.count = 6;
  EXPECT_GT(demo::result(demo::scenario(demo::pool(0), {w})).pods.oom_kills, 0);
}

}  // namespace
}  // namespace slicewise::sim::sharing
