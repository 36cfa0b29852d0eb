#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/load.hpp"

#include "imported_scenario.hpp"
#include "one_workload.hpp"

// Claims of DRA in scenario files, and of manifests.
namespace slicewise::scenarios {
namespace {

using ::testing::HasSubstr;

std::string with_claim(const std::string& claim, const std::string& pool = "dra: true",
                       const std::string& pod = "resourceClaim: asr-gpu") {
  return "apiVersion: slicewise.dev/v1alpha1\n"
         "kind: Scenario\n"
         "metadata: {name: test}\n"
         "spec:\n"
         "  nodePools:\n"
         "  - {name: gpu, instanceType: g5.xlarge, " +
         pool +
         "}\n"
         "  resourceClaims:\n"
         "  - {" +
         claim +
         "}\n"
         "  workloads:\n"
         "  - {name: a, podTemplate: {" +
         pod + "}, work: {units: 1}, measured: {unitTime: 18s}}\n";
}

TEST(ResourceClaims, AreReadAsTheDriverHasThem) {
  const auto loaded = load_scenario(
      {"f.yaml",
       with_claim("name: asr-gpu, selectors: [\"device.driver == 'gpu.nvidia.com'\"], sharing: "
                  "{strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 25, "
                  "defaultPinnedDeviceMemoryLimit: 5Gi}}")});
  ASSERT_TRUE(loaded) << loaded.error().front().message;
  const Scenario& scenario = loaded->variants.front();
  EXPECT_TRUE(scenario.node_pools.front().dra);
  EXPECT_EQ(scenario.workloads.front().pod.claim.value, "asr-gpu");
  ASSERT_EQ(scenario.claims.size(), 1U);
  const ResourceClaim& claim = scenario.claims.front();
  EXPECT_FALSE(claim.is_template);
  ASSERT_TRUE(claim.sharing);
  EXPECT_EQ(claim.sharing->strategy, ClaimSharing::Strategy::Mps);
  EXPECT_EQ(claim.sharing->active_threads, 25);
  EXPECT_EQ(claim.sharing->memory_limit, gibibytes(5));
}

TEST(ResourceClaims, MistakesAreSaidAtTheirPlace) {
  expect_problem_at(10, with_claim("name: asr-gpus"), Code::DraClaimUnknown,
                    "spec.resourceClaims has no \"asr-gpu\"");
  expect_problem_at(
      8,
      with_claim("name: asr-gpu, selectors: [\"device.attributes['gpu.nvidia.com'].uuid == 'a'\"]"),
      Code::DraSelector, "nobody knows here which devices have what attributes \"uuid\" selects");
  expect_problem_at(8, with_claim("name: asr-gpu, count: 2"), Code::StrategyNotModelled,
                    "share a claim of several devices");
  expect_problem_at(8, with_claim("name: asr-gpu, sharing: {strategy: TimeSlicing, mpsConfig: {}}"),
                    Code::SettingConflict, "mpsConfig under the strategy TimeSlicing");
  expect_problem_at(6, with_claim("name: asr-gpu", "dra: true, devicePlugin: {version: v1}"),
                    Code::SettingConflict, "dra and devicePlugin on one node pool");
  expect_problem_at(6, with_claim("name: asr-gpu", "dra: true, dynamicMig: {}, capacityType: spot"),
                    Code::StrategyNotModelled, "on demand on nodes that come and go");
  expect_problem_at(6, with_claim("name: asr-gpu", "dynamicMig: {}"), Code::SettingConflict,
                    "without NVIDIA's DRA driver");
  expect_problem_at(
      6, with_claim("name: asr-gpu", "dra: true, dynamicMig: {}, mig: {config: all-1g.5gb}"),
      Code::SettingConflict, "dynamicMig and mig on one node pool");
  expect_problem_at(10,
                    with_claim("name: asr-gpu", "dra: true",
                               "resourceClaim: asr-gpu, resources: {limits: {nvidia.com/gpu: 1}}"),
                    Code::SettingConflict, "a claim beside nvidia.com/gpu");
}

constexpr std::string_view kObjects = R"(
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: t4.example.com}
spec:
  selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].productName == 'Tesla T4'"}}]
  config: [{opaque: {driver: gpu.nvidia.com, parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Short}}}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: voice}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: t4.example.com}}]}}
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {name: own, namespace: voice}
spec: {spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.nvidia.com, count: 2}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: listed, namespace: voice}
spec: {devices: {requests: [{name: gpu, firstAvailable: [{name: a, deviceClassName: gpu.nvidia.com}]}]}}
)";

