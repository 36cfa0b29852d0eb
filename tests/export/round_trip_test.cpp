#include "round_trip.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/lint.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/world.hpp"

#include "scenario_samples.hpp"

// What is exported and read again with `import k8s` is the same cluster and the same pods. What
// Kubernetes has no place for (work, traffic, measured figures, objectives) is not compared.
namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using scenarios::PluginSharing;
using scenarios::Scenario;
using scenarios::Workload;

void expect_same_sharing(const std::optional<PluginSharing>& given,
                         const std::optional<PluginSharing>& again) {
  ASSERT_EQ(given.has_value(), again.has_value());
  if (!given) return;
  EXPECT_EQ(given->rename_by_default, again->rename_by_default);
  EXPECT_EQ(given->fail_requests_greater_than_one, again->fail_requests_greater_than_one);
  ASSERT_EQ(given->resources.size(), again->resources.size());
  for (std::size_t r = 0; r < given->resources.size(); ++r) {
    EXPECT_EQ(given->resources[r].name.value, again->resources[r].name.value);
    EXPECT_EQ(given->resources[r].replicas, again->resources[r].replicas);
  }
}

void expect_same_pool(const NodePool& given, const NodePool& again) {
  SCOPED_TRACE(given.name.value);
  EXPECT_EQ(given.name.value, again.name.value);
  EXPECT_EQ(given.instance_type.value, again.instance_type.value);
  EXPECT_EQ(given.nodes, again.nodes);
  EXPECT_EQ(given.capacity_type, again.capacity_type);
  ASSERT_EQ(given.taints.size(), again.taints.size());
  for (std::size_t t = 0; t < given.taints.size(); ++t) {
    EXPECT_EQ(given.taints[t].key, again.taints[t].key);
    EXPECT_EQ(given.taints[t].value, again.taints[t].value);
    EXPECT_EQ(given.taints[t].effect, again.taints[t].effect);
  }
  const auto slicing = [](const NodePool& pool) {
    return pool.device_plugin ? pool.device_plugin->time_slicing : std::nullopt;
  };
  const auto mps = [](const NodePool& pool) {
    return pool.device_plugin ? pool.device_plugin->mps : std::nullopt;
  };
  expect_same_sharing(slicing(given), slicing(again));
  expect_same_sharing(mps(given), mps(again));
  ASSERT_EQ(given.mig.has_value(), again.mig.has_value());
  if (!given.mig) return;
  EXPECT_EQ(given.mig->strategy, again.mig->strategy);
  EXPECT_EQ(given.mig->config.value, again.mig->config.value);
  EXPECT_EQ(given.mig->configs.size(), again.mig->configs.size());
}

void expect_same_workload(const Workload& given, const Workload& again) {
  SCOPED_TRACE(given.name.value);
  EXPECT_EQ(given.name.value, again.name.value);
  EXPECT_EQ(given.namespace_name, again.namespace_name);
  EXPECT_EQ(given.kind, again.kind);
  EXPECT_EQ(given.count, again.count);
  if (given.kind == scenarios::WorkloadKind::Job) {
    EXPECT_EQ(given.restart_policy, again.restart_policy);
  }
  EXPECT_EQ(given.pod.cpu_request.count, again.pod.cpu_request.count);
  EXPECT_EQ(given.pod.memory_request.count, again.pod.memory_request.count);
  EXPECT_EQ(given.pod.tolerations.size(), again.pod.tolerations.size());
  ASSERT_EQ(given.pod.extended.size(), again.pod.extended.size());
  for (std::size_t r = 0; r < given.pod.extended.size(); ++r) {
    EXPECT_EQ(given.pod.extended[r].name.value, again.pod.extended[r].name.value);
    EXPECT_EQ(given.pod.extended[r].count, again.pod.extended[r].count);
  }
}

