#include "../../../sim/world/pod_company.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../demo.hpp"

// The filters of kube-scheduler for company: cases of its own tests, then what follows from them.
namespace slicewise::sim::company {
namespace {

using scenarios::Workload;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Labels = std::map<std::string, std::string>;
using R = PodCompany::Refusal;
constexpr std::optional<R> kFits;

const std::string kHost(scenarios::kHostname);
const std::string kZone(scenarios::kZoneLabel);

// Pods of one kind, and on which of the nodes they are.
struct There {
  Labels labels;
  std::vector<std::size_t> nodes;
  std::string space{};
  std::vector<scenarios::PodAffinityTerm> anti_affinity{};
};

Workload pod(const Labels& labels) {
  Workload workload = demo::training(1);
  workload.pod.labels = labels;
  return workload;
}

scenarios::TopologySpread spread(const std::string& key, const Labels& labels, int skew = 1) {
  scenarios::TopologySpread rule;
  rule.when_unsatisfiable = scenarios::kDoNotSchedule;
  rule.topology_key = key;
  rule.max_skew = skew;
  rule.match_labels = labels;
  return rule;
}

scenarios::PodAffinityTerm term(const std::string& key, const Labels& labels) {
  scenarios::PodAffinityTerm one;
  one.topology_key = key;
  one.match_labels = labels;
  return one;
}

// What each node, which has these labels, says to the pod.
std::vector<std::optional<R>> answers(const std::vector<Labels>& nodes, const Workload& pod,
                                      const std::vector<There>& there) {
  scenarios::Scenario s = demo::scenario(demo::pool(0), {pod});
  s.node_pools.clear();
  std::vector<std::size_t> pool_of;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    s.node_pools.push_back(demo::pool(0));
    s.node_pools.back().name.value = "node-" + std::to_string(n);
    s.node_pools.back().labels = nodes[n];
    pool_of.push_back(n);
  }
  s.workloads.front().name.value = "w";
  for (const There& one : there) {
    s.workloads.push_back(demo::training(1));
    s.workloads.back().name.value = "w" + std::to_string(s.workloads.size());
    s.workloads.back().pod.labels = one.labels;
    s.workloads.back().pod.anti_affinity = one.anti_affinity;
    if (!one.space.empty()) s.workloads.back().namespace_name = one.space;
  }
  const World world = demo::world(s);
  PodCompany company(world, pool_of);
  for (std::size_t n = 0; n < nodes.size(); ++n) company.set_there(n, true);
  for (std::size_t w = 0; w < there.size(); ++w) {
    for (const std::size_t n : there[w].nodes) company.count(n, w + 1, 1);
  }
  std::vector<std::optional<R>> all;
  for (std::size_t n = 0; n < nodes.size(); ++n) all.push_back(company.reject(n, 0));
  return all;
}

const std::vector<Labels> kTwoZones = {
    {{kZone, "1"}}, {{kZone, "1"}}, {{kZone, "2"}}, {{kZone, "2"}}};
const Labels kFoo = {{"foo", ""}};
const There kTwoOneNoneThree = {kFoo, {0, 0, 1, 3, 3, 3}};

// podtopologyspread/filtering_test.go, TestSingleConstraint.
TEST(PodCompany, OneConstraintIsKubeSchedulers) {
  Workload p = pod(kFoo);
  p.pod.preferences.spread = {spread(kZone, kFoo)};
  EXPECT_THAT(answers(kTwoZones, p, {}), ElementsAre(kFits, kFits, kFits, kFits));
  // Pods in a different namespace do not count.
  EXPECT_THAT(answers(kTwoZones, p, {{kFoo, {0, 0}, "other"}, {kFoo, {2, 3}}}),
              ElementsAre(kFits, kFits, R::Spread, R::Spread));
  // 3/3.
  EXPECT_THAT(answers(kTwoZones, p, {{kFoo, {0, 0, 1, 3, 3, 3}}}),
              ElementsAre(kFits, kFits, kFits, kFits));
  // 1/2: a node lacks the label.
  EXPECT_THAT(
      answers({{{kZone, "1"}}, {}, {{kZone, "2"}}, {{kZone, "2"}}}, p, {{kFoo, {0, 1, 2, 3}}}),
      ElementsAre(kFits, R::SpreadLabel, R::Spread, R::Spread));
  p.pod.preferences.spread = {spread(kHost, kFoo)};
  EXPECT_THAT(answers(kTwoZones, p, {kTwoOneNoneThree}),
              ElementsAre(R::Spread, R::Spread, kFits, R::Spread));
  p.pod.preferences.spread = {spread(kHost, kFoo, 2)};
  EXPECT_THAT(answers(kTwoZones, p, {kTwoOneNoneThree}),
              ElementsAre(R::Spread, kFits, kFits, R::Spread));
  // The pod does not match itself.
  p.pod.labels = {{"bar", ""}};
  p.pod.preferences.spread = {spread(kHost, kFoo)};
  EXPECT_THAT(answers(kTwoZones, p, {kTwoOneNoneThree}),
              ElementsAre(R::Spread, kFits, kFits, R::Spread));
}

TEST(PodCompany, NodesThatThePodMayNotHaveDoNotCount) {
  const std::vector<Labels> nodes = {{{"n", "a"}}, {{"n", "b"}}, {{"n", "x"}}, {{"n", "y"}}};
  Workload p = pod(kFoo);
  p.pod.preferences.spread = {spread(kHost, kFoo)};
  p.pod.node_affinity = {{{{"n", "In", {"a", "y"}, {}}}, {}}};
  // 2/~1~/~0~/3; the other two are NodeAffinity's to refuse.
  EXPECT_THAT(answers(nodes, p, {kTwoOneNoneThree}), ElementsAre(kFits, kFits, kFits, R::Spread));
  p.pod.preferences.spread[0].node_affinity_policy = "Ignore";
  EXPECT_THAT(answers(nodes, p, {kTwoOneNoneThree}),
              ElementsAre(R::Spread, R::Spread, kFits, R::Spread));
  // 2/2/1 with fewer domains than minDomains: the fewest are none.
  p.pod.node_affinity.clear();
  p.pod.preferences.spread = {spread(kHost, kFoo, 2)};
  const std::vector<Labels> three(3);
  EXPECT_THAT(answers(three, p, {{kFoo, {0, 0, 1, 1, 2}}}), ElementsAre(kFits, kFits, kFits));
  p.pod.preferences.spread[0].min_domains = 4;
  EXPECT_THAT(answers(three, p, {{kFoo, {0, 0, 1, 1, 2}}}),
              ElementsAre(R::Spread, R::Spread, kFits));
}

// TestMultipleConstraints: zones 3/3, nodes 2/1/0/3.
TEST(PodCompany, AllConstraintsHaveToHold) {
  Workload p = pod(kFoo);
  p.pod.preferences.spread = {spread(kZone, kFoo), spread(kHost, kFoo)};
  EXPECT_THAT(answers(kTwoZones, p, {kTwoOneNoneThree}),
              ElementsAre(R::Spread, R::Spread, kFits, R::Spread));
  // Zones 3/4, nodes 2/1/0/4: neither suits.
  EXPECT_THAT(answers(kTwoZones, p, {{kFoo, {0, 0, 1, 3, 3, 3, 3}}}),
              ElementsAre(R::Spread, R::Spread, R::Spread, R::Spread));
}

// interpodaffinity/filtering_test.go, TestRequiredAffinityMultipleNodes.
TEST(PodCompany, CompanyOfZonesIsKubeSchedulers) {
  const std::vector<Labels> nodes = {{{"region", "China"}}, {{"region", "China"}}, {{"az", "az1"}}};
  const Labels bar = {{"foo", "bar"}};
  Workload p = pod({});
  p.pod.pod_affinity = {term("region", bar)};
  // "In one topology, the pod is affine to one of its nodes; a node without the label refuses."
  EXPECT_THAT(answers(nodes, p, {{bar, {0}}}), ElementsAre(kFits, kFits, R::Affinity));
  EXPECT_THAT(answers(nodes, p, {}), ElementsAre(R::Affinity, R::Affinity, R::Affinity));
  // The first of those that want each other near may go anywhere that has the label.
  p.pod.labels = bar;
  EXPECT_THAT(answers(nodes, p, {}), ElementsAre(kFits, kFits, R::Affinity));
  // ... unless such a pod is elsewhere; one of a node without the label is nowhere.
  const std::vector<Labels> two = {{{"region", "China"}}, {{"region", "India"}}, {}};
  EXPECT_THAT(answers(two, p, {{bar, {1}}}), ElementsAre(R::Affinity, kFits, R::Affinity));
  EXPECT_THAT(answers(two, p, {{bar, {2}}}), ElementsAre(kFits, kFits, R::Affinity));
  // All terms have to select the pod that is there.
  p.pod.pod_affinity = {term("region", bar), term("region", {{"service", "antivirus"}})};
  EXPECT_THAT(answers(two, p, {{bar, {1}}}), ElementsAre(R::Affinity, R::Affinity, R::Affinity));
}

TEST(PodCompany, DistanceOfZonesIsOfBothSides) {
  const Labels abc = {{"foo", "abc"}};
  Workload p = pod(abc);
  p.pod.anti_affinity = {term(kZone, abc)};
  EXPECT_THAT(answers(kTwoZones, p, {{abc, {0}}}),
              ElementsAre(R::AntiAffinity, R::AntiAffinity, kFits, kFits));
  p.pod.anti_affinity.clear();
  const There refusing = {{}, {3}, {}, {term(kZone, abc)}};
  EXPECT_THAT(answers(kTwoZones, p, {refusing}),
              ElementsAre(kFits, kFits, R::ExistingAntiAffinity, R::ExistingAntiAffinity));
}

// What a provisioner puts somewhere in thought is what would be admitted one by one.
TEST(PodCompany, RoomIsWhatIsAdmittedOneByOne) {
  for (const int skew : {1, 2, 3}) {
    for (const int min_domains : {1, 3}) {
      Workload p = pod(kFoo);
      p.pod.preferences.spread = {spread(kZone, kFoo, skew)};
      p.pod.preferences.spread[0].min_domains = min_domains;
      scenarios::Scenario s = demo::scenario(demo::pool(0), {p});
      s.node_pools = {demo::pool(0), demo::pool(0)};
      s.node_pools[0].labels = {{kZone, "1"}};
      s.node_pools[1].labels = {{kZone, "2"}};
      s.node_pools[1].name.value = "other";
      const World world = demo::world(s);
      for (int there = 0; there < 4; ++there) {
        PodCompany company(world, {0, 1});
        company.set_there(0, true);
        company.set_there(1, true);
        company.count(1, 0, there);
        const std::int64_t room = company.room(0, 0, 100);
        std::int64_t admitted = 0;
        for (; admitted < 100 && company.admits(0, 0); ++admitted) company.count(0, 0, 1);
        EXPECT_EQ(room, admitted) << skew << ' ' << min_domains << ' ' << there;
      }
    }
  }
}

// Nodes with a GPU each.
scenarios::NodePool in_zone(const char* name, const char* zone, int nodes) {
  scenarios::NodePool pool = demo::pool(0, nodes);
  pool.name.value = name;
  pool.instance_type.value = "p3.2xlarge";
  pool.labels = {{kZone, zone}};
  return pool;
}

scenarios::Scenario two_zones(int nodes, std::vector<Workload> workloads) {
  scenarios::Scenario s = demo::scenario(in_zone("a", "1", nodes), std::move(workloads));
  s.node_pools.push_back(in_zone("b", "2", nodes));
  return s;
}

// A node of four GPUs in each.
scenarios::Scenario two_large_nodes(std::vector<Workload> workloads) {
  scenarios::Scenario s = two_zones(1, std::move(workloads));
  for (scenarios::NodePool& pool : s.node_pools) pool.instance_type.value = "p3.8xlarge";
  return s;
}

// A pod that waits for company starts when it has come, at the same instant.
TEST(PodCompany, WhoWaitsForItStartsWhenItComes) {
  Workload near = pod({});
  near.name.value = "near";
  near.pod.pod_affinity = {term(kZone, kFoo)};
  Workload cache = pod(kFoo);
  cache.name.value = "cache";
  cache.submit_at = minutes(1);
  const VariantResult r = demo::result(two_large_nodes({near, cache}));
  EXPECT_EQ(r.workloads[0].wait->p50, minutes(1));
  EXPECT_THAT(
      r.pods.pending_reasons,
      UnorderedElementsAre("0/2 nodes are available: 2 node(s) didn't match pod affinity rules."));
}

// 2 of 3 pods: the third waits, though the other zone has room, until one of its own has ended.
TEST(PodCompany, ADomainThatIsFullHoldsTheOthersUp) {
  Workload job = demo::training(4);
  job.name.value = "job";
  job.pod.labels = kFoo;
  job.pod.preferences.spread = {spread(kZone, kFoo)};
  scenarios::Scenario s = two_zones(4, {job});
  s.node_pools[1] = in_zone("b", "2", 1);
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.pending_max, 1);  // 2 and 1
  ASSERT_EQ(r.pods.pending_reasons.size(), 1U);
  EXPECT_THAT(r.pods.pending_reasons.front(),
              ::testing::HasSubstr("2 node(s) didn't match pod topology spread constraints"));
  EXPECT_EQ(r.pods.succeeded, 4);
}

