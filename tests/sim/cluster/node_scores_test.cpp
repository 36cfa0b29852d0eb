#include "../../../sim/cluster/control/node_scores.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
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

using Labels = std::map<std::string, std::string>;

const std::string kHost(scenarios::kHostname);
const std::string kZone(scenarios::kZoneLabel);

scenarios::TopologySpread spread_over(const std::string& key, const char* label, int skew = 1) {
  scenarios::TopologySpread spread;
  spread.topology_key = key;
  spread.max_skew = skew;
  spread.match_labels[label] = "";
  return spread;
}

scenarios::PodAffinityTerm term(const std::string& key, const char* security, int weight) {
  scenarios::PodAffinityTerm term;
  term.topology_key = key;
  term.match_labels["security"] = security;
  term.weight = weight;
  return term;
}

// Pods of one kind, and on which of the nodes they are.
struct There {
  Labels labels;
  std::vector<std::uint32_t> nodes;
  scenarios::PodPreferences preferences{};
};

// What the comparison gives nodes a, b, ..., which have these labels, for a pod; divided by the
// weight, which is 2 of both plugins.
std::vector<std::int64_t> scores(const std::vector<Labels>& nodes, const There& pod,
                                 const std::vector<There>& there,
                                 std::vector<std::uint32_t> candidates = {}) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), {});
  s.node_pools.clear();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    s.node_pools.push_back(demo::pool(0));
    s.node_pools.back().name.value = "node-" + std::to_string(n);
    s.node_pools.back().labels = nodes[n];
  }
  if (candidates.empty()) {
    candidates.resize(nodes.size());
    std::iota(candidates.begin(), candidates.end(), 0U);
  }
  std::vector<There> all = {pod};
  all.insert(all.end(), there.begin(), there.end());
  for (const There& one : all) {
    s.workloads.push_back(demo::training(static_cast<int>(one.nodes.size())));
    scenarios::Workload& workload = s.workloads.back();
    workload.name.value = "w" + std::to_string(s.workloads.size());
    workload.count = std::max<int>(1, workload.count);
    workload.pod.labels = one.labels;
    workload.pod.preferences = one.preferences;
  }
  const World world = demo::world(s);
  ClusterState cluster = make_cluster(world);
  NodeScores scores(cluster);
  std::uint32_t next = 1;  // the pod itself is the first
  for (const There& one : there) {
    for (const std::uint32_t node : one.nodes) {
      cluster.pods[next].node = make_id<NodeId>(node);
      scores.bound(next++);
    }
  }
  std::vector<NodeScores::Candidate> compared;
  for (const std::uint32_t node : candidates) compared.push_back({node, 0});
  scores.compare(compared, 0);
  std::vector<std::int64_t> out;
  for (const NodeScores::Candidate& one : compared) out.push_back(one.score / 2);
  return out;
}

