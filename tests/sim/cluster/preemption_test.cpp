#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

#include "../demo.hpp"

// Pods of higher priority that fit nowhere, in kube-scheduler's own queue.
namespace slicewise::sim {
namespace {

constexpr Duration kGrace = seconds(30);

// Alone it takes 30 minutes.
scenarios::Workload named(const char* name, int count, int priority, Duration submit_at) {
  scenarios::Workload w = demo::training(count);
  w.name.value = name;
  w.priority = priority;
  w.submit_at = submit_at;
  return w;
}

// What one of them lost and did again, and how long it waited for its new place.
Duration makespan_of(const VariantResult& r, std::size_t workload) {
  return r.workloads[workload].job_completion->p99;
}

TEST(Preemption, APodOfHigherPriorityTakesThePlaceOfOneThatHasTheGracePeriodToEnd) {
  scenarios::Workload urgent = named("urgent", 1, 1000, minutes(21));
  scenarios::Scenario s = demo::scenario(demo::pool(0), {named("low", 4, 0, Duration{}), urgent});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[1].wait->p50, kGrace);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_EQ(r.pods.succeeded, 5);
  // Its new pod gets the place of the first of the others that ends, and starts over.
  EXPECT_EQ(makespan_of(r, 0), minutes(30) + minutes(30));
  s.workloads[1].preemption_policy = scenarios::PreemptionPolicy::Never;
  const VariantResult waits = demo::result(s);
  EXPECT_EQ(waits.workloads[1].wait->p50, minutes(9));  // 540 s
  EXPECT_EQ(waits.pods.evicted, 0);
}

// The Job controller counts a pod that was deleted as failed.
TEST(Preemption, AJobWhosePodsAreEvictedTooOftenHasFailed) {
  scenarios::Workload low = named("low", 4, 0, Duration{});
  low.backoff_limit = 0;
  scenarios::Scenario s =
      demo::scenario(demo::pool(0), {low, named("urgent", 1, 1000, minutes(21))});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_EQ(r.pods.failed, 1);
  EXPECT_EQ(r.workloads[0].completed, 3);
  s.workloads[0].ignore_disruptions = true;
  EXPECT_EQ(demo::result(s).workloads[0].completed, 4);
  // Where all are one Job, it is the Job that has failed.
  s.workloads[0].ignore_disruptions = false;
  s.workloads[0].part_of.value = "low";
  EXPECT_EQ(demo::result(s).workloads[0].completed, 0);
}

TEST(Preemption, NobodyIsStoppedForAPodOfTheSamePriorityOrForOneThatFitsNowhereAllTheSame) {
  scenarios::Workload same = named("same", 1, 0, minutes(1));
  scenarios::Workload huge = named("huge", 1, 1000, minutes(1));
  huge.pod.cpu_request = {1'000'000};
  scenarios::Scenario s =
      demo::scenario(demo::pool(0), {named("low", 4, 0, Duration{}), same, huge});
  s.duration = hours(std::int64_t{2});
  EXPECT_EQ(demo::result(s).pods.evicted, 0);
}

// Two nodes are full; who has to go is seen by who starts over.
struct Full {
  scenarios::Workload first;
  scenarios::Workload second;
};

bool takes_the_second(Full full, int gpus) {
  full.first.name.value = "first";
  full.second.name.value = "second";
  scenarios::Workload urgent = named("urgent", 1, 1000, minutes(10));
  urgent.pod.extended.front().count = gpus;
  const VariantResult r =
      demo::result(demo::scenario(demo::pool(0, 2), {full.first, full.second, urgent}));
  EXPECT_EQ(r.workloads[2].wait->p50, kGrace);
  const bool first = makespan_of(r, 0) > minutes(31);
  EXPECT_NE(first, makespan_of(r, 1) > minutes(31));
  return !first;
}

scenarios::Workload of_node(int priority, Duration submit_at = {}) {
  scenarios::Workload w = named("", 1, priority, submit_at);
  w.pod.extended.front().count = 4;
  return w;
}

TEST(Preemption, TheNodeIsTheOneWhereTheMostImportantVictimIsTheLeastImportant) {
  EXPECT_TRUE(takes_the_second({of_node(5), of_node(1)}, 1));
  EXPECT_FALSE(takes_the_second({of_node(1), of_node(5)}, 1));
}

TEST(Preemption, OfNodesAlikeInThatTheOneWithFewerVictims) {
  const scenarios::Workload four = named("", 4, 1, seconds(1));  // to the other node
  EXPECT_FALSE(takes_the_second({of_node(1), four}, 4));
}

TEST(Preemption, OfNodesAlikeInThatTooTheOneWhoseVictimStartedLast) {
  EXPECT_TRUE(takes_the_second({of_node(1), of_node(1, minutes(1))}, 1));
  EXPECT_FALSE(takes_the_second({of_node(1, minutes(1)), of_node(1)}, 1));
}

TEST(Preemption, OnANodeTheMoreImportantAreSpared) {
  const VariantResult r = demo::result(
      demo::scenario(demo::pool(0), {named("mid", 3, 5, seconds(1)), named("low", 1, 1, Duration{}),
                                     named("urgent", 1, 1000, minutes(10))}));
  EXPECT_EQ(makespan_of(r, 0), minutes(30));
  EXPECT_GT(makespan_of(r, 1), minutes(31));
}

// What becomes free while others still end is not for pods of lower priority.
TEST(Preemption, TheRoomOfAPodWhoseVictimsEndIsKept) {
  scenarios::Workload quick = named("quick", 1, 0, seconds(1));
  quick.work->units = 4;  // 72 s: it ends by itself
  scenarios::Workload urgent = named("urgent", 1, 1000, minutes(1));
  urgent.pod.extended.front().count = 2;
  scenarios::Workload mid = named("mid", 1, 10, seconds(62));
  mid.preemption_policy = scenarios::PreemptionPolicy::Never;
  const VariantResult r = demo::result(
      demo::scenario(demo::pool(0), {named("low", 3, 0, Duration{}), quick, urgent, mid}));
  EXPECT_EQ(r.workloads[2].wait->p50, kGrace);
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_GT(r.workloads[3].wait->p50, minutes(20));
}

TEST(Preemption, SeveralPodsOfAWorkloadPreemptAtTheSameTime) {
  const VariantResult r = demo::result(demo::scenario(
      demo::pool(0, 2), {named("low", 8, 0, Duration{}), named("urgent", 8, 1000, minutes(1))}));
  EXPECT_EQ(r.workloads[1].wait->p99, kGrace);
  EXPECT_EQ(r.pods.evicted, 8);
}

// A replica without requests goes at once, and its place is taken.
TEST(Preemption, AnIdleReplicaDoesNotUseItsGracePeriod) {
  scenarios::Workload idle =
      demo::service(4, 1e-6, milliseconds(1), scenarios::ServiceTime::Law::Deterministic);
  scenarios::Scenario s =
      demo::scenario(demo::pool(0), {idle, named("urgent", 1, 1000, minutes(1))});
  s.duration = hours(std::int64_t{1});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.workloads[1].wait->p50, Duration{});
  EXPECT_EQ(r.pods.evicted, 1);
}

