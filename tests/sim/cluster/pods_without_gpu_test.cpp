#include <algorithm>

#include <gtest/gtest.h>

#include "slicewise/sim/recording.hpp"

#include "../demo.hpp"

// Pods that use no GPU, on nodes with some: what they take, and what they keep.
namespace slicewise::sim {
namespace {

using scenarios::Provisioner;
using scenarios::Scenario;
using scenarios::Workload;

// As a scenario file says it.
Workload without_gpu(scenarios::WorkloadKind kind, int count) {
  Workload w;
  w.name.value = "web";
  w.kind = kind;
  w.count = count;
  w.processes_per_pod = 0;
  w.pod.cpu_request = {20'000};
  w.work.emplace();
  w.measured.emplace().unit_time = hours(std::int64_t{24} * 700);
  w.measured->gpu_busy = 0;
  return w;
}

Workload job(int count) {
  Workload w = demo::training(count);
  w.work->units = 10;
  w.measured->unit_time = seconds(10);
  return w;
}

// A node has about 31 CPUs: beside one pod with 20 there is room for a job with 10, and for none
// with 20.
TEST(PodsWithoutGpu, TakeCpuAndMemoryOfTheirNode) {
  const auto done = [](std::int64_t cpu) {
    Workload trains = job(1);
    trains.pod.cpu_request = {cpu};
    Scenario s = demo::scenario(demo::pool(0),
                                {without_gpu(scenarios::WorkloadKind::Deployment, 1), trains});
    s.duration = minutes(10);
    return demo::result(s).workloads[1].completed;
  };
  EXPECT_EQ(done(10'000), 1);
  EXPECT_EQ(done(20'000), 0);
}

// 300 s, whoever has the GPUs: nothing of theirs is busy, held or written down, and nobody is told
// that a GPU is used without being asked for.
TEST(PodsWithoutGpu, UseNone) {
  for (const int replicas : {0, 4}) {
    Workload counts = without_gpu(scenarios::WorkloadKind::Job, 2);
    counts.pod.cpu_request = {1'000};
    counts.work->units = 3;
    counts.measured->unit_time = seconds(100);
    const VariantResult r = demo::result(demo::scenario(demo::pool(replicas), {counts, job(4)}));
    EXPECT_EQ(r.workloads[0].job_completion->mean, seconds(300));
    EXPECT_EQ(r.workloads[0].completed, 2);
    EXPECT_EQ(r.workloads[0].gpu_busy_share, 0);
    EXPECT_FALSE(demo::has(r.findings, Code::GpuNotRequested));
    const VariantResult alone = demo::result(demo::scenario(demo::pool(replicas), {job(4)}));
    EXPECT_EQ(r.workloads[1].job_completion->mean, alone.workloads[0].job_completion->mean);
  }
}

// The job is done after some minutes. Where only empty nodes go, its node stays for the pod
// without a GPU, which came there since it was the only one.
TEST(PodsWithoutGpu, KeepTheirNode) {
  const auto node_hours = [](int pods, Provisioner::Consolidation consolidation) {
    scenarios::NodePool pool = demo::pool(0);
    pool.nodes = 0;
    pool.most_nodes = 2;
    Scenario s = demo::scenario(pool, {job(1)});
    if (pods > 0) {
      s.workloads.push_back(without_gpu(scenarios::WorkloadKind::Deployment, pods));
      s.workloads.back().submit_at = minutes(5);
      s.workloads.back().pod.cpu_request = {1'000};
    }
    s.duration = hours(std::int64_t{2});
    s.provisioner.kind = Provisioner::Kind::Karpenter;
    s.provisioner.consolidation = consolidation;
    return demo::result(s).node_pools[0].dynamics.value().node_hours;
  };
  using enum scenarios::Consolidation;
  EXPECT_LT(node_hours(0, WhenEmpty), 0.3);
  EXPECT_GT(node_hours(1, WhenEmpty), 1.9);
  EXPECT_GT(node_hours(1, WhenEmptyOrUnderutilized), 1.9);  // it has nowhere else to go
}

TEST(PodsWithoutGpu, AreInARecordingOnNoGpu) {
  Scenario s =
      demo::scenario(demo::pool(0), {without_gpu(scenarios::WorkloadKind::Deployment, 2), job(1)});
  s.duration = minutes(10);
  s.workloads[0].pod.cpu_request = {1'000};
  const Recording recording = record(demo::world(s)).value();
  EXPECT_EQ(std::ranges::max(recording.workloads[0].running), 2);
  for (const RecordedPod& pod : recording.pods) {
    if (pod.workload != 0) continue;
    for (const LaneInterval& interval : pod.intervals) EXPECT_TRUE(interval.gpus.empty());
  }
}

// A job of higher priority takes the CPUs of a pod without a GPU.
TEST(PodsWithoutGpu, GiveWayToPriority) {
  Workload urgent = job(1);
  urgent.priority = 10;
  urgent.submit_at = minutes(1);
  urgent.pod.cpu_request = {20'000};
  Scenario s =
      demo::scenario(demo::pool(0), {without_gpu(scenarios::WorkloadKind::Deployment, 1), urgent});
  s.duration = minutes(10);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[1].completed, 1);
  EXPECT_EQ(r.pods.evicted, 1);
}

}  // namespace
}  // namespace slicewise::sim
