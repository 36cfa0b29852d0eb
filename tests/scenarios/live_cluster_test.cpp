#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

// `import k8s` of what a cluster holds: nodes, pods that controllers made, figures of Prometheus.
namespace slicewise::scenarios {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(std::string(SLICEWISE_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Read {
  Imported imported;
  Scenario scenario;

  const Workload& workload(const std::string& name) const {
    for (const Workload& one : scenario.workloads) {
      if (one.name.value == name) return one;
    }
    throw std::runtime_error("no workload " + name);
  }
  std::int64_t said(const std::string& what) const {
    for (const ImportRemark& remark : imported.log.remarks) {
      if (remark.what.find(what) != std::string::npos) return remark.count;
    }
    return 0;
  }
};

Read read(const std::vector<std::string>& texts, const ImportOptions& options = {}) {
  std::vector<SourceText> files;
  for (const std::string& text : texts) files.push_back({"f.json", text});
  auto imported = import_log(ImportKind::K8s, files, options);
  if (!imported) throw std::runtime_error(imported.error().front().message);
  const std::string yaml = scenario_of(*imported, ImportKind::K8s, options).yaml;
  const auto loaded = load_scenario({"out.yaml", yaml});
  if (!loaded) throw std::runtime_error(loaded.error().front().message + " in\n" + yaml);
  return {std::move(*imported), loaded->variants.front()};
}

Read read_recorded(const std::vector<std::string>& more = {}, const ImportOptions& options = {}) {
  std::vector<std::string> texts = {file_text("scenarios/examples/logs/kubectl.json")};
  texts.insert(texts.end(), more.begin(), more.end());
  return read(texts, options);
}

TEST(LiveCluster, NodesAreOfTheGroupsThatTheirLabelsName) {
  std::string text = file_text("scenarios/examples/logs/kubectl.json");
  // One node of the group shares its GPUs in another way: a pool of its own.
  const std::string config = "\"nvidia.com/device-plugin.config\": \"four\"";
  text.replace(text.find(config), config.size(), "\"nvidia.com/device-plugin.config\": \"whole\"");
  const Read cluster = read({text});
  const std::vector<NodeGroup>& groups = cluster.imported.groups;
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].maker, NodeMaker::ManagedGroup);
  EXPECT_EQ(groups[0].name, "voice-t4");
  EXPECT_EQ(groups[0].pools.size(), 2U);
  EXPECT_EQ(groups[0].nodes, 3);
  EXPECT_EQ(groups[1].name, "research-a10g");
  EXPECT_EQ(groups[1].nodes, 1);
  EXPECT_EQ(groups[2].maker, NodeMaker::Karpenter);
  EXPECT_EQ(groups[2].name, "burst");
  EXPECT_EQ(groups[2].nodes, 0);
  EXPECT_EQ(groups[2].most_nodes, 4);
  std::set<std::string> pools;
  for (const NodeGroup& group : groups) pools.insert(group.pools.begin(), group.pools.end());
  for (const NodePool& pool : cluster.scenario.node_pools) {
    EXPECT_TRUE(pools.contains(pool.name.value)) << pool.name.value;
  }
}

TEST(LiveCluster, NodesThatAreAlikeAreAPoolOfAsMany) {
  const Read cluster = read_recorded();
  ASSERT_EQ(cluster.scenario.node_pools.size(), 3U);
  const NodePool& voice = cluster.scenario.node_pools[0];
  EXPECT_EQ(voice.name.value, "voice-t4");
  EXPECT_EQ(voice.instance_type.value, "g4dn.xlarge");
  EXPECT_EQ(voice.nodes, 3);
  EXPECT_EQ(voice.labels.at("team"), "voice");
  EXPECT_EQ(voice.labels.at("eks.amazonaws.com/nodegroup"), "voice-t4");
  EXPECT_EQ(voice.labels.count("topology.kubernetes.io/zone"), 0U);
  EXPECT_EQ(voice.taints.size(), 1U);
  // By its label, from the ConfigMap that the device plugin mounts.
  ASSERT_TRUE(voice.device_plugin.has_value());
  ASSERT_TRUE(voice.device_plugin->time_slicing.has_value());
  EXPECT_EQ(voice.device_plugin->time_slicing->resources.at(0).replicas, 4);
  EXPECT_EQ(cluster.scenario.region, "eu-central-1");
}

// The others took the only nodes that would do, and the cluster that was read looked broken.
TEST(LiveCluster, PodsThatFitOnFewNodesComeFirst) {
  const Read cluster = read({R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {
      "node.kubernetes.io/instance-type": "g5.xlarge"}}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b", "labels": {
      "node.kubernetes.io/instance-type": "g5.2xlarge", "team": "voice"}}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "any"}, "spec": {
      "replicas": 1, "selector": {}, "template": {"spec": {"containers": [
        {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "picky"}, "spec": {
      "replicas": 1, "selector": {}, "template": {"spec": {"nodeSelector": {"team": "voice"},
      "containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "picky-7-x",
      "labels": {"pod-template-hash": "7"}, "ownerReferences": [
        {"kind": "ReplicaSet", "name": "picky-7", "controller": true}]},
      "spec": {"nodeName": "b", "containers": [
        {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}]})"});
  ASSERT_EQ(cluster.scenario.workloads.size(), 2U);
  EXPECT_EQ(cluster.scenario.workloads.front().name.value, "picky");
  EXPECT_EQ(cluster.imported.on_nodes, (std::map<std::string, std::int64_t>{{"picky", 1}}));
  const std::vector<StartPlace>& there = cluster.workload("picky").starts_on;
  ASSERT_EQ(there.size(), 1U);
  EXPECT_EQ(there.front().pool.value, cluster.scenario.node_pools[1].name.value);
  EXPECT_EQ(there.front().node, 1);
  EXPECT_EQ(there.front().pods, 1);
  EXPECT_TRUE(cluster.workload("any").starts_on.empty());
}

// An InferenceService of at least two whose HPA has made it three counted as two.
TEST(LiveCluster, OperatorsHaveAsManyPodsAsRun) {
  const std::string containers = R"([{"name": "c", "image": "x",
    "resources": {"limits": {"nvidia.com/gpu": 1}}}])";
  const auto made_by = [](const std::string& kind, const std::string& name) {
    return R"("ownerReferences": [{"kind": ")" + kind + R"(", "name": ")" + name +
           R"(", "controller": true}])";
  };
  const std::string deployment =
      R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "f-predictor", )" +
      made_by("InferenceService", "f") + R"(}, "spec": {"replicas": 3, "selector": {},
        "template": {"spec": {"containers": )" +
      containers + "}}}}, ";
  const std::string served = R"({"apiVersion": "serving.kserve.io/v1beta1",
      "kind": "InferenceService", "metadata": {"name": "f", "annotations": {
        "serving.kserve.io/deploymentMode": "Standard"}}, "spec": {"predictor": {
        "minReplicas": 2, "maxReplicas": 5, "containers": )" +
                             containers + "}}}";
  const std::string ray = R"({"apiVersion": "ray.io/v1", "kind": "RayCluster",
      "metadata": {"name": "r"}, "spec": {"workerGroupSpecs": [{"groupName": "g", "replicas": 1,
        "minReplicas": 1, "maxReplicas": 4, "template": {"spec": {"containers": )" +
                          containers + "}}}]}}";
  const auto pod = [&](const std::string& name) {
    return R"(, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name + R"(", )" +
           made_by("RayCluster", "r") + R"(}, "spec": {"nodeName": "n", "containers": )" +
           containers + R"(}, "status": {"phase": "Running"}})";
  };
  const Read cluster = read({R"({"apiVersion": "v1", "kind": "List", "items": [)" + deployment +
                             served + ", " + ray + pod("r-1") + pod("r-2") + "]}"});
  ASSERT_EQ(cluster.scenario.workloads.size(), 2U);
  EXPECT_EQ(cluster.workload("f-predictor").count, 3);
  EXPECT_EQ(cluster.workload("r-g").count, 2);
  EXPECT_EQ(cluster.said("InferenceService with as many pods as run now"), 1);
  EXPECT_EQ(cluster.said("RayCluster with as many pods as run now"), 1);
}

TEST(LiveCluster, NodesThatTakeNoPodsAndNodesWithoutGpusAreLeftOut) {
  const Read cluster = read_recorded();
  EXPECT_EQ(cluster.scenario.node_pools[1].name.value, "research-a10g");
  EXPECT_EQ(cluster.scenario.node_pools[1].nodes, 1);
  EXPECT_EQ(cluster.said("nodes that take no pods now"), 1);
  EXPECT_EQ(cluster.said("nodes without GPUs"), 1);
}

TEST(LiveCluster, ANodePoolWithoutNodesIsWhatMayBeStartedOneWithNodesIsThese) {
  const Read none = read_recorded();
  EXPECT_EQ(none.scenario.node_pools[2].name.value, "burst");
  // As its nodes would have it: exports find them by that, and labelled those of no node group.
  EXPECT_EQ(none.scenario.node_pools[2].labels.at("karpenter.sh/nodepool"), "burst");
  const Read some = read_recorded({R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",
    "labels": {"node.kubernetes.io/instance-type": "g6.xlarge", "karpenter.sh/nodepool": "burst",
               "karpenter.sh/capacity-type": "spot"}}})"});
  const NodePool& pool = some.scenario.node_pools[2];
  EXPECT_EQ(pool.name.value, "burst");
  EXPECT_EQ(pool.nodes, 1);
  EXPECT_EQ(pool.capacity_type, CapacityType::Spot);
  EXPECT_EQ(some.scenario.node_pools.size(), 3U);
  EXPECT_EQ(some.said("NodePools that have nodes"), 1);
}

// An advice deleted it, and said that pods ran on pools which were made up.
TEST(LiveCluster, ANodePoolThatMakesNodesWithoutGpusIsTold) {
  const auto pool = [](const std::string& name, const std::string& requirement) {
    return R"({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": ")" +
           name + R"("}, "spec": {"template": {"spec": {"requirements": [)" + requirement + "]}}}}";
  };
  const Read cluster = read_recorded(
      {pool("general", R"({"key": "karpenter.k8s.aws/instance-category", "operator": "In",
                          "values": ["c", "g"]})"),
       pool("gpus", R"({"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt",
                       "values": ["0"]})")});
  const auto group = [&](const std::string& name) {
    return *std::ranges::find(cluster.imported.groups, name, &NodeGroup::name);
  };
  EXPECT_TRUE(group("general").makes_others);
  EXPECT_FALSE(group("gpus").makes_others);
  EXPECT_FALSE(group("burst").makes_others);
  EXPECT_FALSE(group("voice-t4").makes_others);
  EXPECT_TRUE(std::get<ScenarioText>(cluster.imported.content).assumed_pools.empty());
  const Read some = read_recorded({R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",
    "labels": {"node.kubernetes.io/instance-type": "m6i.xlarge", "karpenter.sh/nodepool": "burst"}}})"});
  EXPECT_TRUE(std::ranges::find(some.imported.groups, "burst", &NodeGroup::name)->makes_others);
}

TEST(LiveCluster, WhatGpuFeatureDiscoverySaysIsTheSharingWhereNoSettingsAreRead) {
  const Read cluster = read({R"({"kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {
      "node.kubernetes.io/instance-type": "g5.xlarge", "nvidia.com/gpu.replicas": "3",
      "nvidia.com/gpu.product": "NVIDIA-A10G", "nvidia.com/gpu.sharing-strategy": "mps"}}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "x"}, "spec": {"containers": [
      {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu.shared": "1"}}}]}}]})"});
  ASSERT_TRUE(cluster.scenario.node_pools[0].device_plugin.has_value());
  const DevicePlugin& plugin = *cluster.scenario.node_pools[0].device_plugin;
  ASSERT_TRUE(plugin.mps.has_value());
  EXPECT_EQ(plugin.mps->resources.at(0).replicas, 3);
  EXPECT_TRUE(plugin.mps->rename_by_default);
}

TEST(LiveCluster, PodsCountOnceWithTheirObjectOrTogetherUnderTheirController) {
  const Read cluster = read_recorded();
  EXPECT_EQ(cluster.scenario.workloads.size(), 3U);
  EXPECT_EQ(cluster.workload("asr").count, 3);
  EXPECT_EQ(cluster.workload("tts").count, 2);
  EXPECT_EQ(cluster.workload("finetune").kind, WorkloadKind::Job);
  EXPECT_EQ(cluster.said("objects of kind Pod that others here make: counted there"), 5);
  EXPECT_EQ(cluster.said("objects of kind Pod that have ended"), 1);
}

TEST(LiveCluster, PodsOfAnUnknownControllerAreAsManyAsThereAre) {
  const auto pod = [](const std::string& name) {
    return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
           R"(", "namespace": "x",
      "ownerReferences": [{"kind": "RayCluster", "name": "ray", "controller": true}]}, "spec": {"containers": [
      {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}})";
  };
  const Read cluster = read({pod("ray-a"), pod("ray-b"), pod("ray-c")});
  ASSERT_EQ(cluster.scenario.workloads.size(), 1U);
  EXPECT_EQ(cluster.workload("ray").count, 3);
}

// A manifest that names no namespace is of "default", as what the cluster made of it says.
TEST(LiveCluster, PodsOfAManifestWithoutANamespaceCountOnceAsWell) {
  const std::string spec =
      R"({"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]})";
  const Read cluster = read(
      {R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "asr"}, "spec": {"replicas": 2,
          "template": {"spec": )" +
           spec + "}}}",
       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asr-5d9c6b7f4-x", "namespace": "default",
          "labels": {"pod-template-hash": "5d9c6b7f4"}, "ownerReferences": [{"kind": "ReplicaSet",
          "name": "asr-5d9c6b7f4", "controller": true}]}, "spec": )" +
           spec + "}"});
  ASSERT_EQ(cluster.scenario.workloads.size(), 1U);
  EXPECT_EQ(cluster.workload("asr").count, 2);
  EXPECT_EQ(cluster.said("that others here make: counted there"), 1);
}

