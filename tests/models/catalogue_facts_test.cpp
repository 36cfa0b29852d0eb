// The embedded catalogue says what its sources say, figure by figure.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"

#include "facts_file.hpp"
#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using nlohmann::json;

TEST(CatalogueFacts, FiftyInstanceTypesWithTheirSizes) {
  SLICEWISE_FACTS_OR_SKIP(facts, "ec2_catalog.json");
  ASSERT_EQ(catalogue().instances.size(), 69U);  // g7, g7e, g5g and p6e came after the facts
  ASSERT_EQ(facts["instances"].size(), 50U);
  for (const json& fact : facts["instances"]) {
    const auto name = fact["instance_type"].get<std::string>();
    SCOPED_TRACE(name);
    const InstanceType* type = catalogue().find_instance(name);
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->family, fact["family"]);
    EXPECT_EQ(type->vcpus, fact["vcpus"]);
    EXPECT_EQ(type->memory, mebibytes(fact["memory_mib"].get<std::int64_t>()));
    EXPECT_EQ(type->gpu_model, fact["gpu_model"]);
    EXPECT_EQ(type->gpu_count, fact["logical_gpu_count"]);
    EXPECT_DOUBLE_EQ(type->gpu_count * type->gpu_fraction, fact["gpu_count"].get<double>());
    const json& shown = fact["gpu_memory_mib_nvidia_smi"];
    EXPECT_EQ(
        type->gpu_memory,
        mebibytes((shown.is_null() ? fact["gpu_memory_mib_ec2_api"] : shown).get<std::int64_t>()));
    EXPECT_EQ(type->max_pods, fact["max_pods_eks"]);
    EXPECT_DOUBLE_EQ(type->network_gbps, fact["network_gbps"].get<double>());
    EXPECT_EQ(type->local_nvme_gb, fact["local_nvme_gb"]);
    EXPECT_EQ(type->interconnect, fact["gpu_interconnect"]["type"]);
    const bool retired = fact["status"].get<std::string>().starts_with("RETIRED");
    EXPECT_EQ(type->retired_on, retired ? "2025-12-20" : "");
  }
}

TEST(CatalogueFacts, AllocatableMemoryPrefersMeasurements) {
  SLICEWISE_FACTS_OR_SKIP(facts, "ec2_catalog.json");
  for (const json& fact : facts["instances"]) {
    const auto name = fact["instance_type"].get<std::string>();
    SCOPED_TRACE(name);
    const InstanceType& type = *catalogue().find_instance(name);
    const json& measured = fact["allocatable_memory_mib_est_from_measured"];
    const json& estimate = fact["karpenter_allocatable"]["memory_mib"];
    EXPECT_EQ(type.allocatable_memory_measured, !measured.is_null());
    EXPECT_EQ(type.allocatable_memory,
              mebibytes((measured.is_null() ? estimate : measured).get<std::int64_t>()));
    EXPECT_EQ(type.allocatable_cpu.count, fact["karpenter_allocatable"]["cpu_millicores"]);
  }
}

TEST(CatalogueFacts, OnDemandPricesOfSevenRegionsWithTheirGaps) {
  SLICEWISE_FACTS_OR_SKIP(facts, "ec2_catalog.json");
  int known = 0;
  int unknown = 0;
  int derived = 0;
  for (const json& fact : facts["instances"]) {
    const auto name = fact["instance_type"].get<std::string>();
    for (const auto& [region, usd] : fact["on_demand_usd_per_hour"].items()) {
      SCOPED_TRACE(::testing::Message() << name << ' ' << region);
      const auto price = catalogue().prices.find(name, region, PurchaseOption::OnDemand);
      if (usd.is_null() && price) {  // published since
        EXPECT_EQ(name + " " + region, "p6-b300.48xlarge us-west-2");
        EXPECT_EQ(price->usd.per_hour, from_dollars(142.416));
        continue;
      }
      if (usd.is_null()) {
        ASSERT_FALSE(price.has_value());
        EXPECT_EQ(price.error().front().code, Code::PriceUnknown);
        ++unknown;
        continue;
      }
      ASSERT_TRUE(price.has_value());
      const auto source = fact["on_demand_source"][region].get<std::string>();
      // Those that the facts had to derive were published since, and are within 0.1 % of it.
      const bool was_derived = source.starts_with("DERIVED");
      EXPECT_NEAR(to_dollars(price->usd.per_hour), usd.get<double>(),
                  was_derived ? 0.001 * usd.get<double>() : 1e-9);
      EXPECT_FALSE(was_derived && !price->source.derived && price->source.date != "2026-01-21");
      EXPECT_FALSE(price->source.text.empty());
      EXPECT_FALSE(price->source.date.empty());
      ++known;
      derived += price->source.derived ? 1 : 0;
    }
  }
  EXPECT_EQ(known, 287);
  EXPECT_EQ(derived, 0);
  EXPECT_EQ(unknown, 62);
}

