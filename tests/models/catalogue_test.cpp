// Invariants of the embedded catalogue that hold whatever the figures are.
#include "slicewise/models/catalogue.hpp"

#include <set>

#include <gtest/gtest.h>

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

TEST(Catalogue, EveryInstanceTypeHasAGpuModelAndSaneSizes) {
  std::set<std::string> names;
  for (const InstanceType& type : catalogue().instances) {
    SCOPED_TRACE(type.name);
    EXPECT_TRUE(names.insert(type.name).second) << "listed twice";
    EXPECT_TRUE(type.name.starts_with(type.family + "."));
    const GpuModel* gpu = catalogue().find_gpu(type.gpu_model);
    ASSERT_NE(gpu, nullptr);
    EXPECT_EQ(gpu->name, type.gpu_model) << "the model's own name, not an alias";
    EXPECT_GE(type.gpu_count, 1);
    EXPECT_GT(type.gpu_memory.count, 0);
    const double share =
        static_cast<double>(type.gpu_memory.count) / static_cast<double>(gpu->memory_total.count);
    EXPECT_LE(share, type.gpu_fraction * 1.01);  // g6f: decimal gigabytes
    EXPECT_LT(type.allocatable_memory, type.memory);
    EXPECT_LT(type.allocatable_cpu.count, type.vcpus * 1000);
    EXPECT_GT(type.max_pods, 0);
    EXPECT_FALSE(type.source.text.empty());
    EXPECT_FALSE(type.source.date.empty());
  }
}

TEST(Catalogue, OnlyTheThreeP3TypesAreRetired) {
  std::set<std::string> retired;
  for (const InstanceType& type : catalogue().instances) {
    if (!type.retired_on.empty()) retired.insert(type.name);
  }
  EXPECT_EQ(retired, (std::set<std::string>{"p3.2xlarge", "p3.8xlarge", "p3.16xlarge"}));
}

TEST(Catalogue, FractionalL4NodesOfferOneDevice) {
  const InstanceType* type = catalogue().find_instance("g6f.large");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->gpu_model, "L4");
  EXPECT_EQ(type->gpu_count, 1);
  EXPECT_DOUBLE_EQ(type->gpu_fraction, 0.125);
  EXPECT_EQ(type->gpu_memory, mebibytes(2861));
}

TEST(Catalogue, GpusAreFoundByAliasIgnoringCase) {
  const std::pair<const char*, const char*> cases[] = {{"V100", "V100-SXM2-16GB"},
                                                       {"v100-16gb", "V100-SXM2-16GB"},
                                                       {"V100-32GB", "V100-SXM2-32GB"},
                                                       {"A100-40GB", "A100-SXM4-40GB"},
                                                       {"A100-80GB", "A100-SXM4-80GB"},
                                                       {"H100", "H100-SXM5-80GB"},
                                                       {"H100-80GB", "H100-SXM5-80GB"},
                                                       {"H200", "H200-SXM-141GB"},
                                                       {"a10g", "A10G"},
                                                       {"t4", "T4"},
                                                       {"L4", "L4"},
                                                       {"L40S", "L40S"},
                                                       {"B200", "B200"},
                                                       {"B300", "B300"}};
  for (const auto& [alias, name] : cases) {
    const GpuModel* gpu = catalogue().find_gpu(alias);
    ASSERT_NE(gpu, nullptr) << alias;
    EXPECT_EQ(gpu->name, name);
  }
  EXPECT_EQ(catalogue().find_gpu("A100"), nullptr) << "40 or 80 GB: the user has to say";
}

TEST(Catalogue, NoNameMeansTwoGpus) {
  std::set<std::string> names;
  for (const GpuModel& gpu : catalogue().gpus) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    for (const std::string& alias : gpu.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_FALSE(gpu.sources.empty());
  }
}

TEST(Catalogue, MigGeometriesCoverTheGpusThatHaveMig) {
  for (const GpuModel& gpu : catalogue().gpus) {
    EXPECT_EQ(catalogue().find_mig(gpu.name) != nullptr, gpu.supports_mig) << gpu.name;
  }
  EXPECT_NE(catalogue().find_mig("A100-40GB"), nullptr) << "aliases reach the geometry";
}

