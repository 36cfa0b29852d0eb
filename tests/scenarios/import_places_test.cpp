#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"

#include "imported_places.hpp"

// On which pools of an imported scenario pods run, and what of them is carried or said to be lost.
namespace slicewise::scenarios {
namespace {

using Labels = std::map<std::string, std::string>;

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
  const Labels label = {{"karpenter.sh/nodepool", "new"}};
  EXPECT_EQ(result.find("w")->pod.node_selector, label);
  EXPECT_EQ(result.find("free")->pod.node_selector, Labels{});
  EXPECT_EQ(result.scenario.node_pools[0].labels, Labels{});
  EXPECT_EQ(result.scenario.node_pools[1].labels, label);
  EXPECT_EQ(result.scenario.node_pools[2].labels, label);
}

// As written where labels of simulated nodes say it; else by the name of the pool. What no node
// has, or all may have, tells nobody apart.
TEST(ImportPlaces, NodesThatPodsPreferAreKept) {
  const std::string two =
      node_pool("old", of_types("g4dn.xlarge")) + node_pool("new", of_types("g5.xlarge"));
  using Kept = std::pair<std::vector<PreferredNodes>, std::int64_t>;
  const auto preferred = [&](const std::string& expression) {
    const Written result =
        imported({two + pods("w",
                             "affinity: {nodeAffinity: "
                             "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 80, "
                             "preference: {matchExpressions: [" +
                                 expression + "]}}]}}")});
    EXPECT_EQ(result.find("w")->pod.node_selector, Labels{});
    return Kept(result.find("w")->pod.preferences.nodes,
                result.said.count("what pods prefer of labels"));
  };
  const auto kept = [](const std::string& key, const std::string& value) {
    return Kept({{80, {{key, "In", {value}, {}}}, {}}}, 0);
  };
  EXPECT_EQ(preferred("{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}"),
            kept("karpenter.k8s.aws/instance-family", "g5"));
  EXPECT_EQ(preferred("{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-A10G]}"),
            kept("karpenter.sh/nodepool", "new"));
  EXPECT_EQ(preferred("{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}"),
            Kept({}, 1));
  EXPECT_EQ(preferred("{key: team, operator: In, values: [nobody]}"), kept("team", "nobody"));
  EXPECT_EQ(preferred("{key: team, operator: In}"), Kept({}, 0)) << "Kubernetes refuses";
}

TEST(ImportPlaces, PodsPreferOneOfTheCapacityTypesOfANodePool) {
  const Written result = imported(
      {node_pool(
           "gpus",
           of_types("g5.xlarge") +
               ", {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}") +
       pods("w",
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
            "1, preference: {matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, "
            "values: [on-demand]}]}}]}}")});
  EXPECT_EQ(result.scenario.node_pools.size(), 2U);
  EXPECT_EQ(result.find("w")->pod.preferences.nodes.size(), 1U);
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

std::string node_group(const std::string& name, const std::string& list,
                       const std::string& more = "") {
  return "---\nkind: ClusterConfig\nmetadata: {name: c, region: us-east-1}\n" + list +
         ": [{name: " + name + ", instanceType: g5.xlarge, " + more + "}]\n";
}

// Nodes of EKS node groups had Karpenter's labels, and the other way round.
TEST(ImportPlaces, NodesHaveTheLabelsOfWhoMakesThem) {
  const auto misses = [](const std::string& nodes, const std::string& label) {
    const std::string key = label.substr(0, label.find(':'));
    return imported({nodes + pods("w", "nodeSelector: {" + label + "}")})
        .said.says("node selectors that no node pool here has, left out: " + key);
  };
  const std::string by_karpenter = node_pool("p", of_types("g5.xlarge"));
  const std::string by_eks = node_group("p", "managedNodeGroups", "desiredCapacity: 2");
  const std::string by_eksctl = node_group("p", "nodeGroups", "desiredCapacity: 2");
  const std::string own =
      node_group("p", "managedNodeGroups", "labels: {karpenter.sh/capacity-type: on-demand}");
  const std::string by_auto_mode =
      "---\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {nodeClassRef: {group: "
      "eks.amazonaws.com, kind: NodeClass, name: default}, requirements: [{key: "
      "eks.amazonaws.com/instance-family, operator: In, values: [g5]}, {key: "
      "eks.amazonaws.com/instance-size, operator: In, values: [xlarge]}]}}}\n";
  const std::string capacity = "karpenter.sh/capacity-type: on-demand";
  const std::string family = "karpenter.k8s.aws/instance-family: g5";
  const std::string auto_family = "eks.amazonaws.com/instance-family: g5";
  const std::string managed = "eks.amazonaws.com/capacityType: ON_DEMAND";
  const std::string eksctl = "alpha.eksctl.io/nodegroup-name: p";
  const std::vector<std::string> all = {capacity, family, auto_family, managed, eksctl};
  const auto missed = [&](const std::string& nodes) {
    std::string marks;
    for (const std::string& label : all) marks += misses(nodes, label) ? '-' : '+';
    return marks;
  };
  EXPECT_EQ(missed(by_karpenter), "++---");
  EXPECT_EQ(missed(by_eks), "---++");
  EXPECT_EQ(missed(by_eksctl), "----+");
  EXPECT_EQ(missed(by_auto_mode), "+-+--");
  EXPECT_EQ(missed(own), "+--++");
  EXPECT_EQ(imported({by_auto_mode + pods("w", "")}).scenario.node_pools[0].instance_type.value,
            "g5.xlarge");
  // What a scenario's nodes would not have they are given.
  const Written written = imported({by_auto_mode + node_pool("other", of_types("g6.xlarge")) +
                                    pods("w", "nodeSelector: {" + auto_family + "}")});
  EXPECT_EQ(written.scenario.node_pools[0].labels.at("eks.amazonaws.com/instance-family"), "g5");
}

// They were one pool with the labels of all of them.
TEST(ImportPlaces, NodesAreToldApartByLabelsThatPodsSelect) {
  const auto node = [](const std::string& name, const std::string& label) {
    return "---\nkind: Node\nmetadata: {name: " + name +
           ", labels: {node.kubernetes.io/instance-type: g5.xlarge, eks.amazonaws.com/nodegroup: "
           "g" +
           (label.empty() ? "" : ", ") + label + "}}\nstatus: {allocatable: {nvidia.com/gpu: 1}}\n";
  };
  const std::string nodes = node("a", "disk: fast") + node("b", "") + node("c", "");
  const Written result = imported({nodes + pods("w", "nodeSelector: {disk: fast}")});
  ASSERT_EQ(result.scenario.node_pools.size(), 2U);
  EXPECT_EQ(result.scenario.node_pools[0].nodes, 1);
  EXPECT_EQ(result.scenario.node_pools[0].labels.at("disk"), "fast");
  EXPECT_EQ(result.scenario.node_pools[1].nodes, 2);
  EXPECT_EQ(result.find("w")->pod.node_selector, (Labels{{"disk", "fast"}}));
  EXPECT_EQ(imported({nodes + pods("w", "")}).scenario.node_pools.size(), 1U);
}

std::string mig_node(const std::string& layout, const std::string& allocatable) {
  return "kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: p4d.24xlarge, "
         "nvidia.com/mig.config: " +
         layout + "}}\nstatus: {allocatable: {" + allocatable + "}}\n";
}

// A second pool came to be for the profile, whose price an advice then claimed to save.
TEST(ImportPlaces, MigLayoutsOfSeveralProfilesHaveEachOfThem) {
  const auto is_pending = [](const Written& result) {
    EXPECT_EQ(result.scenario.node_pools.size(), 1U);
    return result.find("w")->may_stay_pending;
  };
  const auto of_balanced = [&](const std::string& resource) {
    return is_pending(imported(
        {mig_node("all-balanced", "nvidia.com/mig-1g.5gb: 16") + pods("w", "", resource)}));
  };
  EXPECT_FALSE(of_balanced("nvidia.com/mig-1g.5gb"));
  EXPECT_FALSE(of_balanced("nvidia.com/mig-3g.20gb"));
  EXPECT_TRUE(of_balanced("nvidia.com/mig-7g.40gb"));
  const std::string layout =
      "---\nversion: v1\nmig-configs: {half: [{devices: [0, 1, 2, 3], mig-enabled: true, "
      "mig-devices: {1g.5gb: 2}}, {devices: [4, 5, 6, 7], mig-enabled: false, mig-devices: {}}]}\n";
  const auto of_half = [&](const std::string& resource) {
    return is_pending(imported({mig_node("half", "nvidia.com/gpu: 4, nvidia.com/mig-1g.5gb: 8") +
                                layout + pods("w", "", resource)}));
  };
  EXPECT_FALSE(of_half("nvidia.com/gpu"));
  EXPECT_FALSE(of_half("nvidia.com/mig-1g.5gb"));
  EXPECT_TRUE(of_half("nvidia.com/mig-2g.10gb"));
}

// Replicas of instances were lost, and pools made up for the pods that run on them.
TEST(ImportPlaces, InstancesOfMigAreSharedAsNodesOfferThem) {
  ImportOptions options;
  options.instances = kTypes;
  options.mig_layouts["p4d.24xlarge"] = {{"all-1g.10gb", {{"nvidia.com/mig-1g.10gb", 4}}},
                                         {"all-1g.5gb", {{"nvidia.com/mig-1g.5gb", 7}}},
                                         {"all-3g.20gb", {{"nvidia.com/mig-3g.20gb", 2}}},
                                         {"all-disabled", {}}};
  const auto of = [&](const std::string& labels, const std::string& allocatable,
                      const std::string& resource) {
    const Written result = k8s({mig_node(labels, allocatable) + pods("w", "", resource)}, options);
    EXPECT_EQ(result.scenario.node_pools.size(), 1U) << result.yaml;
    EXPECT_FALSE(result.find("w")->may_stay_pending);
    return result;
  };
  const auto shares = [](const Written& result) {
    const auto& plugin = result.scenario.node_pools.at(0).device_plugin;
    EXPECT_TRUE(plugin && plugin->time_slicing) << result.yaml;
    return plugin->time_slicing.value();
  };
  const PluginSharing renamed = shares(
      of("all-1g.10gb, nvidia.com/mig.strategy: mixed, nvidia.com/mig-1g.10gb.replicas: \"4\"",
         "nvidia.com/mig-1g.10gb.shared: 128", "nvidia.com/mig-1g.10gb.shared"));
  EXPECT_EQ(renamed.resources.at(0).replicas, 4);
  EXPECT_TRUE(renamed.rename_by_default);
  const PluginSharing counted = shares(
      of("all-1g.10gb, nvidia.com/mig.strategy: single", "nvidia.com/gpu: 128", "nvidia.com/gpu"));
  EXPECT_EQ(counted.resources.at(0).replicas, 4);
  EXPECT_FALSE(counted.rename_by_default);
  // Four GPUs of 7, four of 2; nobody says it but the node.
  const Written own = of("half-half", "nvidia.com/mig-1g.5gb: 28, nvidia.com/mig-3g.20gb: 8",
                         "nvidia.com/mig-3g.20gb");
  EXPECT_FALSE(own.scenario.node_pools[0].device_plugin);
  ASSERT_TRUE(own.scenario.node_pools[0].mig);
  EXPECT_NE(
      own.yaml.find("{devices: [0, 1, 2, 3], mig-enabled: true, mig-devices: {\"1g.5gb\": 7}"),
      std::string::npos)
      << own.yaml;
  EXPECT_TRUE(of("some", "nvidia.com/gpu: 6, nvidia.com/mig-3g.20gb: 4", "nvidia.com/gpu")
                  .scenario.node_pools[0]
                  .mig);
}

std::string live_node(const std::string& labels, const std::string& allocatable,
                      const std::string& taints = "") {
  return "---\nkind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: "
         "g5.xlarge" +
         labels + "}}\nspec: {taints: [" + taints + "]}\nstatus: {allocatable: {" + allocatable +
         "}}\n";
}

// They were one pool with the taints of the first: its pods stayed Pending, or ran on both.
TEST(ImportPlaces, NodesAreToldApartByTheirTaints) {
  const std::string train = "{key: dedicated, value: train, effect: NoSchedule}";
  const std::string unready = "{key: node.kubernetes.io/not-ready, effect: PreferNoSchedule}";
  const std::string offers = "nvidia.com/gpu: 1";
  const Written two = imported({live_node("", offers, train) + live_node("", offers) +
                                live_node("", offers, unready) + pods("w", "")});
  ASSERT_EQ(two.scenario.node_pools.size(), 2U) << two.yaml;
  EXPECT_EQ(two.scenario.node_pools[0].taints.size(), 1U);
  EXPECT_TRUE(two.scenario.node_pools[1].taints.empty());
  EXPECT_EQ(two.scenario.node_pools[1].nodes, 2);
}

// Which device meets a claim is in no Node, and the scenario of a cluster must run.
TEST(ImportPlaces, PodsWhoseClaimNoDeviceMeetsMayStayPending) {
  const std::string claims =
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: h100}\n"
      "spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, "
      "selectors: [{cel: {expression: \"device.attributes['gpu.nvidia.com'].productName == 'NVIDIA "
      "H100 80GB HBM3'\"}}]}}]}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "
      "w}\n"
      "spec:\n  selector: {matchLabels: {app: w}}\n  template:\n    metadata: {labels: {app: w}}\n"
      "    spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: h100}], containers: "
      "[{name: "
      "c, image: x, resources: {claims: [{name: gpu}]}}]}\n";
  EXPECT_TRUE(imported({live_node("", "cpu: 4") + claims}).find("w")->may_stay_pending);
  EXPECT_FALSE(imported({claims}).find("w")->may_stay_pending);
  EXPECT_TRUE(
      imported({node_pool("a", of_types("g5.xlarge")) + claims}).find("w")->may_stay_pending)
      << "the run of the scenario was refused";
}

// Two claims on GPUs of two kinds, and the values of the driver that makes MIG devices: the pool
// that was made up for both was one of g5.xlarge, and could be neither.
TEST(ImportPlaces, NodesThatAreMadeUpHaveWhatClaimsSelect) {
  const auto wants = [](const std::string& name, const std::string& selector) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: " +
           name +
           "}\nspec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: "
           "gpu.nvidia.com, selectors: [{cel: {expression: \"device.attributes['gpu.nvidia.com']." +
           selector +
           "\"}}]}}]}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec:\n  selector: {matchLabels: {app: w}}\n  template:\n    metadata: {labels: "
           "{app: w}}\n    spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: " +
           name + "}], containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]}\n";
  };
  const std::string claims =
      wants("slice", "profile == '1g.10gb'") + wants("whole", "productName == 'NVIDIA L40S'");
  ImportOptions options;
  options.instances = kTypes;
  options.mig_layouts["p4d.24xlarge"] = {{"all-1g.10gb", {{"nvidia.com/mig-1g.10gb", 4}}}};
  const auto pools = [&](const std::string& values) {
    const Written result = k8s({values + claims}, options);
    EXPECT_EQ(values.empty(), result.yaml.find("dynamicMig") == std::string::npos);
    EXPECT_FALSE(result.said.says("no object of Kubernetes"));
    std::string types;
    for (const NodePool& pool : result.scenario.node_pools) {
      types += pool.instance_type.value + (pool.mig ? " mig " : pool.dynamic_mig ? " made " : " ");
    }
    return types;
  };
  EXPECT_EQ(pools("gpuResourcesEnabledOverride: true\nfeatureGates: {DynamicMIG: true}\n"),
            "p4d.24xlarge made g6e.xlarge ");
  EXPECT_EQ(pools(""), "p4d.24xlarge mig g6e.xlarge ");
}