// Of Karpenter's price lists of 2026-07-20: g7e in us-east-1, and GovCloud.
TEST(CatalogueFacts, G7eAndGovCloudHaveThePricesThatKarpenterGenerated) {
  const auto usd = [](const char* type, const char* region) {
    return catalogue().prices.find(type, region, PurchaseOption::OnDemand);
  };
  EXPECT_EQ(usd("g7e.2xlarge", "us-east-1")->usd.per_hour, from_dollars(3.36312));
  EXPECT_EQ(usd("g7e.48xlarge", "us-east-1")->usd.per_hour, from_dollars(33.14432));
  EXPECT_FALSE(usd("g7e.2xlarge", "us-east-2")->source.derived);
  EXPECT_EQ(usd("g7e.48xlarge", "us-west-2")->usd.per_hour, from_dollars(33.14432));
  EXPECT_TRUE(usd("g7e.48xlarge", "us-west-2")->source.derived);
  EXPECT_EQ(usd("g6.48xlarge", "us-gov-east-1")->usd.per_hour, from_dollars(16.82734));
  EXPECT_EQ(usd("p5.48xlarge", "us-gov-west-1")->usd.per_hour, from_dollars(66.048));
  EXPECT_FALSE(usd("p5.48xlarge", "us-gov-east-1").has_value());
  EXPECT_FALSE(usd("g7e.2xlarge", "eu-west-1").has_value());
}

// Of the same lists; a region that neither source knows has no price, and says why.
TEST(CatalogueFacts, G7HasKarpentersPricesAndNoOthers) {
  const auto usd = [](const char* type, const char* region) {
    return catalogue().prices.find(type, region, PurchaseOption::OnDemand);
  };
  EXPECT_EQ(usd("g7.2xlarge", "us-east-1")->usd.per_hour, from_dollars(2.52));
  EXPECT_EQ(usd("g7.48xlarge", "us-east-1")->usd.per_hour, from_dollars(28.51328));
  EXPECT_TRUE(usd("g7.48xlarge", "us-west-2")->source.derived);
  const auto unknown = usd("g7.2xlarge", "eu-west-1");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().front().code, Code::PriceUnknown);
  const InstanceType& type = *catalogue().find_instance("g7.12xlarge");
  EXPECT_EQ(type.gpu_count, 2);
  const GpuModel& gpu = *catalogue().find_gpu(type.gpu_model);
  EXPECT_EQ(gpu.memory_total, type.gpu_memory);
  EXPECT_EQ(&gpu, catalogue().find_gpu("rtx-pro-4500"));  // Karpenter's label
  EXPECT_FALSE(gpu.fp32_tflops.has_value());              // nobody says
}

// Graviton2 with T4G has the prices of both sources; UltraServers are sold by Capacity Block.
TEST(CatalogueFacts, TypesOfArm64HaveTheirFiguresAndThePricesThatThereAre) {
  const InstanceType& graviton = *catalogue().find_instance("g5g.16xlarge");
  EXPECT_EQ(graviton.architecture, "arm64");
  EXPECT_EQ(graviton.gpu_count, 2);
  EXPECT_EQ(graviton.gpu_model, "T4G");
  EXPECT_FALSE(catalogue().find_gpu("T4G")->supports_mig);
  EXPECT_TRUE(graviton.allocatable_memory_measured);
  const auto usd = [](const char* type, const char* region) {
    return catalogue().prices.find(type, region, PurchaseOption::OnDemand);
  };
  EXPECT_EQ(usd("g5g.xlarge", "us-east-1")->usd.per_hour, from_dollars(0.42));
  EXPECT_EQ(usd("g5g.metal", "ap-southeast-1")->usd.per_hour, from_dollars(3.8395));
  EXPECT_FALSE(usd("g5g.xlarge", "eu-west-1").has_value());
  const InstanceType& grace = *catalogue().find_instance("p6e-gb200.36xlarge");
  EXPECT_EQ(grace.architecture, "arm64");
  EXPECT_EQ(grace.gpu_count, 4);
  EXPECT_FALSE(grace.allocatable_memory_measured);
  EXPECT_NE(catalogue()
                .prices.missing_reason("p6e-gb200.36xlarge", "us-east-1", PurchaseOption::OnDemand)
                .find("UltraServers"),
            std::string::npos);
  EXPECT_EQ(catalogue().find_instance("g5.xlarge")->architecture, "amd64");
}