Scenario expect_round_trip(const Scenario& given, const std::vector<std::string>& kinds,
                           const scenarios::ImportOptions& options = {}) {
  Scenario again = read_again(given, kinds, options);
  EXPECT_EQ(given.node_pools.size(), again.node_pools.size());
  EXPECT_EQ(given.workloads.size(), again.workloads.size());
  if (given.node_pools.size() != again.node_pools.size() ||
      given.workloads.size() != again.workloads.size()) {
    return again;
  }
  for (std::size_t p = 0; p < given.node_pools.size(); ++p) {
    expect_same_pool(given.node_pools[p], again.node_pools[p]);
  }
  for (std::size_t w = 0; w < given.workloads.size(); ++w) {
    expect_same_workload(given.workloads[w], again.workloads[w]);
  }
  return again;
}

Scenario round_trip_sample(const std::string& name) {
  for (auto& [sample_name, scenario] : sample_scenarios(20)) {
    if (sample_name != name) continue;
    // Users of notebooks are no number that Kubernetes knows.
    std::erase_if(scenario.workloads, [](const Workload& workload) {
      return workload.kind == scenarios::WorkloadKind::Notebook;
    });
    for (NodePool& pool : scenario.node_pools) pool.nodes = 3;
    return scenario;
  }
  ADD_FAILURE() << "no sample " << name;
  return {};
}

TEST(RoundTrip, TimeSlicingAndMps) {
  for (const char* name : {"demo-after", "demo-before", "several-pools", "mps"}) {
    SCOPED_TRACE(name);
    expect_round_trip(round_trip_sample(name), {"helm-values", "karpenter", "pod-patch"});
    expect_round_trip(round_trip_sample(name), {"configmap", "karpenter", "pod-patch"});
  }
}

TEST(RoundTrip, QueuesOfKai) {
  Scenario given = round_trip_sample("several-pools");
  given.node_pools.resize(1);
  given.node_pools[0].device_plugin.reset();
  given.node_pools[0].kai = true;
  given.workloads.resize(1);
  given.workloads[0].pod.extended.clear();
  given.workloads[0].pod.annotations["gpu-fraction"] = "0.5";
  given.workloads[0].queue.value = "research";
  given.kai_queues = {{{"top", {}}, "", -1, -1, 1}, {{"research", {}}, "top", 1.5, 4, 2}};
  const Scenario again = read_again(given, {"kueue", "eksctl", "pod-patch"});
  ASSERT_EQ(again.kai_queues.size(), 2U);
  EXPECT_EQ(again.kai_queues[0].quota, -1);
  EXPECT_EQ(again.kai_queues[1].parent, "top");
  EXPECT_EQ(again.kai_queues[1].quota, 1.5);
  EXPECT_EQ(again.kai_queues[1].limit, 4);
  EXPECT_EQ(again.kai_queues[1].over_quota_weight, 2);
  ASSERT_EQ(again.workloads.size(), 1U);
  EXPECT_EQ(again.workloads[0].queue.value, "research");
  EXPECT_TRUE(again.node_pools.at(0).kai);
}

