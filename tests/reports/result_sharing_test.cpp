// What reports say about each way of sharing a GPU.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"

#include "../../reports/screens/result_nodes.hpp"
#include "../../reports/screens/result_placement.hpp"
#include "result_samples.hpp"

namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextStyle kEndless{false, true, 0};

sim::NodePoolResult a10g_pool(std::string strategy, std::string resource, std::int64_t count) {
  sim::NodePoolResult pool;
  pool.name = "gpu";
  pool.instance_type = "g5.xlarge";
  pool.gpu_model = "A10G";
  pool.strategy = std::move(strategy);
  pool.nodes = 1;
  pool.gpus_per_node = 1;
  pool.price = {from_dollars(1.006)};
  pool.advertised = {{std::move(resource), count}};
  return pool;
}

sim::NodePoolResult a100_pool() {
  sim::NodePoolResult pool = a10g_pool("mig", "nvidia.com/mig-1g.5gb", 56);
  pool.instance_type = "p4d.24xlarge";
  pool.gpu_model = "A100-SXM4-40GB";
  pool.gpus_per_node = 8;
  pool.mig_config = "all-1g.5gb";
  pool.instances = {{"1g.5gb", 56}};
  pool.sms_unused_ratio = 1 - 98.0 / 108;
  return pool;
}

// The instances of one GPU after another; instance n of GPU g is busy (g + n) / 100 of the time.
void add_layout(sim::VariantResult& variant, const std::string& profile, int gpus, int per_gpu) {
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (int n = 0; n < per_gpu; ++n) {
      sim::GpuResult instance;
      instance.node = "gpu-1";
      instance.index = gpu;
      instance.model = "A100-SXM4-40GB";
      instance.partition = profile;
      instance.instance = n;
      instance.gpu_share = 1.0 / 7;
      instance.time_busy_ratio = (gpu + n) / 100.0;
      instance.memory_peak = mebibytes(1024);
      instance.memory_total = mebibytes(4864);
      variant.gpus.push_back(instance);
    }
  }
}

sim::Result sliced() {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  sim::VariantResult& variant = result.variants[0];
  variant.strategy = "mig";
  variant.node_pools = {a100_pool()};
  variant.gpus.clear();
  add_layout(variant, "1g.5gb", 8, 7);
  return result;
}

TEST(PoolSentence, SaysWhatAnMpsClientMayTake) {
  sim::NodePoolResult pool = a10g_pool("mps", "nvidia.com/gpu", 4);
  pool.active_threads = 0.25;
  pool.memory_limit = mebibytes(5757);
  EXPECT_EQ(pool_sentence(pool),
            "MPS x4 on 1 x g5.xlarge (1 x A10G), $1.006/h each: each client up to 25% of the SMs "
            "and 5.6Gi");
  pool.active_threads = 1;
  EXPECT_THAT(pool_sentence(pool), HasSubstr(": each client up to all SMs and 5.6Gi"));
}

// On a whole GPU the vGPUs are counted; of g6f a node has one, which is a fraction of an L4.
TEST(PoolSentence, NamesThePolicyAndTheFractionOfVgpus) {
  sim::NodePoolResult pool = a10g_pool("vgpu", "nvidia.com/gpu", 4);
  pool.vgpu_policy = "equalShare";
  pool.vgpus_per_gpu = 4;
  EXPECT_EQ(pool_sentence(pool),
            "vGPU x4 (equal share) on 1 x g5.xlarge (1 x A10G), $1.006/h each");
  pool.vgpu_policy = "bestEffort";
  EXPECT_THAT(pool_sentence(pool), ::testing::StartsWith("vGPU x4 (best effort) on "));
  sim::NodePoolResult fraction = a10g_pool("vgpu", "nvidia.com/gpu", 2);
  fraction.instance_type = "g6f.xlarge";
  fraction.gpu_model = "L4";
  fraction.nodes = 2;
  fraction.vgpu_policy = "fixedShare";
  fraction.vgpus_per_gpu = 8;
  EXPECT_THAT(pool_sentence(fraction),
              ::testing::StartsWith("vGPU (fixed share) on 2 x g6f.xlarge (1/8 of an L4), "));
}

