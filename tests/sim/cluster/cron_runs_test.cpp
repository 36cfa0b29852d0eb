// Runs of a CronJob that are due while the one before is not done.
#include <optional>

#include <gtest/gtest.h>

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using Concurrency = scenarios::Schedule::Concurrency;

// A Job of half an hour, six times, 11 minutes apart.
VariantResult runs(Concurrency concurrency, std::optional<Duration> deadline = std::nullopt) {
  scenarios::Workload w = demo::training(6);
  scenarios::Schedule& schedule = w.schedule.emplace();
  schedule.concurrency = concurrency;
  schedule.starting_deadline = deadline;
  for (int run = 0; run < 6; ++run) schedule.runs.push_back(minutes(11) * run);
  scenarios::Scenario s = demo::scenario(demo::pool(0), {w});
  s.duration = hours(4);
  return demo::result(s);
}

bool is_said(const VariantResult& result) {
  return demo::has(result.findings, Code::CronRunsMissed);
}

TEST(CronRuns, AllowedOnesRunBesideEachOther) {
  const VariantResult result = runs(Concurrency::Allow);
  EXPECT_EQ(result.workloads[0].completed, 6);
  ASSERT_TRUE(result.workloads[0].schedule);
  EXPECT_EQ(result.workloads[0].schedule->runs, 6);
  EXPECT_FALSE(is_said(result));
}

// 0 to 30; that of 22 from 30 on, that of 55 from 60 on.
TEST(CronRuns, ForbiddenOnesAreMadeAfterTheOneBeforeTheLastOfThem) {
  const VariantResult result = runs(Concurrency::Forbid);
  EXPECT_EQ(result.workloads[0].completed, 3);
  EXPECT_EQ(result.workloads[0].schedule->missed, 3);
  EXPECT_TRUE(is_said(result));
  EXPECT_EQ(result.workloads[0].left_behind.pending, 0);
}

// That of 22 would be 8 minutes late: the next is that of 33.
TEST(CronRuns, NotAfterTheirStartingDeadline) {
  const VariantResult result = runs(Concurrency::Forbid, minutes(6));
  EXPECT_EQ(result.workloads[0].completed, 2);
  EXPECT_EQ(result.workloads[0].schedule->missed, 4);
  EXPECT_EQ(runs(Concurrency::Forbid, minutes(9)).workloads[0].completed, 3)
      << "that of 11, which is later, is not what is made";
}

TEST(CronRuns, ReplacedOnesLoseWhatTheyHadDone) {
  const VariantResult result = runs(Concurrency::Replace);
  EXPECT_EQ(result.workloads[0].completed, 1);
  EXPECT_EQ(result.workloads[0].schedule->replaced, 5);
  EXPECT_TRUE(is_said(result));
  // The GPU is busy 38 % of the time, 11 minutes of each of the five.
  EXPECT_NEAR(to_seconds(result.workloads[0].gpu_lost), 0.38 * 5 * 660, 1);
}

}  // namespace
}  // namespace slicewise::sim