TEST(Catalogue, ProfileNamesAreUniqueAndTheirFiguresHaveAnOrigin) {
  std::set<std::string> names;
  for (const WorkloadProfile& profile : catalogue().profiles) {
    SCOPED_TRACE(profile.name);
    EXPECT_TRUE(names.insert(profile.name).second);
    EXPECT_EQ(profile.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-/"),
              std::string::npos);
    EXPECT_FALSE(profile.source.empty());
    const bool all = profile.provenance.contains("*");
    const auto explained = [&](bool present, const char* figure) {
      return !present || all || profile.provenance.contains(figure);
    };
    EXPECT_TRUE(explained(profile.solo_step.has_value(), "soloMs"));
    EXPECT_TRUE(explained(profile.fixed_part.has_value(), "fixedMs"));
    EXPECT_TRUE(explained(profile.gpu_work.has_value(), "workMs"));
    EXPECT_TRUE(explained(profile.norm_p.has_value(), "normP"));
    EXPECT_TRUE(explained(profile.capacity_share.has_value(), "capacityShare"));
    EXPECT_TRUE(explained(profile.bandwidth_share.has_value(), "bandwidthShare"));
    EXPECT_TRUE(explained(profile.duty.has_value(), "duty"));
    EXPECT_TRUE(explained(profile.memory.has_value(), "memoryMib"));
    EXPECT_EQ(catalogue().find_profile(profile.name), &profile);
  }
}

TEST(Catalogue, PricesAndMarketsNameKnownTypesOnly) {
  for (const SpotMarket& market : catalogue().spot) {
    EXPECT_NE(catalogue().find_instance(market.instance), nullptr) << market.instance;
    EXPECT_TRUE(market.savings_percent || market.median) << market.instance << market.region;
  }
  for (const Commitment& commitment : catalogue().commitments) {
    EXPECT_NE(catalogue().find_instance(commitment.instance), nullptr) << commitment.instance;
    EXPECT_TRUE(commitment.usd || commitment.discount_percent) << commitment.instance;
  }
}

// A40, V100S and the PCIe A100 have no figures of their own; an interactive profile has no step.
TEST(Catalogue, ProfilesThatNoScenarioCanRunSayWhy) {
  const auto count = std::count_if(catalogue().profiles.begin(), catalogue().profiles.end(),
                                   [](const auto& profile) { return !profile.unusable.empty(); });
  EXPECT_EQ(count, 7);
  EXPECT_EQ(catalogue().find_profile("resnet-50-inference-triton-ort-trt/a40/b1/fp16")->unusable,
            "no figures for A40");
  EXPECT_EQ(catalogue().find_profile("jupyter-notebook-interactive/b1")->unusable, "no step time");
}

// A step that takes 100 ms on the 98 SMs of a 7g instance, all of it compute, takes 98/108 of that
// on the whole A100, and is as saturated there.
TEST(Catalogue, FiguresOfTheLargestInstanceAreCarriedOverToTheWholeGpu) {
  WorkloadProfile profile;
  profile.gpu_model = "A100-SXM4-40GB";
  profile.solo_step = milliseconds(100);
  profile.capacity_share = 1;
  profile.bandwidth_share = 0;
  EXPECT_EQ(on_whole_gpu(profile, catalogue()).solo_step, milliseconds(100));
  profile.solo_slice = "7g";
  const WorkloadProfile whole = on_whole_gpu(profile, catalogue());
  EXPECT_NEAR(to_seconds(*whole.solo_step), 0.1 * 98 / 108, 1e-9);
  EXPECT_NEAR(*whole.capacity_share, 1, 1e-12);
  profile.bandwidth_share = 1;  // memory traffic has all slices either way
  EXPECT_EQ(on_whole_gpu(profile, catalogue()).solo_step, milliseconds(100));
}

}  // namespace
}  // namespace slicewise::models
