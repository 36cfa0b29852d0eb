#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/gpu_room.hpp"

#include "../demo.hpp"

// Required podAntiAffinity by node: who is kept off, whom room is made for, which nodes start.
namespace slicewise::sim {
namespace {

using scenarios::Workload;
using ::testing::UnorderedElementsAre;

constexpr const char* kLabel = "gpu-memory";

scenarios::PodAffinityTerm large() {
  scenarios::PodAffinityTerm term;
  term.match_labels[kLabel] = "large";
  term.topology_key = scenarios::kHostname;
  return term;
}

Workload named(const char* name, int count) {
  Workload w = demo::training(count);
  w.name.value = name;
  return w;
}

// It refuses its like.
Workload apart(const char* name, int count) {
  Workload w = named(name, count);
  w.pod.labels[kLabel] = "large";
  w.pod.anti_affinity = {large()};
  return w;
}

TEST(AntiAffinity, ANodeHasOneOfThoseThatRefuseEachOther) {
  scenarios::Scenario s = demo::scenario(demo::pool(4, 2), {apart("large", 3), named("small", 4)});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.pending_max, 1);
  EXPECT_THAT(r.pods.pending_reasons,
              UnorderedElementsAre("0/2 nodes are available: 2 node(s) didn't match pod "
                                   "anti-affinity rules."));
  EXPECT_EQ(r.pods.succeeded, 7);  // the third when one of the others has ended
  EXPECT_GT(to_seconds(r.workloads[0].job_completion->p99),
            1.9 * to_seconds(r.workloads[0].job_completion->p50));
  s.workloads[0].pod.anti_affinity.clear();
  EXPECT_EQ(demo::result(s).pods.pending_max, 0);
}

// The label alone is refused; who has the rule was there first. Words of interpodaffinity.
TEST(AntiAffinity, WhoIsThereRefusesWhoComes) {
  Workload refusing = named("refusing", 1);
  refusing.pod.anti_affinity = {large()};
  Workload late = named("late", 1);
  late.pod.labels[kLabel] = "large";
  late.submit_at = seconds(60);
  scenarios::Scenario s = demo::scenario(demo::pool(4), {refusing, late});
  EXPECT_THAT(demo::result(s).pods.pending_reasons,
              UnorderedElementsAre("0/1 nodes are available: 1 node(s) didn't satisfy existing "
                                   "pods anti-affinity rules."));
  std::swap(s.workloads[0].submit_at, s.workloads[1].submit_at);
  EXPECT_THAT(demo::result(s).pods.pending_reasons,
              UnorderedElementsAre("0/1 nodes are available: 1 node(s) didn't match pod "
                                   "anti-affinity rules."));
}

// A term selects pods of its own namespace, unless it names others.
TEST(AntiAffinity, IsOfTheNamespacesThatItNames) {
  Workload first = apart("first", 1);
  Workload second = apart("second", 1);
  first.namespace_name = "team-a";
  second.namespace_name = "team-b";
  scenarios::Scenario s = demo::scenario(demo::pool(4), {first, second});
  EXPECT_EQ(demo::result(s).pods.pending_max, 0);
  s.workloads[1].pod.anti_affinity[0].namespaces = {"team-a"};
  EXPECT_EQ(demo::result(s).pods.pending_max, 1);
}

TEST(AntiAffinity, NothingIsRefusedByALabelWithAnotherValue) {
  Workload other = apart("other", 1);
  other.pod.labels[kLabel] = "small";
  other.pod.anti_affinity.clear();
  const scenarios::Scenario s = demo::scenario(demo::pool(4), {apart("large", 1), other});
  EXPECT_EQ(demo::result(s).pods.pending_max, 0);
}

// All that is free suits it but for the company: who refuses it has to go, and nobody else.
TEST(AntiAffinity, IsAReasonToPreempt) {
  Workload urgent = apart("urgent", 1);
  urgent.priority = 1000;
  urgent.submit_at = minutes(10);
  const VariantResult r =
      demo::result(demo::scenario(demo::pool(4), {named("small", 2), apart("large", 1), urgent}));
  EXPECT_EQ(r.pods.evicted, 1);
  EXPECT_EQ(r.workloads[2].wait->p50, seconds(30));  // of grace
  EXPECT_GT(r.workloads[1].job_completion->p99, minutes(40));
  EXPECT_LT(r.workloads[0].job_completion->p99, minutes(40));
}

// Karpenter counts the rule, too: a node for each, where one had room for all.
TEST(AntiAffinity, ANodeStartsForEachOfThem) {
  for (const int nodes : {1, 3}) {
    Workload job = nodes == 1 ? named("job", 3) : apart("job", 3);
    scenarios::NodePool pool = demo::pool(4);
    pool.nodes = 0;
    pool.most_nodes = 4;
    scenarios::Scenario s = demo::scenario(pool, {job});
    s.duration = hours(std::int64_t{3});
    s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
    s.provisioner.node_overlay = true;
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.pods.succeeded, 3);
    EXPECT_EQ(r.node_pools[0].dynamics.value().max_nodes, nodes);
    EXPECT_EQ(r.node_pools[0].dynamics.value().launches, nodes);
  }
}