// The cases and figures of kube-scheduler 1.36's own podtopologyspread/scoring_test.go,
// TestPodTopologySpreadScore.
TEST(NodeScores, PodTopologySpreadIsKubeSchedulers) {
  const Labels zone1 = {{kZone, "zone1"}};
  const Labels zone2 = {{kZone, "zone2"}};
  const Labels foo = {{"foo", ""}};
  const Labels bar = {{"bar", ""}};
  const Labels both = {{"foo", ""}, {"bar", ""}};
  const std::vector<Labels> none(4);
  const There of_nodes{foo, {}, {{}, {}, {spread_over(kHost, "foo")}}};
  // "one constraint on node, all 4 nodes are candidates", and "no existing pods"
  EXPECT_THAT(scores(none, of_nodes, {{foo, {0, 0, 1, 3, 3, 3}}}), ElementsAre(20, 60, 100, 0));
  EXPECT_THAT(scores({{}, {}}, of_nodes, {}), ElementsAre(100, 100));
  // "..., maxSkew=2"
  const There skewed{foo, {}, {{}, {}, {spread_over(kHost, "foo", 2)}}};
  EXPECT_THAT(scores(none, skewed, {{foo, {0, 0, 1, 3, 3, 3}}}), ElementsAre(33, 66, 100, 16));
  // "one constraint on node, 3 out of 4 nodes are candidates"
  EXPECT_THAT(scores(none, of_nodes, {{foo, {0, 0, 0, 0, 1, 1, 2, 3, 3, 3}}}, {0, 1, 2}),
              ElementsAre(33, 83, 100));
  // "one constraint on zone, 3 out of 4 nodes are candidates", and one without the label
  const There of_zones{foo, {}, {{}, {}, {spread_over(kZone, "foo")}}};
  const std::vector<Labels> zones = {zone1, zone1, zone2, zone2};
  EXPECT_THAT(scores(zones, of_zones, {{foo, {0, 0, 0, 0, 1, 1, 2, 3, 3, 3}}}, {0, 1, 2}),
              ElementsAre(75, 75, 100));
  EXPECT_THAT(scores({zone1, {}, zone2}, of_zones, {{foo, {0, 0, 1, 2}}}), ElementsAre(33, 0, 100));
  // "two Constraints on zone and node, 2 out of 4 nodes are candidates"
  const There two{foo, {}, {{}, {}, {spread_over(kZone, "foo"), spread_over(kHost, "foo")}}};
  EXPECT_THAT(scores(zones, two, {{foo, {0, 0, 1, 2, 2, 3, 3, 3, 3}}}, {0, 2}),
              ElementsAre(100, 63));
  // "two Constraints on zone and node, with different labelSelectors"
  const There unlike{both, {}, {{}, {}, {spread_over(kZone, "foo"), spread_over(kHost, "bar")}}};
  EXPECT_THAT(scores(zones, unlike, {{foo, {0, 3}}, {both, {1}}, {bar, {3}}}),
              ElementsAre(60, 20, 100, 60));
}

// ... and of interpodaffinity/scoring_test.go, TestPreferredAffinity. China and India are regions,
// az1 and az2 another label.
TEST(NodeScores, InterPodAffinityIsKubeSchedulers) {
  const Labels china = {{"region", "China"}};
  const Labels india = {{"region", "India"}};
  const Labels az1 = {{"az", "az1"}};
  const Labels az2 = {{"az", "az2"}};
  const Labels s1 = {{"security", "S1"}};
  const Labels s2 = {{"security", "S2"}};
  const scenarios::PodPreferences stay_with_s1{{term("region", "S1", 5)}, {}, {}};
  const scenarios::PodPreferences stay_with_s2{{term("region", "S2", 6)}, {}, {}};
  const scenarios::PodPreferences away_from_s1{{}, {term("az", "S1", 5)}, {}};
  const scenarios::PodPreferences away_from_s2{{}, {term("az", "S2", 5)}, {}};
  const scenarios::PodPreferences both{{term("region", "S1", 8)}, {term("az", "S2", 5)}, {}};
  // "Affinity: nodes in one region has more matching pods ..."
  EXPECT_THAT(scores({china, india, china, china, india}, {s1, {}, stay_with_s2},
                     {{s2, {0, 0, 1, 2, 3, 4}}}),
              ElementsAre(100, 0, 100, 100, 0));
  // "Affinity symmetry: considered only the preferredDuringScheduling..."
  EXPECT_THAT(
      scores({china, india, az1}, {s2, {}, {}}, {{s1, {0}, stay_with_s1}, {s2, {1}, stay_with_s2}}),
      ElementsAre(0, 100, 0));
  // "Anti Affinity: pod that does not match topology key & match the pods ..."
  EXPECT_THAT(scores({az1, china}, {s1, {}, away_from_s1}, {{s1, {0, 1}}}), ElementsAre(0, 100));
  // "Anti Affinity symmetry: ..."
  EXPECT_THAT(scores({az1, az2}, {s2, {}, {}}, {{s1, {0}, away_from_s2}, {s2, {1}, away_from_s1}}),
              ElementsAre(0, 100));
  // "Affinity and Anti Affinity and symmetry: ...", whose sums are 8, -5, 8, -5
  EXPECT_THAT(scores({china, az1, india, az2}, {s1, {}, both},
                     {{s1, {0}}, {s2, {1}}, {{}, {2}, both}, {{}, {3}, away_from_s1}}),
              ElementsAre(100, 0, 100, 0));
  // What is in between is cut to whole points.
  EXPECT_THAT(
      scores({{}, {}, {}}, {s2, {}, {{term(kHost, "S1", 5)}, {}, {}}}, {{s1, {0, 0, 0, 1}}}),
      ElementsAre(100, 33, 0));
}