// `check` called them Pending for ever, and the import made nodes up for them.
TEST(ImportPlaces, PodsThatNoNodeOffersWhatTheyAskForStayPending) {
  const Written result = imported({live_node("", "nvidia.com/gpu.shared: 4") + pods("w", "") +
                                   pods("fits", "", "nvidia.com/gpu.shared")});
  EXPECT_EQ(result.scenario.node_pools.size(), 1U);
  EXPECT_TRUE(result.find("w")->may_stay_pending);
  EXPECT_FALSE(result.find("fits")->may_stay_pending);
  EXPECT_TRUE(result.said.says("pods that stay Pending, as no node here offers"));
  // Of NodePools, where the files say how the plugin is set.
  const std::string group = node_pool("a", of_types("g5.xlarge"));
  EXPECT_TRUE(imported({group + "---\n" + std::string(kSharedValues) +
                        pods("w", "", "nvidia.com/gpu.shared")})
                  .find("w")
                  ->may_stay_pending);
  EXPECT_EQ(imported({group + pods("w", "", "nvidia.com/gpu.shared")}).scenario.node_pools.size(),
            2U)
      << "how nodes share is in no file";
  // Sharing that the import does not know of nodes.
  const Written vgpu = imported(
      {live_node("", "k8s.amazonaws.com/vgpu: 10") + pods("w", "", "k8s.amazonaws.com/vgpu")});
  EXPECT_FALSE(vgpu.find("w")->may_stay_pending);
}