TEST(PoolSentence, SaysThatAwsAndNosDoNotLimitThreads) {
  sim::NodePoolResult aws = a10g_pool("awsVirtualGpu", "k8s.amazonaws.com/vgpu", 10);
  aws.active_threads = 1;
  EXPECT_EQ(
      pool_sentence(aws),
      "AWS virtual GPU (MPS) x10 on 1 x g5.xlarge (1 x A10G), $1.006/h each: each client up to "
      "all SMs, memory without a limit");
  sim::NodePoolResult nos = a10g_pool("nos", "nvidia.com/gpu-10gb", 2);
  nos.active_threads = 1;
  EXPECT_THAT(pool_sentence(nos),
              HasSubstr("each client up to all SMs and the memory of its slice"));
}

TEST(PoolSentence, CountsMigInstancesAndWhatNoneHas) {
  EXPECT_EQ(pool_sentence(a100_pool()),
            "MIG all-1g.5gb on 1 x p4d.24xlarge (8 x A100-SXM4-40GB), $1.006/h each: 56 x 1g.5gb; "
            "9.3% of the SMs in no instance");
}

TEST(PoolSentence, NamesBothPartsOfACombination) {
  sim::NodePoolResult pool = a100_pool();
  pool.strategy = "mig+timeSlicing";
  pool.advertised = {{"nvidia.com/mig-1g.5gb", 112}};
  EXPECT_THAT(pool_sentence(pool), ::testing::StartsWith("MIG all-1g.5gb + time-slicing x2 on 1 "));
}

TEST(StrategyText, KeepsSeveralStrategiesApart) {
  sim::VariantResult variant;
  for (const char* strategy : {"exclusive", "mig+mps", "exclusive", "vgpu"}) {
    variant.node_pools.emplace_back().strategy = strategy;
  }
  EXPECT_EQ(strategy_text(variant), "exclusive, MIG + MPS, vGPU");
}

TEST(GpuRows, InstancesOfANodeAreSummedUpByProfile) {
  const sim::Result result = sliced();
  const auto rows = gpu_rows(result.variants[0].gpus, false);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].label, "gpu-1 (56 x 1g.5gb)");
  EXPECT_NEAR(rows[0].time_busy, 0.065, 1e-12);  // mean of g + n over g < 8, n < 7: 3.5 + 3
  EXPECT_DOUBLE_EQ(rows[0].busiest.value(), 0.13);
  EXPECT_THAT(Report(result).table(kEndless, false), HasSubstr("BUSIEST"));
  EXPECT_EQ(gpu_rows(result.variants[0].gpus, true).size(), 56U);
  EXPECT_EQ(gpu_rows(result.variants[0].gpus, true)[8].label, "gpu-1 #1 1g.5gb.1");
}

TEST(GpuRows, NeighboursThatShowTheSameAreOneRow) {
  sim::Result result = sliced();
  for (sim::GpuResult& gpu : result.variants[0].gpus) gpu.time_busy_ratio = 0.25;
  result.variants[0].gpus.back().time_busy_ratio = 0.75;
  const std::string wide = Report(result).table(kEndless, true);
  EXPECT_THAT(wide, HasSubstr("gpu-1 #0 1g.5gb.0 to #7 1g.5gb.5 (55 alike)"));
  EXPECT_THAT(wide, HasSubstr("gpu-1 #7 1g.5gb.6 "));
  EXPECT_THAT(wide, Not(HasSubstr("#3")));
}

// Ten nodes of 56 small instances and one of 16 large ones: more rows than fit.
TEST(GpuRows, InstancesOfManyNodesAreSummedUpByProfile) {
  std::vector<sim::GpuResult> gpus;
  for (int node = 0; node < 11; ++node) {
    sim::VariantResult one;
    add_layout(one, node < 10 ? "1g.5gb" : "3g.20gb", 8, node < 10 ? 7 : 2);
    for (sim::GpuResult& gpu : one.gpus) {
      gpu.node = fmt::format("gpu-{}", node);
      gpus.push_back(gpu);
    }
  }
  const auto rows = gpu_rows(gpus, false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "560 x 1g.5gb on 10 nodes");
  EXPECT_EQ(rows[1].label, "16 x 3g.20gb on 1 node");
}

