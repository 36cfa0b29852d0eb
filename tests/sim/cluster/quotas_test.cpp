#include "slicewise/sim/quotas.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"
#include "queued_jobs.hpp"

// Quotas of Kueue: who is admitted when, who is stopped for whom, and what nodes it takes. Times by
// hand: a job takes 100 s alone on a V100, a node has 4.
namespace slicewise::sim {
namespace {

using demo::gpus_of;
using demo::jobs;
using demo::Limits;
using demo::queue;
using demo::queued;
using demo::seconds_of;
using scenarios::ClusterQueue;
using scenarios::QuotaPreemption;
using scenarios::Scenario;
using scenarios::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// GPUs of one flavor and CPUs of another: Kueue admits, and no node has the labels of both.
TEST(Quotas, GroupsWhoseFlavorsShareNoNodesAreTold) {
  const auto findings = [](const char* label_of_cpus) {
    ClusterQueue q = queue("a", {"4"});
    q.groups[0].flavors[0].flavor.value = "gpus";
    scenarios::FlavorQuotas cpus{{"cpus", {}}, {{{"cpu", {}}, {"8", {}}, {}, {}, {}}}, {}};
    q.groups.push_back({{{"cpu", {}}}, {cpus}, {}});
    Workload w = jobs("j", "a", 1);
    w.pod.cpu_request = {500};
    w.may_stay_pending = true;
    Scenario s = queued({q}, {w});
    s.flavors = {{{"gpus", {}}, {{"with", "gpus"}}, {}, {}},
                 {{"cpus", {}}, {{"with", label_of_cpus}}, {}, {}}};
    s.node_pools[0].labels["with"] = "gpus";
    s.node_pools.push_back(s.node_pools[0]);
    s.node_pools[1].name.value = "other";
    s.node_pools[1].labels["with"] = "cpus";
    return demo::world(s).findings;
  };
  const auto is_told = [](const Diagnostics& found) {
    return std::ranges::any_of(found, [](const Diagnostic& d) {
      return d.message.find("of each resource group") != std::string::npos;
    });
  };
  EXPECT_TRUE(is_told(findings("cpus")));
  EXPECT_FALSE(is_told(findings("gpus")));
}

// Two at a time although four GPUs are there: 0, 0, 100, 100, 200 and 200 s for quota.
TEST(Quotas, JobsHaveNoPodsUntilTheirQueueHasRoom) {
  const VariantResult r = demo::result(queued({queue("a", {"2"})}, {jobs("j", "a", 6)}));
  EXPECT_NEAR(seconds_of(r), 300, 1e-6);
  EXPECT_EQ(r.pods.running_max, 2);
  EXPECT_EQ(r.pods.pending_max, 0);
  ASSERT_TRUE(r.workloads[0].quota);
  EXPECT_EQ(r.workloads[0].quota->wait->mean, seconds(100));
  EXPECT_EQ(r.workloads[0].wait->mean, seconds(100));
  EXPECT_EQ(r.workloads[0].bound_by, "waiting for quota");
  Scenario without = queued({}, {jobs("j", "", 6)});
  const VariantResult all = demo::result(without);
  EXPECT_NEAR(seconds_of(all), 200, 1e-6);
  EXPECT_FALSE(all.workloads[0].quota);
  EXPECT_EQ(all.workloads[0].bound_by, "waiting for a GPU");
}

// 2 and 2 GPUs: one queue has all four where the other has no jobs, as far as both limits allow.
TEST(Quotas, QueuesOfACohortLendWhatTheyDoNotUse) {
  const auto makespan = [](const Limits& mine, const Limits& others, const char* cohort = "c") {
    return seconds_of(demo::result(
        queued({queue("a", mine, cohort), queue("b", others, cohort)}, {jobs("j", "a", 4)})));
  };
  EXPECT_NEAR(makespan({"2"}, {"2"}), 100, 1e-6);
  EXPECT_NEAR(makespan({"2"}, {"2"}, ""), 200, 1e-6);
  EXPECT_NEAR(makespan({"2", "1"}, {"2"}), 200, 1e-6);
  EXPECT_NEAR(makespan({"2"}, {"2", nullptr, "1"}), 200, 1e-6);
  EXPECT_NEAR(makespan({"1", "0"}, {"2"}), 400, 1e-6);
  // What it keeps for itself it has all the same.
  EXPECT_NEAR(makespan({"2", nullptr, "0"}, {"2"}), 100, 1e-6);
}

// At 50 s two of four jobs give way. Their pods have 30 s to end, so that those of the others wait
// for GPUs until 80 s and end at 180 s; the two go on at 100 s, when the first two are done.
TEST(Quotas, AQueueReclaimsItsOwnFromThoseThatBorrow) {
  const auto run = [](QuotaPreemption reclaim) {
    ClusterQueue b = queue("b", {"2"}, "c");
    b.reclaim = reclaim;
    return demo::result(queued({queue("a", {"2"}, "c"), b},
                               {jobs("borrows", "a", 4), jobs("owns", "b", 2, seconds(50))}));
  };
  const VariantResult any = run(QuotaPreemption::Any);
  EXPECT_NEAR(seconds_of(any), 200, 1e-6);
  EXPECT_EQ(any.workloads[0].quota->stopped, 2);
  // Two of four are back when their pods have gone, at 80 s, and wait for the others' end.
  EXPECT_EQ(any.workloads[0].quota->wait->mean, seconds(10));
  EXPECT_EQ(any.workloads[0].bound_by, "waiting for quota");
  EXPECT_EQ(any.workloads[1].quota->wait->mean, Duration{});
  EXPECT_EQ(any.workloads[1].wait->mean, seconds(30));
  EXPECT_EQ(any.workloads[1].job_completion->mean, seconds(130));
  EXPECT_NEAR(to_seconds(any.workloads[0].gpu_lost), 160, 1e-6);
  for (const QuotaPreemption nobody : {QuotaPreemption::Never, QuotaPreemption::LowerPriority}) {
    const VariantResult r = run(nobody);
    EXPECT_NEAR(seconds_of(r), 200, 1e-6);
    EXPECT_EQ(r.workloads[0].quota->stopped, 0);
    EXPECT_EQ(r.workloads[1].quota->wait->mean, seconds(50));
    EXPECT_EQ(r.workloads[1].job_completion->mean, seconds(150));
  }
}

// The last that was admitted goes first: the one of 20 s, not those of 0 s.
TEST(Quotas, OfEqualJobsTheLastThatWasAdmittedGivesWay) {
  ClusterQueue b = queue("b", {"1"}, "c");
  b.reclaim = QuotaPreemption::Any;
  const VariantResult r = demo::result(
      queued({queue("a", {"2"}, "c"), b}, {jobs("first", "a", 2), jobs("last", "a", 1, seconds(20)),
                                           jobs("owns", "b", 1, seconds(50))}));
  EXPECT_EQ(r.workloads[0].quota->stopped, 0);
  EXPECT_EQ(r.workloads[1].quota->stopped, 1);
}

// A GPU is free for the one of high priority at once: the quota is what binds.
TEST(Quotas, AQueueStopsItsOwnJobsOfLowerPriority) {
  const auto run = [](QuotaPreemption within) {
    ClusterQueue q = queue("a", {"2"});
    q.within_queue = within;
    Workload high = jobs("high", "a", 1, seconds(50));
    high.priority = 10;
    return demo::result(queued({q}, {jobs("low", "a", 2), high}));
  };
  const VariantResult stops = run(QuotaPreemption::LowerPriority);
  EXPECT_EQ(stops.workloads[1].job_completion->mean, seconds(100));
  EXPECT_EQ(stops.workloads[0].quota->stopped, 1);
  EXPECT_NEAR(seconds_of(stops), 200, 1e-6);  // the other goes on at 100 s
  const VariantResult waits = run(QuotaPreemption::Never);
  EXPECT_EQ(waits.workloads[1].job_completion->mean, seconds(150));
}

// A job of two GPUs waits for the second from 10 s on. Others pass by it, or wait behind it.
TEST(Quotas, AStrictQueueWaitsForItsFirstJob) {
  const auto run = [](ClusterQueue::Strategy strategy) {
    ClusterQueue q = queue("a", {"2"});
    q.strategy = strategy;
    Workload big = jobs("big", "a", 1, seconds(10));
    big.pods_per_job = 2;
    big.count = 2;
    return demo::result(
        queued({q}, {jobs("first", "a", 1), big, jobs("small", "a", 1, seconds(20))}));
  };
  const VariantResult passes = run(ClusterQueue::Strategy::BestEffortFifo);
  EXPECT_EQ(passes.workloads[2].job_completion->mean, seconds(100));
  EXPECT_EQ(passes.workloads[1].quota->wait->mean, seconds(110));
  const VariantResult strict = run(ClusterQueue::Strategy::StrictFifo);
  EXPECT_EQ(strict.workloads[1].quota->wait->mean, seconds(90));
  EXPECT_EQ(strict.workloads[2].quota->wait->mean, seconds(180));
}

// Two of three quotas: a gang of two is admitted as a whole, so one runs after the other.
TEST(Quotas, PodsOfAGangAreAdmittedTogether) {
  Workload gangs = jobs("gang", "a", 4);
  gangs.pods_per_job = 2;
  const VariantResult r = demo::result(queued({queue("a", {"3"})}, {gangs}));
  EXPECT_NEAR(seconds_of(r), 200, 1e-6);
  EXPECT_EQ(r.pods.running_max, 2);
}

// All at once: those within their own quota go first, the borrower waits although it is older.
TEST(Quotas, WhoBorrowsComesLast) {
  Workload old = jobs("old", "c", 1, seconds(10));
  const VariantResult r = demo::result(
      queued({queue("c", {"0"}, "all"), queue("a", {"1"}, "all"), queue("b", {"0"}, "all")},
             {jobs("holds", "a", 1), old, jobs("own", "a", 1, seconds(20))}));
  EXPECT_EQ(r.workloads[2].quota->wait->mean, seconds(80));
  EXPECT_EQ(r.workloads[1].quota->wait->mean, seconds(190));
}

// Two GPUs, of which its queue has one: it needs the other one of the third queue, and both are
// used by one that has none of its own.
TEST(Quotas, WhoBorrowsStopsOthersOnlyWhereItMay) {
  const auto wait = [](QuotaPreemption borrow, std::optional<int> threshold) {
    ClusterQueue b = queue("b", {"1"}, "all");
    b.reclaim = QuotaPreemption::Any;
    b.borrow_within_cohort = borrow;
    b.most_priority_preempted = threshold;
    Workload big = jobs("big", "b", 1, seconds(50));
    big.priority = 10;
    big.pod.extended.front().count = 2;
    return demo::result(queued({queue("a", {"0"}, "all"), b, queue("c", {"1"}, "all")},
                               {jobs("borrow", "a", 2), big}))
        .workloads[1]
        .quota->wait->mean;
  };
  EXPECT_EQ(wait(QuotaPreemption::Never, {}), seconds(50));
  EXPECT_EQ(wait(QuotaPreemption::LowerPriority, {}), Duration{});
  EXPECT_EQ(wait(QuotaPreemption::LowerPriority, 0), Duration{});
  EXPECT_EQ(wait(QuotaPreemption::LowerPriority, -1), seconds(50));
}

// Flavors are pools: one job in the first, which has quota for one, the others in the second, and
// none of them anywhere else, though the GPUs of the first pool are free.
TEST(Quotas, FlavorsAreTriedInOrderAndKeepPodsOnTheirPools) {
  ClusterQueue q = queue("a", {"1"});
  q.groups[0].flavors = {gpus_of("first", {"1"}), gpus_of("second", {"8"})};
  Scenario s = queued({q}, {jobs("j", "a", 6)});
  s.flavors = {{{"first", {}}, {{"tier", "1"}}, {}, {}}, {{"second", {}}, {{"tier", "2"}}, {}, {}}};
  s.node_pools[0].labels = {{"tier", "1"}};
  s.node_pools.push_back(s.node_pools[0]);
  s.node_pools[1].name.value = "other";
  s.node_pools[1].labels = {{"tier", "2"}};
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(seconds_of(r), 200, 1e-6);  // the sixth waits for a GPU of the second pool
  std::vector<std::size_t> pods;
  for (const GpuResult& gpu : r.gpus) pods.push_back(gpu.pods.size());
  EXPECT_THAT(pods, ElementsAre(1, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(r.workloads[0].quota->wait->mean, Duration{});
  // Kueue looks at the selectors of pods.
  s.workloads[0].pod.node_selector = {{"tier", "1"}};
  const VariantResult one = demo::result(s);
  EXPECT_NEAR(seconds_of(one), 600, 1e-6);
}

// What it is good for: an autoscaler starts nodes for pods, and suspended Jobs have none.
TEST(Quotas, SuspendedJobsStartNoNodes) {
  const auto most_nodes = [](const char* nominal) {
    Scenario s = queued({queue("a", {nominal})}, {jobs("j", "a", 4)});
    s.node_pools[0].instance_type.value = "g4dn.xlarge";
    s.node_pools[0].nodes = 0;
    s.node_pools[0].most_nodes = 8;
    s.workloads[0].measured->device.value = "T4";
    s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
    s.duration = seconds(1'000);
    return demo::result(s).node_pools[0].dynamics->max_nodes;
  };
  EXPECT_EQ(most_nodes("4"), 4);
  EXPECT_EQ(most_nodes("1"), 1);
}

// It keeps no run going, and is said before.
TEST(Quotas, WhatIsAboveAllQuotasIsNeverAdmitted) {
  Workload big = jobs("big", "a", 1);
  big.pod.extended.front().count = 3;
  const Scenario s = queued({queue("a", {"2"})}, {big, jobs("j", "a", 1)});
  const VariantResult r = demo::result(s);
  EXPECT_NEAR(seconds_of(r), 100, 1e-6);
  EXPECT_TRUE(demo::has(r.findings, Code::JobNeverFits));
  // It has no pods that could be Pending.
  EXPECT_EQ(r.workloads[0].left_behind.pending, 0);
  EXPECT_FALSE(demo::has(r.findings, Code::PodPending));
  EXPECT_EQ(r.workloads[0].left_behind.never_admitted, 1);
  EXPECT_EQ(r.workloads[0].quota->waiting, 1);
  Workload cpu = jobs("cpu", "a", 1);
  cpu.pod.cpu_request = {500};
  const World world = demo::world(queued({queue("a", {"2"})}, {cpu}));
  const auto told = std::ranges::find(world.findings, Code::JobNeverFits, &Diagnostic::code);
  ASSERT_NE(told, world.findings.end());
  EXPECT_THAT(told->message, HasSubstr("resource cpu unavailable in ClusterQueue a"));
}

// Kueue never passes its head over: none behind it keeps the run going, those before it do.
TEST(Quotas, WhatIsNeverAdmittedHoldsUpItsStrictQueue) {
  const auto run = [](int priority, Duration at) {
    ClusterQueue strict = queue("a", {"2"});
    strict.strategy = ClusterQueue::Strategy::StrictFifo;
    Workload big = jobs("big", "a", 1, at);
    big.pod.extended.front().count = 3;
    Workload others = jobs("j", "a", 4);
    others.priority = priority;
    return demo::result(queued({strict}, {big, others}));
  };
  const VariantResult behind = run(0, {});
  EXPECT_FALSE(behind.is_cut_off);
  EXPECT_EQ(behind.workloads[0].left_behind.never_admitted, 1);
  EXPECT_EQ(behind.workloads[1].left_behind.never_admitted, 4);
  EXPECT_FALSE(behind.verdict.stands());
  EXPECT_EQ(behind.verdict.reasons.back().text,
            "4 of 4 jobs of \"j\" are never admitted by their queue");
  const auto told = std::ranges::find(behind.findings, Code::JobNeverFits, &Diagnostic::code);
  ASSERT_NE(told, behind.findings.end());
  EXPECT_THAT(told->message, HasSubstr("it holds up its StrictFIFO queue"));
  const VariantResult before = run(1, {});
  EXPECT_NEAR(seconds_of(before), 200, 1e-6);
  EXPECT_EQ(before.workloads[1].left_behind.never_admitted, 0);
  // As old as they are they go before it.
  const VariantResult later = run(0, seconds(50));
  EXPECT_NEAR(seconds_of(later), 200, 1e-6);
  Workload urgent = jobs("urgent", "a", 1, seconds(50));
  urgent.pod.extended.front().count = 3;
  urgent.priority = 1;
  ClusterQueue strict = queue("a", {"2"});
  strict.strategy = ClusterQueue::Strategy::StrictFifo;
  const VariantResult half = demo::result(queued({strict}, {jobs("j", "a", 4), urgent}));
  EXPECT_NEAR(seconds_of(half), 100, 1e-6);
  EXPECT_EQ(half.workloads[0].left_behind.never_admitted, 2);
  // Nor do those that are made once one before them has ended, and that never does.
  Workload waiting = jobs("j", "a", 4, seconds(60));
  waiting.parallelism = 1;
  urgent.submit_at = {};
  const VariantResult one = demo::result(queued({strict}, {urgent, waiting}));
  EXPECT_FALSE(one.is_cut_off);
  EXPECT_NEAR(seconds_of(one), 60, 1e-6);
}

// Kueue looks at quotas: the first flavor has room, its nodes hold no pod. Another pool that could
// is none of the Job's, at its limit or not.
TEST(Quotas, AJobOfAFlavorWithSmallNodesStaysPending) {
  Workload large = jobs("large", "a", 1);
  large.pod.extended.front().count = 4;
  Scenario s = queued({queue("a", {"8"})}, {large});
  s.node_pools.push_back(s.node_pools.front());
  s.node_pools[0].name.value = "small";
  s.node_pools[0].instance_type.value = "p3.2xlarge";
  s.node_pools[0].labels["size"] = "small";
  s.node_pools[1].name.value = "large";
  s.node_pools[1].labels["size"] = "large";
  s.flavors = {{{"s", {}}, {{"size", "small"}}, {}, {}}, {{"l", {}}, {{"size", "large"}}, {}, {}}};
  s.cluster_queues[0].groups[0].flavors = {gpus_of("s", {"8"}), gpus_of("l", {"8"})};
  for (scenarios::NodePool& pool : s.node_pools) {
    pool.nodes = 0;
    pool.most_nodes = 4;
  }
  s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  const VariantResult r = demo::result(s);
  EXPECT_FALSE(r.is_cut_off);
  EXPECT_EQ(r.workloads[0].left_behind.pending, 1);
  EXPECT_FALSE(demo::has(r.findings, Code::NodeLimitReached));
  const auto told = std::ranges::find(r.findings, Code::JobNeverFits, &Diagnostic::code);
  ASSERT_NE(told, r.findings.end());
  EXPECT_EQ(told->severity, Severity::Warning);
  EXPECT_THAT(told->message, HasSubstr("admitted to flavor \"s\" stay Pending"));
  s.workloads[0].pod.node_selector["size"] = "large";
  const VariantResult selects = demo::result(s);
  EXPECT_EQ(selects.workloads[0].completed, 1);
  EXPECT_FALSE(demo::has(selects.findings, Code::JobNeverFits));
}

// Those of whom nothing was Pending are not named.
TEST(Quotas, PendingPodsAreThoseOfOtherWorkloads) {
  Workload big = jobs("big", "a", 5);
  big.pod.extended.front().count = 3;
  big.name.where.line = 1;
  Workload other = jobs("other", "", 6);
  other.name.where.line = 2;
  const VariantResult r = demo::result(queued({queue("a", {"2"})}, {big, other}));
  const auto told = std::ranges::find(r.findings, Code::PodPending, &Diagnostic::code);
  ASSERT_NE(told, r.findings.end());
  EXPECT_EQ(told->where.line, 2);
}

// 2 pods of 1,900 GiB are more than 3 TiB.
TEST(Quotas, OfTerabytesAreExact) {
  const auto never = [](const char* nominal) {
    Workload large = jobs("large", "a", 1);
    large.count = large.pods_per_job = 2;
    large.pod.memory_request = gibibytes(1'900);
    ClusterQueue q = queue("a", {"2"});
    q.groups[0].covered.push_back({"memory", {}});
    q.groups[0].flavors[0].resources.push_back({{"memory", {}}, {nominal, {}}, {}, {}, {}});
    return !demo::world(queued({q}, {large})).workloads[0].queued->never.empty();
  };
  EXPECT_TRUE(never("3Ti"));
  EXPECT_FALSE(never("3800Gi"));
}

// Without queues there may be more pools than a set has bits.
TEST(Quotas, AnyPoolIsAlsoOneBeyondThoseOfASet) {
  EXPECT_TRUE(has_pool(kAnyPool, 70));
  EXPECT_TRUE(has_pool(PoolMask{1} << 63U, 63));
  EXPECT_FALSE(has_pool(PoolMask{1}, 1));
}

}  // namespace
}  // namespace slicewise::sim