// London, Stockholm, Singapore, Sydney and Canada: what either snapshot says, and nothing of
// families that are not there or were not read.
TEST(CatalogueFacts, FiveRegionsAreSourcedOrUnknown) {
  const auto find = [](const char* type, const char* region) {
    return catalogue().prices.find(type, region, PurchaseOption::OnDemand);
  };
  const auto read = find("g5.16xlarge", "eu-west-2");
  EXPECT_EQ(read->usd.per_hour, from_dollars(5.1994));
  EXPECT_FALSE(read->source.derived);
  const auto later = find("g4dn.2xlarge", "eu-west-2");
  EXPECT_EQ(later->usd.per_hour, from_dollars(0.88));  // by the ratio of other sizes 0.87924
  EXPECT_FALSE(later->source.derived);
  EXPECT_EQ(find("g4dn.xlarge", "ap-southeast-1")->usd.per_hour, from_dollars(0.736));
  const auto newer_source = find("p5.48xlarge", "eu-north-1");
  ASSERT_TRUE(newer_source.has_value());
  EXPECT_EQ(newer_source->source.date, "2026-01-21");
  for (const auto& [type, region] : {std::pair("g5.xlarge", "ap-southeast-1"),
                                     {"g6e.xlarge", "ca-central-1"},
                                     {"p4de.24xlarge", "eu-north-1"}}) {
    const auto unknown = find(type, region);
    ASSERT_FALSE(unknown.has_value()) << type << region;
    EXPECT_EQ(unknown.error().front().code, Code::PriceUnknown);
  }
}

// A layout of four slices on g7e; MIG shares are quarters.
TEST(CatalogueFacts, G7eHasTheGpuAndTheSlicesOfItsMigTable) {
  const InstanceType& type = *catalogue().find_instance("g7e.12xlarge");
  const GpuModel& gpu = *catalogue().find_gpu(type.gpu_model);
  EXPECT_EQ(type.gpu_count, 2);
  EXPECT_EQ(gpu.memory_total, type.gpu_memory);
  EXPECT_TRUE(gpu.supports_mig);
  const MigGeometry* mig = catalogue().find_mig(gpu.name);
  ASSERT_NE(mig, nullptr);
  EXPECT_EQ(mig->sm_total, gpu.sm_count);
  EXPECT_EQ(mig->memory_slices, 4);
}

// Zones priced at on-demand or exactly a tenth of it have no market.
double median_of_markets(const json& zones, const json& on_demand) {
  std::vector<double> prices;
  for (const json& zone : zones) {
    const auto usd = zone.get<double>();
    const bool market =
        on_demand.is_null() || (std::fabs(usd - on_demand.get<double>()) > 1e-4 &&
                                std::fabs(usd - on_demand.get<double>() / 10) > 1e-4);
    if (market) prices.push_back(usd);
  }
  if (prices.empty()) return 0;
  std::sort(prices.begin(), prices.end());
  const std::size_t half = prices.size() / 2;
  return prices.size() % 2 == 1 ? prices[half] : (prices[half - 1] + prices[half]) / 2;
}