// A serverless model: KServe makes a Knative Service, of which Knative makes Revisions and their
// Deployments.
TEST(LiveCluster, WhatOperatorsMadeCountsWithTheObjectThatPeopleWrote) {
  const auto object = [](const std::string& head, const std::string& metadata) {
    return "{" + head + R"(, "metadata": {"namespace": "x", )" + metadata + R"(}, "spec": )";
  };
  const std::string pods =
      R"({"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits":
      {"nvidia.com/gpu": "1"}}}]}})";
  const Read cluster = read(
      {object(R"("apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService")",
              R"("name": "llama")") +
           R"({"predictor": {"minReplicas": 1, "maxReplicas": 3, "containers": [{"name": "c", "image": "i",
               "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}})",
       object(
           R"("apiVersion": "serving.knative.dev/v1", "kind": "Service")",
           R"("name": "llama-predictor", "ownerReferences": [{"kind": "InferenceService", "name": "llama",
                 "controller": true}])") +
           R"({"template": )" + pods + "}}",
       object(
           R"("apiVersion": "apps/v1", "kind": "Deployment")",
           R"("name": "llama-predictor-00001-deployment", "labels": {"serving.knative.dev/service":
                 "llama-predictor"}, "ownerReferences": [{"kind": "Revision",
                 "name": "llama-predictor-00001", "controller": true}])") +
           R"({"replicas": 1, "template": )" + pods + "}}"});
  ASSERT_EQ(cluster.scenario.workloads.size(), 1U);
  EXPECT_EQ(cluster.scenario.workloads[0].count, 3);
  EXPECT_EQ(cluster.said("that others here make: counted there"), 1);
}