// Each fails by itself: two on each GPU map all of its memory, and the first of them lives.
TEST(RoundTrip, JobsThatFailEachByThemselves) {
  Scenario given = round_trip_sample("demo-after");
  Workload& workload = given.workloads.front();
  workload.kind = scenarios::WorkloadKind::Job;
  workload.count = 3;
  workload.backoff_limit = 2;
  const Scenario again = expect_round_trip(given, {"helm-values", "karpenter", "pod-patch"});
  ASSERT_EQ(again.workloads.size(), 1U);
  EXPECT_EQ(again.workloads[0].backoff_limit, 2);
  EXPECT_EQ(again.workloads[0].part_of.value, "");
  const std::string text = pod_patches(given);
  for (const char* name : {"cifar10-1\n", "cifar10-2\n", "cifar10-3\n"}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
  EXPECT_EQ(text.find("completions"), std::string::npos);
  // kustomize before 5.1 takes one patch of a file.
  const auto component = render_kustomize(given, models::load_catalogue(), {});
  ASSERT_TRUE(component);
  const std::string& patches_of_jobs = component->front().text;
  EXPECT_NE(patches_of_jobs.find("    name: cifar10-[0-9]+\n"), std::string::npos);
  EXPECT_EQ(patches_of_jobs.find("path:"), std::string::npos) << patches_of_jobs;
  EXPECT_EQ(patches_of_jobs.find("cifar10-2"), std::string::npos) << patches_of_jobs;
  if (!workload.measured) workload.measured.emplace();
  workload.measured->unit_time = seconds(10);
  const auto queued = render_kueue(given, models::load_catalogue(), {});
  ASSERT_TRUE(queued) << queued.error().back().message;
  std::string patches;
  for (const ExportFile& file : *queued) patches += file.text;
  EXPECT_NE(patches.find("name: cifar10-3\n"), std::string::npos) << patches;
  EXPECT_EQ(patches.find("name: cifar10\n"), std::string::npos);
  given.workloads.push_back(workload);  // whose name is taken
  given.workloads.back().name.value = "cifar10-2";
  EXPECT_NE(pod_patches(given).find("completions: 3"), std::string::npos);
}

// One of three Jobs needs more memory than the others, and one is another namespace's: what a Job
// says is never lost, and each that does not join keeps the name that the cluster knows.
TEST(RoundTrip, JobsThatAreNotAlikeStayApart) {
  const auto job = [](const std::string& name, const std::string& space,
                      const std::string& memory) {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
           "\n  namespace: " + space + "\n  annotations: {slicewise.dev/jobs-of: train}\n" +
           "spec:\n  template:\n    metadata: {annotations: {slicewise.dev/gpu-memory: " + memory +
           "}}\n    spec:\n      restartPolicy: OnFailure\n      containers:\n" +
           "      - {name: main, image: a, resources: {limits: {nvidia.com/gpu: 1}}}\n";
  };
  const std::vector<SourceText> files = {
      {"jobs.yaml", job("train-1", "a", "1400Mi") + job("train-2", "a", "9000Mi") +
                        job("train-3", "a", "1400Mi") + job("train-1", "b", "1400Mi")}};
  const scenarios::ImportOptions options;
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, files, options);
  ASSERT_TRUE(imported);
  const auto loaded = scenarios::load_scenario(
      {"again.yaml", scenarios::scenario_of(*imported, scenarios::ImportKind::K8s, options).yaml});
  ASSERT_TRUE(loaded);
  std::map<std::pair<std::string, std::string>, int> jobs;
  for (const Workload& workload : loaded->variants.front().workloads) {
    const std::string& object = workload.manifest.name;
    jobs[{workload.namespace_name, object.empty() ? workload.name.value : object}] = workload.count;
  }
  const std::map<std::pair<std::string, std::string>, int> expected = {
      {{"a", "train"}, 2}, {{"a", "train-2"}, 1}, {{"b", "train-1"}, 1}};
  EXPECT_EQ(jobs, expected);
}

// Growing pools, who makes them grow, and Jobs of several pods.
TEST(RoundTrip, RangesOfNodesAndJobsOfSeveralPods) {
  Scenario given = round_trip_sample("several-pools");
  given.workloads.front().count = 5;
  given.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  given.provisioner.node_overlay = true;
  given.provisioner.consolidation = scenarios::Provisioner::Consolidation::WhenEmpty;
  given.provisioner.consolidate_after = seconds(300);
  NodePool& pool = given.node_pools.front();
  pool.nodes = 0;
  pool.most_nodes = 8;
  pool.weight = 50;
  pool.capacity_type = scenarios::CapacityType::Spot;
  pool.spot.emplace();
  pool.spot->falls_back_to_on_demand = true;
  const Scenario again = expect_round_trip(given, {"helm-values", "karpenter", "pod-patch"});
  EXPECT_EQ(again.node_pools.front().most_nodes, 8);
  EXPECT_EQ(again.node_pools.front().weight, 50);
  ASSERT_TRUE(again.node_pools.front().spot);
  EXPECT_TRUE(again.node_pools.front().spot->falls_back_to_on_demand);
  EXPECT_FALSE(again.node_pools.back().most_nodes);
  EXPECT_EQ(again.provisioner.kind, scenarios::Provisioner::Kind::Karpenter);
  EXPECT_TRUE(again.provisioner.node_overlay);
  EXPECT_EQ(again.provisioner.consolidation, scenarios::Provisioner::Consolidation::WhenEmpty);
  EXPECT_EQ(again.provisioner.consolidate_after, seconds(300));
}

