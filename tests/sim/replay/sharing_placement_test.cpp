#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/execution_law.hpp"

#include "job_samples.hpp"

// Small traces on nodes with one T4 each, of which every choice of a placement follows by hand.
namespace slicewise::sim {
namespace {

constexpr NodePolicy kSharingPolicies[] = {NodePolicy::MemoryBinpack,
                                           NodePolicy::UtilizationBinpack, NodePolicy::GavelPacking,
                                           NodePolicy::LucidPacking, NodePolicy::LeastInterference};

struct Neighbour {
  std::int32_t gpu_permille = 1000;
  std::int32_t sm_permille = gpu_permille / 2;
  std::int64_t memory_gib = 1;
};

using Group = std::vector<std::size_t>;

// These of the jobs, all at once; runs of unlike lengths, so that each end tells who was there.
scenarios::JobTrace side_by_side(const std::vector<Neighbour>& jobs, const Group& group) {
  scenarios::JobTrace trace;
  for (const std::size_t at : group) {
    trace.arrival.owned.push_back(seconds(0));
    trace.run.owned.push_back(seconds(1'000 + 77 * static_cast<std::int64_t>(at)));
    trace.gpus.owned.push_back(1);
    trace.gpu_permille.owned.push_back(jobs[at].gpu_permille);
    trace.sm_permille.owned.push_back(jobs[at].sm_permille);
    trace.gpu_memory.owned.push_back(gibibytes(jobs[at].memory_gib));
  }
  return trace;
}

scenarios::JobTrace side_by_side(const std::vector<Neighbour>& jobs) {
  Group all(jobs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return side_by_side(jobs, all);
}

ReplaySettings placed_by(NodePolicy policy, std::size_t gpus) {
  ReplaySettings settings = on_instances("g4dn.xlarge", gpus, "time-slicing:4");
  settings.placement = policy;
  return settings;
}

// Each group fares as if it had the cluster to itself.
void expect_groups(const std::vector<Neighbour>& jobs, NodePolicy policy,
                   const std::vector<Group>& groups) {
  const ReplayResult result = replayed_shared(side_by_side(jobs), placed_by(policy, groups.size()));
  EXPECT_EQ(result.sharing->oom_killed, 0);
  for (const Group& group : groups) {
    const ReplayResult expected =
        replayed_shared(side_by_side(jobs, group), placed_by(NodePolicy::FirstFit, 1));
    for (std::size_t at = 0; at < group.size(); ++at) {
      EXPECT_NEAR(end_s(result, group[at]), end_s(expected, at), 1e-6)
          << policy_name(policy) << " job " << group[at];
    }
  }
}

// Sum of the speeds of two jobs as shares of those alone.
double speeds_of_pair(std::int32_t one_permille, std::int32_t other_permille) {
  const auto sharing = shared("time-slicing:4", {"g4dn.xlarge"});
  const models::TimeSlice& slice = sharing->pools.front().driver_slice;
  const double overhead = to_seconds(slice.switch_cost) / to_seconds(slice.turn);
  const double one = scenarios::kBusyOfGpuUtil * one_permille / 1000;
  const double other = scenarios::kBusyOfGpuUtil * other_permille / 1000;
  return 1 / models::overlapped_slowdown(one, one + other, overhead) +
         1 / models::overlapped_slowdown(other, one + other, overhead);
}

TEST(SharingPlacement, MemoryBinpackFillsTheGpuThatHasTheLeastLeft) {
  // 15 GiB: 2 + 8 leave no room for another 8; the last 3 fit the first GPU just as well.
  const std::vector<Neighbour> jobs = {{1000, 500, 2}, {900, 450, 8}, {800, 400, 8}, {700, 350, 3}};
  expect_groups(jobs, NodePolicy::MemoryBinpack, {{0, 1, 3}, {2}});
  // Who looks at tickets alone sends the third job where no memory is left.
  const ReplayResult blind = replayed_shared(side_by_side(jobs), placed_by(NodePolicy::BestFit, 2));
  EXPECT_GT(blind.sharing->oom_killed, 0);
}

TEST(SharingPlacement, UtilizationBinpackAddsUpSmActivity) {
  // 0.6 and 0.5 do not fit together; 0.35 goes to the busier GPU, 0.95; 0.7 fits neither, so it
  // takes the less busy one.
  expect_groups({{1000, 600}, {900, 500}, {800, 350}, {950, 700}}, NodePolicy::UtilizationBinpack,
                {{0, 2}, {1, 3}});
}

TEST(SharingPlacement, GavelPairsWhatGainsMostOnceNoGpuIsFree) {
  ASSERT_LT(speeds_of_pair(1000, 900), 1.5);
  ASSERT_GT(speeds_of_pair(900, 100), speeds_of_pair(1000, 100));
  ASSERT_GT(speeds_of_pair(1000, 150), 1.5);
  expect_groups({{1000}, {900}, {100}, {150}}, NodePolicy::GavelPacking, {{0, 3}, {1, 2}});
  // 1000 and 900 gain too little together; two on each GPU are the most.
  const ReplayResult full =
      replayed_shared(side_by_side({{1000}, {900}}), placed_by(NodePolicy::GavelPacking, 1));
  EXPECT_EQ(full.job_times[1].start, full.job_times[0].end);
  const ReplayResult three =
      replayed_shared(side_by_side({{100}, {100}, {100}}), placed_by(NodePolicy::GavelPacking, 1));
  EXPECT_EQ(three.job_times[1].start, TimePoint{});
  EXPECT_EQ(three.job_times[2].start, three.job_times[0].end);
}

TEST(SharingPlacement, LucidPairsFirstWhatSlowsDownLittle) {
  // Mean speeds beside the two kinds: of the heavy below 0.85, score 2; of the light above 0.95.
  const std::vector<Neighbour> jobs = {{1000}, {100}, {1000}, {100}, {1000}, {1000}};
  const ReplayResult result =
      replayed_shared(side_by_side(jobs), placed_by(NodePolicy::LucidPacking, 3));
  for (std::size_t job = 0; job < 5; ++job) EXPECT_EQ(result.job_times[job].start, TimePoint{});
  // Two heavy jobs are never paired: the last waits until a GPU is free or has a light one alone.
  EXPECT_GT(result.job_times[5].start, TimePoint{});
  expect_groups({{1000}, {100}, {1000}, {100}, {1000}}, NodePolicy::LucidPacking,
                {{0, 1}, {2, 3}, {4}});
}

TEST(SharingPlacement, InterferenceAwareAddsTheLeastSlowdown) {
  // 0.9 beside 0.2 costs less than beside 1; then 0.2 beside 1 less than beside both.
  expect_groups({{1000}, {200}, {900}, {200}}, NodePolicy::LeastInterference, {{0, 3}, {1, 2}});
  // With a third GPU the 0.9 is alone.
  expect_groups({{1000}, {200}, {900}}, NodePolicy::LeastInterference, {{0}, {1}, {2}});
}

TEST(SharingPlacement, OnInstancesOfTheirOwnJobsFillTheGpu) {
  for (const NodePolicy policy : kSharingPolicies) {
    ReplaySettings settings = on_instances("p4d.24xlarge", 1, "mig:all-1g.5gb");
    settings.placement = policy;
    const ReplayResult result =
        replayed_shared(side_by_side(std::vector<Neighbour>(57, {1000, 300, 2})), settings);
    EXPECT_EQ(result.started_at_once, 56) << policy_name(policy);
    EXPECT_EQ(result.finished, 57);
  }
}

// Jobs of all sizes come and go, are preempted and come back: all end, and none is ever killed for
// memory.
TEST(SharingPlacement, EveryJobEndsAndNobodyRunsOutOfMemory) {
  scenarios::JobTrace trace;
  for (int job = 0; job < 500; ++job) {
    trace.arrival.owned.push_back(seconds(10 * job));
    trace.run.owned.push_back(seconds(50 + job * 37 % 900));
    trace.gpus.owned.push_back(job % 9 == 0 ? 2 : 1);
    trace.priority.owned.push_back(job % 3);
    trace.gpu_permille.owned.push_back(job * 131 % 1000);
    trace.sm_permille.owned.push_back(job * 131 % 1000 / 2);
    trace.gpu_memory.owned.push_back(mebibytes(100 + job * 577 % 9'000));
  }
  for (const NodePolicy policy : kSharingPolicies) {
    for (const QueuePolicy queue :
         {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy, QueuePolicy::Priority}) {
      ReplaySettings settings = on_instances("g4dn.12xlarge", 2, "mps:4", queue);
      settings.sharing = shared("time-slicing:4", {"g4dn.12xlarge"});
      settings.placement = policy;
      const ReplayResult result = replayed_shared(trace, settings);
      EXPECT_EQ(result.finished, 500) << policy_name(policy) << policy_name(queue);
      EXPECT_EQ(result.sharing->oom_killed, 0) << policy_name(policy) << policy_name(queue);
    }
  }
}

TEST(Gangs, WhatIsLargerThanTheClusterFitsNowhere) {
  // Each of three rows fits one of two nodes; together they never do.
  auto trace = trace_of({{0, 10, 8}, {0, 10, 8}, {0, 10, 8}, {1, 10, 1}});
  trace.names = {"", "g"};
  trace.gang.owned = {1, 1, 1, 0};
  for (const char* way : {"", "time-slicing:2"}) {
    const ReplayResult result = replayed_shared(trace, on_instances("p3.16xlarge", 2, way));
    EXPECT_EQ(result.never_fit, 3) << way;
    EXPECT_EQ(result.first_never_fit, 0U);
    EXPECT_EQ(end_s(result, 3), 11);
    const ReplayResult larger = replayed_shared(trace, on_instances("p3.16xlarge", 3, way));
    EXPECT_EQ(larger.never_fit, 0);
    EXPECT_EQ(end_s(larger, 0), 10);
  }
}

TEST(Gangs, RanksOnOneGpuNeedItsMemoryTogether) {
  // A T4 has 15 GiB.
  for (const auto& [gib, killed] : {std::pair{6, 0}, std::pair{9, 7}}) {
    auto trace = trace_of({{0, 100, 1}, {0, 100, 1}});
    trace.names = {"", "g"};
    trace.gang.owned = {1, 1};
    trace.gpu_memory.owned = {gibibytes(gib), gibibytes(gib)};
    const ReplayResult packed =
        replayed_shared(trace, on_instances("g4dn.xlarge", 1, "time-slicing:2"));
    EXPECT_EQ(packed.sharing->oom_killed, killed);
    EXPECT_EQ(packed.sharing->failed, killed > 0 ? 2 : 0);
    ReplaySettings apart = on_instances("g4dn.xlarge", 2, "time-slicing:2");
    apart.placement = NodePolicy::MemoryBinpack;
    EXPECT_EQ(replayed_shared(trace, apart).finished, 2);
  }
}

}  // namespace
}  // namespace slicewise::sim