// All that refuse it have to go, though there is room beside them.
TEST(PodCompany, VictimsAreThoseThatRefuse) {
  Workload low = demo::training(3);
  low.name.value = "low";
  low.pod.labels = kFoo;
  Workload urgent = pod(kFoo);
  urgent.name.value = "urgent";
  urgent.priority = 1000;
  urgent.submit_at = minutes(5);
  urgent.pod.anti_affinity = {term(kZone, kFoo)};
  scenarios::Scenario s = two_large_nodes({low, urgent});
  s.workloads[0].pod.node_selector = {{kZone, "1"}};
  s.workloads[1].pod.node_selector = {{kZone, "1"}};
  EXPECT_EQ(demo::result(s).pods.evicted, 3);
  s.workloads[1].pod.node_selector.clear();
  EXPECT_EQ(demo::result(s).pods.evicted, 0);
}

// Karpenter starts nodes where they help: in the zone with the fewest, and none in vain.
TEST(PodCompany, NodesStartWhereTheyHelp) {
  for (const bool both_grow : {true, false}) {
    Workload job = demo::training(4);
    job.name.value = "job";
    job.pod.labels = kFoo;
    job.pod.preferences.spread = {spread(kZone, kFoo)};
    scenarios::Scenario s = two_zones(1, {job});
    s.duration = hours(std::int64_t{4});
    s.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
    s.provisioner.node_overlay = true;
    for (scenarios::NodePool& pool : s.node_pools) {
      pool.nodes = 0;
      pool.most_nodes = 4;
    }
    if (!both_grow) {
      s.node_pools[1].nodes = 1;
      s.node_pools[1].most_nodes.reset();
    }
    const VariantResult r = demo::result(s);
    EXPECT_EQ(r.pods.succeeded, 4);
    EXPECT_EQ(r.node_pools[0].dynamics.value().max_nodes, 2);
    if (both_grow) {
      EXPECT_EQ(r.node_pools[1].dynamics.value().max_nodes, 2);
    }
  }
}