// Of labels those come back that somebody refuses.
TEST(RoundTrip, WhoIsKeptApart) {
  Scenario given = round_trip_sample("demo-after");
  scenarios::PodAffinityTerm term;
  term.match_labels["gpu-memory"] = "large";
  term.namespaces = {"default", "team-a"};
  term.topology_key = scenarios::kHostname;
  Workload& workload = given.workloads.front();
  workload.pod.labels = {{"gpu-memory", "large"}, {"team", "vision"}};
  workload.pod.anti_affinity = {term};
  term.weight = 30;
  term.topology_key = scenarios::kZoneLabel;
  workload.pod.preferences.affinity = {term};
  term.namespaces.clear();
  workload.pod.preferences.anti_affinity = {term};
  workload.pod.preferences.nodes = {
      {7, {{std::string(scenarios::kInstanceTypeLabel), "Exists", {}, {}}}, {}}};
  workload.pod.preferences.spread.emplace_back();
  scenarios::TopologySpread& spread = workload.pod.preferences.spread.front();
  spread.topology_key = scenarios::kHostname;
  spread.match_labels["gpu-memory"] = "large";
  workload.pod.preferences.spread.push_back(spread);
  scenarios::TopologySpread& required = workload.pod.preferences.spread.back();
  required.when_unsatisfiable = scenarios::kDoNotSchedule;
  required.topology_key = scenarios::kZoneLabel;
  required.max_skew = 100;
  required.min_domains = 2;
  required.node_affinity_policy = "Ignore";
  required.node_taints_policy = "Honor";
  for (scenarios::NodePool& pool : given.node_pools) {
    pool.labels[std::string(scenarios::kZoneLabel)] = "us-east-1a";
    pool.labels["rank"] = "7";
  }
  workload.pod.pod_affinity = {workload.pod.preferences.affinity.front()};
  workload.pod.pod_affinity.front().weight = 0;
  workload.pod.node_affinity = {{{{"rank", "Gt", {"5"}, {}}}, {}}};
  const Scenario again = expect_round_trip(given, {"helm-values", "karpenter", "pod-patch"});
  ASSERT_FALSE(again.workloads.empty());
  const scenarios::PodTemplate& pod = again.workloads.front().pod;
  EXPECT_EQ(pod.anti_affinity, workload.pod.anti_affinity);
  EXPECT_EQ(pod.pod_affinity, workload.pod.pod_affinity);
  EXPECT_EQ(pod.node_affinity, workload.pod.node_affinity);
  EXPECT_EQ(pod.preferences, workload.pod.preferences);
  EXPECT_EQ(pod.labels, (std::map<std::string, std::string>{{"gpu-memory", "large"}}));
}

// Beside the patches, by a label that these give the pods.
TEST(RoundTrip, WhoIsNotToBeDisturbed) {
  Scenario given = round_trip_sample("demo-after");
  given.workloads.front().disruption_budget = scenarios::DisruptionBudget{true, false, 2, {}};
  const Scenario again = expect_round_trip(given, {"helm-values", "karpenter", "kustomize"});
  ASSERT_FALSE(again.workloads.empty());
  const std::string& name = given.workloads.front().name.value;
  EXPECT_EQ(again.workloads.front().disruption_budget,
            (scenarios::DisruptionBudget{true, false, 2, {}, name}));
  // A cluster that has it keeps it: apply.sh wrote over budgets that were named like their
  // workload, and rollback.sh deleted them.
  const auto bundle = render_bundle(again, models::load_catalogue(), {});
  ASSERT_TRUE(bundle);
  EXPECT_EQ(std::ranges::count(*bundle, "pods/disruption-budgets.yaml", &ExportFile::path), 0);
}

