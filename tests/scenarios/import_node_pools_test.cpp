#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"

#include "imported_scenario.hpp"

// Pools of an imported scenario: NodePools, node groups, and those that pods need where no file has
// any.
namespace slicewise::scenarios {
namespace {

TEST(ImportK8s, NodePoolsOfKarpenterAndNodeGroupsOfEksctl) {
  const std::string karpenter = R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    metadata: {labels: {nvidia.com/device-plugin.config: ts4}}
    spec:
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [g4dn.2xlarge]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
)";
  const Written pool = k8s({karpenter, std::string(kSharedValues), std::string(kDeployment)});
  ASSERT_EQ(pool.scenario.node_pools.size(), 1U);
  EXPECT_NE(pool.yaml.find("instanceType: \"g4dn.2xlarge\"\n"), std::string::npos);
  EXPECT_NE(pool.yaml.find("capacityType: spot"), std::string::npos);
  const std::string eksctl = R"(
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-west-2}
managedNodeGroups:
- {name: system, instanceType: m6i.large}
- name: gpus
  instanceType: g5.2xlarge
  desiredCapacity: 2
  bottlerocket: {settings: {kubelet-device-plugins: {nvidia: {device-sharing-strategy: time-slicing,
    time-slicing: {replicas: 4, rename-by-default: false}}}}}
)";
  const Written group = k8s({eksctl, std::string(kDeployment)});
  ASSERT_EQ(group.scenario.node_pools.size(), 1U);
  EXPECT_EQ(group.scenario.node_pools[0].nodes, 2);
  EXPECT_NE(group.yaml.find("region: \"us-west-2\""), std::string::npos);
  EXPECT_EQ(group.said.count("node groups without GPUs"), 1);
}

TEST(ImportK8s, ANodeGroupOfSeveralTypesHasTheFirst) {
  const auto said = [](const std::string& types) {
    const Written result =
        k8s({"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: "
             "{name: c, region: us-west-2}\nmanagedNodeGroups: [{name: g, "
             "desiredCapacity: 1, instanceTypes: " +
                 types + "}]\n",
             std::string(kDeployment)});
    EXPECT_EQ(result.scenario.node_pools.at(0).instance_type.value, "g5.xlarge");
    return result.said.count("node groups of several instance types: their first, g5.xlarge");
  };
  EXPECT_EQ(said("[g5.xlarge, g4dn.xlarge]"), 1);
  EXPECT_EQ(said("[g5.xlarge]"), 0);
}

// As exported bundles have them, for whichever way is applied.
TEST(ImportK8s, TwoWaysToTheSameNodesAreOnePool) {
  const auto pools_with =
      [](const std::string& limit, const std::string& type) {
        return k8s({R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  limits: {nodes: ")" + limit +
                        R"("}
  template: {spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]}}
---
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-west-2}
managedNodeGroups: [{name: gpus, instanceType: )" +
                        type + R"(, desiredCapacity: 2, minSize: 2, maxSize: 2}]
)",
                    std::string(kDeployment)});
      };
  const Written once = pools_with("2", "g5.xlarge");
  ASSERT_EQ(once.scenario.node_pools.size(), 1U);
  EXPECT_EQ(once.scenario.node_pools[0].nodes, 2);
  EXPECT_FALSE(once.scenario.node_pools[0].most_nodes);
  EXPECT_EQ(pools_with("3", "g5.xlarge").scenario.node_pools.size(), 2U);
  EXPECT_EQ(pools_with("2", "g5.2xlarge").scenario.node_pools.size(), 2U);
}