// Places for two of three in each zone: the first ones are taken back, and nobody is woken for it.
TEST(PodCompany, AGangThatFindsNoPlaceTogetherWaits) {
  Workload gang = demo::training(3);
  gang.name.value = "gang";
  gang.pods_per_job = 3;
  gang.pod.labels = kFoo;
  gang.pod.pod_affinity = {term(kZone, kFoo)};
  Workload other = gang;
  other.name.value = "other";
  scenarios::Scenario s = two_zones(2, {gang, other});
  s.duration = hours(std::int64_t{3});
  const VariantResult r = demo::result(s);
  EXPECT_EQ(r.pods.succeeded, 0);
  EXPECT_EQ(r.pods.running_max, 0);
  s.node_pools = {in_zone("a", "1", 3)};
  EXPECT_EQ(demo::result(s).pods.succeeded, 6);
}

// IgnoredDuringExecution: who runs when the run begins stays, as no new pod could.
TEST(PodCompany, WhoIsThereStays) {
  Workload there = demo::training(3);
  there.name.value = "there";
  there.pod.labels = kFoo;
  there.pod.preferences.spread = {spread(kZone, kFoo)};
  there.starts_on = {{{"a", {}}, 1, 3, {}}};
  const VariantResult r = demo::result(two_large_nodes({there}));
  EXPECT_FALSE(demo::has(r.findings, Code::PodStartsElsewhere));
  EXPECT_EQ(r.pods.running_max, 3);
}

