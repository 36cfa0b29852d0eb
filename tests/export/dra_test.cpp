#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/export.hpp"

#include "export_of.hpp"
#include "scenario_samples.hpp"

namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using scenarios::Scenario;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

// Pods share by naming one claim, so there is one for each GPU.
TEST(Dra, AClaimForEachSharedGpu) {
  NodePool pool = with_mps("t4", "g4dn.xlarge", 4);
  pool.nodes = 2;
  Scenario scenario = with_pool(pool);
  scenario.workloads = {asking("asr", 6, "nvidia.com/gpu")};
  EXPECT_THAT(text_of(export_of("dra", scenario)),
              AllOf(HasSubstr("kind: DeviceClass\nmetadata:\n  name: t4.slicewise.dev\n"),
                    HasSubstr("            defaultActiveThreadPercentage: 25\n"
                              "            defaultPinnedDeviceMemoryLimit: \"3840Mi\"\n"),
                    HasSubstr("featureGates.MPSSupport=true"),
                    HasSubstr("One GPU for 3 pods of asr, which need an object of their own"),
                    HasSubstr("name: asr-gpu-1\n"), HasSubstr("name: asr-gpu-2\n"),
                    Not(HasSubstr("asr-gpu-3")), Not(HasSubstr("ResourceClaimTemplate"))));
}

TEST(Dra, MigDevicesAreChosenByTheirProfile) {
  Scenario scenario = with_pool(cut("all-1g.5gb", scenarios::MigStrategy::Mixed));
  scenario.workloads = {asking("lab", 3, "nvidia.com/mig-1g.5gb")};
  EXPECT_THAT(
      text_of(export_of("dra", scenario)),
      AllOf(HasSubstr("kind: ResourceClaimTemplate\n"),
            HasSubstr("deviceClassName: mig.nvidia.com\n"), HasSubstr(".profile == '1g.5gb'")));
  scenario.node_pools.front().device_plugin = time_sliced("a100", "p4d.24xlarge", 2).device_plugin;
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              ::testing::Contains(HasSubstr("time-slicing of MIG devices")));
}

// Simulated are five pods on each of the four GPUs; it wrote two claims of ten.
TEST(Dra, TheAwsDemoIsSpreadAsItWasSimulated) {
  const std::string text = text_of(export_of("dra", demo_after()));
  EXPECT_EQ(count_of(text, "One GPU for 5 pods of cifar10"), 4U);
  EXPECT_EQ(count_of(text, "kind: ResourceClaim\n"), 4U);
  Scenario packed = demo_after();
  packed.node_pools.front().device_plugin->allocation_policy = scenarios::AllocationPolicy::Packed;
  EXPECT_EQ(count_of(text_of(export_of("dra", packed)), "One GPU for 10 pods of cifar10"), 2U);
}

TEST(Dra, PodsOfTwoWorkloadsNameOneClaim) {
  Scenario scenario = with_pool(time_sliced("t4", "g4dn.xlarge", 4));
  scenario.workloads = {asking("asr", 2, "nvidia.com/gpu"), asking("tts", 1, "nvidia.com/gpu")};
  EXPECT_THAT(text_of(export_of("dra", scenario)),
              AllOf(HasSubstr("One GPU for 2 pods of asr and 1 pod of tts"),
                    HasSubstr("#     resourceClaimName: t4-gpu\n"), HasSubstr("#   - name: asr\n"),
                    HasSubstr("#   - name: tts\n"), HasSubstr("  name: t4-gpu\n")));
}

// A cluster has other pools: a service of 30 GiB must not get their T4.
TEST(Dra, DevicesAreChosenByProduct) {
  Scenario scenario = with_pool(time_sliced("a10g", "g5.xlarge", 4));
  scenario.workloads = {asking("asr", 2, "nvidia.com/gpu")};
  EXPECT_THAT(text_of(export_of("dra", scenario)),
              HasSubstr("productName.matches('^NVIDIA.A10G$')"));
  scenario.node_pools = {whole_gpus("a10g", "g5.xlarge")};
  EXPECT_THAT(text_of(export_of("dra", scenario)),
              HasSubstr("productName.matches('^NVIDIA.A10G$')"));
}

TEST(Dra, RefusesWhatNoClaimGives) {
  Scenario scenario = with_pool(time_sliced("t4", "g4dn.12xlarge", 2));
  scenario.workloads = {asking("asr", 9, "nvidia.com/gpu")};
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              ElementsAre(HasSubstr("9 pods share 4 devices of \"t4\", 2 at a time")));
  scenario.workloads = {asking("asr", 4, "nvidia.com/gpu"), asking("tts", 4, "nvidia.com/gpu")};
  scenario.workloads.back().namespace_name = "voice";
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              ElementsAre(HasSubstr("\"asr\" of namespace default and \"tts\" of voice share")));
  scenario.workloads.pop_back();
  scenario.workloads.front().autoscaling.emplace();
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              ElementsAre(HasSubstr("the pods of \"asr\" share 4 devices")));
  scenario.workloads.front() = asking("asr", 5, "nvidia.com/gpu");
  scenario.workloads.front().pod.anti_affinity.emplace_back();
  EXPECT_THAT(refusals(export_of("dra", scenario)),
              ElementsAre(HasSubstr("\"asr\" has podAntiAffinity")));
}

}  // namespace
}  // namespace slicewise::reports
