#include "slicewise/models/gpu_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Written {
  const char* name;
  const char* gpu;
};

// By nvidia-smi, by GPU feature discovery, by older drivers, by people.
TEST(GpuNames, OneGpuHoweverItIsWritten) {
  constexpr Written kWritten[] = {
      {"NVIDIA A10G", "A10G"},
      {"NVIDIA-A10G", "A10G"},
      {"NVIDIA-A10G-SHARED", "A10G"},
      {"a10g", "A10G"},
      {"NVIDIA L4", "L4"},
      {"NVIDIA L40S", "L40S"},
      {"Tesla T4", "T4"},
      {"Tesla-T4", "T4"},
      {"Tesla V100-SXM2-16GB", "V100-SXM2-16GB"},
      {"Tesla-V100-SXM2-32GB-SHARED", "V100-SXM2-32GB"},
      {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
      {"a100_80gb", "A100-SXM4-80GB"},
      {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
      {"NVIDIA H200", "H200-SXM-141GB"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000-96GB"}};
  for (const Written& written : kWritten) {
    const GpuModel* gpu = catalogue().find_gpu(written.name);
    ASSERT_NE(gpu, nullptr) << written.name;
    EXPECT_EQ(gpu->name, written.gpu) << written.name;
  }
}

TEST(GpuNames, EachNameOfTheCatalogueFindsItsOwnGpu) {
  for (const GpuModel& gpu : catalogue().gpus) {
    EXPECT_EQ(catalogue().find_gpu(gpu.name), &gpu) << gpu.name;
    for (const std::string& alias : gpu.aliases) {
      EXPECT_EQ(catalogue().find_gpu(alias), &gpu) << alias;
    }
    if (gpu.kubernetes_product.empty()) continue;
    EXPECT_EQ(catalogue().find_gpu(gpu.kubernetes_product), &gpu) << gpu.kubernetes_product;
  }
}

TEST(GpuNames, WhatIsUnknownIsToldWhichItMayBe) {
  EXPECT_EQ(catalogue().find_gpu("NVIDIA A100"), nullptr);
  EXPECT_THAT(catalogue().gpus_like("NVIDIA A100"),
              ElementsAre("A100-SXM4-40GB", "A100-SXM4-80GB"));
  EXPECT_THAT(catalogue().gpus_like("NVIDIA A100 80GB PCIe"), ElementsAre("A100-SXM4-80GB"));
  EXPECT_THAT(gpus_meant(catalogue(), "NVIDIA-A10"), HasSubstr("did you mean A10G or "));
  EXPECT_THAT(gpus_meant(catalogue(), "Instinct MI300X"), HasSubstr("--catalogue adds others"));
  EXPECT_EQ(catalogue().find_gpu("NVIDIA"), nullptr);
  EXPECT_EQ(catalogue().find_gpu(""), nullptr);
  EXPECT_EQ(catalogue().find_gpu("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), nullptr)
      << "a slice is no GPU";
}

TEST(GpuNames, LogsMayMeanSeveral) {
  EXPECT_EQ(gpus_called(catalogue(), "a100").size(), 2U);
  EXPECT_EQ(gpu_called(catalogue(), "a100"), nullptr);
  EXPECT_EQ(gpu_called(catalogue(), "H100 HBM3")->name, "H100-SXM5-80GB");
}

}  // namespace
}  // namespace slicewise::models