// They ran, without what they require.
TEST(ImportPlaces, PodsThatNoNodeOfAClusterMeetsStayPending) {
  const std::string node =
      live_node(", pool: a, nvidia.com/gpu.product: NVIDIA-A10G", "nvidia.com/gpu: 1");
  const auto selector_of = [&](const std::string& spec) {
    const Written result = imported({node + pods("w", spec)});
    EXPECT_TRUE(result.said.says("pods that stay Pending, as no node here meets")) << spec;
    EXPECT_EQ(result.scenario.node_pools.size(), 1U);
    for (const auto& [key, value] : result.find("w")->pod.node_selector) {
      const auto& labels = result.scenario.node_pools[0].labels;
      if (!labels.contains(key) || labels.at(key) != value) return key;
    }
    return std::string();
  };
  EXPECT_EQ(selector_of("nodeSelector: {pool: b}"), "pool");
  EXPECT_EQ(selector_of(affinity("{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, "
                                 "values: [Tesla-T4]}]}")),
            "slicewise.dev/nodes-1");
  EXPECT_EQ(selector_of(affinity("{matchExpressions: [{key: pool, operator: NotIn, values: [a]}]}, "
                                 "{matchExpressions: [{key: x, operator: Exists}]}")),
            "slicewise.dev/nodes-1");
  EXPECT_FALSE(
      imported({node + pods("w", "nodeSelector: {pool: a}")}).said.says("pods that stay Pending"));
}

