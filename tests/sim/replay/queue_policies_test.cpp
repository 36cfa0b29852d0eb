#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "job_samples.hpp"

namespace slicewise::sim {
namespace {

ReplayResult replayed(const scenarios::JobTrace& trace, const ReplaySettings& settings) {
  auto result = replay(trace, settings);
  EXPECT_TRUE(result.has_value()) << result.error().front().message;
  return result ? *result : ReplayResult{};
}

std::vector<std::int64_t> starts(const ReplayResult& result) {
  std::vector<std::int64_t> seconds;
  for (const JobTimes& job : result.job_times) {
    seconds.push_back(job.start == kNever ? -1 : job.start.ns / 1'000'000'000);
  }
  return seconds;
}

std::vector<std::int64_t> ends(const ReplayResult& result) {
  std::vector<std::int64_t> seconds;
  for (const JobTimes& job : result.job_times) {
    seconds.push_back(job.end == kNever ? -1 : job.end.ns / 1'000'000'000);
  }
  return seconds;
}

using Seconds = std::vector<std::int64_t>;

// Two GPUs: the second job needs both and blocks the third, which would fit.
const scenarios::JobTrace& blocked_head() {
  static const scenarios::JobTrace trace = trace_of({{0, 10, 1}, {1, 5, 2}, {2, 3, 1}, {3, 20, 1}});
  return trace;
}

TEST(QueuePolicies, FifoLetsTheOldestBlockAllBehindIt) {
  const ReplayResult result = replayed(blocked_head(), on_pool(2, QueuePolicy::Fifo));
  EXPECT_EQ(starts(result), (Seconds{0, 10, 15, 15}));
  EXPECT_EQ(result.wait.mean(), nanoseconds((9 + 13 + 12) * 250'000'000LL));
  EXPECT_EQ(result.started_at_once, 1);
  EXPECT_EQ(result.most_waiting, 3);
}

TEST(QueuePolicies, BackfillTakesTheOldestThatFits) {
  const ReplayResult result = replayed(blocked_head(), on_pool(2, QueuePolicy::Backfill));
  EXPECT_EQ(starts(result), (Seconds{0, 25, 2, 5}));
}

// Three of four GPUs for the second, whom the third must not overtake though it is like the first.
TEST(QueuePolicies, BackfillTakesTheOldestAlsoOfThoseThatArriveTogether) {
  const scenarios::JobTrace trace = trace_of({{0, 100, 1}, {0, 100, 3}, {0, 100, 1}});
  EXPECT_EQ(starts(replayed(trace, on_pool(4, QueuePolicy::Backfill))), (Seconds{0, 0, 100}));
}

TEST(QueuePolicies, EasyBackfillsOnlyWhatDoesNotDelayTheOldest) {
  const ReplayResult result = replayed(blocked_head(), on_pool(2, QueuePolicy::Easy));
  // The third ends at 5, before the reservation at 10; the fourth would end at 25.
  EXPECT_EQ(starts(result), (Seconds{0, 10, 2, 15}));
  EXPECT_TRUE(result.perfect_estimates);
}

TEST(QueuePolicies, EasyBelievesTheTimeLimits) {
  const auto trace = trace_of({{0, 10, 1, 0, 10}, {1, 5, 2, 0, 5}, {2, 3, 1, 0, 60}});
  const ReplayResult result = replayed(trace, on_pool(2, QueuePolicy::Easy));
  EXPECT_EQ(starts(result), (Seconds{0, 10, 15}));
  EXPECT_FALSE(result.perfect_estimates);
}

TEST(QueuePolicies, EasyLetsLongJobsUseWhatTheOldestWillNotNeed) {
  const auto trace = trace_of({{0, 10, 3}, {1, 5, 3}, {2, 90, 1}, {3, 90, 1}});
  const ReplayResult result = replayed(trace, on_pool(4, QueuePolicy::Easy));
  EXPECT_EQ(starts(result), (Seconds{0, 10, 2, 15}));
}

TEST(QueuePolicies, PriorityPreemptsTheLowestAndYoungest) {
  const auto trace = trace_of({{0, 100, 1, 1}, {1, 100, 1, 0}, {2, 100, 1, 0}, {10, 5, 1, 5}});
  const ReplayResult result = replayed(trace, on_pool(3, QueuePolicy::Priority));
  EXPECT_EQ(starts(result), (Seconds{0, 1, 2, 10}));
  EXPECT_EQ(ends(result), (Seconds{100, 101, 107, 15}));
  EXPECT_EQ(result.preemptions, 1);
}

TEST(QueuePolicies, PreemptedJobsMayHaveToStartOver) {
  const auto trace = trace_of({{0, 100, 1, 0}, {10, 5, 1, 5}});
  ReplaySettings settings = on_pool(1, QueuePolicy::Priority);
  settings.restart_preempted = true;
  const ReplayResult result = replayed(trace, settings);
  EXPECT_EQ(ends(result), (Seconds{115, 15}));
  EXPECT_DOUBLE_EQ(result.lost_gpu_hours, 10.0 / 3600);
}

TEST(QueuePolicies, NobodyIsPreemptedInVain) {
  const auto trace = trace_of({{0, 100, 1, 0}, {0, 100, 2, 9}, {10, 5, 2, 5}});
  const ReplayResult result = replayed(trace, on_pool(3, QueuePolicy::Priority));
  EXPECT_EQ(result.preemptions, 0);
  EXPECT_EQ(ends(result), (Seconds{100, 100, 105}));
}

TEST(QueuePolicies, OnNodesOnlyTheNodeThatIsNeededIsPreempted) {
  // Nodes of two GPUs. The whole node that the last job needs is freed on one node only.
  const auto trace = trace_of({{0, 100, 1, 0}, {0, 100, 1, 3}, {0, 100, 2, 1}, {10, 5, 2, 5}});
  const ReplayResult result = replayed(trace, on_nodes(2, 2, QueuePolicy::Priority));
  EXPECT_EQ(result.preemptions, 1);
  EXPECT_EQ(ends(result), (Seconds{100, 100, 105, 15}));
}

TEST(QueuePolicies, ShortestRemainingTimeGoesFirst) {
  const auto trace = trace_of({{0, 100, 1}, {10, 5, 1}, {11, 200, 1}});
  const ReplayResult result = replayed(trace, on_pool(1, QueuePolicy::ShortestTime));
  EXPECT_EQ(ends(result), (Seconds{105, 15, 305}));
  EXPECT_EQ(result.preemptions, 1);
}

TEST(QueuePolicies, ShortestServiceCountsGpus) {
  // 2 GPUs x 60 s = 120 GPU seconds against 100 of one GPU.
  const auto trace = trace_of({{0, 100, 1}, {0, 60, 2}});
  EXPECT_EQ(ends(replayed(trace, on_pool(2, QueuePolicy::ShortestService))), (Seconds{100, 160}));
  EXPECT_EQ(ends(replayed(trace, on_pool(2, QueuePolicy::ShortestTime))), (Seconds{160, 60}));
}

TEST(QueuePolicies, EndsComeBeforeStartsAtTheSameInstant) {
  const ReplayResult result =
      replayed(trace_of({{0, 10, 1}, {10, 10, 1}}), on_pool(1, QueuePolicy::Fifo));
  EXPECT_EQ(starts(result), (Seconds{0, 10}));
  EXPECT_EQ(result.peak_gpus, 1);
}

TEST(QueuePolicies, WhatNeverFitsIsDroppedAndCounted) {
  for (const QueuePolicy queue : {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy,
                                  QueuePolicy::Priority, QueuePolicy::ShortestTime}) {
    const auto trace = trace_of({{0, 1, 1}, {1, 1, 9}, {2, 1, 1}});
    const ReplayResult result = replayed(trace, on_pool(8, queue));
    EXPECT_EQ(result.never_fit, 1);
    EXPECT_EQ(result.first_never_fit, 1U);
    EXPECT_EQ(starts(result), (Seconds{0, -1, 2}));
  }
}

TEST(QueuePolicies, JobsWithoutARunTimeAreLeftOut) {
  auto trace = trace_of({{0, 1, 1}, {1, 1, 1}});
  trace.run.owned[1] = scenarios::kUnknownDuration;
  const ReplayResult result = replayed(trace, on_pool(1, QueuePolicy::Fifo));
  EXPECT_EQ(result.finished, 1);
  EXPECT_EQ(result.without_run, 1);
}

TEST(QueuePolicies, AGangStartsTogetherOrNotAtAll) {
  auto trace = trace_of({{0, 10, 2}, {1, 5, 1}, {1, 7, 2}});
  trace.names = {"", "job"};
  trace.gang.owned = {0, 1, 1};
  for (const ReplaySettings& settings :
       {on_pool(4, QueuePolicy::Fifo), on_nodes(2, 2, QueuePolicy::Fifo),
        on_nodes(2, 2, QueuePolicy::Backfill)}) {
    const ReplayResult result = replayed(trace, settings);
    EXPECT_EQ(starts(result), (Seconds{0, 10, 10}));
    EXPECT_EQ(ends(result), (Seconds{10, 17, 17}));
    EXPECT_EQ(result.finished, 3);
  }
}

TEST(QueuePolicies, JobsLargerThanANodeTakeSeveral) {
  const auto trace = trace_of({{0, 10, 4}, {1, 10, 12}, {2, 10, 4}});
  const ReplayResult result = replayed(trace, on_nodes(2, 8, QueuePolicy::Backfill));
  EXPECT_EQ(starts(result), (Seconds{0, 1, 10}));
}

TEST(QueuePolicies, ARepetitionIsTheSameTraceLater) {
  const auto trace = trace_of({{0, 10, 1}, {1, 5, 1}});
  ReplaySettings settings = on_pool(1, QueuePolicy::Fifo);
  settings.repeat = 3;
  settings.shift = seconds(100);
  const ReplayResult result = replayed(trace, settings);
  EXPECT_EQ(starts(result), (Seconds{0, 10, 100, 110, 200, 210}));
  settings.shift = nanoseconds(1);
  EXPECT_FALSE(replay(trace, settings).has_value());
}

// Seconds of an iteration that each job needs the host, the GPU and the network.
scenarios::JobTrace with_stages(scenarios::JobTrace trace,
                                const std::vector<std::array<double, 3>>& jobs) {
  const auto of = [](double seconds) { return milliseconds(std::llround(1'000 * seconds)); };
  for (const auto& [host, gpu, network] : jobs) {
    trace.iteration.owned.push_back(of(host + gpu + network));
    trace.iteration_host.owned.push_back(of(host));
    trace.iteration_gpu.owned.push_back(of(gpu));
    trace.iteration_network.owned.push_back(of(network));
  }
  return trace;
}

TEST(QueuePolicies, MuriInterleavesWhatNeedsDifferentResources) {
  const auto two = trace_of({{0, 1'000, 1}, {0, 1'000, 1}});
  // One loads while the other computes; together they cost each other 1.33 / 1.015.
  const auto unlike = with_stages(two, {{1, 0, 0}, {0, 1, 0}});
  const ReplayResult together = replayed(unlike, on_nodes(1, 1, QueuePolicy::Muri));
  EXPECT_EQ(starts(together), (Seconds{0, 0}));
  EXPECT_EQ(ends(together), (Seconds{1'310, 1'310}));
  EXPECT_EQ(ends(replayed(unlike, on_nodes(1, 2, QueuePolicy::Muri))), (Seconds{1'000, 1'000}));
  // Who needs the same resource gains nothing: one after the other.
  const auto alike = with_stages(two, {{0, 1, 0}, {0, 1, 0}});
  EXPECT_EQ(starts(replayed(alike, on_nodes(1, 1, QueuePolicy::Muri))), (Seconds{0, 1'000}));
  EXPECT_FALSE(replay(two, on_nodes(1, 1, QueuePolicy::Muri)).has_value());
}

TEST(QueuePolicies, AntMansGuestsTakeWhatTheOwnerLeaves) {
  const auto trace = with_stages(trace_of({{0, 1'000, 1, 0}, {0, 1'000, 1, 1}, {1, 10, 1, 0}}),
                                 {{0.5, 0.5, 0}, {0, 1, 0}, {0, 1, 0}});
  const ReplayResult result = replayed(trace, on_nodes(1, 1, QueuePolicy::AntMan));
  // Beside the first owner an iteration of the guest takes two of the owner's. The second leaves
  // nothing of the GPU: the guest stands still for its ten seconds.
  EXPECT_EQ(starts(result), (Seconds{0, 0, 1'000}));
  EXPECT_EQ(ends(result)[0], 1'000);
  EXPECT_EQ(ends(result)[2], 1'010);
  EXPECT_EQ(ends(result)[1], 1'510);
}

TEST(QueuePolicies, NobodyIsFasterInAGroupThanAlone) {
  auto trace = with_stages(trace_of({{0, 100, 1}, {0, 100, 1}, {0, 100, 1}, {0, 100, 1}}),
                           {{0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}, {0, 0, 0}, {0, 0, 0}});
  trace.iteration.owned.assign(4, seconds(1));
  const ReplayResult result = replayed(trace, on_nodes(1, 1, QueuePolicy::Muri));
  EXPECT_EQ(ends(result), (Seconds(4, 100)));
}

// The owner's iteration leaves a thousandth of the host: 2 x 10^11 s would be beyond the clock.
TEST(QueuePolicies, AGuestThatBarelyMovesGoesOnWhenTheOwnerEnds) {
  const auto trace =
      with_stages(trace_of({{0, 1'000, 1, 0}, {0, 200'000'000, 1, 1}, {500, 1, 1, 0}}),
                  {{0.999, 0.001, 0}, {1, 0, 0}, {0, 0.001, 0}});
  const ReplayResult result = replayed(trace, on_nodes(1, 1, QueuePolicy::AntMan));
  ASSERT_EQ(result.finished, 3);
  EXPECT_EQ(ends(result)[0], 1'000);
  EXPECT_GE(ends(result)[1], 200'000'000);
  EXPECT_LE(ends(result)[1], 200'001'001);
}

TEST(QueuePolicies, InterleavedJobsAreSeenOverTime) {
  const auto trace = with_stages(trace_of({{0, 1'000, 2}, {0, 1'000, 2}, {0, 1'000, 1}}),
                                 {{1, 0, 0}, {0, 1, 0}, {0, 1, 0}});
  const ReplayResult result = replayed(trace, on_nodes(1, 2, QueuePolicy::Muri));
  ASSERT_FALSE(result.series.gpus.empty());
  EXPECT_EQ(result.series.running.front(), 2);
  EXPECT_EQ(result.series.waiting.front(), 1);
  EXPECT_EQ(result.series.gpus.front(), 2);
  EXPECT_EQ(result.peak_gpus, 2);
}

// An event of Muri may take long: each looks whether it shall go on.
TEST(QueuePolicies, MuriStopsAtOnce) {
  const auto trace = with_stages(trace_of({{0, 10, 1}, {1, 10, 1}}), {{1, 0, 0}, {0, 1, 0}});
  const std::atomic<bool> stop = true;
  ReplaySettings settings = on_nodes(1, 1, QueuePolicy::Muri);
  settings.interrupted = &stop;
  const ReplayResult result = replayed(trace, settings);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.finished, 0);
}

TEST(QueuePolicies, MuriRefusesWhatItDoesNotReckonWith) {
  const auto trace = with_stages(trace_of({{0, 10, 1}, {0, 10, 1}}), {{1, 0, 0}, {0, 1, 0}});
  const auto is_refused = [](const scenarios::JobTrace& changed, bool only_gpus = true) {
    ReplaySettings settings = on_nodes(1, 1, QueuePolicy::Muri);
    settings.cluster.only_gpus = only_gpus;
    return !replay(changed, settings).has_value();
  };
  EXPECT_FALSE(is_refused(trace, false));
  auto parts = trace;
  parts.gpu_milli.owned = {1'000, 500};
  EXPECT_TRUE(is_refused(parts));
  auto cpus = trace;
  cpus.cpu_milli.owned = {0, 64'000};
  EXPECT_FALSE(is_refused(cpus));  // no CPU counts there
  EXPECT_TRUE(is_refused(cpus, false));
  auto models = trace;
  models.names = {"", "A100"};
  models.gpu_models.owned = {0, 1};
  EXPECT_FALSE(is_refused(models));
  EXPECT_TRUE(is_refused(models, false));
}

// least-allocated puts the smaller row where the larger one has to go.
TEST(QueuePolicies, AGangThatTheEmptyClusterHoldsRuns) {
  auto trace = trace_of({{0, 100, 1}, {0, 100, 4}, {0, 50, 1}});
  trace.names = {"", "g"};
  trace.gang.owned = {1, 1, 0};
  ReplaySettings settings = on_nodes(2, 4, QueuePolicy::Backfill);
  settings.cluster.nodes[1].gpus = 1;
  settings.placement = NodePolicy::LeastAllocated;
  const ReplayResult result = replayed(trace, settings);
  EXPECT_EQ(result.never_fit, 0);
  EXPECT_EQ(ends(result), (Seconds{100, 100, 150}));
  settings.cluster.nodes[0].gpus = 3;
  EXPECT_EQ(replayed(trace, settings).never_fit, 2);
}

// Gavel would not pair the rows of a gang, but they run together or never.
TEST(QueuePolicies, AGangGoesWhereTheRuleWouldRatherWait) {
  auto trace = trace_of({{0, 100, 1}, {0, 100, 1}});
  trace.names = {"", "g"};
  trace.gang.owned = {1, 1};
  ReplaySettings settings = on_instances("g5.xlarge", 1, "time-slicing:4", QueuePolicy::Backfill);
  settings.placement = NodePolicy::GavelPacking;
  EXPECT_EQ(replayed(trace, settings).finished, 2);
}

TEST(QueuePolicies, TimesBeyondTheClockAreRefused) {
  auto trace = trace_of({{0, 1, 1}});
  trace.run.owned[0] = {INT64_MAX};
  EXPECT_FALSE(replay(trace, on_pool(1, QueuePolicy::Fifo)).has_value());
}

TEST(QueuePolicies, AnInterruptedReplaySaysSo) {
  scenarios::JobTrace trace;
  for (int n = 0; n < 200'000; ++n) {
    trace.arrival.owned.push_back(seconds(n));
    trace.run.owned.push_back(seconds(1));
    trace.gpus.owned.push_back(1);
  }
  const std::atomic<bool> stop = true;
  ReplaySettings settings = on_pool(1, QueuePolicy::Fifo);
  settings.interrupted = &stop;
  const ReplayResult result = replayed(trace, settings);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.finished, 0);
  EXPECT_LT(result.finished, 200'000);
}

// A row of 1999 among those of a month made its nodes cost as much as 27 years of them.
TEST(Replay, TellsOfTheTimeInWhichNothingArrives) {
  constexpr std::int64_t kDay = 86'400;
  const Scheduling fifo;
  const auto study_of = [&](std::int64_t first) {
    return replay_each(trace_of({{first, 60}, {50 * kDay, 60}, {60 * kDay, 60}}),
                       on_pool(1, QueuePolicy::Fifo), {&fifo, 1}, {}, {});
  };
  const auto wrong = study_of(0);
  ASSERT_TRUE(wrong && demo::has(wrong->findings, Code::TraceRow));
  EXPECT_NE(wrong->findings.back().message.find("nothing arrives for 50d00h"), std::string::npos);
  EXPECT_EQ(wrong->findings.back().severity, Severity::Warning);
  EXPECT_FALSE(demo::has(study_of(40 * kDay)->findings, Code::TraceRow));
}

}  // namespace
}  // namespace slicewise::sim