// Two NodePools with the same labels and sharing: the pods go to either.
TEST(RoundTrip, NodesThatAreBoughtInTwoWays) {
  const Scenario again = expect_round_trip(round_trip_sample("mixed-purchase"),
                                           {"helm-values", "karpenter", "pod-patch"});
  ASSERT_EQ(again.node_pools.size(), 2U);
  EXPECT_EQ(again.node_pools[0].name.value, again.node_pools[1].name.value + "-on-demand");
  EXPECT_EQ(again.node_pools[0].capacity_type, scenarios::CapacityType::OnDemand);
  EXPECT_EQ(again.node_pools[1].capacity_type, scenarios::CapacityType::Spot);
  EXPECT_EQ(again.node_pools[0].labels, again.node_pools[1].labels);
}

TEST(RoundTrip, NodeGroupsOfEksctl) {
  expect_round_trip(round_trip_sample("several-pools"), {"helm-values", "eksctl", "pod-patch"});
  Scenario given = round_trip_sample("demo-before");
  given.provisioner.kind = scenarios::Provisioner::Kind::ClusterAutoscaler;
  given.node_pools.front().nodes = 1;
  given.node_pools.front().most_nodes = 4;
  const Scenario again = expect_round_trip(given, {"helm-values", "eksctl", "pod-patch"});
  EXPECT_EQ(again.node_pools.front().most_nodes, 4);
  EXPECT_EQ(again.provisioner.kind, scenarios::Provisioner::Kind::ClusterAutoscaler);
}

// Its NodePools and node groups are two ways to the same nodes, whoever starts them.
TEST(RoundTrip, ABundleIsOneFleet) {
  for (const char* name :
       {"demo-after", "several-pools", "mig-layouts", "mixed-purchase", "tainted"}) {
    SCOPED_TRACE(name);
    expect_round_trip(round_trip_sample(name), {"bundle"});
  }
  Scenario given = round_trip_sample("demo-before");
  given.provisioner.kind = scenarios::Provisioner::Kind::ClusterAutoscaler;
  given.node_pools.front().nodes = 0;
  given.node_pools.front().most_nodes = 4;
  given.provisioner.scan_interval = seconds(20);
  given.provisioner.unneeded_time = minutes(3);
  const Scenario again = expect_round_trip(given, {"bundle"});
  ASSERT_FALSE(again.node_pools.empty());
  EXPECT_EQ(again.node_pools.front().most_nodes, 4);
  EXPECT_EQ(again.provisioner.kind, scenarios::Provisioner::Kind::ClusterAutoscaler);
  EXPECT_EQ(again.provisioner.scan_interval, seconds(20));
  EXPECT_EQ(again.provisioner.unneeded_time, minutes(3));
}

