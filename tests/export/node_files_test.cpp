#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export_of.hpp"
#include "scenario_samples.hpp"

// Node groups and NodePools of nodes whose GPUs another program than NVIDIA's plugin shares.
namespace slicewise::reports {
namespace {

using scenarios::NodePool;
using testing::HasSubstr;
using testing::Not;

// Whoever starts the nodes labels them for the plugin, and tells Karpenter what it will offer.
TEST(NodeFiles, AreWrittenForOtherPlugins) {
  NodePool hami = whole_gpus("t4", "g4dn.12xlarge");
  hami.hami.emplace().split_count = 4;
  NodePool aws = whole_gpus("t4", "g4dn.12xlarge");
  aws.virtual_gpu.emplace().per_gpu = 5;
  NodePool nos = whole_gpus("t4", "g4dn.12xlarge");
  nos.nos.emplace().slices = {{"8gb", {}}, {"4gb", {}}, {"4gb", {}}};
  NodePool kai = whole_gpus("t4", "g4dn.12xlarge");
  kai.kai = true;
  const std::tuple<NodePool, const char*, const char*> cases[] = {
      {hami, "gpu: \"on\"", "nvidia.com/gpu: \"16\""},
      {aws, "k8s.amazonaws.com/accelerator: vgpu", "k8s.amazonaws.com/vgpu: \"20\""},
      {nos, "nos.nebuly.com/gpu-partitioning: mps", "nvidia.com/gpu-4gb: \"8\""},
      {kai, "instanceType: g4dn.12xlarge", "- g4dn.12xlarge"}};
  for (const auto& [pool, label, offer] : cases) {
    EXPECT_THAT(text_of(export_of("eksctl", with_pool(pool))), HasSubstr(label));
    const std::string karpenter = text_of(export_of("karpenter", with_pool(pool)));
    EXPECT_THAT(karpenter, HasSubstr(offer));
    EXPECT_THAT(karpenter, Not(HasSubstr("nvidia.com/device-plugin.config")));
  }
}

}  // namespace
}  // namespace slicewise::reports