// Karpenter may take any of them: a pool for each, all of one weight.
TEST(ImportK8s, ANodePoolOfSeveralTypesIsAPoolForEach) {
  const auto pools_with = [](const std::string& requirements) {
    ImportOptions options;
    options.instances = {
        {"g5.xlarge", "a10g", 1}, {"g5.12xlarge", "a10g", 4}, {"g6.xlarge", "l4", 1}};
    const Written result = k8s({R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  weight: 7
  limits: {nodes: 12, cpu: 64, memory: 1000Gi, nvidia.com/gpu: 48}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
  template: {spec: {requirements: [)" +
                                    requirements + R"(]}}
)",
                                std::string(kJob)},
                               options);
    EXPECT_EQ(result.scenario.provisioner.kind, Provisioner::Kind::Karpenter);
    EXPECT_EQ(result.scenario.provisioner.consolidate_after, minutes(5));
    std::string types;
    for (const NodePool& pool : result.scenario.node_pools) {
      types += pool.instance_type.value + " ";
      EXPECT_EQ(pool.nodes, 0);
      EXPECT_EQ(pool.most_nodes, 12);
      EXPECT_EQ(pool.labels.at("karpenter.sh/nodepool"), "gpus");
    }
    // Together they may have no more than the NodePool.
    EXPECT_EQ(result.scenario.provisioner.limits.size(), 1U);
    for (const NodeLimit& limit : result.scenario.provisioner.limits) {
      EXPECT_EQ(limit.pools.size(), result.scenario.node_pools.size());
      EXPECT_EQ(limit.nodes, 12);
      EXPECT_EQ(limit.gpus, 48);
      EXPECT_EQ(limit.cpu, Millicores{64'000});
      EXPECT_EQ(limit.memory, gibibytes(1'000));
    }
    return types;
  };
  EXPECT_EQ(pools_with("{key: node.kubernetes.io/instance-type, operator: In, values: "
                       "[m5.large, g5.xlarge, g5.12xlarge]}"),
            "g5.xlarge g5.12xlarge ");
  EXPECT_EQ(pools_with("{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}, "
                       "{key: karpenter.k8s.aws/instance-size, operator: In, values: "
                       "[xlarge, 12xlarge]}"),
            "g5.xlarge g5.12xlarge g6.xlarge ");
  // Of a family all that the requirements allow: Karpenter packs pods onto large ones.
  EXPECT_EQ(pools_with("{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}"),
            "g5.xlarge g5.12xlarge ");
}

// The g6 of a NodePool had gone without a word, as had the class of pods that no file has.
TEST(ImportK8s, WhatIsLeftOutIsNamed) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}, {"g6.xlarge", "l4", 1}};
  const Written result = k8s({R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec: {template: {spec: {requirements: [
  {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: w}
spec:
  template: {spec: {priorityClassName: high, containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}
)"},
                             options);
  EXPECT_TRUE(result.said.says("no price is known in the region, left out: g6"));
  EXPECT_TRUE(result.said.says("priorityClassName of which no file has the PriorityClass"));
}

// As many nodes as its limit of GPUs allows, and they come and go as it says.
TEST(ImportK8s, ALimitOfGpusBoundsTheNodesOfANodePool) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}, {"g5.12xlarge", "a10g", 4}};
  const auto pools_of = [&](const std::string& types, const std::string& spec) {
    return k8s({R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  )" + spec + R"(
  template: {spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: )" +
                    types + R"(}]}}
)",
                std::string(kJob)},
               options)
        .scenario;
  };
  const Scenario one = pools_of("[g5.12xlarge]", "limits: {nvidia.com/gpu: 8}");
  ASSERT_EQ(one.node_pools.size(), 1U);
  EXPECT_EQ(one.node_pools[0].nodes, 0);
  EXPECT_EQ(one.node_pools[0].most_nodes, 2);
  const Scenario two = pools_of("[g5.xlarge, g5.12xlarge]", "limits: {nvidia.com/gpu: 8}");
  ASSERT_EQ(two.node_pools.size(), 2U);
  EXPECT_EQ(two.node_pools[0].most_nodes, 8);
  EXPECT_EQ(two.node_pools[1].most_nodes, 2);
  const Scenario moved =
      pools_of("[g5.xlarge]", "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}");
  EXPECT_EQ(moved.node_pools[0].nodes, 0);
  EXPECT_EQ(moved.provisioner.kind, Provisioner::Kind::Karpenter);
  EXPECT_EQ(moved.provisioner.consolidation, Provisioner::Consolidation::WhenEmpty);
  EXPECT_EQ(moved.provisioner.consolidate_after, minutes(5));
  // A limit of nodes is none that always run; what exported NodePools say is in RoundTrip.
  const std::string at_most = "limits: {nodes: 20}";
  EXPECT_EQ(pools_of("[g5.xlarge]", at_most).node_pools[0].nodes, 0);
  EXPECT_EQ(pools_of("[g5.xlarge]", at_most).node_pools[0].most_nodes, 20);
  // Without a limit and without disruption, which has defaults, it does so, too.
  EXPECT_EQ(pools_of("[g5.xlarge]", "weight: 1").node_pools[0].most_nodes, 100);
  EXPECT_EQ(pools_of("[g5.xlarge]", "weight: 1").provisioner.consolidate_after, Duration{});
  // Static capacity does not.
  for (const char* spec : {"replicas: 2", "replicas: 2\n  limits: {nodes: 4}",
                           "replicas: 5\n  limits: {nodes: 2, nvidia.com/gpu: 64}"}) {
    for (const char* types : {"[g5.12xlarge]", "[g5.12xlarge, g5.xlarge]"}) {
      const Scenario fixed = pools_of(types, spec);
      ASSERT_EQ(fixed.node_pools.size(), 1U) << spec;
      EXPECT_EQ(fixed.node_pools[0].nodes, 2) << spec;
      EXPECT_FALSE(fixed.node_pools[0].most_nodes) << spec;
    }
  }
  // Nodes that Karpenter may never take away stay longer than any run.
  for (const char* kept : {"disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}",
                           "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m, "
                           "budgets: [{nodes: \"0\"}]}"}) {
    EXPECT_GE(pools_of("[g5.xlarge]", kept).provisioner.consolidate_after, hours(8'760)) << kept;
  }
  EXPECT_EQ(pools_of("[g5.xlarge]",
                     "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: "
                     "5m, budgets: [{nodes: \"0\", reasons: [Drifted]}]}")
                .provisioner.consolidate_after,
            minutes(5));
}

// The first one's was everybody's, and the life of nodes was dropped.
TEST(ImportK8s, EachNodePoolIsConsolidatedAsItSays) {
  const auto pool = [](const std::string& name, const std::string& disruption,
                       const std::string& life) {
    return "---\nkind: NodePool\nmetadata: {name: " + name + "}\nspec:\n  disruption: {" +
           disruption + "}\n  template: {spec: {" + life +
           "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: "
           "[g5.xlarge]}]}}\n";
  };
  const Scenario scenario =
      k8s({pool("train", "consolidationPolicy: WhenEmpty, consolidateAfter: Never",
                "expireAfter: 1h, ") +
               pool("serve", "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s",
                    "expireAfter: Never, "),
           std::string(kJob)})
          .scenario;
  ASSERT_EQ(scenario.node_pools.size(), 2U);
  const NodePool& train = scenario.node_pools[0];
  const NodePool& serve = scenario.node_pools[1];
  EXPECT_EQ(train.consolidation.value_or(scenario.provisioner.consolidation),
            Consolidation::WhenEmpty);
  EXPECT_GE(train.consolidate_after.value_or(scenario.provisioner.consolidate_after), hours(8'760));
  EXPECT_EQ(train.expire_after, hours(1));
  EXPECT_EQ(serve.consolidation, Consolidation::WhenEmptyOrUnderutilized);
  EXPECT_EQ(serve.consolidate_after, seconds(30));
  EXPECT_FALSE(serve.expire_after);
}

// They were all on spot nodes, at half their price.
TEST(ImportK8s, PodsSelectOneOfTheCapacityTypesOfANodePool) {
  const auto deployment = [](const std::string& capacity) {
    return "---\nkind: Deployment\nmetadata: {name: w-" + capacity +
           "}\nspec: {template: {spec: {nodeSelector: {karpenter.sh/capacity-type: " + capacity +
           "}, containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
  };
  const auto node_pool = [](const std::string& capacities, const std::string& more = "") {
    return R"(
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}
      - {key: karpenter.sh/capacity-type, operator: In, values: )" +
           capacities + "}\n" + more;
  };
  const Written both =
      k8s({node_pool("[spot, on-demand]") + deployment("on-demand") + deployment("spot")});
  ASSERT_EQ(both.scenario.node_pools.size(), 2U);
  EXPECT_EQ(both.scenario.node_pools[0].name.value, "gpu-spot");
  EXPECT_EQ(both.scenario.node_pools[0].capacity_type, CapacityType::Spot);
  EXPECT_EQ(both.scenario.node_pools[1].name.value, "gpu-on-demand");
  EXPECT_EQ(both.scenario.node_pools[1].capacity_type, CapacityType::OnDemand);
  ASSERT_EQ(both.scenario.provisioner.limits.size(), 1U);
  EXPECT_EQ(both.scenario.provisioner.limits[0].pools.size(), 2U);
  for (const char* capacity : {"spot", "on-demand"}) {
    EXPECT_EQ(both.find(std::string("w-") + capacity)->pod.node_selector,
              (std::map<std::string, std::string>{{"karpenter.sh/capacity-type", capacity}}));
  }
  EXPECT_EQ(both.said.count("node selectors that no node pool here has"), 0);
  // Where no pod selects any, on spot nodes while there are some.
  const Written open = k8s({node_pool("[spot, on-demand]") + "---" + std::string(kJob)});
  ASSERT_EQ(open.scenario.node_pools.size(), 1U);
  EXPECT_TRUE(open.scenario.node_pools[0].spot->falls_back_to_on_demand);
  // There are no reservations but those that the node class selects.
  const auto bought = [&](const std::string& capacities, const std::string& more = "") {
    return k8s({node_pool(capacities, more) + "---" + std::string(kJob)})
        .scenario.node_pools.at(0)
        .capacity_type;
  };
  EXPECT_EQ(bought("[reserved, on-demand]"), CapacityType::OnDemand);
  EXPECT_EQ(bought("[reserved, spot, on-demand]"), CapacityType::Spot);
  EXPECT_EQ(bought("[reserved]"), CapacityType::Reserved);
  EXPECT_EQ(bought("[reserved, on-demand]",
                   "---\nkind: EC2NodeClass\nmetadata: {name: c}\nspec: "
                   "{capacityReservationSelectorTerms: [{id: cr-1}]}\n"),
            CapacityType::Reserved);
}

// Nobody configures its device plugin: the pods were to share GPUs there.
TEST(ImportK8s, NodesOfAutoModeShareNothing) {
  const auto shares = [](const std::string& group) {
    const Written result = k8s({R"(
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: )" + group +
                                    R"(, kind: NodeClass, name: c}
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}]
)",
                                std::string(kSharedValues), std::string(kJob)});
    EXPECT_EQ(result.said.count("nodes of EKS Auto Mode"), group == "eks.amazonaws.com" ? 1 : 0);
    return result.scenario.node_pools.at(0).device_plugin.has_value();
  };
  EXPECT_FALSE(shares("eks.amazonaws.com"));
  EXPECT_TRUE(shares("karpenter.k8s.aws"));
}

// Nodes that no file has, of two types, of two types that pods choose: those that choose none are
// on one of them. Nodes of one GPU each, as many as the pods need.
TEST(ImportK8s, ADeviceIsThereAsOftenAsItsLayoutAndThePluginSay) {
  const auto nodes_for = [](const std::string& resource, int pods, const std::string& layout,
                            const std::string& plugin) {
    const std::string group =
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: "
        "us-west-2}\nmanagedNodeGroups: [{name: gpus, instanceType: p4d.24xlarge, labels: "
        "{nvidia.com/mig.config: mine}}]\n";
    const std::string deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: asr}\nspec: {replicas: " +
        std::to_string(pods) + ", template: {spec: {containers: [{resources: {limits: {" +
        resource + ": 1}}}]}}}\n";
    const std::string layouts =
        "version: v1\nmig-configs: {mine: [{devices: all, mig-enabled: true, mig-devices: {" +
        layout + "}}]}\n";
    const Written imported = k8s({group, layouts, "version: v1\n" + plugin, deployment});
    EXPECT_EQ(imported.scenario.node_pools.size(), 1U) << imported.yaml;
    return imported.scenario.node_pools.front().nodes;
  };
  const std::string single = "flags: {migStrategy: single}\n";
  EXPECT_EQ(nodes_for("nvidia.com/gpu", 8, "3g.20gb: 2", single), 4);
  EXPECT_EQ(nodes_for("nvidia.com/gpu", 24, "3g.20gb: 2",
                      single + "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, "
                               "replicas: 3}]}}\n"),
            4);
  const std::string mixed = "flags: {migStrategy: mixed}\nsharing: {timeSlicing: {";
  const std::string replicas =
      "resources: [{name: nvidia.com/mig-2g.10gb, replicas: 5}, {name: nvidia.com/mig-1g.5gb, "
      "replicas: 3}]}}\n";
  const std::string layout = "1g.5gb: 4, 2g.10gb: 1";
  EXPECT_EQ(nodes_for("nvidia.com/mig-1g.5gb", 24, layout, mixed + replicas), 2);
  EXPECT_EQ(nodes_for("nvidia.com/mig-1g.5gb.shared", 24, layout,
                      mixed + "renameByDefault: true, " + replicas),
            2);
}

TEST(ImportK8s, APodIsCountedIntoOneMadeUpPool) {
  const auto deployment = [](const std::string& name, int replicas, const std::string& type) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           "}\nspec: {replicas: " + std::to_string(replicas) + ", template: {spec: {" +
           (type.empty() ? ""
                         : "nodeSelector: {node.kubernetes.io/instance-type: " + type + "}, ") +
           "containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n---\n";
  };
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}, {"g4dn.xlarge", "t4", 1}};
  const Written two = written(ImportKind::K8s,
                              {deployment("a", 1, "g5.xlarge") + deployment("b", 4, "") +
                               deployment("c", 2, "g4dn.xlarge")},
                              options);
  ASSERT_EQ(two.scenario.node_pools.size(), 2U);
  EXPECT_EQ(two.scenario.node_pools[0].nodes, 5);
  EXPECT_EQ(two.scenario.node_pools[1].nodes, 2);
}

