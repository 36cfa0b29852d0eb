#include "slicewise/sim/run_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../demo.hpp"
#include "../replay/job_samples.hpp"

// What a replication is estimated to take, held against what it takes.
namespace slicewise::sim {
namespace {

using ::testing::HasSubstr;

double sum_of(const std::vector<SizePart>& parts) {
  double sum = 0;
  for (const SizePart& part : parts) sum += part.amount;
  return sum;
}

void expect_true_within(double factor, const scenarios::Scenario& s) {
  const World world = demo::world(s);
  const auto events = static_cast<double>(run_replication(world, 0).events);
  EXPECT_GT(sum_of(estimate_size(world).events), events / factor);
  EXPECT_LT(sum_of(estimate_size(world).events), events * factor);
}

scenarios::Scenario serving(double rate) {
  scenarios::Scenario s = demo::scenario(
      demo::pool(4),
      {demo::service(4, rate, milliseconds(10), scenarios::ServiceTime::Law::Exponential)});
  s.duration = minutes(10);
  return s;
}

TEST(RunSize, EventsAreEstimatedToAFactorOfThree) {
  constexpr double kFactor = 3;
  expect_true_within(kFactor, demo::scenario(demo::pool(10), {demo::training(2'000)}));
  scenarios::Scenario exact = demo::scenario(demo::pool(4), {demo::training(4)});
  exact.fidelity = scenarios::Fidelity::Exact;
  exact.workloads[0].work->units = 2;
  expect_true_within(kFactor, exact);
  expect_true_within(kFactor, serving(100));
  scenarios::Scenario closed = serving(0);
  closed.workloads[0].traffic->shape = scenarios::ClosedLoop{100, seconds(2)};
  expect_true_within(kFactor, closed);
  closed.workloads[0].traffic->shape = scenarios::ClosedLoop{100, Duration{}};
  expect_true_within(kFactor, closed);
  scenarios::Scenario steps = serving(0);
  steps.workloads[0].traffic->shape =
      std::vector<scenarios::RateStep>{{Duration{}, {10}}, {minutes(5), {50}}};
  expect_true_within(kFactor, steps);
}

// Looks every 2 us at an hour are 1.8 billion events: they were counted as if each took a
// millisecond.
TEST(RunSize, LooksAreCountedHoweverShortTheIntervalIs) {
  scenarios::Scenario s = demo::scenario(demo::pool(4), {demo::training(1)});
  s.duration = hours(1);
  s.node_pools[0].most_nodes = 2;
  s.provisioner.scan_interval = microseconds(2);
  EXPECT_NEAR(sum_of(estimate_size(demo::world(s)).events), 1.8e9, 1e6);
  scenarios::Scenario scaled = serving(1);
  scaled.duration = hours(1);
  scaled.workloads[0].autoscaling.emplace().sync_period = microseconds(2);
  EXPECT_GT(sum_of(estimate_size(demo::world(scaled)).events), 1.8e9);
}

// A queue that stops pods looks at all that run whenever one comes or ends.
TEST(RunSize, KnowsWhatTheQueueLooksAt) {
  scenarios::Scenario s = demo::scenario(demo::pool(4), {demo::training(1'000)});
  s.node_pools[0].nodes = 100;
  const double backfill = sum_of(estimate_size(demo::world(s)).events);
  s.pod_queue = scenarios::PodQueue::ShortestTime;
  const RunSize size = estimate_size(demo::world(s));
  EXPECT_GT(sum_of(size.events), backfill + 1'000.0 * 2 * 100 * 0.09);
  EXPECT_THAT(size.events.back().words, HasSubstr("looks of the queue at who runs: 1000 jobs x 2"));
}

TEST(RunSize, WhatIsBeyondALimitSaysHowItCameAboutAndWhatLiftsIt) {
  scenarios::Scenario s = serving(1'000);
  s.duration = hours(24 * 300);
  const Diagnostics found = beyond_limits(estimate_size(demo::world(s)), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].code, Code::RunTooLarge);
  EXPECT_THAT(found[0].message, HasSubstr("requests of api: 1000/s x 2.592e+07 s x 5 events"));
  EXPECT_THAT(found[0].help, HasSubstr("--max-events 142560000026"));
  EXPECT_THAT(found[1].message, HasSubstr("(1000/s - 400/s answered)"));
  EXPECT_THAT(found[1].help, HasSubstr("--max-memory 26"));
  EXPECT_TRUE(beyond_limits(estimate_size(demo::world(s)), {1e12, gibibytes(10'000)}).empty());
  s.workloads[0].serving.timeout = seconds(10);
  EXPECT_EQ(beyond_limits(estimate_size(demo::world(s)), {1e12, gibibytes(8)}).size(), 0U);
}

// 10,000 nodes at $12.24/h for 30 years were billed as less than nothing.
TEST(RunSize, ABillIsAnAmountOfMoney) {
  scenarios::Scenario s = demo::scenario(demo::pool(2), {demo::training(1)});
  s.node_pools[0].nodes = 10'000;
  s.duration = hours(24 * 365);
  EXPECT_TRUE(beyond_limits(estimate_size(demo::world(s)), {1e12, gibibytes(1)}).empty());
  s.duration = hours(24 * 365 * 30);
  const Diagnostics found = beyond_limits(estimate_size(demo::world(s)), {1e12, gibibytes(1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].message, HasSubstr("3.2e+10 dollars, more than 9e+09: nodes of"));
}

TEST(RunSize, JobsThatQueueMakeARunLonger) {
  const auto requests = [](int jobs) {
    scenarios::Scenario s = serving(100);
    s.workloads.push_back(demo::training(jobs));
    s.duration.reset();
    for (const SizePart& part : estimate_size(demo::world(s)).events) {
      if (part.words.starts_with("requests")) return part.amount;
    }
    return 0.0;
  };
  EXPECT_GT(requests(2'000), 10 * requests(1));
  EXPECT_NEAR(requests(2'000), 2 * requests(1'000), requests(1'000) / 10);
}

TEST(RunSize, MemoryGrowsWithPodsAndNodes) {
  scenarios::Scenario s = demo::scenario(demo::pool(10), {demo::training(1'000'000)});
  EXPECT_EQ(beyond_limits(estimate_size(demo::world(s)), {1e12, mebibytes(512)}).size(), 1U);
  EXPECT_TRUE(beyond_limits(estimate_size(demo::world(s)), {1e12, gibibytes(1)}).empty());
}

// Rows that take `gpus` for 100 s each, one a second.
scenarios::JobTrace steady_jobs(std::int64_t rows, std::int32_t gpus) {
  scenarios::JobTrace trace;
  for (std::int64_t row = 0; row < rows; ++row) {
    trace.arrival.owned.push_back(seconds(row));
    trace.run.owned.push_back(seconds(100));
    trace.gpus.owned.push_back(gpus);
  }
  return trace;
}

ReplaySettings repeated(std::int64_t gpus, int repeat, QueuePolicy queue) {
  ReplaySettings settings = on_pool(gpus, queue);
  settings.keep_jobs = false;
  settings.repeat = repeat;
  settings.shift = seconds(1'000);
  return settings;
}

TEST(ReplaySize, EventsAreThoseOfTheReplay) {
  const scenarios::JobTrace trace = steady_jobs(1'000, 1);
  for (const QueuePolicy queue : {QueuePolicy::Fifo, QueuePolicy::Backfill, QueuePolicy::Easy}) {
    const ReplaySettings settings = repeated(50, 5, queue);
    const auto replayed = replay(trace, settings);
    ASSERT_TRUE(replayed.has_value());
    EXPECT_EQ(estimate_size(trace, settings).events.front().amount, replayed->events);
  }
}

// 200,000 jobs on 5,000 GPUs take 20 s of a CPU: of 10^6 events a tenth of a second.
TEST(ReplaySize, JobsOfAPoolAreLookedAtInNoTime) {
  const scenarios::JobTrace trace = steady_jobs(1'000, 1);
  ReplaySettings settings = repeated(50, 1, QueuePolicy::ShortestTime);
  const auto looks = [&] { return estimate_size(trace, settings).events.back().amount; };
  const double on_pool = looks();
  settings.cluster.pool_gpus = 0;
  settings.cluster.nodes.resize(50);
  for (NodeShape& node : settings.cluster.nodes) node.gpus = 1;
  EXPECT_GT(on_pool, 0);
  EXPECT_NEAR(looks(), 5 * on_pool, on_pool / 10);
}

// Twice as much as the GPUs can do is left over for half; less than that is done soon.
TEST(ReplaySize, MemoryFollowsTheJobsAlive) {
  const scenarios::JobTrace trace = steady_jobs(1'000, 1);
  const auto bytes = [&](std::int64_t gpus, int repeat) {
    return sum_of(estimate_size(trace, repeated(gpus, repeat, QueuePolicy::Fifo)).memory);
  };
  EXPECT_NEAR(bytes(200, 1'000'000), bytes(200, 1), 1e5);
  const double of_each = (bytes(50, 2'000) - bytes(50, 1'000)) / 1e6;
  const auto replayed = replay(trace, repeated(50, 20, QueuePolicy::Fifo));
  ASSERT_TRUE(replayed.has_value());
  EXPECT_NEAR(static_cast<double>(replayed->most_waiting), 0.5 * 20 * 1'000, 600);
  EXPECT_NEAR(of_each, 0.5 * 200, 20);  // bytes
}

TEST(ReplaySize, AJobOnceForAllIsNotWaitedFor) {
  scenarios::JobTrace trace = steady_jobs(10, 1);
  trace.gpus.owned.front() = 1'000'000;  // fits nowhere
  const RunSize size = estimate_size(trace, repeated(50, 1'000'000, QueuePolicy::Fifo));
  EXPECT_LT(sum_of(size.memory), 1e6);
}

TEST(ReplaySize, JobsWithoutTimeHaveASizeToo) {
  scenarios::JobTrace trace;
  trace.arrival.owned = {seconds(0), seconds(0)};
  trace.run.owned = {seconds(0), scenarios::kUnknownDuration};
  trace.gpus.owned = {0, 1};
  for (const QueuePolicy queue : {QueuePolicy::Muri, QueuePolicy::ShortestTime}) {
    const RunSize size = estimate_size(trace, repeated(8, 1, queue));
    EXPECT_GE(sum_of(size.events), 4);
    EXPECT_LT(sum_of(size.memory), 1e4);
  }
}

TEST(ReplaySize, WhatIsBeyondALimitNamesTheTermsAndTheFlag) {
  scenarios::JobTrace trace = steady_jobs(1'000, 1);
  trace.file = "jobs.csv";
  trace.first_line = 2;
  const ReplaySettings settings = repeated(50, 5'000'000, QueuePolicy::ShortestTime);
  const Diagnostics found = beyond_limits(estimate_size(trace, settings), {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].code, Code::RunTooLarge);
  EXPECT_EQ(found[0].where.file, "jobs.csv");
  EXPECT_THAT(found[0].message, HasSubstr("the replay would take about"));
  EXPECT_THAT(found[0].message, HasSubstr("looks at other jobs: 1e+10 x 10 = 1e+11"));
  EXPECT_THAT(found[0].message, HasSubstr("arrivals and ends: 1000 jobs x 5000000 x 2 = 1e+10"));
  EXPECT_THAT(found[1].message, HasSubstr("jobs that wait or run: "));
  EXPECT_THAT(found[1].help, HasSubstr("--max-memory "));
  EXPECT_TRUE(beyond_limits(estimate_size(trace, settings), {1e30, gibibytes(1'000'000)}).empty());
}

}  // namespace
}  // namespace slicewise::sim