// The type's were there in their place.
TEST(ImportPlaces, NodesHaveTheCpuMemoryAndPlacesThatTheySay) {
  const auto allocatable_of = [](const std::string& allocatable) {
    ImportOptions options;
    options.instances = {{"g5.xlarge", "a10g", 1}};
    options.instances[0].allocatable = {Millicores{3'920}, gibibytes(14), 58};
    const Written result =
        k8s({live_node("", allocatable + ", nvidia.com/gpu: 1") + pods("w", "")}, options);
    return result.scenario.node_pools.at(0).allocatable;
  };
  const Allocatable own = allocatable_of("cpu: 2500m, memory: 6Gi, pods: 4");
  EXPECT_EQ(own.cpu, Millicores{2'500});
  EXPECT_EQ(own.memory, gibibytes(6));
  EXPECT_EQ(own.pods, 4);
  const Allocatable usual = allocatable_of("cpu: 3920m, memory: 14Gi, pods: 58");
  EXPECT_FALSE(usual.cpu || usual.memory || usual.pods);
}

// Nobody's Helm values are among what kubectl says of a cluster; GPU Feature Discovery says how the
// plugin names the instances. A second pool was made up for pods that ask for nvidia.com/gpu.
TEST(ImportPlaces, NodesSayWhetherInstancesAreGpus) {
  const auto of = [](const std::string& layout) {
    return imported({mig_node(layout, "nvidia.com/gpu: 16") + pods("w", "", "nvidia.com/gpu")});
  };
  const auto single = of("all-3g.20gb, nvidia.com/mig.strategy: single");
  EXPECT_EQ(single.scenario.node_pools.size(), 1U);
  EXPECT_NE(single.yaml.find("strategy: single"), std::string::npos);
  EXPECT_NE(of("all-3g.20gb, nvidia.com/mig.strategy: mixed").yaml.find("strategy: mixed"),
            std::string::npos);
}

TEST(ImportPlaces, NodePoolsGrowAsFarAsTheirLimitsGo) {
  ImportOptions options;
  options.instances = kTypes;
  options.instances[1].labels = {{"node.kubernetes.io/instance-type", "g5.xlarge"},
                                 {"karpenter.k8s.aws/instance-cpu", "4"},
                                 {"karpenter.k8s.aws/instance-memory", "16384"}};
  bool said = false;
  const auto most = [&](const std::string& limits, const std::string& overlay = "") {
    const Written result =
        k8s({node_pool("gpu", of_types("g5.xlarge"), "limits: {" + limits + "}, ") + overlay +
             pods("w", "")},
            options);
    said = std::ranges::any_of(result.said.log.remarks, [](const ImportRemark& remark) {
      return remark.what.find("Karpenter starts none; here one") != std::string::npos;
    });
    return result.scenario.node_pools.front().most_nodes.value_or(0);
  };
  EXPECT_EQ(most("cpu: 8"), 2);
  EXPECT_EQ(most("memory: 64Gi"), 4);
  EXPECT_EQ(most("nvidia.com/gpu: 32"), 32);
  const char* const overlay =
      "---\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {capacity: {nvidia.com/gpu: 4}}\n";
  EXPECT_EQ(most("nvidia.com/gpu: 32", overlay), 8);
  EXPECT_FALSE(said);
  EXPECT_EQ(most("nvidia.com/gpu: 3", overlay), 1);
  EXPECT_TRUE(said);
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
  EXPECT_TRUE(result.said.says("topologySpreadConstraints of either kind, by more"));
  EXPECT_TRUE(result.said.says("by several metrics"));
  EXPECT_TRUE(result.said.says("how fast autoscalers"));
  EXPECT_TRUE(result.said.says("how objects of kind Service scale"));
}

}  // namespace
}  // namespace slicewise::scenarios
