#include <numeric>

#include <gtest/gtest.h>

#include "slicewise/sim/replay/replay.hpp"

#include "job_samples.hpp"

// What a replay remembers of its course: means over steps that become as wide as it takes.
namespace slicewise::sim {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(ReplaySeries, EachStepHasTheMeanOfItsTime) {
  // The second waits from 50 to 100; it takes 200 s in steps of 2.
  const auto result = replay(trace_of({{0, 100}, {50, 100}}), on_pool(4, QueuePolicy::Fifo));
  ASSERT_EQ(result->makespan(), seconds(150));
  const auto queued = replay(trace_of({{0, 100, 1}, {50, 100, 1}}), on_pool(1, QueuePolicy::Fifo));
  const ReplaySeries& series = queued->series;
  ASSERT_EQ(series.step, seconds(2));
  ASSERT_EQ(series.waiting.size(), 100U);
  for (std::size_t step = 0; step < series.waiting.size(); ++step) {
    EXPECT_EQ(series.waiting[step], step >= 25 && step < 50 ? 1 : 0) << step;
    EXPECT_EQ(series.running[step], 1) << step;
    EXPECT_EQ(series.gpus[step], 1) << step;
  }
}

TEST(ReplaySeries, AMonthIsInOneHundredAndTwentyStepsAtMostAndNothingIsLost) {
  scenarios::JobTrace trace;
  std::int64_t run_s = 0;
  for (std::int64_t job = 0; job < 3'000; ++job) {
    trace.arrival.owned.push_back(seconds(job * 864));
    trace.run.owned.push_back(seconds(100 + job % 7 * 500));
    trace.gpus.owned.push_back(2);
    run_s += 100 + job % 7 * 500;
  }
  const auto result = replay(trace, on_pool(6, QueuePolicy::Fifo));
  const ReplaySeries& series = result->series;
  EXPECT_LE(series.running.size(), 120U);
  EXPECT_GT(series.running.size(), 60U);
  // It is looked at every 512 s, and jobs come every 864.
  const double job_s = to_seconds(series.step) * sum_of(series.running);
  EXPECT_NEAR(job_s / static_cast<double>(run_s), 1, 0.02);
  EXPECT_NEAR(sum_of(series.gpus), 2 * sum_of(series.running), 1.2);
}

}  // namespace
}  // namespace slicewise::sim
