#include "slicewise/reports/export/pod_patch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Scenario;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kVariable = "name: TF_FORCE_GPU_ALLOW_GROWTH\n          value: \"true\"\n";

TEST(PodPatch, GreedyAllocatorUnderTimeSlicingGrowsOnDemand) {
  EXPECT_THAT(pod_patches(demo_after()), HasSubstr(kVariable));
}

TEST(PodPatch, WholeGpuMayBeMappedWhole) {
  Scenario scenario = demo_after();
  scenario.node_pools = {whole_gpus("v100", "p3.8xlarge")};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH")));
}

// The pods ask for whole GPUs of another pool: nvidia.com/gpu, where the shared one is renamed.
TEST(PodPatch, OtherNameIsNotShared) {
  Scenario scenario = demo_after();
  scenario.node_pools = {time_sliced("v100", "p3.8xlarge", 10, true)};
  EXPECT_THAT(pod_patches(scenario), Not(HasSubstr("TF_FORCE_GPU_ALLOW_GROWTH")));
}

TEST(PodPatch, ValueInTheScenarioWins) {
  Scenario scenario = demo_after();
  scenario.workloads.front().pod.env = {{"TF_FORCE_GPU_ALLOW_GROWTH", "false"}};
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("value: \"false\""), Not(HasSubstr(kVariable))));
}

TEST(PodPatch, QuantitiesAreKubernetes) {
  Scenario scenario = demo_after();
  scenarios::PodTemplate& pod = scenario.workloads.front().pod;
  pod.cpu_request = {2000};
  pod.cpu_limit = Millicores{2600};
  pod.memory_request = mebibytes(1536);
  EXPECT_THAT(
      pod_patches(scenario),
      AllOf(HasSubstr("limits:\n            cpu: \"2600m\"\n"),
            HasSubstr("requests:\n            cpu: \"2\"\n            memory: \"1536Mi\"\n")));
  pod.memory_request = {16'000'000'001};
  EXPECT_THAT(pod_patches(scenario), HasSubstr("memory: \"16000000001\"\n"));
}

TEST(PodPatch, GpuTaintIsToleratedOnce) {
  Scenario scenario = demo_after();
  EXPECT_THAT(pod_patches(scenario), HasSubstr("key: nvidia.com/gpu\n        operator: Exists\n"));
  scenario.workloads.front().pod.tolerations = {{"", "Exists", "", ""}};
  EXPECT_THAT(pod_patches(scenario), AllOf(HasSubstr("tolerations:\n      - operator: Exists\n"),
                                           Not(HasSubstr("key: nvidia.com/gpu"))));
}

TEST(PodPatch, JobsHaveNoReplicas) {
  Scenario scenario = demo_after();
  EXPECT_THAT(pod_patches(scenario), HasSubstr("kind: Deployment\n"));
  EXPECT_THAT(pod_patches(scenario), HasSubstr("  replicas: 20\n"));
  scenario.workloads.front().kind = scenarios::WorkloadKind::Job;
  EXPECT_THAT(pod_patches(scenario),
              AllOf(HasSubstr("apiVersion: batch/v1\nkind: Job\n"), Not(HasSubstr("replicas:"))));
}

}  // namespace
}  // namespace slicewise::reports
