#include <algorithm>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_scenario.hpp"

namespace slicewise::scenarios {
namespace {

// Their pods take CPU, memory and a place on every node.
TEST(ImportDaemonSets, OfTheFilesAreOnTheNodes) {
  const std::string agent = R"(---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
      - name: agent
        image: agent:1
        resources: {requests: {cpu: 500m, memory: 1Gi}}
)";
  const Written without = k8s({std::string(kJob)});
  EXPECT_EQ(without.yaml.find("daemonSets"), std::string::npos);
  const Written result = k8s({std::string(kJob) + agent});
  ASSERT_EQ(result.scenario.node_pools.size(), 1U);
  const std::vector<DaemonSet>& all = result.scenario.node_pools.front().daemon_sets;
  ASSERT_EQ(all.size(), usual_daemon_sets().size() + 1);
  EXPECT_EQ(all.back().name, "agent");
  EXPECT_EQ(all.back().cpu_request.count, 500);
  EXPECT_EQ(all.back().memory_request, gibibytes(1));
  // One of the same name in another namespace is another.
  std::string other = agent;
  other.replace(other.find("{name: agent}"), 13, "{name: agent, namespace: b}");
  const Written both = k8s({std::string(kJob) + agent + other});
  EXPECT_EQ(both.scenario.node_pools.front().daemon_sets.size(), all.size() + 1);
  EXPECT_EQ(both.scenario.node_pools.front().daemon_sets.back().name, "b-agent");
}

// They were counted beside the usual ones, which they are.
TEST(ImportDaemonSets, OfTheOperatorAreTheUsualOnes) {
  const auto daemon = [](const std::string& name) {
    return "---\nkind: DaemonSet\nmetadata: {name: " + name +
           "}\nspec: {template: {spec: {tolerations: [{operator: Exists}], containers: [{name: c, "
           "resources: {requests: {cpu: 250m}}}]}}}\n";
  };
  const Written result = k8s({std::string(kJob) + daemon("nvidia-device-plugin-daemonset") +
                              daemon("nvidia-dcgm-exporter")});
  const std::vector<DaemonSet>& all = result.scenario.node_pools.front().daemon_sets;
  EXPECT_EQ(all.size(), usual_daemon_sets().size());
  EXPECT_EQ(std::ranges::count(all, Millicores{250}, &DaemonSet::cpu_request), 2);
}

// Only those were counted that tolerate everything and select nothing: not the usual node-exporter.
TEST(ImportDaemonSets, AreOnTheNodesThatTheyTolerateAndSelect) {
  const auto daemons_of = [](const std::string& spec, const std::string& taints) {
    const Written result = k8s(
        {"kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: g5.xlarge, "
         "team: a}}\nspec: {taints: [" +
         taints + "]}\nstatus: {allocatable: {nvidia.com/gpu: 1}}\n" + std::string("---") +
         std::string(kJob) +
         "---\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {template: {spec: {" + spec +
         "containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}\n"});
    const auto& all = result.scenario.node_pools.at(0).daemon_sets;
    const bool is_there = std::ranges::find(all, "agent", &DaemonSet::name) != all.end();
    EXPECT_EQ(result.said.count("DaemonSets: a pod on each node"), is_there ? 1 : 0);
    EXPECT_EQ(result.said.count("DaemonSets that tolerate or select no node"), is_there ? 0 : 1);
    EXPECT_EQ(result.said.count("objects that ask for no GPU"), 0);
    return is_there;
  };
  const std::string taint = "{key: nvidia.com/gpu, effect: NoSchedule}";
  const std::string exporter =
      "nodeSelector: {kubernetes.io/os: linux}, tolerations: [{effect: NoSchedule, operator: "
      "Exists}], ";
  EXPECT_TRUE(daemons_of("", ""));
  EXPECT_FALSE(daemons_of("", taint));
  EXPECT_TRUE(daemons_of(exporter, taint));
  EXPECT_FALSE(daemons_of(exporter, "{key: a, effect: NoExecute}"));
  EXPECT_TRUE(daemons_of("nodeSelector: {team: a}, ", ""));
  EXPECT_FALSE(daemons_of("nodeSelector: {team: b}, ", ""));
}

// A pod of 2.8 CPUs stayed Pending on the node that was made up for it: the agent takes 0.5 of 3.
TEST(ImportDaemonSets, NodesThatAreMadeUpHaveRoomForThem) {
  const std::string agent =
      "---\nkind: DaemonSet\nmetadata: {name: agent}\nspec: {template: {spec: {tolerations: "
      "[{operator: Exists}], containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}\n";
  const std::string job =
      "kind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{name: c, resources: "
      "{limits: {nvidia.com/gpu: 1}, requests: {cpu: 2800m}}}]}}}\n";
  ImportOptions options;
  options.instances = {{"g5.xlarge", "a10g", 1, Millicores{3'000}, gibibytes(14)},
                       {"g5.2xlarge", "a10g", 1, Millicores{7'000}, gibibytes(29)}};
  const auto type = [&](const std::string& files) {
    return k8s({files}, options).scenario.node_pools.front().instance_type.value;
  };
  EXPECT_EQ(type(job), "g5.xlarge");
  EXPECT_EQ(type(job + agent), "g5.2xlarge");
}

}  // namespace
}  // namespace slicewise::scenarios
