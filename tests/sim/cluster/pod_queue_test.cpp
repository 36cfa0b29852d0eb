#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "../demo.hpp"

// Who may go by the head of the queue. One GPU of four is taken for half an hour; then `wide` waits
// for all of them, and takes them for as long; `late` comes last and fits at once.
namespace slicewise::sim {
namespace {

using scenarios::PodQueue;
using scenarios::Workload;

Workload one_job(const std::string& name, Duration at, int gpus) {
  Workload job = demo::training(1);
  job.name.value = name;
  job.submit_at = at;
  job.pod.extended.front().count = gpus;
  return job;
}

struct Waits {
  double wide_s;
  double late_s;
};

Waits waits(PodQueue queue, const Workload& late, std::optional<Duration> run = {}) {
  scenarios::Scenario s =
      demo::scenario(demo::pool(0, 1), {demo::training(1), one_job("wide", seconds(1), 4), late});
  s.pod_queue = queue;
  s.duration = run;
  const VariantResult r = demo::result(s);
  return {to_seconds(r.workloads[1].wait->mean), to_seconds(r.workloads[2].wait->mean)};
}

TEST(Scheduler, AStrictQueueLetsNobodyOvertakeItsHead) {
  const Workload late = one_job("late", seconds(2), 1);
  EXPECT_EQ(waits(PodQueue::Backfill, late).late_s, 0);
  EXPECT_GE(waits(PodQueue::Fifo, late).late_s, 59 * 60);  // behind both
}

TEST(Scheduler, WithEasyThoseGoByTheHeadThatDoNotDelayIt) {
  Workload late = one_job("late", seconds(2), 1);
  const Waits whole = waits(PodQueue::Easy, late);
  EXPECT_GE(whole.late_s, 3590);  // it would end 2 s too late
  EXPECT_NEAR(whole.wide_s, 1799, 1e-6);
  late.work->units /= 2;
  const Waits half = waits(PodQueue::Easy, late);
  EXPECT_NEAR(half.wide_s, 1799, 1e-6);
  EXPECT_EQ(half.late_s, 0);
}

TEST(Scheduler, WithEasyWhoFitsNowhereForGoodHoldsUpNobody) {
  scenarios::Scenario s = demo::scenario(
      demo::pool(0, 1), {one_job("wide", seconds(1), 5), one_job("late", seconds(2), 1)});
  s.pod_queue = PodQueue::Easy;
  EXPECT_EQ(demo::result(s).workloads[1].wait->mean, Duration{});
}

// 340 years leave the clock.
TEST(Scheduler, WithEasyNobodyGoesByWhoWouldNeverEnd) {
  Workload endless = one_job("endless", seconds(2), 1);
  endless.work->units = 5;
  endless.measured->unit_time = hours(std::int64_t{24} * 365 * 68);
  EXPECT_NEAR(waits(PodQueue::Easy, endless, hours(2)).wide_s, 1799, 1e-6);
}

}  // namespace
}  // namespace slicewise::sim
