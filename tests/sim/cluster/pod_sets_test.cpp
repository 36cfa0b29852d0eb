#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../demo.hpp"
#include "queued_jobs.hpp"

// Objects with several pods: what Kueue admits as a whole, and in what order their pods start.
// Times by hand: a pod takes 100 s alone on a V100, a node has 4.
namespace slicewise::sim {
namespace {

using demo::jobs;
using demo::queue;
using demo::queued;
using demo::seconds_of;
using scenarios::ClusterQueue;
using scenarios::QuotaPreemption;
using scenarios::Scenario;
using scenarios::StartDependency;
using scenarios::Workload;

Workload part(const char* name, const char* of, int count, Duration at = {}) {
  Workload w = jobs(name, "a", count, at);
  w.part_of.value = of;
  return w;
}

Duration quota_wait(const VariantResult& r, std::size_t workload) {
  return r.workloads[workload].quota->wait->mean;
}

// A quota of 4, two Jobs of 3: the second has nothing before the first is done. Pod by pod one of
// its pods would begin at once.
TEST(PodSets, AJobIsAdmittedAsAWhole) {
  const VariantResult whole =
      demo::result(queued({queue("a", {"4"})}, {part("x", "x", 3), part("y", "y", 3)}));
  EXPECT_NEAR(seconds_of(whole), 200, 1e-6);
  EXPECT_EQ(whole.pods.running_max, 3);
  EXPECT_EQ(quota_wait(whole, 1), seconds(100));
  const VariantResult each =
      demo::result(queued({queue("a", {"4"})}, {jobs("x", "a", 3), jobs("y", "a", 3)}));
  EXPECT_EQ(each.pods.running_max, 4);
}

// Of 5 completions 2 at a time: 300 s with a quota of 2, the last of them with a quota of 1. What
// it gives back at 200 s another has.
TEST(PodSets, AJobHasQuotaForThoseThatAreThereAtATime) {
  Workload x = part("x", "x", 5);
  x.parallelism = 2;
  const VariantResult r =
      demo::result(queued({queue("a", {"2"})}, {x, jobs("y", "a", 1, seconds(1))}));
  EXPECT_NEAR(seconds_of(r), 300, 1e-6);
  EXPECT_EQ(quota_wait(r, 1), seconds(199));
  EXPECT_EQ(r.pods.running_max, 2);
}

// Two of its three pods end at 100 s: then the quota of 4 has room for three of another.
TEST(PodSets, WhatIsDoneGivesItsQuotaBack) {
  Workload slow = part("slow", "x", 1);
  slow.work->units = 30;
  Workload fast = part("fast", "x", 2);
  const VariantResult r =
      demo::result(queued({queue("a", {"4"})}, {fast, slow, part("y", "y", 3, seconds(1))}));
  EXPECT_EQ(quota_wait(r, 2), seconds(99));
  EXPECT_NEAR(seconds_of(r), 300, 1e-6);
}

// 4 pods of 200 s, 2 would do, 3 have room: the fourth comes when one is done although the quota
// has had room for it since 100 s.
TEST(PodSets, AJobBeginsWithFewerAndKeepsThoseIfThatWillDo) {
  const auto run = [](std::optional<int> least, const char* nominal) {
    Workload x = part("x", "x", 4);
    x.work->units = 20;
    x.min_parallelism = least;
    return demo::result(queued({queue("a", {nominal})}, {jobs("first", "a", 1), x}));
  };
  const VariantResult r = run(2, "4");
  EXPECT_NEAR(seconds_of(r), 400, 1e-6);
  EXPECT_EQ(quota_wait(r, 1), seconds(50));  // three at once, one after 200 s
  EXPECT_NEAR(seconds_of(run(4, "4")), 300, 1e-6);
  EXPECT_NEAR(seconds_of(run(std::nullopt, "4")), 300, 1e-6);
  EXPECT_TRUE(demo::has(run(std::nullopt, "3").findings, Code::JobNeverFits));
  EXPECT_FALSE(demo::has(run(2, "3").findings, Code::JobNeverFits));
  EXPECT_TRUE(demo::has(run(2, "1").findings, Code::JobNeverFits));
}

// A driver and three workers: 4 at once, or none.
TEST(PodSets, AllKindsOfPodsOfAnObjectAreAdmittedTogether) {
  const auto run = [](const char* nominal) {
    return demo::result(
        queued({queue("a", {nominal})},
               {jobs("first", "a", 1), part("driver", "x", 1), part("worker", "x", 3)}));
  };
  const VariantResult r = run("4");
  EXPECT_EQ(quota_wait(r, 1), seconds(100));
  EXPECT_EQ(quota_wait(r, 2), seconds(100));
  EXPECT_NEAR(seconds_of(r), 200, 1e-6);
  const VariantResult never = run("3");
  EXPECT_TRUE(demo::has(never.findings, Code::JobNeverFits));
  EXPECT_NEAR(seconds_of(never), 100, 1e-6);
  EXPECT_EQ(never.workloads[1].quota->waiting, 1);
  EXPECT_EQ(never.workloads[2].quota->waiting, 3);
}

// At 50 s all three go for two of higher priority: these have a GPU at 50 and one at 80 s, when the
// pods that were stopped have gone. They come back at 150 s, when one of the two is done.
TEST(PodSets, AJobIsStoppedAsAWhole) {
  ClusterQueue q = queue("a", {"4"});
  q.within_queue = QuotaPreemption::LowerPriority;
  Workload y = part("y", "y", 2, seconds(50));
  y.priority = 10;
  const VariantResult r = demo::result(queued({q}, {part("x", "x", 3), y}));
  EXPECT_EQ(r.workloads[0].quota->stopped, 3);
  EXPECT_EQ(quota_wait(r, 0), seconds(70));
  EXPECT_NEAR(seconds_of(r), 250, 1e-6);
}

Scenario in_order(Workload driver, StartDependency::Status status, int worker = 2) {
  Workload w = jobs("worker", "", worker);
  w.depends_on = {{{"driver", {}}, status, {}}};
  return demo::scenario(demo::pool(0), {std::move(driver), std::move(w)});
}

// The driver's image takes 40 s.
TEST(StartOrder, AWorkerStartsWhenItsDriverIsReadyOrComplete) {
  Workload driver = jobs("driver", "", 1);
  driver.startup.image_pull = seconds(40);
  const VariantResult ready = demo::result(in_order(driver, StartDependency::Status::Ready));
  EXPECT_NEAR(seconds_of(ready), 140, 1e-6);
  EXPECT_EQ(ready.workloads[1].wait->mean, Duration{});
  const VariantResult complete = demo::result(in_order(driver, StartDependency::Status::Complete));
  EXPECT_NEAR(seconds_of(complete), 240, 1e-6);
  EXPECT_EQ(complete.pods.running_max, 2);
}

// Two of three at a time: ready when two have started.
TEST(StartOrder, ReadyAreAllThatAreThereAtATime) {
  Workload driver = jobs("driver", "", 3);
  driver.parallelism = 2;
  const VariantResult r = demo::result(in_order(driver, StartDependency::Status::Ready, 2));
  EXPECT_NEAR(seconds_of(r), 200, 1e-6);
  EXPECT_EQ(r.pods.running_max, 4);
}

// No node has 5 GPUs: nothing is left to wait for.
TEST(StartOrder, WhoWaitsForWhatNeverComesKeepsNoRunGoing) {
  Workload driver = jobs("driver", "", 1);
  driver.pod.extended.front().count = 5;
  const VariantResult r = demo::result(in_order(driver, StartDependency::Status::Complete));
  EXPECT_EQ(r.workloads[1].completed, 0);
  EXPECT_NEAR(seconds_of(r), 0, 1e-6);
}

// Its quota is there from the start, for both.
TEST(StartOrder, AnObjectIsAdmittedBeforeItsFirstStep) {
  Workload driver = part("driver", "x", 1);
  Workload worker = part("worker", "x", 2);
  worker.depends_on = {{{"driver", {}}, StartDependency::Status::Complete, {}}};
  const VariantResult r =
      demo::result(queued({queue("a", {"3"})}, {driver, worker, jobs("y", "a", 1, seconds(1))}));
  EXPECT_NEAR(seconds_of(r), 200, 1e-6);
  EXPECT_EQ(quota_wait(r, 2), seconds(99));
  EXPECT_EQ(quota_wait(r, 1), Duration{});
}

// Has never its memory: it has failed after one try, at 20 s.
Workload failing_driver() {
  Workload driver = part("driver", "x", 1);
  driver.startup.image_pull = seconds(20);
  driver.gpu_memory.resident = gibibytes(60);
  driver.backoff_limit = 0;
  driver.restart_policy = scenarios::RestartPolicy::Never;
  return driver;
}

// The driver never has its memory: after one try it has failed, and with it the worker that waits
// for it and the one that runs beside it, at 20 s. What they held another has from then on.
TEST(JobSets, FailAsAWholeAndGiveTheirQuotaBack) {
  Workload driver = failing_driver();
  Workload worker = part("worker", "x", 2);
  worker.depends_on = {{{"driver", {}}, StartDependency::Status::Complete, {}}};
  const Workload beside = part("beside", "x", 1);
  const auto y = jobs("y", "a", 4, seconds(1));
  const VariantResult r = demo::result(queued({queue("a", {"4"})}, {driver, worker, beside, y}));
  EXPECT_EQ(r.workloads[1].left_behind.failed, 2);
  EXPECT_EQ(r.workloads[2].left_behind.failed, 1);
  EXPECT_EQ(r.workloads[0].bound_by, "GPU memory");
  EXPECT_EQ(r.workloads[1].bound_by, "") << "there was no fault, and it never ran";
  EXPECT_EQ(r.workloads[3].completed, 4);
  EXPECT_EQ(quota_wait(r, 3), seconds(19));
  EXPECT_NEAR(seconds_of(r), 120, 1e-6);
  // Without an object, each Job is one of its own.
  for (Workload* w : {&driver, &worker}) w->part_of.value.clear();
  const VariantResult apart = demo::result(queued({queue("a", {"4"})}, {driver, worker}));
  EXPECT_EQ(apart.workloads[1].left_behind.failed, 0);
}

// Nobody of the worker is made, so nobody of it is left over who could keep the run going: it went
// on for a year.
TEST(JobSets, FailWithPartsThatWaitAndFitNowhere) {
  Workload driver = failing_driver();
  Workload worker = part("worker", "x", 3);
  worker.parallelism = 1;
  worker.pod.extended.front().count = 64;
  worker.depends_on = {{{"driver", {}}, StartDependency::Status::Complete, {}}};
  for (Workload* w : {&driver, &worker}) w->queue.value.clear();
  const VariantResult r = demo::result(demo::scenario(demo::pool(0), {driver, worker}));
  EXPECT_LT(seconds_of(r), 60);
}

// Of five pods, two at a time, all that are not over when it fails: its second pod that fails is
// one too many (each alone would have had another try), and those that wait have no quota
// meanwhile.
TEST(JobSets, FailuresOfAJobWithCompletionsCountTogether) {
  Workload x = part("x", "x", 5);
  x.parallelism = 2;
  x.gpu_memory.resident = gibibytes(60);
  x.backoff_limit = 1;
  x.restart_policy = scenarios::RestartPolicy::Never;
  const Scenario s = queued({queue("a", {"2"})}, {x, jobs("y", "a", 1)});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[0].left_behind.failed, 5);
  EXPECT_EQ(r.pods.oom_kills, 2);
  EXPECT_NEAR(seconds_of(r), 100, 1e-6);
}

// 10 s, doubled up to 10 minutes: 10 + 20 + .. + 320 + 600 s.
TEST(JobSets, WaitLongerAfterEachFailure) {
  Workload x = jobs("x", "", 1);
  x.gpu_memory.resident = gibibytes(60);
  x.backoff_limit = 7;
  x.restart_policy = scenarios::RestartPolicy::Never;
  EXPECT_NEAR(seconds_of(demo::result(demo::scenario(demo::pool(0), {x}))), 1230, 1e-6);
}

}  // namespace
}  // namespace slicewise::sim
