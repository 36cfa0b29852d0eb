#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

// kube-scheduler's default scores, by where pods go that stay.
namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

scenarios::Workload stays(const char* name, int gpus, std::int64_t cpus, std::int64_t memory_gib,
                          Duration submit_at) {
  scenarios::Workload w = demo::training(1);
  w.name.value = name;
  w.submit_at = submit_at;
  w.pod.cpu_request = {1000 * cpus};
  w.pod.memory_request = gibibytes(memory_gib);
  w.pod.extended.front().count = gpus;
  return w;
}

scenarios::Workload replicas(int count) {
  scenarios::Workload w =
      demo::service(count, 1, milliseconds(10), scenarios::ServiceTime::Law::Deterministic);
  w.pod.cpu_request = {1000};
  w.pod.memory_request = gibibytes(4);
  return w;
}

// GPUs of nodes of four that pods are on, by node.
std::vector<int> taken(scenarios::Scenario s) {
  s.duration = minutes(10);
  const VariantResult r = demo::result(s);
  std::vector<int> taken(r.gpus.size() / 4, 0);
  for (std::size_t g = 0; g < r.gpus.size(); ++g) taken[g / 4] += r.gpus[g].time_busy_ratio > 0;
  return taken;
}

// Two nodes of 32 vCPUs and 244 GiB, half of which is taken on one of them: by LeastAllocated alone
// they are alike.
TEST(NodeScores, BalanceDecidesWhereTheRestIsAlike) {
  const scenarios::Workload cpu = stays("cpu", 1, 16, 4, Duration{});
  const scenarios::Workload memory = stays("memory", 3, 1, 118, seconds(1));
  const auto with = [&](const scenarios::Workload& third) {
    return taken(demo::scenario(demo::pool(0, 2), {cpu, memory, third}));
  };
  EXPECT_THAT(with(stays("third", 1, 8, 4, seconds(2))), UnorderedElementsAre(1, 4));
  EXPECT_THAT(with(stays("third", 1, 1, 60, seconds(2))), UnorderedElementsAre(2, 3));
}

TEST(NodeScores, PodsOfAReplicaSetSpreadAlsoWherePodsArePacked) {
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {replicas(4)});
  s.score_policy = scenarios::ScorePolicy::MostAllocated;
  EXPECT_THAT(taken(s), ElementsAre(2, 2));
  s.workloads = {demo::training(4)};  // kube-scheduler does not spread the pods of Jobs
  EXPECT_THAT(taken(s), UnorderedElementsAre(0, 4));
}

TEST(NodeScores, ReplicasSpreadOverZonesBeforeNodes) {
  scenarios::NodePool two = demo::pool(0, 2);
  two.labels["topology.kubernetes.io/zone"] = "us-east-1a";
  scenarios::NodePool one = demo::pool(0, 1);
  one.name.value = "other";
  one.labels["topology.kubernetes.io/zone"] = "us-east-1b";
  scenarios::Scenario s = demo::scenario(two, {replicas(2)});
  s.node_pools.push_back(one);
  for (s.seed = 1; s.seed <= 10; ++s.seed) {
    const std::vector<int> by_node = taken(s);
    EXPECT_EQ(by_node[0] + by_node[1], 1) << s.seed;
  }
}

TEST(NodeScores, ATaintThatPrefersNoPodsIsAvoidedUnlessItIsTolerated) {
  scenarios::NodePool avoided = demo::pool(0);
  avoided.taints.push_back({"spot", "true", "PreferNoSchedule"});
  scenarios::NodePool other = demo::pool(0);
  other.name.value = "other";
  scenarios::Scenario s = demo::scenario(avoided, {demo::training(4)});
  s.node_pools.push_back(other);
  EXPECT_THAT(taken(s), ElementsAre(0, 4));
  s.workloads[0].count = 6;
  EXPECT_THAT(taken(s), ElementsAre(2, 4));
  s.workloads[0].count = 4;
  s.workloads[0].pod.tolerations.push_back({"spot", "Exists", "", ""});
  EXPECT_THAT(taken(s), ElementsAre(2, 2));
}

}  // namespace
}  // namespace slicewise::sim
