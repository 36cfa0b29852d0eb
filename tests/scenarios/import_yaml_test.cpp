#include <string>

#include <gtest/gtest.h>

#include "imported_places.hpp"

// Manifests are read as kubectl reads them.
namespace slicewise::scenarios {
namespace {

// kubectl's library of YAML merges `<<`, and reads YAML 1.1.
TEST(ImportYaml, YamlOfKubernetesIsReadAsItsToolsDo) {
  const Written result = imported(
      {"kind: Pod\nmetadata: {name: p, labels: &l {app: a}}\nspec: {restartPolicy: Always, "
       "containers: [&c {name: c, resources: {limits: {nvidia.com/gpu: 1}}}, {<<: *c, name: "
       "d}]}\n"});
  EXPECT_EQ(result.find("p")->pod.extended.front().count, 2);
  const auto gpus = [](const std::string& limits) {
    return imported(
               {"kind: Pod\nmetadata: {name: p, annotations: &a {nvidia.com/gpu: 1}, labels: "
                "&b {nvidia.com/gpu: 2}}\nspec: {containers: [{name: c, resources: {limits: {" +
                limits + "}}}]}\n"})
        .find("p")
        ->pod.extended.front()
        .count;
  };
  // What stands above << is overridden, what stands below is not. Of two << the second overrides
  // the first; of a list the first counts. Source: goyaml.v2 decode.go.
  EXPECT_EQ(gpus("nvidia.com/gpu: 4, <<: *a"), 1);
  EXPECT_EQ(gpus("<<: *a, nvidia.com/gpu: 4"), 4);
  EXPECT_EQ(gpus("nvidia.com/gpu: 0b11"), 3);
  EXPECT_EQ(gpus("<<: *a, <<: *b"), 2);
  EXPECT_EQ(gpus("<<: *b, <<: *a"), 1);
  EXPECT_EQ(gpus("<<: [*a, *b]"), 1);
  EXPECT_EQ(gpus("<<: *a, nvidia.com/gpu: 4, <<: *b"), 2);
  EXPECT_EQ(gpus("<<: *a, <<: *b, nvidia.com/gpu: 4"), 4);
  EXPECT_EQ(gpus("nvidia.com/gpu: !!int \"3\""), 3);
  EXPECT_EQ(gpus("nvidia.com/gpu: !!str 3"), 3);
  EXPECT_EQ(gpus("!!str nvidia.com/gpu: 3"), 3);
  // Tags of others, as of CloudFormation, leave text.
  EXPECT_EQ(gpus("nvidia.com/gpu: !Sub 3"), 3);
  const Written wrong =
      k8s({"kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, "
           "resources: {limits: {nvidia.com/gpu: !!int many}}}]}\n"});
  ASSERT_FALSE(wrong.said.errors.empty());
  EXPECT_EQ(wrong.said.errors[0].message, "cannot decode many as a !!int");
  // Keys are JSON's: on, True and 0x10 are "true" and "16".
  const Written keys =
      imported({"kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: "
                "g5.xlarge, on: a, "
                "0x10: b}}\n---\n" +
                pods("w", "nodeSelector: {true: a, \"16\": b}")});
  EXPECT_EQ(keys.scenario.node_pools.front().labels.count("true"), 1U);
  EXPECT_EQ(keys.scenario.node_pools.front().labels.count("16"), 1U);
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
