
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

// The facts of the AWS time-slicing demo: what Kubernetes shows before and after.
namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;

// Four GPUs, one pod each: the fifth waits for the first to finish. Two waves of 30 minutes cost
// 12.24 USD.
TEST(AwsDemo, WithoutSharingFourRunAndOneIsPending) {
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {demo::training(5)}));
  EXPECT_EQ(r.node_pools[0].advertised.at("nvidia.com/gpu"), 4);
  EXPECT_EQ(r.pods.running_max, 4);
  EXPECT_EQ(r.pods.pending_max, 1);
  EXPECT_THAT(r.pods.pending_reasons,
              ElementsAre("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."));
  EXPECT_EQ(r.pods.succeeded, 5);
  EXPECT_EQ(r.makespan.mean, minutes(60));
  EXPECT_EQ(r.workloads[0].wait->p99, minutes(30));
  EXPECT_EQ(r.cost.ledger.total, from_dollars(12.24));
  EXPECT_EQ(r.cost.per_job, from_dollars(12.24 / 5));
}

TEST(AwsDemo, WithTenReplicasFortyAreAdvertisedAndTwentyRun) {
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {demo::training(20)}));
  EXPECT_EQ(r.node_pools[0].advertised.at("nvidia.com/gpu"), 40);
  EXPECT_EQ(r.pods.running_max, 20);
  EXPECT_EQ(r.pods.pending_max, 0);
  EXPECT_EQ(r.pods.succeeded, 20);
  EXPECT_EQ(r.pods.oom_kills, 0);
  // Five jobs per GPU want 1.9 GPUs: at least 1.9 x 30 min, and no more than one after the other.
  EXPECT_GT(r.makespan.mean, minutes(57));
  EXPECT_LT(r.makespan.mean, minutes(90));
  for (const GpuResult& gpu : r.gpus) {
    EXPECT_GT(gpu.context_switch_ratio, 0.05);
    EXPECT_LE(gpu.time_busy_ratio + gpu.context_switch_ratio, 1.0);
    // 5 x (1400 MiB + context): the device plugin spreads evenly.
    EXPECT_GT(gpu.memory_peak, mebibytes(5LL * 1400));
  }
}

// TensorFlow's default maps the GPU: one pod per GPU lives. The others crash, restart at once, then
// after 10, 20, 40, 80 and 160 s, and their Jobs fail at the 6th restart (backoffLimit 6).
TEST(AwsDemo, GreedyMemoryKillsSixteenOfTwenty) {
  scenarios::Workload w = demo::training(20);
  w.gpu_memory.allocator = scenarios::Allocator::Greedy;
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {w}));
  EXPECT_EQ(r.pods.succeeded, 4);
  EXPECT_EQ(r.pods.failed, 16);
  EXPECT_EQ(r.pods.oom_kills, 16 * 6);
  EXPECT_EQ(r.pods.restarts, 16 * 6);
  EXPECT_EQ(r.makespan.mean, minutes(30));
  EXPECT_EQ(r.cost.ledger.total, from_dollars(6.12));
  EXPECT_TRUE(demo::has(r.findings, Code::GpuOom));
  EXPECT_TRUE(demo::has(r.findings, Code::GpuMemGreedy));
}

TEST(AwsDemo, MemoryGrowthIsWhatMakesTheDemoWork) {
  scenarios::Workload greedy = demo::training(20);
  greedy.gpu_memory.allocator = scenarios::Allocator::Greedy;
  greedy.pod.env["TF_FORCE_GPU_ALLOW_GROWTH"] = "true";
  const VariantResult r = demo::result(demo::scenario(demo::pool(10), {greedy}));
  EXPECT_EQ(r.pods.succeeded, 20);
  EXPECT_EQ(r.pods.oom_kills, 0);
}

// A lone pod on a time-sliced GPU pays nothing: replicas cost only when they are used.
TEST(AwsDemo, ALonePodRunsAsIfExclusive) {
  const VariantResult shared = demo::result(demo::scenario(demo::pool(10), {demo::training(1)}));
  EXPECT_EQ(shared.makespan.mean, minutes(30));
  EXPECT_EQ(shared.gpus[0].context_switch_ratio + shared.gpus[1].context_switch_ratio +
                shared.gpus[2].context_switch_ratio + shared.gpus[3].context_switch_ratio,
            0);
}

// The parts of the bill add up to nodes x time x price, to the nano-dollar.
TEST(AwsDemo, TheCostLedgerReconcilesWithTheBill) {
  for (const int replicas : {0, 2, 10}) {
    scenarios::Workload w = demo::training(13);
    w.startup = {seconds(45), seconds(20)};
    w.measured->unit_time_cv = 0.2;
    const VariantResult r = demo::result(demo::scenario(demo::pool(replicas, 2), {w}));
    const CostLedger& c = r.cost.ledger;
    EXPECT_EQ(c.useful + c.idle + c.switching + c.failed + c.cold_start + c.missed_slo, c.total);
    const Usd bill = cost_of({from_dollars(12.24)}, r.makespan.mean);
    EXPECT_EQ(c.total, bill + bill);
    EXPECT_GT(c.cold_start, Usd{});
    EXPECT_GE(c.idle, Usd{});
  }
}

}  // namespace
}  // namespace slicewise::sim