// The others of its workload are turned down at the same instant, which leaves it waiting no
// longer.
TEST(Preemption, WhoMadeRoomGetsItAlsoBesideOthersThatStayPending) {
  scenarios::Workload idle =
      demo::service(1, 1e-6, milliseconds(1), scenarios::ServiceTime::Law::Deterministic);
  idle.priority = -5;
  scenarios::Scenario s = demo::scenario(
      demo::pool(0), {idle, named("high", 3, 1000, Duration{}), named("urgent", 3, 0, minutes(1))});
  s.duration = minutes(10);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.evicted, 1);
  ASSERT_TRUE(r.workloads[2].wait);
  EXPECT_EQ(r.workloads[2].wait->p50, Duration{});
}

// One that is at work finishes it and takes no more: nothing is lost with it.
TEST(Preemption, ABusyReplicaAnswersWhatIsInsideIt) {
  scenarios::Workload busy =
      demo::service(4, 2, seconds(1), scenarios::ServiceTime::Law::Deterministic);
  scenarios::Scenario s =
      demo::scenario(demo::pool(0), {busy, named("urgent", 1, 1000, minutes(1))});
  s.duration = minutes(3);
  const VariantResult r = demo::result(s);
  EXPECT_GE(r.workloads[1].wait->p50, Duration{});
  EXPECT_LE(r.workloads[1].wait->p50, seconds(10));
  EXPECT_EQ(r.workloads[0].requests->refused, 0);
}

// A place that is kept for a pod whose victim has not gone is no place for a gang. Here its pods
// ask for no CPU, and the node's is all kept: it was let in, and a pod of it found no node.
TEST(Preemption, AGangBesideAPodWhosePlaceIsKeptRunsOrWaitsAsAWhole) {
  const SourceText text{"s.yaml", R"(apiVersion: slicewise.dev/v1alpha1
kind: Scenario
metadata: {name: t}
spec:
  region: us-east-1
  nodePools:
  - {name: x, instanceType: g4dn.12xlarge, nodes: 1, labels: {p: x}}
  - {name: y, instanceType: g4dn.12xlarge, nodes: 1, labels: {p: y}}
  workloads:
  - {name: f, kind: Job, count: 1, podTemplate: {nodeSelector: {p: x}, resources: {limits: {nvidia.com/gpu: 3}}}, work: {units: 40}, measured: {unitTime: 20s, gpuBusy: 50%}}
  - {name: a, kind: Job, count: 1, podTemplate: {nodeSelector: {p: y}, resources: {requests: {cpu: 40}, limits: {nvidia.com/gpu: 1}}}, work: {units: 40}, measured: {unitTime: 20s, gpuBusy: 50%}}
  - {name: h, kind: Job, count: 1, priority: 5, submitAt: 60s, podTemplate: {nodeSelector: {p: y}, resources: {requests: {cpu: 40}, limits: {nvidia.com/gpu: 1}}}, work: {units: 4}, measured: {unitTime: 20s, gpuBusy: 50%}}
  - {name: g, kind: Job, count: 1, podsPerJob: 2, submitAt: 70s, podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}, work: {units: 4}, measured: {unitTime: 20s, gpuBusy: 50%}}
)"};
  const auto loaded = scenarios::read_scenario_file(text);
  ASSERT_TRUE(loaded.problems.empty());
  const VariantResult r = demo::result(loaded.set.variants.front());
  EXPECT_EQ(r.workloads[3].name, "g");
  EXPECT_DOUBLE_EQ(r.workloads[3].completed, 1);
}

}  // namespace
}  // namespace slicewise::sim
