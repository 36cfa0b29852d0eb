#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sharing_scenarios.hpp"

// nos cuts MIG GPUs anew for pods that stay Pending.
namespace slicewise::sim::sharing {
namespace {

using ::testing::HasSubstr;

Workload on_slice(const char* name, const char* profile, int count) {
  Workload w = job(0.2, 0.5, 2, count);
  w.name.value = name;
  w.pod.extended[0].name.value = std::string("nvidia.com/mig-") + profile;
  return w;
}

// One A100 with 80 GiB.
Scenario by_nos(std::vector<Workload> workloads, const std::string& config) {
  Scenario s = with_mig(std::move(workloads), config);
  s.node_pools[0].allocatable.gpus = 1;
  s.node_pools[0].mig->strategy = scenarios::MigStrategy::Mixed;
  s.node_pools[0].mig->nos.emplace();
  return s;
}

Duration mean_wait(const VariantResult& r, std::size_t workload) {
  return r.workloads[workload].wait->mean;
}

// Beside free slices of another size two pods wait for the end of the batch (10 s), until instances
// are destroyed and created (5 s each) and the plugin has restarted (30 s).
TEST(NosPartitioner, CutsAGpuAnewForPodsThatWait) {
  Scenario s = by_nos({on_slice("large", "3g.40gb", 2)}, "all-1g.10gb");
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 2);
  EXPECT_EQ(mean_wait(r, 0), seconds(50));

  s.node_pools[0].mig->nos->window_idle = seconds(20);
  s.node_pools[0].mig->change_times.create = seconds(8);
  EXPECT_EQ(mean_wait(demo::result(s), 0), seconds(63));
  s.node_pools[0].mig->nos.reset();
  EXPECT_EQ(demo::result(s).pods.succeeded, 0) << "Pending beside seven free slices";
}

TEST(NosPartitioner, StartsNoPodOnWhatItHasNotCutYet) {
  for (const bool is_there : {true, false}) {
    Scenario s = by_nos({on_slice("large", is_there ? "1g.10gb" : "3g.40gb", 1)}, "all-1g.10gb");
    s.workloads[0].starts_on = {{s.node_pools[0].name, 1, 1, {}}};
    EXPECT_EQ(demo::has(demo::result(s).findings, Code::PodStartsElsewhere), !is_there);
  }
}

// The instance in use stays: beside 1g there is one 3g, whose next pod comes when it is free.
TEST(NosPartitioner, LeavesInstancesInUseAlone) {
  const VariantResult r = demo::result(
      by_nos({on_slice("small", "1g.10gb", 1), on_slice("large", "3g.40gb", 2)}, "all-1g.10gb"));
  EXPECT_EQ(mean_wait(r, 0), seconds(0));
  EXPECT_EQ(r.pods.evicted, 0);
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.pods.succeeded, 3);
}

// A pod every 9 s: the batch is never idle for 10 s, and ends 60 s after its first.
TEST(NosPartitioner, LooksAtABatchAfterItsTimeoutAtTheLatest) {
  Scenario s = by_nos({on_slice("small", "1g.10gb", 7)}, "all-7g.80gb");
  s.workloads[0].submit_interval = seconds(9);
  EXPECT_EQ(mean_wait(demo::result(s), 0), seconds(100 - 27));
}

// As nos has it: what closes a batch that brings it nothing is looked at again with the next only.
TEST(NosPartitioner, ForgetsThePodThatClosesABatch) {
  Scenario s =
      by_nos({on_slice("small", "1g.10gb", 7), on_slice("large", "3g.40gb", 1)}, "all-1g.10gb");
  s.workloads[1].submit_at = seconds(1);
  s.duration = hours(4);
  EXPECT_EQ(demo::result(s).pods.succeeded, 7);
  s.workloads.push_back(on_slice("later", "3g.40gb", 1));
  s.workloads[2].submit_at = hours(2);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 9);
  EXPECT_EQ(mean_wait(r, 1), hours(2) + seconds(49));
  EXPECT_EQ(mean_wait(r, 2), seconds(50));
}

TEST(NosPartitioner, IsRefusedWhereNosDoesNotKnowTheGpu) {
  Scenario s = by_nos({on_slice("small", "1g.10gb", 1)}, "all-1g.10gb");
  s.node_pools[0].instance_type.value = "p5.48xlarge";
  EXPECT_THAT(demo::refusal(s), HasSubstr("nos knows how to cut an A100, no H100"));
  s.node_pools[0].instance_type.value = "p4de.24xlarge";
  s.node_pools[0].mig->config.value = "all-disabled";
  EXPECT_THAT(demo::refusal(s), HasSubstr("switches no GPU's MIG mode on"));
}

}  // namespace
}  // namespace slicewise::sim::sharing