TEST(RoundTrip, WhenKarpenterDecides) {
  Scenario given = round_trip_sample("demo-before");
  given.provisioner.kind = scenarios::Provisioner::Kind::Karpenter;
  given.provisioner.batch_idle = milliseconds(1'500);
  given.provisioner.batch_max = seconds(30);
  given.node_pools.front().most_nodes = 4;
  const Scenario again = expect_round_trip(given, {"bundle"});
  EXPECT_EQ(again.provisioner.batch_idle, milliseconds(1'500));
  EXPECT_EQ(again.provisioner.batch_max, seconds(30));
}

// Layouts come from the values of the operator, or from mig-parted's file beside the plugin's.
TEST(RoundTrip, Mig) {
  for (const char* name : {"mig-time-slicing", "mig-layouts"}) {
    SCOPED_TRACE(name);
    expect_round_trip(round_trip_sample(name), {"gpu-operator", "karpenter", "pod-patch"});
    expect_round_trip(round_trip_sample(name),
                      {"helm-values", "mig-parted", "karpenter", "pod-patch"});
  }
}

// What no manifest says of the work: that of the AWS demo.
void give_work(Workload& workload) {
  workload.work = scenarios::Work{100, "epoch", 1563};
  scenarios::Measured& measured = workload.measured.emplace();
  measured.device.value = "V100-SXM2-16GB";
  measured.unit_time = seconds(18);
  measured.gpu_busy = 0.38;
  measured.sm_active = 0.21;
  workload.gpu_memory = {scenarios::Allocator::OnDemand, mebibytes(1400), {}, {}};
}

sim::VariantResult figures_of(Scenario scenario) {
  static const models::Catalogue catalogue = models::load_catalogue();
  scenario.duration = hours(2);
  scenario.replications = 1;
  scenario.control_plane = scenarios::ControlPlane::None;
  for (Workload& workload : scenario.workloads) give_work(workload);
  const auto world = sim::build_world(scenario, catalogue);
  if (!world) {
    ADD_FAILURE() << world.error().front().message;
    return {};
  }
  return sim::simulate(*world, {}).value();
}

Scenario by_claims() {
  Scenario given = round_trip_sample("demo-after");
  NodePool& pool = given.node_pools.front();
  pool.device_plugin.reset();
  pool.dra = true;
  pool.nodes = 1;
  scenarios::ResourceClaim shared;
  shared.name.value = "shared";
  shared.selectors = {{std::string(scenarios::selector_of_class("gpu.nvidia.com")), {}},
                      {"device.attributes['gpu.nvidia.com'].productName.startsWith('Tesla')", {}}};
  shared.sharing.emplace().interval = scenarios::TurnInterval::Long;
  scenarios::ResourceClaim own;
  own.name.value = "own";
  own.is_template = true;
  own.selectors = {shared.selectors.front()};
  given.claims = {shared, own};
  Workload& first = given.workloads.front();
  first.count = 5;
  first.pod.extended.clear();
  first.pod.claim.value = "shared";
  given.workloads.push_back(first);
  given.workloads.back().name.value = "alone";
  given.workloads.back().count = 2;
  given.workloads.back().pod.claim.value = "own";
  return given;
}

TEST(RoundTrip, ClaimsOfTheDraDriver) {
  const Scenario given = by_claims();
  const Scenario again = expect_round_trip(given, {"dra", "pod-patch", "eksctl"});
  ASSERT_EQ(again.claims.size(), 2U);
  ASSERT_EQ(again.workloads.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(again.claims[c].name.value, given.claims[c].name.value);
    EXPECT_EQ(again.claims[c].is_template, given.claims[c].is_template);
    ASSERT_EQ(again.claims[c].selectors.size(), given.claims[c].selectors.size());
    for (std::size_t s = 0; s < given.claims[c].selectors.size(); ++s) {
      EXPECT_EQ(again.claims[c].selectors[s].value, given.claims[c].selectors[s].value);
    }
    EXPECT_EQ(again.claims[c].sharing.has_value(), given.claims[c].sharing.has_value());
  }
  EXPECT_EQ(again.claims[0].sharing->interval, scenarios::TurnInterval::Long);
  EXPECT_TRUE(again.node_pools.front().dra);
  for (std::size_t w = 0; w < 2; ++w) {
    EXPECT_EQ(again.workloads[w].pod.claim.value, given.workloads[w].pod.claim.value);
  }
  expect_same_figures(figures_of(given), figures_of(again));
}

// --vgpu and the limit of the MPS daemon are in the DaemonSet, which runs by a label of the nodes.
TEST(RoundTrip, AwsVirtualGpus) {
  Scenario given = round_trip_sample("demo-after");
  NodePool& pool = given.node_pools.front();
  pool.device_plugin.reset();
  pool.virtual_gpu.emplace().per_gpu = 7;
  pool.mps.emplace().active_threads = 0.3;
  for (Workload& workload : given.workloads) {
    workload.pod.extended.front().name.value = "k8s.amazonaws.com/vgpu";
  }
  for (const char* maker : {"eksctl", "karpenter"}) {
    for (const std::vector<std::string>& kinds :
         {std::vector<std::string>{"aws-vgpu", maker}, std::vector<std::string>{"bundle"}}) {
      const Scenario again = expect_round_trip(given, kinds);
      ASSERT_TRUE(again.node_pools.front().virtual_gpu);
      EXPECT_EQ(again.node_pools.front().virtual_gpu->per_gpu, 7);
      EXPECT_EQ(again.node_pools.front().mps->active_threads, 0.3);
      expect_same_figures(figures_of(given), figures_of(again));
    }
  }
}

// The gate is in the driver's values, by which the nodes are told from others.
TEST(RoundTrip, MigDevicesThatAreMadeForClaims) {
  Scenario given = by_claims();
  NodePool& pool = given.node_pools.front();
  pool.instance_type.value = "p4d.24xlarge";
  pool.dynamic_mig.emplace();
  given.claims.erase(given.claims.begin());
  given.claims[0].selectors = {{std::string(scenarios::selector_of_class("mig.nvidia.com")), {}},
                               {"device.attributes['gpu.nvidia.com'].profile == '3g.20gb'", {}}};
  given.workloads.erase(given.workloads.begin());
  given.workloads[0].count = 20;  // of which 16 run
  scenarios::ImportOptions options;
  sim::take_catalogue(models::load_catalogue(), options);
  const Scenario again = expect_round_trip(given, {"bundle", "eksctl"}, options);
  EXPECT_TRUE(again.node_pools.front().dynamic_mig);
  EXPECT_FALSE(again.node_pools.front().mig);
  expect_same_figures(figures_of(given), figures_of(again));
}

// The claims of the demo's export, with Deployments that name them as its comments say, are the
// device plugin's placement: five pods on each GPU.
TEST(RoundTrip, TheDemosClaimsPlaceItsPodsAsThePluginDid) {
  Scenario given = round_trip_sample("demo-after");
  given.node_pools.front().nodes = 1;
  std::vector<SourceText> files;
  for (const ExportKind& kind : kExportKinds) {
    if (kind.name != "dra" && kind.name != "eksctl") continue;
    const auto written = kind.render(given, models::load_catalogue(), {});
    ASSERT_TRUE(written);
    for (const ExportFile& file : *written) files.push_back({file.path, file.text});
  }
  std::string pods;
  for (const char* n : {"1", "2", "3", "4"}) {
    pods += std::string("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cifar10-") +
            n +
            ", namespace: default, annotations: {slicewise.dev/kind: Deployment}}\n"
            "spec: {replicas: 5, template: {spec: {resourceClaims: [{name: gpu, "
            "resourceClaimName: cifar10-gpu-" +
            n +
            "}], containers: [{name: c, resources: {requests: {cpu: 1500m, memory: 4Gi}, claims: "
            "[{name: gpu}]}}]}}}\n";
  }
  files.push_back({"pods.yaml", pods});
  const scenarios::ImportOptions options;
  const auto imported = scenarios::import_log(scenarios::ImportKind::K8s, files, options);
  ASSERT_TRUE(imported) << imported.error().front().message;
  const std::string yaml =
      scenarios::scenario_of(*imported, scenarios::ImportKind::K8s, options).yaml;
  const auto loaded = scenarios::load_scenario({"again.yaml", yaml});
  ASSERT_TRUE(loaded) << loaded.error().front().message << " in\n" << yaml;
  const Scenario& again = loaded->variants.front();
  ASSERT_EQ(again.workloads.size(), 4U) << yaml;
  EXPECT_EQ(again.claims.size(), 4U);
  expect_same_figures(figures_of(given), figures_of(again));
}

}  // namespace
}  // namespace slicewise::reports