// KEDA makes an HPA of each, for the same Deployment.
TEST(LiveCluster, AScaledObjectSaysMoreThanTheHpaThatIsMadeOfIt) {
  const std::string hpa =
      R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "keda-hpa-a",
          "namespace": "x", "ownerReferences": [{"kind": "ScaledObject", "name": "a", "controller": true}]},
          "spec": {"minReplicas": 1, "maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "a"},
          "metrics": [{"type": "Pods", "pods": {"metric": {"name": "requests_in_flight"},
          "target": {"type": "AverageValue", "averageValue": "5"}}}]}})";
  const std::string scaled =
      R"({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "a", "namespace": "x"},
          "spec": {"minReplicaCount": 2, "maxReplicaCount": 7, "scaleTargetRef": {"name": "a"}, "triggers": [
          {"type": "prometheus", "metadata": {"query": "requests_in_flight", "threshold": "5"}}]}})";
  const std::string deployment =
      R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "x"}, "spec": {
          "replicas": 2, "template": {"spec": {"containers": [{"name": "c", "image": "i", "readinessProbe": {},
          "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}})";
  EXPECT_EQ(read({deployment, scaled, hpa}).workload("a").count, 7);
  EXPECT_EQ(read({hpa, scaled, deployment}).workload("a").count, 7);
  EXPECT_EQ(read({hpa, deployment}).workload("a").count, 9);
}

// The chart's account may list all that kubectl is asked for (of the rest: tests/export).
TEST(LiveCluster, ObjectsOfOperatorsMayBeListed) {
  const std::string rights = file_text("tools/chart/templates/rights.yaml");
  for (const std::string& resource : resources_with_pods()) {
    const std::size_t dot = resource.find('.');
    const std::size_t rule = rights.find("apiGroups: [" + resource.substr(dot + 1) + "]");
    ASSERT_NE(rule, std::string::npos) << resource;
    const std::size_t resources = rights.find("resources: [", rule);
    const std::string list = rights.substr(resources, rights.find(']', resources) - resources);
    EXPECT_NE(list.find(resource.substr(0, dot)), std::string::npos) << resource;
  }
}

// Samples of a series a minute apart, from `first` on.
std::string series(const std::string& labels, const std::vector<std::string>& values) {
  std::string text;
  std::int64_t at = 1'718'000'000;
  for (const std::string& value : values) {
    text += (text.empty() ? "[" : ", [") + std::to_string(at) + ", \"" + value + "\"]";
    at += 60;
  }
  return R"({"metric": {)" + labels + R"(}, "values": [)" + text + "]}";
}

std::string answered(const std::string& all) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + all + "]}}";
}

std::string of_pod(const std::string& metric, const std::string& pod,
                   const std::string& more = "") {
  return R"("__name__": ")" + metric + R"(", "namespace": "voice", "pod": ")" + pod +
         R"(", "uid": ")" + pod + "\"" + (more.empty() ? "" : ", ") + more;
}

std::string recording() {
  const std::string pod = "asr-6d5f7c8b9f-bx2zq";
  return answered(
      series(of_pod("kube_pod_created", pod), {"1717999000"}) + "," +
      series(of_pod("kube_pod_status_scheduled_time", pod), {"1717999010"}) + "," +
      series(of_pod("kube_pod_container_state_started", pod, R"("container": "main")"),
             {"1717999030"}) +
      "," +
      series(of_pod("kube_pod_info", pod,
                    R"("created_by_kind": "ReplicaSet", "created_by_name": "asr-6d5f7c8b9f")"),
             {"1"}) +
      "," +
      series(of_pod("kube_pod_container_resource_requests", pod,
                    R"("container": "main", "resource": "nvidia_com_gpu")"),
             {"1", "1"}) +
      "," +
      series(
          R"("__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": "GPU-1", "exported_namespace": "voice", "exported_pod": ")" +
              pod + "\"",
          {"20", "40"}) +
      "," + series(of_pod("vllm:request_success_total", pod), {"0", "600"}) + "," +
      series(of_pod("asr_seconds_bucket", pod, R"("le": "0.1")"), {"0", "50"}) + "," +
      series(of_pod("asr_seconds_bucket", pod, R"("le": "0.2")"), {"0", "100"}) + "," +
      series(of_pod("asr_seconds_bucket", pod, R"("le": "+Inf")"), {"0", "100"}));
}

TEST(LiveCluster, FiguresOfPrometheusStandWhereManifestsHaveNone) {
  const Read cluster = read_recorded({recording()});
  const Workload& asr = cluster.workload("asr");
  // 600 requests in a minute, and 30 % of a GPU for each of three pods.
  ASSERT_TRUE(asr.traffic.has_value());
  EXPECT_NEAR(asr.traffic->mean.per_second, 10, 1e-6);
  EXPECT_EQ(cluster.said("workloads with figures of Prometheus"), 1);
  EXPECT_EQ(cluster.workload("tts").traffic->mean.per_second, 1);
}

TEST(LiveCluster, WhatWasRecordedIsKeptToHoldASimulationTo) {
  ImportOptions options;
  options.latency = "asr_seconds";
  const Read cluster = read_recorded({recording()}, options);
  ASSERT_EQ(cluster.imported.recorded.size(), 1U);
  const RecordedWorkload& asr = cluster.imported.recorded.front();
  EXPECT_EQ(asr.name, "asr");
  EXPECT_EQ(asr.space, "voice");
  EXPECT_EQ(asr.pods_at_once, 3);
  EXPECT_NEAR(asr.gpu_use.value(), 0.3, 1e-9);
  EXPECT_EQ(asr.wait, seconds(30));
  // Of these on its node, which is what a pod that starts later needs, too; in line for one before.
  EXPECT_EQ(asr.startup, seconds(20));
  EXPECT_EQ(cluster.workload("asr").startup.image_pull, seconds(20));
  EXPECT_EQ(cluster.workload("tts").startup.image_pull, Duration{});
  // Half of the requests up to 0.1 s, the rest evenly up to 0.2 s.
  EXPECT_EQ(asr.latency_p50, from_seconds(0.1));
  EXPECT_EQ(asr.latency_p95, from_seconds(0.19));
}

TEST(LiveCluster, AHistogramIsFoundByTheNameOfItsSeriesAndMissedAloud) {
  ImportOptions options;
  options.latency = "asr_seconds_bucket";
  const Read found = read_recorded({recording()}, options);
  EXPECT_EQ(found.imported.recorded.front().latency_p50, from_seconds(0.1));
  const auto says = [](const Read& cluster) {
    return std::ranges::any_of(cluster.imported.log.remarks, [](const ImportRemark& remark) {
      return remark.what.starts_with("no requests in series of nope_seconds_bucket");
    });
  };
  EXPECT_FALSE(says(found));
  options.latency = "nope_seconds";
  EXPECT_TRUE(says(read_recorded({recording()}, options)));
}

TEST(LiveCluster, PlaceholdersAreWorkloadsOfWhichNeitherLoadNorGpuTimeIsKnown) {
  const auto names = [](const Read& cluster) {
    std::vector<std::string> placeholders;
    for (const Workload& workload : cluster.scenario.workloads) {
      if (workload.placeholder) placeholders.push_back(workload.name.value);
    }
    return placeholders;
  };
  EXPECT_EQ(names(read_recorded()), (std::vector<std::string>{"asr", "tts", "finetune"}));
  EXPECT_EQ(names(read_recorded({recording()})), (std::vector<std::string>{"tts", "finetune"}));
}

}  // namespace
}  // namespace slicewise::scenarios