TEST(CatalogueFacts, SpotPricesAreMediansOfMarketsElseTheAdvisorsSaving) {
  SLICEWISE_FACTS_OR_SKIP(facts, "ec2_catalog.json");
  int medians = 0;
  int implied = 0;
  for (const json& fact : facts["instances"]) {
    const auto name = fact["instance_type"].get<std::string>();
    const json& advisor = fact["spot"]["advisor_snapshot_2025_06_28"];
    const json& zones = fact["spot"]["skypilot_v8_snapshot_2025H2"];
    for (const auto& [region, on_demand] : fact["on_demand_usd_per_hour"].items()) {
      SCOPED_TRACE(::testing::Message() << name << ' ' << region);
      const auto price = catalogue().prices.find(name, region, PurchaseOption::Spot);
      const double median =
          zones.contains(region) ? median_of_markets(zones[region]["az_prices"], on_demand) : 0;
      const json implied_usd =
          advisor.contains(region) ? advisor[region]["implied_usd_per_hour"] : json();
      if (median > 0) {
        ASSERT_TRUE(price.has_value());
        EXPECT_NEAR(to_dollars(price->usd.per_hour), median, 1e-6);
        EXPECT_FALSE(price->source.derived);
        ++medians;
      } else if (!implied_usd.is_null()) {
        ASSERT_TRUE(price.has_value());
        EXPECT_NEAR(to_dollars(price->usd.per_hour), implied_usd.get<double>(), 1e-4);
        EXPECT_TRUE(price->source.derived);
        EXPECT_EQ(price->source.date, "2025-06-28");
        ++implied;
      } else {
        EXPECT_FALSE(price.has_value());
      }
    }
  }
  EXPECT_GT(medians, 80);
  EXPECT_GT(implied, 80);
}

TEST(CatalogueFacts, ReservedDiscounts) {
  SLICEWISE_FACTS_OR_SKIP(facts, "ec2_catalog.json");
  std::map<std::string, double> discounts;
  for (const Commitment& commitment : catalogue().commitments) {
    if (commitment.discount_percent && !commitment.by_month) {
      discounts[commitment.instance] = *commitment.discount_percent;
    }
  }
  std::size_t known = 0;
  for (const json& fact : facts["instances"]) {
    const json& discount = fact["ri_1yr_all_upfront_discount_pct_2023_08"];
    if (discount.is_null()) continue;
    ++known;
    EXPECT_DOUBLE_EQ(discounts[fact["instance_type"]], discount.get<double>());
  }
  EXPECT_EQ(discounts.size(), known);
}

TEST(CatalogueFacts, GpuFigures) {
  SLICEWISE_FACTS_OR_SKIP(facts, "gpu_models.json");
  ASSERT_EQ(catalogue().gpus.size(), facts["gpus"].size() + 4);  // g7, g7e, g5g, p6e came later
  const auto maybe = [](const json& value) {
    return value.is_null() ? std::optional<double>() : std::optional<double>(value.get<double>());
  };
  for (const json& fact : facts["gpus"]) {
    const auto name = fact["model"].get<std::string>();
    SCOPED_TRACE(name);
    const GpuModel* gpu = catalogue().find_gpu(name);
    ASSERT_NE(gpu, nullptr);
    EXPECT_EQ(gpu->compute_capability, fact["compute_capability"]);
    EXPECT_EQ(gpu->register_file_per_sm.count, fact["register_file_bytes_per_sm"]);
    EXPECT_EQ(gpu->shared_memory_per_sm.count, fact["max_shared_memory_bytes_per_sm"]);
    EXPECT_DOUBLE_EQ(gpu->memory_bandwidth_bytes_per_second,
                     fact["memory_bandwidth_gb_s"].get<double>() * 1e9);
    EXPECT_EQ(gpu->memory_total, mebibytes(fact["memory_mib_nvidia_smi"].get<std::int64_t>()));
    const json& usable = fact["memory_mib_cuda_total"];
    // CUDA's own messages have it of two that the facts have none of.
    const bool by_logs = name == "L4" || name == "A100-SXM4-80GB";
    EXPECT_EQ(gpu->memory_usable.has_value(), !usable.is_null() || by_logs);
    if (!usable.is_null()) {
      EXPECT_EQ(*gpu->memory_usable, mebibytes(usable.get<std::int64_t>()));
    }
    // The facts have none of A10G; the datasheet's is confirmed by a measurement that they do not
    // know.
    if (name != "A10G") {
      EXPECT_EQ(gpu->fp16_tensor_tflops, maybe(fact["fp16_tensor_tflops_dense"]));
    }
    EXPECT_EQ(gpu->nvlink_links, fact["nvlink_links"]);
    EXPECT_EQ(gpu->tdp_watts, fact["tdp_w"]);
    EXPECT_EQ(gpu->supports_mig, fact["supports_mig"]);
    EXPECT_EQ(gpu->mps_max_clients, fact["mps_max_clients"]["cuda_13_0_and_older"]);
    // B200: the SM count x clock that the source recommends for modelling.
    EXPECT_EQ(gpu->fp32_tflops, maybe(fact[name == "B200" ? "fp32_tflops_check" : "fp32_tflops"]));
    // Figures without a document are either absent or named as unverified.
    const auto unverified = [&](const char* figure) {
      return std::count(gpu->unverified.begin(), gpu->unverified.end(), figure) == 1;
    };
    EXPECT_EQ(unverified("sm_count"), fact["sm_count"].is_null());
    if (!fact["sm_count"].is_null()) {
      EXPECT_EQ(gpu->sm_count, fact["sm_count"]);
    }
    if (fact["l2_mib"].is_null()) {
      EXPECT_TRUE(!gpu->l2_cache || unverified("l2_cache"));
    } else {
      EXPECT_EQ(gpu->l2_cache->count, std::llround(fact["l2_mib"].get<double>() * 1'048'576));
    }
  }
}

