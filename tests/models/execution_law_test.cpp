#include "slicewise/models/execution_law.hpp"

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

std::int64_t microseconds_of(Duration d) { return (d.ns + 500) / 1'000; }

// c = 20 us + 2 S/(0.71 B) + kappa L2/(0.71 B), in whole microseconds.
TEST(SwitchCost, FollowsTheFormulaForEveryGpu) {
  struct Row {
    const char* gpu;
    double state_megabytes;
    std::int64_t warm;  // kappa 0
    std::int64_t cold;  // kappa 1
  };
  const Row rows[] = {{"V100", 28.8, 110, 120},      {"T4", 13.1, 135, 154},
                      {"A10G", 29.2, 157, 172},      {"L4", 21.1, 219, 455},
                      {"A100-40GB", 46.4, 104, 142}, {"A100-80GB", 46.4, 84, 113},
                      {"H100", 65.4, 75, 97}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.gpu);
    const GpuModel& gpu = *catalogue().find_gpu(row.gpu);
    EXPECT_NEAR(static_cast<double>(context_state(gpu).count) / 1e6, row.state_megabytes, 0.05);
    EXPECT_EQ(microseconds_of(switch_cost(gpu, 0)), row.warm);
    EXPECT_EQ(microseconds_of(switch_cost(gpu, 1)), row.cold);
  }
}

// H200: 74 us with the 50 MiB of L2 that tables copy from H100, 77 us with the 60 MiB that its
// driver reports.
TEST(SwitchCost, H200DependsOnItsCacheSize) {
  GpuModel gpu = *catalogue().find_gpu("H200");
  EXPECT_EQ(microseconds_of(switch_cost(gpu, 0)), 58);
  EXPECT_EQ(microseconds_of(switch_cost(gpu, 1)), 77);
  gpu.l2_cache = mebibytes(50);
  EXPECT_EQ(microseconds_of(switch_cost(gpu, 1)), 74);
}

// nos on A100-80GB PCIe: c/q = 0.109 at the default turn of 1.024 ms.
TEST(SwitchCost, ReproducesTheMeasuredShareOnA100) {
  const GpuModel& gpu = *catalogue().find_gpu("A100-80GB");
  const double share = to_seconds(switch_cost(gpu, kDefaultColdCache)) / to_seconds(gpu.time_slice);
  EXPECT_NEAR(share, 0.109, 0.003);
}

TEST(SwitchCost, UnknownCacheAddsNothing) {
  const GpuModel& gpu = *catalogue().find_gpu("B300");
  ASSERT_FALSE(gpu.l2_cache.has_value());
  EXPECT_EQ(switch_cost(gpu, 1), switch_cost(gpu, 0));
}

TEST(SwitchCost, IsTheMeasuredOneWhereTheCatalogueHasIt) {
  const GpuModel& h200 = *catalogue().find_gpu("H200");
  EXPECT_EQ(microseconds_of(usual_switch_cost(h200)), 170);
  EXPECT_TRUE(switch_cost_is_measured(h200));
  const GpuModel& l4 = *catalogue().find_gpu("L4");
  EXPECT_EQ(usual_switch_cost(l4), switch_cost(l4, usual_cold_cache(l4)));
  EXPECT_FALSE(switch_cost_is_measured(l4));
}

TEST(ContextMemory, IsMeasuredOnT4AndH200AndEstimatedElsewhere) {
  EXPECT_EQ(context_memory(*catalogue().find_gpu("T4")).bytes, mebibytes(100));
  EXPECT_EQ(context_memory(*catalogue().find_gpu("H200")).bytes, mebibytes(524));
  for (const GpuModel& gpu : catalogue().gpus) {
    EXPECT_EQ(context_memory(gpu).measured, gpu.context_memory.has_value()) << gpu.name;
    EXPECT_GE(context_memory(gpu).bytes, mebibytes(100)) << gpu.name;
  }
}

// Compute-bound work scales with FP32 peaks, memory-bound work with bandwidth.
TEST(RooflineScale, InterpolatesBetweenComputeAndBandwidth) {
  const GpuModel& v100 = *catalogue().find_gpu("V100");
  const GpuModel& t4 = *catalogue().find_gpu("T4");
  EXPECT_NEAR(roofline_scale(v100, t4, 0), 15.7 / 8.1, 1e-12);
  EXPECT_NEAR(roofline_scale(v100, t4, 1), 900.0 / 320.0, 1e-12);
  EXPECT_NEAR(roofline_scale(v100, t4, 0.5), (15.7 / 8.1 + 900.0 / 320.0) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(roofline_scale(v100, v100, 0.3), 1.0);
}

// ResNet-50, 32 images in fp16: 15.45 ms on A40, 11.19 on A100, 15.66 on V100, 28.35 on T4.
// A40: 37.4 TFLOPS, 696 GB/s. Source: its datasheet; NVIDIA/DeepLearningExamples, Triton.
TEST(RooflineScale, OfAmpereWithSharedLanesIsNearWhatWasMeasured) {
  GpuModel a40 = *catalogue().find_gpu("A10G");
  a40.name = "A40";
  a40.fp32_tflops = 37.4;
  a40.memory_bandwidth_bytes_per_second = 696e9;
  const double beta = kDefaultBandwidthShare;
  const GpuModel& a100 = *catalogue().find_gpu("A100-80GB");
  EXPECT_NEAR(roofline_scale(a40, a100, beta), 11.19 / 15.45, 0.08);
  EXPECT_NEAR(roofline_scale(a40, *catalogue().find_gpu("V100"), beta), 15.66 / 15.45, 0.04);
  EXPECT_NEAR(roofline_scale(a40, *catalogue().find_gpu("T4"), beta), 28.35 / 15.45, 0.42);
  EXPECT_LT(roofline_scale(*catalogue().find_gpu("A10G"), a100, beta), 0.65);
}

// TensorFlow's MinSystemMemory by the major compute capability.
TEST(GreedyReserve, FollowsTheComputeCapability) {
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("V100")), mebibytes(1'050));
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("T4")), mebibytes(1'050));
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("A10G")), mebibytes(1'536));
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("A100-40GB")), mebibytes(1'536));
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("H100")), mebibytes(1'800));
  EXPECT_EQ(greedy_reserve(*catalogue().find_gpu("B200")), mebibytes(1'800));
}

}  // namespace
}  // namespace slicewise::models