std::string deployment(const std::string& name, int replicas, const std::string& claim) {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         ", namespace: voice}\nspec: {replicas: " + std::to_string(replicas) +
         ", template: {spec: {resourceClaims: [{name: gpu, " + claim +
         "}], containers: [{name: c, image: x, resources: {requests: {cpu: 1}, claims: [{name: "
         "gpu}]}}]}}}\n";
}

TEST(ResourceClaims, OfManifestsHaveWhatTheirClassSays) {
  ImportOptions options;
  options.instances = {
      {"g5.xlarge", "a10g", 1}, {"g4dn.12xlarge", "t4", 4}, {"g4dn.xlarge", "t4", 1}};
  const Written result =
      written(ImportKind::K8s,
              {std::string(kObjects) + deployment("asr", 2, "resourceClaimName: shared") +
               deployment("tts", 3, "resourceClaimName: shared") +
               deployment("train", 2, "resourceClaimTemplateName: own") +
               deployment("odd", 1, "resourceClaimName: listed")},
              options);
  const Scenario& scenario = result.scenario;
  ASSERT_EQ(scenario.claims.size(), 2U);
  EXPECT_EQ(scenario.claims[0].name.value, "shared");
  ASSERT_EQ(scenario.claims[0].selectors.size(), 1U);
  EXPECT_THAT(scenario.claims[0].selectors[0].value, HasSubstr("'Tesla T4'"));
  ASSERT_TRUE(scenario.claims[0].sharing);
  EXPECT_EQ(scenario.claims[0].sharing->interval, TurnInterval::Short);
  EXPECT_TRUE(scenario.claims[1].is_template);
  EXPECT_EQ(scenario.claims[1].count, 2);
  EXPECT_EQ(scenario.claims[1].selectors[0].value, selector_of_class("gpu.nvidia.com"));
  ASSERT_EQ(scenario.workloads.size(), 3U);
  EXPECT_EQ(scenario.workloads[1].pod.claim.value, "shared");
  // A GPU for the five pods of the first claim, two for each of the others.
  ASSERT_EQ(scenario.node_pools.size(), 1U);
  EXPECT_EQ(scenario.node_pools[0].instance_type.value, "g4dn.xlarge");
  EXPECT_TRUE(scenario.node_pools[0].dra);
  EXPECT_EQ(scenario.node_pools[0].nodes, 5);
  EXPECT_EQ(result.said.count("resource claims: claims that take the first available of several "
                              "requests (Deployment)"),
            1);
}

TEST(PodTemplate, DevicesOfOtherPluginsBesideAGpuAreRefused) {
  const auto asking = [](const std::string& limits) {
    return with_claim("name: unused", "dra: false", "resources: {limits: {" + limits + "}}");
  };
  expect_problem_at(10, asking("nvidia.com/gpu: 1, vpc.amazonaws.com/efa: 1"),
                    Code::StrategyNotModelled, "vpc.amazonaws.com/efa is no GPU");
  EXPECT_TRUE(read_scenario_file({"f.yaml", asking("nvidia.com/gpu: 1, nvidia.com/gpumem: 3000")})
                  .problems.empty());
}

TEST(Provisioner, LimitsAreOfPoolsThatAreThere) {
  const auto with_limits = [&](const std::string& limits) {
    std::string text = with_claim("name: unused", "nodes: {min: 0, max: 4}",
                                  "resources: {limits: {nvidia.com/gpu: 1}}");
    return text.replace(text.find("  nodePools:"), 0,
                        "  provisioner: {kind: Karpenter, limits: [" + limits + "]}\n");
  };
  expect_problem_at(5, with_limits("{pools: [gpus], gpus: 4}"), Code::EnumUnknown,
                    "no node pool is called \"gpus\"");
  expect_problem_at(5, with_limits("{gpus: 4}"), Code::FieldMissing, "pools");
  const auto read = read_scenario_file({"f.yaml", with_limits("{pools: [gpu], memory: 1Ti}")});
  EXPECT_TRUE(read.problems.empty());
}

}  // namespace
}  // namespace slicewise::scenarios
