#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "imported_scenario.hpp"

// For which CPUs the images of imported pods are built.
namespace slicewise::scenarios {
namespace {

using BuiltFor = std::vector<Architecture>;

InstanceGpus type_with(const char* name, const char* gpu, Architecture cpus, double usd) {
  InstanceGpus one{name, gpu, 1};
  one.labels = labels_of_type(name);
  one.labels["karpenter.k8s.aws/instance-gpu-name"] = gpu;
  one.labels[std::string(kArchitectureLabel)] = kArchitectures.at(static_cast<std::size_t>(cpus));
  one.price = UsdPerHour{from_dollars(usd)};
  return one;
}

Written with_pods(const std::string& pools, const std::string& pod_spec) {
  ImportOptions options;
  options.instances = {type_with("g5g.xlarge", "t4g", Architecture::Arm64, 0.42),
                       type_with("g4dn.xlarge", "t4", Architecture::Amd64, 0.526)};
  return k8s({pools + "---\nkind: Deployment\nmetadata: {name: w}\nspec: {template: {spec: {" +
              pod_spec + "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"},
             options);
}

std::string pool_of_types(const std::string& name, const std::string& key,
                          const std::string& value) {
  return "---\nkind: NodePool\nmetadata: {name: " + name +
         "}\nspec: {template: {spec: {requirements: [{key: " + key + ", operator: In, values: [" +
         value + "]}]}}}\n";
}

std::string cpus_required(const std::string& op, const std::string& values) {
  return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: " +
         op + ", values: [" + values + "]}]}]}}}, ";
}

// What pods require of CPUs says it, and so do nodes that are all of arm64.
TEST(ImportImages, AreBuiltForTheCpusThatPodsAskFor) {
  const auto built_for = [](const std::string& pools, const std::string& spec) {
    return with_pods(pools, spec).find("w")->pod.image_architectures;
  };
  const std::string arm = pool_of_types("arm", "node.kubernetes.io/instance-type", "g5g.xlarge");
  const std::string both =
      pool_of_types("x86", "node.kubernetes.io/instance-type", "g4dn.xlarge") + arm;
  EXPECT_EQ(built_for(both, cpus_required("In", "amd64, arm64")),
            (BuiltFor{Architecture::Amd64, Architecture::Arm64}));
  EXPECT_EQ(built_for(both, cpus_required("NotIn", "amd64")), BuiltFor{Architecture::Arm64});
  EXPECT_EQ(built_for(both, ""), BuiltFor{});
  EXPECT_EQ(built_for(arm, ""), BuiltFor{Architecture::Arm64});
  EXPECT_EQ(with_pods(arm, "").said.count("images built for arm64"), 1);
}

// Of a choice that nobody narrows the usual CPUs are taken, be others cheaper.
TEST(ImportImages, ChooseTypesThatRunThem) {
  const auto chosen = [](const std::string& spec) {
    const std::string any = pool_of_types("any", "karpenter.k8s.aws/instance-category", "g");
    return with_pods(any, spec).scenario.node_pools.front().instance_type.value;
  };
  EXPECT_EQ(chosen(""), "g4dn.xlarge");
  EXPECT_EQ(chosen("nodeSelector: {kubernetes.io/arch: arm64}, "), "g5g.xlarge");
}

}  // namespace
}  // namespace slicewise::scenarios
