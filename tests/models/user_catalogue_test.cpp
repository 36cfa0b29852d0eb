// A user's catalogue laid over what ships.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/catalogue.hpp"

#include "../../models/sm_capacity.hpp"
#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using testing::HasSubstr;

constexpr const char* kOwn = R"(
date: 2026-11-23
regions: [berlin]
gpus:
  - name: RTX-4090
    aliases: ["4090"]
    computeCapability: "8.9"
    smCount: 128
    memoryBandwidthGBps: 1008
    memoryTotalMib: 24564
    fp32Tflops: 82.6
instances:
  - {name: rack.4090x4, vcpus: 32, memoryMib: 131072, gpu: {model: "4090", count: 4}}
prices:
  - {instanceType: rack.4090x4, region: berlin, usdPerHour: 1.9}
  - {instanceType: g5.xlarge, region: us-east-1, usdPerHour: 0.7}
profiles:
  - {name: detector, kind: inference, gpu: RTX-4090, soloMs: 12.5, capacityShare: 0.4}
)";

TEST(UserCatalogue, ANodeIsGpusVcpusMemoryAndAPrice) {
  const auto laid = with_layer(catalogue(), {"own.yaml", kOwn});
  ASSERT_TRUE(laid.has_value()) << laid.error().front().message;
  const InstanceType* node = laid->find_instance("rack.4090x4");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->gpu_model, "RTX-4090") << "the model's own name, not an alias";
  EXPECT_EQ(node->gpu_memory, mebibytes(24564));
  EXPECT_EQ(node->interconnect, "PCIe only");
  EXPECT_EQ(node->allocatable_cpu.count, 32'000 - 60 - 10 - 10 - 70);
  EXPECT_EQ(node->allocatable_memory, mebibytes(131072 - 11 * 110 - 355));
  EXPECT_EQ(node->source.text, "User: own.yaml");
  EXPECT_EQ(laid->find_gpu("4090")->time_slice, catalogue().gpus.front().time_slice);
  EXPECT_EQ(laid->prices.find("rack.4090x4", "berlin", PurchaseOption::OnDemand)->usd.per_hour,
            from_dollars(1.9));
  EXPECT_EQ(laid->prices.find("g5.xlarge", "us-east-1", PurchaseOption::OnDemand)->usd.per_hour,
            from_dollars(0.7));
  EXPECT_TRUE(laid->find_profile("detector")->unusable.empty());
  EXPECT_EQ(laid->instances.size(), catalogue().instances.size() + 1);
  EXPECT_EQ(laid->layers.size(), 1U);
}

TEST(UserCatalogue, WhatHasTheNameOfSomethingKnownTakesItsPlace) {
  const auto laid =
      with_layer(catalogue(), {"own.json", R"({"instances": [{"name": "g5.xlarge", "vcpus": 6,
                     "memoryMib": 16384, "gpu": {"model": "A10G", "count": 1}}]})"});
  ASSERT_TRUE(laid.has_value()) << laid.error().front().message;
  EXPECT_EQ(laid->find_instance("g5.xlarge")->vcpus, 6);
  EXPECT_EQ(laid->find_instance("g5.xlarge")->interconnect, "none (single GPU)");
  EXPECT_EQ(laid->instances.size(), catalogue().instances.size());
}

TEST(UserCatalogue, UnitsThatAreMistakenForOthers) {
  const auto with = [](const std::string& memory, const std::string& bandwidth) {
    return with_layer(catalogue(),
                      {"own.yaml", R"({"gpus": [{"name": "X", "computeCapability": "8.9",
        "smCount": 128, "memoryTotalMib": )" +
                                       memory + R"(, "memoryBandwidthGBps": )" + bandwidth +
                                       R"(, "fp32Tflops": 82.6}]})"});
  };
  EXPECT_TRUE(with("24564", "1008"));
  EXPECT_FALSE(with("24", "1008")) << "GiB";
  EXPECT_FALSE(with("24564000000", "1008")) << "bytes of some kind";
  EXPECT_FALSE(with("24564", "1008000")) << "MB/s";
}