// Two nodes: two of three pods that take port 8000 run, and none of another workload that does.
TEST(HostPorts, OnePodOfANodeHasEach) {
  const auto run = [](const char* port) {
    Workload job = named("job", 3);
    job.pod.host_ports = {{"8000", {}}};
    Workload other = named("other", 1);
    other.pod.host_ports = {{port, {}}};
    other.submit_at = seconds(1);
    scenarios::NodePool pool = demo::pool(4);
    pool.nodes = 2;
    scenarios::Scenario s = demo::scenario(pool, {job, other});
    s.duration = minutes(1);
    return demo::result(s);
  };
  const VariantResult same = run("8000");
  EXPECT_EQ(same.pods.running_max, 2);
  ASSERT_FALSE(same.findings.empty());
  EXPECT_TRUE(std::ranges::any_of(same.findings, [](const Diagnostic& found) {
    return found.message.find("2 node(s) didn't have free ports for the requested pod ports") !=
           std::string::npos;
  }));
  EXPECT_EQ(run("8000/UDP").pods.running_max, 3);
}

// Two pods wait for evicted ones to end, until the run ends. The third would lack their ports, and
// is told so before the CPU that is still taken.
TEST(HostPorts, WhoIsNominatedHasThem) {
  Workload low = named("low", 8);
  Workload high = named("high", 3);
  high.pod.host_ports = {{"8000", {}}};
  high.priority = 1000;
  high.submit_at = seconds(45);
  for (Workload* w : {&low, &high}) w->pod.cpu_request = {7'000};
  scenarios::NodePool pool = demo::pool(4);
  pool.nodes = 2;
  scenarios::Scenario s = demo::scenario(pool, {low, high});
  s.duration = minutes(1);
  const VariantResult r = demo::result(s);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_TRUE(std::ranges::any_of(r.findings, [](const Diagnostic& found) {
    return found.message.find("2 node(s) didn't have free ports for the requested pod ports") !=
           std::string::npos;
  })) << r.findings[0].message;
}

// 9 GiB and 3 x 2 GiB on a V100 of 16 GiB: two of 9 GiB would not fit, and do not meet.
TEST(AntiAffinity, TheRoomOfAGpuHasOneOfThem) {
  Workload big = apart("big", 4);
  Workload small = named("small", 8);
  for (Workload* w : {&big, &small}) {
    w->pod.cpu_request = {};
    w->pod.memory_request = {};
  }
  big.gpu_memory.resident = gibibytes(9);
  small.gpu_memory.resident = gibibytes(1);
  const GpuRoom room = gpu_rooms(demo::world(demo::scenario(demo::pool(4), {big, small}))).front();
  EXPECT_FALSE(room.is_overcommitted());
  EXPECT_EQ(room.safe, 4);
  ASSERT_EQ(room.tenants.size(), 2U);
  EXPECT_EQ(room.tenants[0].pods, 1);
  EXPECT_EQ(room.tenants[1].pods, 3);
  big.pod.anti_affinity.clear();
  EXPECT_TRUE(gpu_rooms(demo::world(demo::scenario(demo::pool(4), {big, small})))
                  .front()
                  .is_overcommitted());
}

}  // namespace
}  // namespace slicewise::sim
