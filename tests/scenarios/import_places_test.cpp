#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"

#include "imported_scenario.hpp"

// On which pools of an imported scenario pods run, and what of them is carried or said to be lost.
namespace slicewise::scenarios {
namespace {

using Labels = std::map<std::string, std::string>;

const std::vector<InstanceGpus> kTypes = {{"g4dn.xlarge", "t4", 1},
                                          {"g5.xlarge", "a10g", 1},
                                          {"g6.xlarge", "l4", 1},
                                          {"g6e.xlarge", "l40s", 1},
                                          {"p4d.24xlarge", "a100", 8}};

Written imported(const std::vector<std::string>& texts) {
  ImportOptions options;
  options.instances = kTypes;
  return k8s(texts, options);
}

std::string node_pool(const std::string& name, const std::string& requirements,
                      const std::string& more = "") {
  return "---\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {" + more +
         "template: {spec: {requirements: [" + requirements + "]}}}\n";
}

std::string of_types(const std::string& types) {
  return "{key: node.kubernetes.io/instance-type, operator: In, values: [" + types + "]}";
}

std::string pods(const std::string& name, const std::string& spec,
                 const std::string& resource = "nvidia.com/gpu") {
  return "---\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {template: {spec: {" + spec +
         (spec.empty() ? "" : ", ") + "containers: [{name: c, resources: {limits: {" + resource +
         ": 1}}}]}}}\n";
}

std::string affinity(const std::string& terms) {
  return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [" +
         terms + "]}}}";
}

// All of these ran wherever there was a GPU.
TEST(ImportPlaces, PodsKeepToThePoolsThatMeetWhatTheyRequire) {
  const std::string two = node_pool("small", of_types("g4dn.xlarge")) +
                          node_pool("big", of_types("g6e.xlarge") +
                                               ", {key: topology.kubernetes.io/zone, operator: In, "
                                               "values: [us-east-1b]}");
  const auto selector_of = [&](const std::string& spec) {
    const Written result = imported({two + pods("w", spec)});
    EXPECT_EQ(result.scenario.node_pools.size(), 2U) << spec;
    return result.find("w")->pod.node_selector;
  };
  const Labels big = {{"karpenter.sh/nodepool", "big"}};
  EXPECT_EQ(selector_of("nodeSelector: {karpenter.k8s.aws/instance-gpu-name: l40s}"),
            (Labels{{"karpenter.k8s.aws/instance-gpu-name", "l40s"}}));
  EXPECT_EQ(selector_of("nodeSelector: {karpenter.sh/nodepool: big}"), big);
  EXPECT_EQ(selector_of("nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}"), big);
  EXPECT_EQ(selector_of(affinity("{matchExpressions: [{key: karpenter.k8s.aws/instance-family, "
                                 "operator: NotIn, values: [g4dn]}]}")),
            big);
  EXPECT_EQ(selector_of(affinity(
                "{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: "
                "[NVIDIA-L40S]}]}, {matchExpressions: [{key: a, operator: In, values: [b]}]}")),
            big);
  EXPECT_EQ(selector_of("nodeSelector: {kubernetes.io/os: linux}"), Labels{});
  // Zones are in no scenario: the other pool may be in it.
  EXPECT_EQ(selector_of("nodeSelector: {topology.kubernetes.io/zone: us-east-1b}"), Labels{});
  EXPECT_EQ(selector_of("nodeSelector: {topology.kubernetes.io/zone: us-east-1a}"),
            (Labels{{"karpenter.sh/nodepool", "small"}}));
}

TEST(ImportPlaces, SeveralPoolsHaveALabelForThePodsThatAreMeantForThem) {
  const Written result =
      imported({node_pool("old", of_types("g4dn.xlarge")) +
                node_pool("new", of_types("g5.xlarge, g6.xlarge")) +
                pods("w", "nodeSelector: {karpenter.sh/nodepool: new}") + pods("free", "")});
  ASSERT_EQ(result.scenario.node_pools.size(), 3U);
  const Labels label = {{"slicewise.dev/nodes-1", "true"}};
  EXPECT_EQ(result.find("w")->pod.node_selector, label);
  EXPECT_EQ(result.find("free")->pod.node_selector, Labels{});
  EXPECT_EQ(result.scenario.node_pools[0].labels, Labels{});
  EXPECT_EQ(result.scenario.node_pools[1].labels, label);
  EXPECT_EQ(result.scenario.node_pools[2].labels, label);
  EXPECT_TRUE(result.said.says("several node pools here meet"));
}

TEST(ImportPlaces, WhatNoPoolMeetsIsSaidToBeLeftOut) {
  const auto says = [](const std::string& requirement, const std::string& spec,
                       const std::string& word) {
    const Written result =
        imported({node_pool("gpu", of_types("g5.xlarge") + ", " + requirement) + pods("w", spec)});
    return result.said.says("left out: " + word);
  };
  const std::string capacity = "karpenter.sh/capacity-type";
  const std::string on_demand = "{key: " + capacity + ", operator: In, values: [on-demand]}";
  EXPECT_TRUE(says(on_demand, "nodeSelector: {" + capacity + ": spot}", capacity));
  EXPECT_FALSE(says(on_demand, "nodeSelector: {" + capacity + ": on-demand}", capacity));
  const std::string zone = "topology.kubernetes.io/zone";
  const std::string east = "{key: " + zone + ", operator: In, values: [us-east-1a, us-east-1b]}";
  EXPECT_TRUE(says(east, "nodeSelector: {" + zone + ": us-west-2a}", zone));
  EXPECT_FALSE(says(east, "nodeSelector: {" + zone + ": us-east-1b}", zone));
  EXPECT_TRUE(says(on_demand, "nodeSelector: {" + zone + ": us-east-1b}", zone));
  EXPECT_TRUE(says(east,
                   affinity("{matchExpressions: [{key: karpenter.sh/nodepool, operator: NotIn, "
                            "values: [gpu]}]}"),
                   "karpenter.sh/nodepool"));
}

TEST(ImportPlaces, PoolsThatAreMadeUpBesideThoseOfTheFilesAreNamed) {
  const Written result =
      imported({node_pool("gpu", of_types("g5.xlarge")) +
                pods("w", "nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}")});
  ASSERT_EQ(result.scenario.node_pools.size(), 2U);
  EXPECT_EQ(result.find("w")->pod.node_selector,
            (Labels{{"karpenter.sh/nodepool", result.scenario.node_pools[1].name.value}}));
  EXPECT_TRUE(result.said.says("node pools that no file has"));
}

std::string mig_node(const std::string& layout, const std::string& allocatable) {
  return "kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: p4d.24xlarge, "
         "nvidia.com/mig.config: " +
         layout + "}}\nstatus: {allocatable: {" + allocatable + "}}\n";
}

// A second pool came to be for the profile, whose price an advice then claimed to save.
TEST(ImportPlaces, MigLayoutsOfSeveralProfilesHaveEachOfThem) {
  const auto pools = [](const std::string& resource) {
    return imported(
               {mig_node("all-balanced", "nvidia.com/mig-1g.5gb: 16") + pods("w", "", resource)})
        .scenario.node_pools.size();
  };
  EXPECT_EQ(pools("nvidia.com/mig-1g.5gb"), 1U);
  EXPECT_EQ(pools("nvidia.com/mig-3g.20gb"), 1U);
  EXPECT_EQ(pools("nvidia.com/mig-7g.40gb"), 2U);
  const std::string layout =
      "---\nversion: v1\nmig-configs: {half: [{devices: [0, 1, 2, 3], mig-enabled: true, "
      "mig-devices: {1g.5gb: 2}}, {devices: [4, 5, 6, 7], mig-enabled: false, mig-devices: {}}]}\n";
  const auto pools_of_half = [&](const std::string& resource) {
    return imported({mig_node("half", "cpu: 96") + layout + pods("w", "", resource)})
        .scenario.node_pools.size();
  };
  EXPECT_EQ(pools_of_half("nvidia.com/gpu"), 1U);
  EXPECT_EQ(pools_of_half("nvidia.com/mig-1g.5gb"), 1U);
  EXPECT_EQ(pools_of_half("nvidia.com/mig-2g.10gb"), 2U);
}

TEST(ImportPlaces, NodePoolsGrowAsFarAsTheirLimitsGo) {
  ImportOptions options;
  options.instances = kTypes;
  options.instances[1].labels = {{"node.kubernetes.io/instance-type", "g5.xlarge"},
                                 {"karpenter.k8s.aws/instance-cpu", "4"},
                                 {"karpenter.k8s.aws/instance-memory", "16384"}};
  const auto most = [&](const std::string& limits, const std::string& overlay = "") {
    const Written result =
        k8s({node_pool("gpu", of_types("g5.xlarge"), "limits: {" + limits + "}, ") + overlay +
             pods("w", "")},
            options);
    return result.scenario.node_pools.front().most_nodes.value_or(0);
  };
  EXPECT_EQ(most("cpu: 8"), 2);
  EXPECT_EQ(most("memory: 64Gi"), 4);
  EXPECT_EQ(most("nvidia.com/gpu: 32"), 32);
  EXPECT_EQ(most("nvidia.com/gpu: 32",
                 "---\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {capacity: {nvidia.com/gpu: "
                 "4}}\n"),
            8);
}

TEST(ImportPlaces, JobsHaveNoMorePodsAtOnceThanCompletions) {
  const Written result = imported(
      {"kind: Job\nmetadata: {name: j}\nspec: {parallelism: 10, completions: 2, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
       "1}}}]}}}\n"
       "---\nkind: JobSet\napiVersion: jobset.x-k8s.io/v1alpha2\nmetadata: {name: s}\nspec: "
       "{replicatedJobs: [{name: w, template: {spec: {backoffLimit: 0, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, resources: {limits: {nvidia.com/gpu: "
       "1}}}]}}}}}]}\n"});
  EXPECT_EQ(result.find("j")->count, 2);
  EXPECT_EQ(result.scenario.workloads[1].backoff_limit, 0);
}

TEST(ImportPlaces, AnAbsentNamespaceIsDefault) {
  const Written result = imported(
      {"kind: Deployment\nmetadata: {name: srv, namespace: default}\nspec: {template: {spec: "
       "{containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n---\nkind: "
       "ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: srv}, minReplicaCount: 1, "
       "maxReplicaCount: 4, triggers: [{type: prometheus, metadata: {query: "
       "sum(vllm:num_requests_waiting), threshold: '5'}}]}\n"});
  EXPECT_TRUE(result.find("srv")->autoscaling.has_value());
}

// Of spec.resources, which the scheduler takes in place of what the containers ask for.
TEST(ImportPlaces, ResourcesOfThePodTakeThePlaceOfThoseOfItsContainers) {
  const Written result = imported(
      {pods("q",
            "resources: {requests: {cpu: 10, memory: 20Gi}, limits: {cpu: 12}}, initContainers: "
            "[{name: i, resources: {requests: {cpu: 4}}}]")});
  const Workload& q = *result.find("q");
  EXPECT_EQ(q.pod.cpu_request.count, 10'000);
  EXPECT_EQ(q.pod.memory_request, gibibytes(20));
  // A limit alone is no request where a container has one. Source: kubernetes defaults.go.
  const Written limited =
      imported({pods("q",
                     "resources: {limits: {cpu: 64}}, initContainers: [{name: i, resources: "
                     "{requests: {cpu: 4}}}]")});
  EXPECT_EQ(limited.find("q")->pod.cpu_request.count, 4'000);
}

TEST(ImportPlaces, WhatAScenarioCannotSayIsNamed) {
  const Written result = imported(
      {"kind: PriorityClass\nmetadata: {name: low}\nvalue: 10\npreemptionPolicy: Never\n" +
       pods("w",
            "priorityClassName: low, topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
            "kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}], affinity: "
            "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
            "kubernetes.io/hostname}]}}") +
       "---\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {kind: "
       "Deployment, name: w}, maxReplicas: 4, metrics: [{type: Pods, pods: {metric: {name: "
       "queue}, target: {averageValue: 4}}}, {type: Resource, resource: {name: cpu}}], behavior: "
       "{scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 60}]}}}\n"
       "---\nkind: Service\napiVersion: serving.knative.dev/v1\nmetadata: {name: k}\nspec: "
       "{template: {metadata: {annotations: {autoscaling.knative.dev/max-scale: '5'}}, spec: "
       "{containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"});
  EXPECT_EQ(result.find("w")->preemption_policy, PreemptionPolicy::Never);
  EXPECT_TRUE(result.said.says("required podAffinity"));
  EXPECT_TRUE(result.said.says("DoNotSchedule"));
  EXPECT_TRUE(result.said.says("by several metrics"));
  EXPECT_TRUE(result.said.says("how fast autoscalers"));
  EXPECT_TRUE(result.said.says("how a Service scales"));
}

// kubectl's library of YAML merges `<<`, and reads YAML 1.1.
TEST(ImportPlaces, YamlOfKubernetesIsReadAsItsToolsDo) {
  const Written result = imported(
      {"kind: Pod\nmetadata: {name: p, labels: &l {app: a}}\nspec: {restartPolicy: Always, "
       "containers: [&c {name: c, resources: {limits: {nvidia.com/gpu: 1}}}, {<<: *c, name: "
       "d}]}\n"});
  EXPECT_EQ(result.find("p")->pod.extended.front().count, 2);
  // What stands above << is overridden, what stands below is not. Source: goyaml.v2 decode.go.
  const auto gpus = [](const std::string& limits) {
    return imported({"kind: Pod\nmetadata: {name: p, annotations: &b {nvidia.com/gpu: 1}}\nspec: "
                     "{containers: [{name: c, resources: {limits: {" +
                     limits + "}}}]}\n"})
        .find("p")
        ->pod.extended.front()
        .count;
  };
  EXPECT_EQ(gpus("nvidia.com/gpu: 4, <<: *b"), 1);
  EXPECT_EQ(gpus("<<: *b, nvidia.com/gpu: 4"), 4);
  EXPECT_EQ(gpus("nvidia.com/gpu: 0b11"), 3);
  EXPECT_EQ(gpus("nvidia.com/gpu: 08"), 8);
  const Written shared = imported(
      {"version: v1\nsharing: {timeSlicing: {renameByDefault: on, failRequestsGreaterThanOne: yes, "
       "resources: [{name: nvidia.com/gpu, replicas: 0x4}]}}\n" +
       node_pool("gpu", of_types("g5.xlarge")) + pods("w", "", "nvidia.com/gpu.shared")});
  ASSERT_EQ(shared.scenario.node_pools.size(), 1U);
  EXPECT_TRUE(shared.yaml.find("replicas: 4") != std::string::npos) << shared.yaml;
  EXPECT_TRUE(shared.yaml.find("renameByDefault: true") != std::string::npos) << shared.yaml;
}

}  // namespace
}  // namespace slicewise::scenarios
