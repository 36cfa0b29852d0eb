#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "slicewise/scenarios/load.hpp"

namespace slicewise::scenarios {
namespace {

const std::string kOneWorkload =
    "apiVersion: slicewise.dev/v1alpha1\n"
    "kind: Scenario\n"
    "metadata: {name: test}\n"
    "spec:\n"
    "  nodePools:\n"
    "  - name: gpu\n"
    "    instanceType: p3.8xlarge\n"
    "    devicePlugin: {sharing: {timeSlicing: {resources: [{name: gpu, replicas: 10}]}}}\n"
    "  workloads:\n"
    "  - {name: a, count: 5, work: {units: 1}, measured: {unitTime: 18s}}\n";

const std::string kReplicas =
    "nodePools.gpu.devicePlugin.sharing.timeSlicing.resources[0].replicas";
const std::string kOff = "patch: {nodePools: [{name: gpu, devicePlugin: null}]}}\n";

LoadedScenario load_set(const std::string& tail, std::vector<std::string> set) {
  return read_scenario_file({"f.yaml", kOneWorkload + tail}, {std::move(set)});
}

TEST(SetWithoutPlace, IsAWarningThatNamesTheVariants) {
  const LoadedScenario loaded =
      load_set("  variants:\n  - {name: off, " + kOff + "  - {name: on}\n  - {name: never, " + kOff,
               {kReplicas + "=5"});
  EXPECT_TRUE(loaded.problems.empty());
  ASSERT_EQ(loaded.set.notes.size(), 1U);
  EXPECT_EQ(loaded.set.notes[0].code, Code::PathUnknown);
  EXPECT_EQ(loaded.set.notes[0].severity, Severity::Warning);
  EXPECT_NE(loaded.set.notes[0].message.find("variants \"off\", \"never\""), std::string::npos);
  EXPECT_EQ(loaded.set.variants[1].node_pools[0].device_plugin->time_slicing->resources[0].replicas,
            5);
}

TEST(SetWithoutPlace, InAnyVariantIsAnError) {
  const LoadedScenario loaded = load_set(
      "  variants:\n  - {name: off, " + kOff + "  - {name: never, " + kOff, {kReplicas + "=5"});
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].code, Code::PathUnknown);
  EXPECT_EQ(loaded.problems[0].where.file, "--set");
}

TEST(SetWithoutPlace, RemovingWhatAPatchRemovedIsNoNews) {
  const LoadedScenario loaded =
      load_set("  variants:\n  - {name: off, " + kOff + "  - {name: on}\n",
               {"nodePools.gpu.devicePlugin.sharing=null"});
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_TRUE(loaded.set.notes.empty());
}

TEST(SetAndSweep, ConflictOnTheSamePathAboveAndBelowIt) {
  const std::string sweep = "  sweep:\n    " + kReplicas + ": [2, 5]\n";
  const std::string same = "nodePools[0].devicePlugin.sharing.timeSlicing.resources[0].replicas=3";
  for (const std::string& set :
       {kReplicas + "=3", same, std::string("nodePools.gpu.devicePlugin=null"),
        std::string("nodePools=[{name: z, instanceType: p3.8xlarge}]")}) {
    const LoadedScenario loaded = load_set(sweep, {set});
    ASSERT_EQ(loaded.problems.size(), 1U) << set;
    EXPECT_EQ(loaded.problems[0].code, Code::SettingConflict) << set;
    EXPECT_EQ(loaded.problems[0].message.substr(0, 5), "--set") << set;
  }
  EXPECT_EQ(load_set("  sweep: {workloads.a.slo: [{waitP95: 1m}, {waitP95: 2m}]}\n",
                     {"workloads.a.slo.waitP95=3m"})
                .problems.size(),
            1U);
  EXPECT_TRUE(load_set(sweep, {"workloads.a.count=3", "nodePools.gpu.nodes=2"}).problems.empty());
}

TEST(SetAndSweep, ASettingAddsADimension) {
  const LoadedScenario loaded = load_set("  sweep:\n    workloads.a.count: [5, 6]\n",
                                         {"sweep." + kReplicas + "=[2, 4]", "seed=7"});
  EXPECT_TRUE(loaded.problems.empty());
  ASSERT_EQ(loaded.set.variants.size(), 4U);
  EXPECT_EQ(loaded.set.variants[3].name, "count=6,replicas=4");
  EXPECT_EQ(loaded.set.variants[3].seed, 7U);
  const std::string as_recorded = "sweep." + kReplicas + "=[2, 4]";
  EXPECT_NE(std::ranges::find(loaded.set.inputs, as_recorded), loaded.set.inputs.end());
  const LoadedScenario both = load_set("", {kReplicas + "=3", "sweep." + kReplicas + "=[2, 4]"});
  ASSERT_EQ(both.problems.size(), 1U);
  EXPECT_EQ(both.problems[0].code, Code::SettingConflict);
  const LoadedScenario one = load_set("", {"sweep." + kReplicas + "=2"});
  ASSERT_EQ(one.problems.size(), 1U);
  EXPECT_EQ(one.problems[0].code, Code::FieldType);
}

TEST(SetText, PlainValuesAreTextWhereTextGoes) {
  const std::string env = "workloads.a.podTemplate.env.TF_FORCE_GPU_ALLOW_GROWTH=true";
  const LoadedScenario loaded = load_set("", {env, "workloads.a.podTemplate.nodeSelector.rack=3"});
  ASSERT_TRUE(loaded.problems.empty()) << loaded.problems[0].message;
  const PodTemplate& pod = loaded.set.variants[0].workloads[0].pod;
  EXPECT_EQ(pod.env.at("TF_FORCE_GPU_ALLOW_GROWTH"), "true");
  EXPECT_EQ(pod.node_selector.at("rack"), "3");
  const LoadedScenario wrong = load_set("", {"workloads.a.podTemplate.resources.limits.cpu=true"});
  EXPECT_EQ(wrong.problems.size(), 1U);
}

TEST(SetText, ReachesAListOfEnvironmentVariablesByName) {
  const LoadedScenario loaded = load_set(
      "  - name: b\n    work: {units: 1}\n    measured: {unitTime: 18s}\n"
      "    podTemplate: {env: [{name: MODE, value: \"off\"}]}\n",
      {"workloads.b.podTemplate.env.MODE=true"});
  ASSERT_TRUE(loaded.problems.empty()) << loaded.problems[0].message;
  EXPECT_EQ(loaded.set.variants[0].workloads[1].pod.env.at("MODE"), "true");
}

// Kubernetes refuses an environment variable that is not a string.
TEST(SetText, FilesNeedQuotes) {
  const LoadedScenario loaded = load_set(
      "  - {name: b, work: {units: 1}, measured: {unitTime: 18s}, podTemplate: {env: {A: true}}}\n",
      {});
  ASSERT_EQ(loaded.problems.size(), 1U);
  EXPECT_EQ(loaded.problems[0].help, "quote it: \"true\"");
}

}  // namespace
}  // namespace slicewise::scenarios