// ... and of nodeaffinity/node_affinity_test.go, TestNodeAffinityPriority.
TEST(NodeScores, NodeAffinityIsKubeSchedulers) {
  const auto in = [](const char* key, const char* value) {
    return scenarios::NodeRequirement{key, "In", {value}, {}};
  };
  const Labels bar = {{"foo", "bar"}};
  const Labels value = {{"key", "value"}};
  const Labels az1 = {{"az", "az1"}};
  const Labels all = {{"foo", "bar"}, {"key", "value"}, {"az", "az1"}};
  scenarios::PodPreferences one;
  one.nodes = {{2, {in("foo", "bar")}, {}}};
  scenarios::PodPreferences three = one;
  three.nodes.push_back({4, {in("key", "value")}, {}});
  three.nodes.push_back({5, {in("foo", "bar"), in("key", "value"), in("az", "az1")}, {}});
  // "no node matches preferred scheduling requirements in Affinity of pod ..."
  EXPECT_THAT(scores({az1, value, {}}, {{}, {}, one}, {}), ElementsAre(0, 0, 0));
  // "only node1 matches ...", "all nodes matches ... but with different priorities"
  EXPECT_THAT(scores({bar, value, az1}, {{}, {}, one}, {}), ElementsAre(100, 0, 0));
  EXPECT_THAT(scores({bar, all, value}, {{}, {}, three}, {}), ElementsAre(18, 100, 36));
  one.nodes.front().requirements = {{"az", "DoesNotExist", {}, {}}, {"foo", "NotIn", {"bar"}, {}}};
  EXPECT_THAT(scores({bar, value, az1}, {{}, {}, one}, {}), ElementsAre(0, 100, 0));
}

// Against MostAllocated, which fills a node: 100 points of 2 outweigh what CPU and memory are
// worth.
TEST(NodeScores, PodsThatWouldRatherBeApartAreWhereThereIsRoom) {
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {demo::training(4)});
  s.score_policy = scenarios::ScorePolicy::MostAllocated;
  EXPECT_THAT(taken(s), UnorderedElementsAre(0, 4));
  scenarios::PodTemplate& pod = s.workloads[0].pod;
  pod.labels["security"] = "S1";
  pod.preferences.anti_affinity = {term(kHost, "S1", 1)};
  EXPECT_THAT(taken(s), ElementsAre(2, 2));
  for (const int count : {8, 9}) {  // nobody is refused, but for want of a GPU
    s.workloads[0].count = count;
    EXPECT_THAT(taken(s), ElementsAre(4, 4));
  }
  s.workloads[0].count = 4;
  pod.preferences.anti_affinity.clear();
  pod.preferences.spread = {spread_over(kHost, "security")};
  pod.labels["security"] = "";
  EXPECT_THAT(taken(s), ElementsAre(2, 2));
}

// By zone alone, pods of a ReplicaSet no longer spread over nodes.
TEST(NodeScores, OwnConstraintsTakeThePlaceOfTheDefaults) {
  scenarios::Scenario s = demo::scenario(demo::pool(0, 2), {replicas(4)});
  s.score_policy = scenarios::ScorePolicy::MostAllocated;
  EXPECT_THAT(taken(s), ElementsAre(2, 2));
  s.node_pools[0].labels[kZone] = "us-east-1a";
  s.workloads[0].pod.preferences.spread = {spread_over(kZone, "app")};
  EXPECT_THAT(taken(s), UnorderedElementsAre(0, 4));
}

}  // namespace
}  // namespace slicewise::sim