TEST(CatalogueFacts, MigProfilesAndPlacements) {
  SLICEWISE_FACTS_OR_SKIP(facts, "mig_profiles.json");
  ASSERT_EQ(catalogue().mig.size(), facts["gpus"].size() + 2);  // g7 and p6e came later
  for (const auto& [gpu, fact] : facts["gpus"].items()) {
    const MigGeometry* geometry = catalogue().find_mig(gpu);
    ASSERT_NE(geometry, nullptr) << gpu;
    EXPECT_EQ(geometry->memory_slices, fact["memory_slices"]);
    EXPECT_EQ(geometry->compute_slices, fact["compute_slices"]);
    EXPECT_EQ(geometry->sm_usable, fact["sm_total_in_mig_7g"]);
    ASSERT_EQ(geometry->profiles.size(), fact["profiles"].size());
    for (std::size_t i = 0; i < geometry->profiles.size(); ++i) {
      const MigProfile& profile = geometry->profiles[i];
      const json& expected = fact["profiles"][i];
      SCOPED_TRACE(gpu + " " + profile.name);
      EXPECT_EQ(profile.name, expected["name"]);
      EXPECT_EQ(profile.resource_mixed, expected["resource_mixed"]);
      EXPECT_EQ(profile.max_count, expected["max_count"]);
      EXPECT_EQ(profile.sm_count.has_value(), !expected["sm_count"].is_null());
      if (profile.sm_count) {
        EXPECT_EQ(*profile.sm_count, expected["sm_count"]);
      }
      EXPECT_EQ(profile.memory.has_value(), !expected["memory_mib"].is_null());
      if (profile.memory) {
        EXPECT_EQ(*profile.memory, mebibytes(expected["memory_mib"].get<std::int64_t>()));
      }
      ASSERT_EQ(profile.placements.size(), expected["placements"].size());
      for (std::size_t p = 0; p < profile.placements.size(); ++p) {
        EXPECT_EQ(profile.placements[p].start, expected["placements"][p]["start"]);
        EXPECT_EQ(profile.placements[p].size, expected["placements"][p]["size"]);
      }
    }
  }
}

TEST(CatalogueFacts, WorkloadProfilesWithoutTheNonCommercialOnes) {
  SLICEWISE_FACTS_OR_SKIP(facts, "workload_profiles.json");
  std::vector<json> shipped;
  for (const json& fact : facts["workloads"]) {
    if (fact["source"].get<std::string>().find("Lucid") == std::string::npos) {
      shipped.push_back(fact);
    }
  }
  ASSERT_EQ(catalogue().profiles.size(), shipped.size());
  const auto close = [](const std::optional<Duration>& got, const json& milliseconds) {
    return got.has_value() == !milliseconds.is_null() &&
           (!got || std::fabs(to_seconds(*got) * 1e3 - milliseconds.get<double>()) < 1e-6);
  };
  for (std::size_t i = 0; i < shipped.size(); ++i) {
    const WorkloadProfile& profile = catalogue().profiles[i];
    SCOPED_TRACE(profile.name);
    EXPECT_EQ(profile.title, shipped[i]["name"]);
    EXPECT_EQ(profile.source.find("Lucid"), std::string::npos);
    EXPECT_TRUE(close(profile.solo_step, shipped[i]["T1_ms"]));
    EXPECT_TRUE(close(profile.fixed_part, shipped[i]["T0_ms"]));
    EXPECT_TRUE(close(profile.gpu_work, shipped[i]["W_ms"]));
    EXPECT_EQ(profile.memory.has_value(), !shipped[i]["mem_mib"].is_null());
    EXPECT_EQ(profile.bandwidth_share.has_value(), !shipped[i]["bw_share"].is_null());
  }
}

}  // namespace
}  // namespace slicewise::models
