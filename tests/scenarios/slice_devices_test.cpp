#include <string>

#include <gtest/gtest.h>

#include "imported_scenario.hpp"

// Nodes have the GPUs and MIG devices that ResourceSlices of NVIDIA's DRA driver publish.
namespace slicewise::scenarios {
namespace {

std::string device(int gpu, const std::string& profile) {
  return "{attributes: {type: {string: " + std::string(profile.empty() ? "gpu" : "mig") +
         "}, profile: {string: \"" + profile + "\"}, " + (profile.empty() ? "uuid" : "parentUUID") +
         ": {string: GPU-" + std::to_string(gpu) + "}}}, ";
}

Written node_with(const std::string& devices) {
  ImportOptions options;
  options.instances = {{"p4d.24xlarge", "a100", 8}};
  options.mig_layouts["p4d.24xlarge"]["all-1g.5gb"] = {{"nvidia.com/mig-1g.5gb", 7}};
  return k8s(
      {"kind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: p4d.24xlarge}}\n"
       "status: {allocatable: {cpu: 95}}\n---\n"
       "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
       "spec: {driver: gpu.nvidia.com, nodeName: n, devices: [" +
       devices +
       "]}\n---\n"
       "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: m}\n"
       "spec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: "
       "gpu.nvidia.com}}]}}}\n---\n"
       "kind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {resourceClaims: [{name: "
       "g, resourceClaimTemplateName: m}], containers: [{name: c, resources: {claims: [{name: "
       "g}]}}]}}}\n"},
      options);
}

TEST(SliceDevices, ALayoutIsNamedWhereItHasAName) {
  std::string all;
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (int part = 0; part < 7; ++part) all += device(gpu, "1g.5gb");
  }
  const NodePool pool = node_with(all).scenario.node_pools.at(0);
  EXPECT_TRUE(pool.dra);
  ASSERT_TRUE(pool.mig);
  EXPECT_EQ(pool.mig->config.value, "all-1g.5gb");
  EXPECT_FALSE(pool.allocatable.gpus);
}

TEST(SliceDevices, GpusMayDifferAndSomeMayBeMissing) {
  const NodePool pool = node_with(device(0, "3g.20gb") + device(0, "3g.20gb") + device(1, ""))
                            .scenario.node_pools.at(0);
  ASSERT_TRUE(pool.mig);
  const auto& parts = pool.mig->configs.at(pool.mig->config.value);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].devices, std::vector<int>{0});
  EXPECT_EQ(parts[0].mig_devices.at(0).first.value, "3g.20gb");
  EXPECT_EQ(parts[0].mig_devices.at(0).second, 2);
  EXPECT_FALSE(parts[1].mig_enabled);
  EXPECT_EQ(pool.allocatable.gpus, 2);
}

TEST(SliceDevices, WholeGpusOfWhichSomeAreMissing) {
  const NodePool pool = node_with(device(3, "") + device(5, "")).scenario.node_pools.at(0);
  EXPECT_FALSE(pool.mig);
  EXPECT_EQ(pool.allocatable.gpus, 2);
}

// Devices that take counters of their GPU exclude each other: the driver makes them for claims.
TEST(SliceDevices, DevicesThatTakeCountersAreMadeOnDemand) {
  std::string all;
  for (const char* profile : {"1g.5gb", "3g.20gb", "7g.40gb"}) {
    const std::string one = device(0, profile);
    all +=
        one.substr(0, one.rfind('}')) +
        ", consumesCounters: [{counterSet: gpu-0-counter-set, counters: {memory-slice-0: {value: "
        "\"1\"}}}]}, ";
  }
  const NodePool pool = node_with(all).scenario.node_pools.at(0);
  EXPECT_TRUE(pool.dra);
  EXPECT_TRUE(pool.dynamic_mig);
  EXPECT_FALSE(pool.mig);
  EXPECT_EQ(pool.allocatable.gpus, 1);
}

}  // namespace
}  // namespace slicewise::scenarios