// Simulated nodes have a zone where their pool's labels say it.
TEST(PodCompany, LabelsOfDomainsThatNoNodeHasAreTold) {
  Workload near = demo::training(1);
  near.pod.labels = kFoo;
  near.pod.pod_affinity = {term(kZone, kFoo)};
  Workload apart = demo::training(1);
  apart.name.value = "apart";
  apart.pod.preferences.spread = {spread(kZone, kFoo)};
  for (const Workload& workload : {near, apart}) {
    scenarios::Scenario s = two_zones(2, {workload});
    EXPECT_FALSE(demo::has(demo::world(s).findings, Code::DomainUnknown));
    for (scenarios::NodePool& pool : s.node_pools) pool.labels.clear();
    const World world = demo::world(s);
    ASSERT_TRUE(demo::has(world.findings, Code::DomainUnknown));
    const Diagnostic& told =
        *std::ranges::find(world.findings, Code::DomainUnknown, &Diagnostic::code);
    EXPECT_EQ(told.severity, Severity::Warning);
    EXPECT_THAT(told.message, ::testing::HasSubstr(kZone));
    EXPECT_THAT(told.help, ::testing::HasSubstr("topology.kubernetes.io/zone: us-east-1a"));
  }
}

TEST(PodCompany, PodsNearWhomNobodyCanBeAreTold) {
  Workload near = demo::training(1);
  near.pod.pod_affinity = {term(kZone, kFoo)};
  scenarios::Scenario s = two_zones(2, {near});
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::NodeSelectorUnmet));
  s.workloads.push_back(demo::training(1));
  s.workloads.back().name.value = "foo";
  s.workloads.back().pod.labels = kFoo;
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::NodeSelectorUnmet));
}

TEST(PodCompany, PodsThatNoPoolIsForAreTold) {
  Workload elsewhere = demo::training(1);
  elsewhere.pod.node_selector["team"] = "vision";
  scenarios::Scenario s = two_zones(2, {elsewhere});
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::NodeSelectorUnmet));
  s.node_pools.front().labels["team"] = "vision";
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::NodeSelectorUnmet));
  // Nodes of a cluster have a zone, whatever the scenario says.
  s.workloads.front().pod.node_selector = {{kZone, "eu-west-1a"}};
  EXPECT_FALSE(demo::has(demo::world(s).findings, Code::NodeSelectorUnmet));
  EXPECT_TRUE(demo::has(demo::world(s).findings, Code::DomainUnknown));
}

}  // namespace
}  // namespace slicewise::sim::company