TEST(UserCatalogue, AnInstanceHasNoMoreThanItsGpu) {
  const auto with = [](const std::string& profile) {
    return with_layer(catalogue(), {"own.yaml", R"(
geometries:
- gpu: A100-80GB
  computeSlices: 7
  memorySlices: 8
  smTotal: 108
  smUsable: 98
  profiles:
  - {name: 3g.40gb, computeSlices: 3, memorySlices: 4, maxCount: 2, resourceMixed: nvidia.com/mig-3g.40gb,
     placements: {size: 4, starts: [0, 4]}, )" + profile +
                                                    "}\n"});
  };
  EXPECT_TRUE(with("memoryMib: 40192, smCount: 42"));
  const auto wrong = with("memoryMib: 401920, smCount: 420");
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.error().size(), 2U);
  EXPECT_THAT(wrong.error()[0].message, HasSubstr("3g.40gb has 420 SMs of 108"));
  EXPECT_THAT(wrong.error()[1].message, HasSubstr("3g.40gb has 401920 MiB of 81920"));
}

TEST(UserCatalogue, EveryMistakeIsReportedWithItsPlace) {
  const auto laid = with_layer(catalogue(), {"bad.yaml", R"(date: yesterday
gpus:
  - name: RTX-4090
    computeCapability: ada
    smCount: 0
    memoryBandwithGBps: 1008
    registerFileBytesPerSm: 262144
    sharedMemoryBytesPerSm: 101376
    memoryTotalMib: much
instances:
  - {name: rack.a, vcpus: 32, memoryMib: 131072, gpu: {model: A10, count: 4}}
  - {name: rack.a, vcpus: 2, memoryMib: 4096, gpu: {model: T4, count: 1}, interconnect: NVlink}
profiles:
  - {name: x, kind: inference, gpu: T4, capacityShare: 40}
prices:
  - {instanceType: rack.b, region: berlin, usdPerHour: -1}
instnces: []
)"});
  ASSERT_FALSE(laid.has_value());
  struct Expectation {
    Code code;
    int line;
    std::string help;
  };
  const std::vector<Expectation> expected = {
      {Code::FieldType, 1, "2026-11-01"},
      {Code::FieldMissing, 3, ""},
      {Code::FieldType, 4, "8.9"},
      {Code::ValueRange, 5, ""},
      {Code::FieldUnknown, 6, "did you mean `memoryBandwidthGBps`?"},
      {Code::FieldType, 9, ""},
      {Code::GpuUnknown, 11, "A10G"},
      {Code::NameDuplicate, 12, "remove"},
      {Code::ValueRange, 12, "did you mean \"NVLink2"},
      {Code::ValueRange, 14, ""},
      {Code::InstanceUnknown, 16, ""},
      {Code::RegionUnknown, 16, "regions: [berlin]"},
      {Code::ValueRange, 16, ""},
      {Code::FieldUnknown, 17, "did you mean `instances`?"}};
  ASSERT_EQ(laid.error().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Diagnostic& problem = laid.error()[i];
    SCOPED_TRACE(problem.message);
    EXPECT_EQ(problem.code, expected[i].code);
    EXPECT_EQ(problem.where.file, "bad.yaml");
    EXPECT_EQ(problem.where.line, expected[i].line);
    EXPECT_THAT(problem.help, HasSubstr(expected[i].help));
  }
}

// Sections and fields that the file lacks are known, too.
TEST(UserCatalogue, AMisspeltFieldIsNamedThoughTheFileHasNoOther) {
  const auto laid = with_layer(catalogue(), {"bad.yaml", "instnaces: []\n"});
  ASSERT_FALSE(laid.has_value());
  EXPECT_EQ(laid.error().front().help, "did you mean `instances`?");
}

// The table says of every GPU that ships what its own entry does.
TEST(UserCatalogue, RegistersAndSharedMemoryFollowFromTheComputeCapability) {
  for (const GpuModel& gpu : catalogue().gpus) {
    const auto usual = sm_capacity(gpu.compute_capability);
    ASSERT_TRUE(usual.has_value()) << gpu.name;
    EXPECT_EQ(usual->register_file, gpu.register_file_per_sm) << gpu.name;
    EXPECT_EQ(usual->shared_memory, gpu.shared_memory_per_sm) << gpu.name;
  }
  const auto laid = with_layer(catalogue(), {"own.yaml", kOwn});
  EXPECT_EQ(laid->find_gpu("4090")->shared_memory_per_sm,
            catalogue().find_gpu("L4")->shared_memory_per_sm);
  const auto unknown = with_layer(catalogue(), {"new.yaml", R"(gpus:
  - {name: X, computeCapability: "14.0", smCount: 100, memoryBandwidthGBps: 1000, memoryTotalMib: 24000,
     registerFileBytesPerSm: 262144}
)"});
  ASSERT_FALSE(unknown.has_value());
  ASSERT_EQ(unknown.error().size(), 1U);
  EXPECT_EQ(unknown.error()[0].code, Code::FieldMissing);
  EXPECT_THAT(unknown.error()[0].message, HasSubstr("`sharedMemoryBytesPerSm` is missing"));
}

TEST(UserCatalogue, CommitmentsStandBesideThoseThatShip) {
  const auto laid = with_layer(catalogue(), {"offer.yaml", R"(commitments:
  - {instance: g5.xlarge, kind: "SP, 3 years", regions: [us-east-1, us-west-2], months: 36,
     byMonth: true, discountPercent: 55}
  - {instance: g5.xlarge, kind: "Standard RI, 1 year, all upfront", regions: [us-east-1],
     months: 12, discountPercent: 43}
)"});
  ASSERT_TRUE(laid.has_value()) << laid.error().front().message;
  EXPECT_EQ(laid->commitments.size(), catalogue().commitments.size() + 2);
  const auto& three_years = laid->commitments[laid->commitments.size() - 2];
  EXPECT_EQ(three_years.region, "us-west-2");
  EXPECT_EQ(three_years.months, 36);
  EXPECT_TRUE(three_years.by_month);
  EXPECT_EQ(laid->commitments.back().discount_percent, 43);
  EXPECT_EQ(laid->commitments.back().source.text, "User: offer.yaml");
  const auto unknown = with_layer(
      catalogue(), {"offer.yaml",
                    "commitments: [{instance: g5.tiny, kind: SP, regions: [us-east-1], months: 12, "
                    "discountPercent: 40}]\n"});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().front().code, Code::InstanceUnknown);
  const auto idle = with_layer(
      catalogue(),
      {"offer.yaml", "commitments: [{instance: g5.xlarge, kind: SP, regions: [us-esat-1]}]\n"});
  ASSERT_FALSE(idle.has_value());  // no plan could choose it
  ASSERT_EQ(idle.error().size(), 3U);
  EXPECT_EQ(idle.error().back().code, Code::RegionUnknown);
}

TEST(UserCatalogue, MigSlicesLieInsideTheGpu) {
  const auto laid = with_layer(catalogue(), {"mig.yaml", R"(geometries:
  - gpu: T4
    memorySlices: 4
    computeSlices: 4
    smTotal: 40
    smUsable: 44
    profiles:
      - {name: 2g.8gb, resourceMixed: nvidia.com/mig-2g.8gb, giProfileId: 1, computeSlices: 2,
         memorySlices: 2, maxCount: 2, placements: {size: 2, starts: [0, 3]}}
)"});
  ASSERT_FALSE(laid.has_value());
  ASSERT_EQ(laid.error().size(), 2U);
  EXPECT_EQ(laid.error()[0].where.line, 6);
  EXPECT_THAT(laid.error()[1].message, HasSubstr("beyond the memory slices"));
}

TEST(UserCatalogue, WhatIsNoDocumentIsADiagnostic) {
  const auto bad = {std::string(),
                    std::string("- 1"),
                    std::string("a: [1"),
                    std::string("7"),
                    std::string("a: 1\na: 2"),
                    std::string("--- {}\n--- {}"),
                    std::string(20'000, '['),
                    std::string("gpus: &a [*a]"),
                    std::string("gpus: {}"),
                    std::string("kind: Scenario"),
                    std::string("? [a]\n: b")};
  for (const std::string& text : bad) {
    SCOPED_TRACE(text.substr(0, 20));
    const auto laid = with_layer(catalogue(), {"bad.yaml", text});
    ASSERT_FALSE(laid.has_value());
    EXPECT_EQ(laid.error().front().where.file, "bad.yaml");
  }
}

TEST(UserCatalogue, TheSchemaHasWhatTheReadersAskFor) {
  const auto schema = nlohmann::json::parse(catalogue_schema_json());
  const auto& gpu = schema["properties"]["gpus"]["items"];
  EXPECT_EQ(gpu["properties"]["smCount"]["minimum"], 1);
  const std::vector<std::string> required = gpu["required"];
  EXPECT_THAT(required, testing::ElementsAre("computeCapability", "memoryBandwidthGBps",
                                             "memoryTotalMib", "name", "smCount"));
  EXPECT_FALSE(schema.contains("required"));
  EXPECT_EQ(schema["properties"]["prices"]["items"]["properties"]["usdPerHour"]["type"], "number");
}

}  // namespace
}  // namespace slicewise::models
