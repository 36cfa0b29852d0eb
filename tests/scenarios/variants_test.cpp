#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

const std::string kTwoWorkloads =
    "apiVersion: slicewise.dev/v1alpha1\n"
    "kind: Scenario\n"
    "metadata: {name: test}\n"
    "spec:\n"
    "  nodePools:\n"
    "  - name: gpu\n"
    "    instanceType: p3.8xlarge\n"
    "    devicePlugin: {sharing: {timeSlicing: {resources: [{name: gpu, replicas: 10}]}}}\n"
    "  workloads:\n"
    "  - {name: a, count: 5, work: {units: 1}, measured: {unitTime: 18s}}\n"
    "  - {name: b, work: {units: 1}, measured: {unitTime: 18s}}\n";

ScenarioSet load_variants(const std::string& tail, const Overrides& overrides = {}) {
  auto loaded = load_scenario({"f.yaml", kTwoWorkloads + tail}, overrides);
  if (!loaded) {
    ADD_FAILURE() << loaded.error().front().message;
    return {};
  }
  return *loaded;
}

Diagnostics problems_of_variants(const std::string& tail, const Overrides& overrides = {}) {
  auto loaded = load_scenario({"f.yaml", kTwoWorkloads + tail}, overrides);
  return loaded ? Diagnostics{} : loaded.error();
}

std::vector<std::string> names(const ScenarioSet& set) {
  std::vector<std::string> result;
  for (const Scenario& scenario : set.variants) result.push_back(scenario.name);
  return result;
}

TEST(Variants, AFileWithoutVariantsIsItsBase) {
  const ScenarioSet set = load_variants("");
  ASSERT_EQ(set.variants.size(), 1U);
  EXPECT_EQ(set.variants[0].name, "base");
  EXPECT_EQ(set.variants[0].node_pools[0].device_plugin->time_slicing->resources[0].name.value,
            "nvidia.com/gpu");
}

TEST(Variants, PatchesMergeByNameAndNullRemoves) {
  const ScenarioSet set = load_variants(
      "  variants:\n"
      "  - {name: one, patch: {workloads: [{name: a, count: 20}]}}\n"
      "  - {name: two, patch: {nodePools: [{name: gpu, devicePlugin: null}]}}\n");
  ASSERT_EQ(set.variants.size(), 2U);
  EXPECT_EQ(set.variants[0].workloads[0].count, 20);
  EXPECT_EQ(set.variants[0].workloads[0].work->units, 1);
  EXPECT_EQ(set.variants[0].workloads.size(), 2U);
  EXPECT_EQ(set.variants[1].workloads[0].count, 5);
  EXPECT_FALSE(set.variants[1].node_pools[0].device_plugin.has_value());
}

