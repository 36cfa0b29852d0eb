#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"
#include "queued_jobs.hpp"

// Queues of KAI scheduler: a job takes 100 s alone on a V100, a node has 4.
namespace slicewise::sim {
namespace {

using demo::jobs;
using demo::seconds_of;
using scenarios::KaiQueue;
using scenarios::Scenario;
using scenarios::Workload;
using ::testing::ElementsAre;

Scenario by_kai(int nodes, std::vector<KaiQueue> queues, std::vector<Workload> workloads) {
  Scenario s = demo::scenario(demo::pool(0), std::move(workloads));
  s.node_pools[0].nodes = nodes;
  s.node_pools[0].kai = true;
  s.kai_queues = std::move(queues);
  return s;
}

// Their own of `nodes` nodes, in thousandths of a GPU.
std::vector<std::int64_t> shares(int nodes, std::vector<KaiQueue> queues) {
  std::vector<Workload> workloads;
  for (const KaiQueue& queue : queues) {
    if (queue.name.value != "top") workloads.push_back(jobs("j", queue.name.value.c_str(), 1));
    if (queue.name.value != "top") workloads.back().name.value = queue.name.value;
  }
  const auto world = build_world(by_kai(nodes, std::move(queues), workloads), demo::catalogue());
  std::vector<std::int64_t> out;
  for (const QueueModel& queue : world->queues) out.push_back(queue.limits[0].nominal);
  return out;
}

// 12 GPUs by weight: 4 and 8 at a time. b is done after two rounds, and the last of a have all.
TEST(KaiQueues, ShareByWeightWhatIsBeyondTheirQuotas) {
  const std::vector<KaiQueue> queues = {{{"a", {}}, "", 0, -1, 1}, {{"b", {}}, "", 0, -1, 2}};
  const VariantResult r =
      demo::result(by_kai(3, queues, {jobs("first", "a", 14), jobs("second", "b", 16)}));
  EXPECT_NEAR(seconds_of(r), 300, 1e-6);
  EXPECT_EQ(r.workloads[0].quota->wait->mean.ns, seconds(4 * 100 + 6 * 200).ns / 14);
  EXPECT_EQ(r.workloads[1].quota->wait->mean, seconds(50));
  EXPECT_EQ(r.workloads[1].quota->stopped, 0);
}

TEST(KaiQueues, AreDividedLikeKaiDoes) {
  EXPECT_THAT(shares(3, {{{"a", {}}, "", 0, -1, 1}, {{"b", {}}, "", 0, -1, 2}}),
              ElementsAre(4'000, 8'000));
  // Quotas first, then what is left: 12 - 3 - 0.5 by weight in whole GPUs, the rest one by one.
  EXPECT_THAT(shares(3, {{{"a", {}}, "", 3, -1, 1}, {{"b", {}}, "", 0.5, -1, 2}}),
              ElementsAre(6'000, 6'000));
  // No more than their limits: others have it.
  EXPECT_THAT(shares(3, {{{"a", {}}, "", 0, 2.5, 1}, {{"b", {}}, "", 0, -1, 1}}),
              ElementsAre(2'500, 9'500));
  EXPECT_THAT(shares(1, {{{"a", {}}, "", 2, -1, 0}, {{"b", {}}, "", 0, -1, 1}}),
              ElementsAre(2'000, 2'000));
  // Children share what their parent has.
  EXPECT_THAT(shares(3, {{{"top", {}}, "", 0, 6, 1},
                         {{"a", {}}, "top", 0, -1, 1},
                         {{"b", {}}, "top", 0, -1, 2},
                         {{"c", {}}, "", 0, -1, 1}}),
              ElementsAre(0, 2'000, 4'000, 6'000));
}

// At 50 s b wants its 2 of 4: two jobs of a have 30 s to end, and go on at 100 s.
TEST(KaiQueues, GetTheirOwnBackFromThoseThatBorrow) {
  const std::vector<KaiQueue> queues = {{{"a", {}}, "", 2, -1, 1}, {{"b", {}}, "", 2, -1, 1}};
  const VariantResult r =
      demo::result(by_kai(1, queues, {jobs("borrows", "a", 4), jobs("owns", "b", 2, seconds(50))}));
  EXPECT_EQ(r.workloads[0].quota->stopped, 2);
  EXPECT_EQ(r.workloads[1].job_completion->p99, seconds(130));
}

// What no weight takes stands idle for nobody.
TEST(KaiQueues, BorrowWhatIsNobodysOwn) {
  const VariantResult r =
      demo::result(by_kai(1, {{{"a", {}}, "", 1, -1, 0}}, {jobs("borrows", "a", 4)}));
  EXPECT_EQ(r.pods.running_max, 4);
}

// Halves of a GPU: two of them are within a limit of one.
TEST(KaiQueues, CountPartsOfGpus) {
  const auto most_at_once = [](double limit) {
    Workload half = jobs("half", "a", 4);
    half.pod.extended.clear();
    half.pod.annotations["gpu-fraction"] = "0.5";
    half.part_of.value = "object";  // whose pods start one by one
    return demo::result(by_kai(1, {{{"a", {}}, "", 0, limit, 1}}, {half})).pods.running_max;
  };
  EXPECT_EQ(most_at_once(0.5), 1);
  EXPECT_EQ(most_at_once(1), 2);
  EXPECT_EQ(most_at_once(1.4), 2);
  EXPECT_EQ(most_at_once(-1), 4);
}

TEST(KaiQueues, NeverStartWhatIsAboveTheirLimit) {
  const VariantResult r =
      demo::result(by_kai(1, {{{"a", {}}, "", 0, 0.5, 1}}, {jobs("j", "a", 1)}));
  EXPECT_TRUE(demo::has(r.findings, Code::JobNeverFits));
  EXPECT_EQ(r.pods.running_max, 0);
}

}  // namespace
}  // namespace slicewise::sim