// They were as many as the replicas, and as if CPU were not asked for.
TEST(ImportK8s, NodesThatAreMadeUpHaveRoomForAllReplicasAndTheirCpu) {
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1, Millicores{3'900}}};
  const auto nodes_for = [&](const std::string& cpu, const std::string& more) {
    return k8s({R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 4
  template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}, requests: {cpu: )" +
                    cpu + "}}}]}}\n" + more,
                std::string(kSharedValues)},
               options)
        .scenario.node_pools.at(0)
        .nodes;
  };
  EXPECT_EQ(nodes_for("500m", ""), 1);
  EXPECT_EQ(nodes_for("1", ""), 2) << "three to a node";
  EXPECT_EQ(nodes_for("2", ""), 4);
  EXPECT_EQ(nodes_for("500m", R"(---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: d}
spec: {minReplicas: 2, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, metrics: [{type: Pods, pods: {metric: {name: num_requests_waiting}, target: {type: AverageValue, averageValue: 5}}}]}
)"),
            3);
}

// Where no file has nodes, a pod of four GPUs makes the nodes that a pod of one lands on, too.
TEST(ImportK8s, WhoIsOnNodesMadeUpForLargerPodsIsSaid) {
  const auto pod = [](const std::string& name, int gpus) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           "}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: " +
           std::to_string(gpus) + "}}}]}\n---\n";
  };
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1}, {"g5.12xlarge", "a10g", 4}};
  const Written mixed = k8s({pod("large", 4) + pod("small", 1) + pod("other", 1)}, options);
  EXPECT_EQ(mixed.said.count("nodes of g5.12xlarge, which others need: g5.xlarge would do"), 2);
  EXPECT_EQ(k8s({pod("a", 1) + pod("b", 1)}, options).said.count("which others need"), 0);
}

// The files of an exported bundle: they were two pools, at twice the price.
TEST(ImportK8s, ABundlesNodePoolIsThePoolOfItsNodeGroup) {
  const auto pools = [](const std::string& least, const std::string& sizes) {
    return k8s({"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: "
                "us-west-2}\nmanagedNodeGroups: [{name: t4, instanceType: g4dn.xlarge, " +
                sizes +
                "}]\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: t4, "
                "annotations: {slicewise.dev/nodes-min: \"" +
                least +
                "\"}}\nspec:\n  limits: {nodes: 3}\n  template: {spec: {requirements: [{key: "
                "node.kubernetes.io/instance-type, operator: In, values: [g4dn.xlarge]}]}}\n---\n" +
                std::string(kDeployment)})
        .scenario.node_pools.size();
  };
  EXPECT_EQ(pools("3", "desiredCapacity: 3, minSize: 3, maxSize: 3"), 1U);
  EXPECT_EQ(pools("0", "desiredCapacity: 0, minSize: 0, maxSize: 3"), 1U);
  EXPECT_EQ(pools("1", "desiredCapacity: 0, minSize: 0, maxSize: 3"), 2U);
}

}  // namespace
}  // namespace slicewise::scenarios