TEST(GpuRows, LayoutsThatFollowOneAnotherAreNotMixed) {
  sim::Result result = sliced();
  add_layout(result.variants[0], "1g.5gb", 8, 4);
  const auto rows = gpu_rows(result.variants[0].gpus, false);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "gpu-1 (56 x 1g.5gb), layout 1");
  EXPECT_EQ(rows[1].label, "gpu-1 (32 x 1g.5gb), layout 2");
  EXPECT_THAT(Report(result).table(kEndless, false),
              HasSubstr("shares of a layout's instances are of the whole run"));
  EXPECT_THAT(Report(sliced()).table(kEndless, false), Not(HasSubstr("layout")));
}

TEST(ResultSharing, InstancesCountByTheirShareOfTheGpu) {
  sim::Result result = sliced();
  for (sim::GpuResult& gpu : result.variants[0].gpus) gpu.time_busy_ratio = gpu.index < 4 ? 0.5 : 0;
  // 28 of 56 instances, half of the time: a quarter of the GPUs' time.
  const std::string text = Report(result).table(kEndless, true);
  EXPECT_THAT(text.substr(0, text.find("\n\n")), HasSubstr(" 25% "));
}

TEST(ResultSharing, FaultsAndEvictionsAreShownWhenThereWereSome) {
  sim::Result result = sliced();
  const std::string quiet = Report(result).table(kEndless, true);
  for (const char* word : {"FAULTS", "VICTIMS", "EVICTED", "fatal", "evicted"}) {
    EXPECT_THAT(quiet, Not(HasSubstr(word)));
  }
  sim::PodCounts& pods = result.variants[0].pods;
  pods.faults = 1;
  pods.fault_victims = 3.2;
  pods.evicted = 56;
  const std::string text = Report(result).table(kEndless, true);
  EXPECT_THAT(text, HasSubstr("1 fatal GPU fault, 3.2 containers of neighbours died with them"));
  EXPECT_THAT(text, HasSubstr("56 pods evicted for a change of the MIG layout"));
  EXPECT_THAT(text, HasSubstr("FAULTS  VICTIMS  EVICTED"));
}

TEST(ResultSharing, TheDocumentHasTheInstancesAndTheLimits) {
  sim::Result result = sliced();
  sim::NodePoolResult mps = a10g_pool("mps", "nvidia.com/gpu", 4);
  mps.active_threads = 0.25;
  mps.memory_limit = mebibytes(5757);
  result.variants[0].node_pools.push_back(mps);
  sim::NodePoolResult vgpu = a10g_pool("vgpu", "nvidia.com/gpu", 4);
  vgpu.vgpu_policy = "equalShare";
  vgpu.vgpus_per_gpu = 4;
  result.variants[0].node_pools.push_back(vgpu);
  const auto variant = nlohmann::json::parse(Report(result).json())["variants"][0];
  EXPECT_EQ(variant["nodePools"][0]["migConfig"], "all-1g.5gb");
  EXPECT_EQ(variant["nodePools"][0]["migInstances"]["1g.5gb"], 56);
  EXPECT_NEAR(variant["nodePools"][0]["smsUnusedRatio"], 10.0 / 108, 1e-9);
  EXPECT_EQ(variant["nodePools"][1]["activeThreadsRatio"], 0.25);
  EXPECT_EQ(variant["nodePools"][1]["clientMemoryLimitBytes"], mebibytes(5757).count);
  EXPECT_FALSE(variant["nodePools"][1].contains("vgpuPolicy"));
  EXPECT_EQ(variant["nodePools"][2]["vgpuPolicy"], "equalShare");
  EXPECT_EQ(variant["nodePools"][2]["vgpusPerGpu"], 4);
  EXPECT_EQ(variant["gpus"][8]["migProfile"], "1g.5gb");
  EXPECT_EQ(variant["gpus"][8]["migInstance"], 1);
}

}  // namespace
}  // namespace slicewise::reports