TEST(Variants, APatchOfAnUnknownEntryIsAnError) {
  const Diagnostics found = problems_of_variants(
      "  variants:\n  - {name: one, patch: {nodePools: [{name: gpus, nodes: 2}]}}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::PathUnknown);
  EXPECT_EQ(found[0].where.line, 13);
  EXPECT_EQ(found[0].where.column, 44);
}

TEST(Variants, ThePlaceOfAPatchedValueIsThatOfThePatch) {
  const Diagnostics found = problems_of_variants(
      "  variants:\n  - {name: one, patch: {workloads: [{name: a, count: -1}]}}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::ValueRange);
  EXPECT_EQ(found[0].where.line, 13);
}

TEST(Sweep, IsTheCartesianProductForEveryVariant) {
  EXPECT_EQ(names(load_variants("  sweep:\n"
                                "    nodePools.gpu.nodes: [1, 2]\n"
                                "    workloads.a.count: [3, 4]\n")),
            (std::vector<std::string>{"nodes=1,count=3", "nodes=1,count=4", "nodes=2,count=3",
                                      "nodes=2,count=4"}));
}

TEST(Sweep, AVariantWithoutThePathIsKeptOnceWithANote) {
  const ScenarioSet set = load_variants(
      "  variants:\n"
      "  - {name: off, patch: {nodePools: [{name: gpu, devicePlugin: null}]}}\n"
      "  - {name: on}\n"
      "  sweep:\n"
      "    nodePools.gpu.devicePlugin.sharing.timeSlicing.resources[0].replicas: [2, 5]\n");
  EXPECT_EQ(names(set), (std::vector<std::string>{"off", "on/replicas=2", "on/replicas=5"}));
  ASSERT_EQ(set.notes.size(), 1U);
  EXPECT_EQ(set.notes[0].code, Code::SweepSkipped);
  EXPECT_EQ(set.variants[2].node_pools[0].device_plugin->time_slicing->resources[0].replicas, 5);
}

TEST(Sweep, AnUnknownPathNamesTheNearest) {
  const Diagnostics found = problems_of_variants("  sweep: {nodePools.gpu.node: [1]}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::PathUnknown);
  EXPECT_NE(found[0].message.find("did you mean \"nodes\"?"), std::string::npos);
}

TEST(Sweep, MoreThanTenThousandVariantsAreRefused) {
  std::string hundred_and_one = "[1";
  for (int i = 2; i <= 101; ++i) hundred_and_one += ", " + std::to_string(i);
  hundred_and_one += "]";
  const Diagnostics found =
      problems_of_variants("  sweep:\n    workloads.a.count: " + hundred_and_one +
                           "\n    workloads.b.count: " + hundred_and_one + "\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::ValueRange);
}

TEST(Set, WinsOverPatches) {
  const ScenarioSet set =
      load_variants("  variants:\n  - {name: one, patch: {workloads: [{name: a, count: 20}]}}\n",
                    {{"workloads.a.count=3"}});
  EXPECT_EQ(set.variants[0].workloads[0].count, 3);
}

TEST(Set, MakesBlocksThatAreAbsentAndReachesDottedKeys) {
  const ScenarioSet set =
      load_variants("", {{"workloads.a.slo.waitP95=10m",
                          "workloads.a.podTemplate.resources.limits.nvidia.com/gpu=1"}});
  ASSERT_EQ(set.variants[0].workloads[0].objectives.size(), 1U);
  ASSERT_EQ(set.variants[0].workloads[0].pod.extended.size(), 1U);
  EXPECT_EQ(set.variants[0].workloads[0].pod.extended[0].name.value, "nvidia.com/gpu");
}

TEST(Set, MistakesHaveTheirPlaceInTheArgument) {
  const Diagnostics found =
      problems_of_variants("", {{"workloads.a.count=3", "workloads.a.count=many"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, (SourceLocation{"--set", 2, 19, 4}));
}

TEST(Inputs, AreWhatTheFileSaysAfterSet) {
  const ScenarioSet set = load_variants(
      "  warmup: 0s\n  variants: [{name: v, patch: {workloads: [{name: a, count: 7}]}}]\n",
      {{"workloads.a.count=6", "seed=1"}});
  EXPECT_EQ(
      set.inputs,
      (std::vector<std::string>{
          "nodePools.gpu.instanceType=p3.8xlarge",
          "nodePools.gpu.devicePlugin.sharing.timeSlicing.resources.gpu.replicas=10",
          "workloads.a.count=6", "workloads.a.work.units=1", "workloads.a.measured.unitTime=18s",
          "workloads.b.work.units=1", "workloads.b.measured.unitTime=18s", "warmup=0s",
          "variants.v.patch.workloads.a.count=7", "seed=1"}));
}

TEST(Hash, IsOfTheBytesAndEachSetInOrder) {
  // From Python: hashlib.sha256(b"x\nseed=1").hexdigest() with the file in place of x.
  EXPECT_EQ(load_variants("", {{"seed=1"}}).sha256,
            "be2c0caba98b8d1b74ca020446ff412f6db84b2606b95fbfa4e18cb3c788b769");
  EXPECT_NE(load_variants("").sha256, load_variants("# a comment\n").sha256);
  EXPECT_NE(load_variants("").sha256, load_variants("", {{"seed=1"}}).sha256);
  EXPECT_NE(load_variants("", {{"seed=1", "replications=2"}}).sha256,
            load_variants("", {{"replications=2", "seed=1"}}).sha256);
}

// A log-normal law with median m and p99 q: sigma = ln(q/m)/2.326347874, mean = m exp(sigma^2/2).
TEST(RequestTime, PercentilesGiveALogNormalLaw) {
  const auto loaded = load_scenario(
      {"f.yaml", kTwoWorkloads + "  - {name: s, kind: Service, traffic: {mean: 1/s},"
                                 " measured: {requestGpuTime: {p50: 31ms, p99: 44ms}}}\n"});
  ASSERT_TRUE(loaded.has_value());
  const ServiceTime& time = *loaded->variants[0].workloads[2].measured->request_gpu_time;
  const double sigma = std::log(44.0 / 31.0) / 2.3263478740408408;
  EXPECT_EQ(time.law, ServiceTime::Law::LogNormal);
  EXPECT_NEAR(time.sigma, sigma, 1e-12);
  EXPECT_NEAR(to_seconds(time.mean), 0.031 * std::exp(sigma * sigma / 2), 1e-9);
}

TEST(SensitivityBlock, NamesKindsOfInputsAndHowFar) {
  const ScenarioSet set =
      load_variants("  sensitivity: {vary: [unitTime, gpuMemory.peak], by: 10%}\n");
  ASSERT_EQ(set.variants.size(), 1U);
  ASSERT_TRUE(set.variants[0].sensitivity);
  EXPECT_EQ(set.variants[0].sensitivity->vary,
            (std::vector{InputKind::UnitTime, InputKind::GpuMemoryPeak}));
  EXPECT_DOUBLE_EQ(set.variants[0].sensitivity->by, 0.1);
  EXPECT_EQ(load_variants("  sensitivity: {vary: price}\n").variants[0].sensitivity->vary,
            std::vector{InputKind::Price});
  EXPECT_FALSE(load_variants("").variants[0].sensitivity);
}

TEST(SensitivityBlock, RefusesWhatCannotBeVaried) {
  EXPECT_EQ(problems_of_variants("  sensitivity: {vary: [unittime]}\n").at(0).code,
            Code::EnumUnknown);
  EXPECT_EQ(problems_of_variants("  sensitivity: {by: 100%}\n").at(0).code, Code::ValueRange);
}

}  // namespace
}  // namespace slicewise::scenarios
