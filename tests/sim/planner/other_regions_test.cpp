#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../../sim/studies/plan/plan_sections.hpp"
#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// At the prices of us-east-1, as a plan has it.
PlanOption option(const std::string& type, int nodes, double monthly) {
  PlanOption option;
  PoolChoice& pool = option.pools.emplace_back();
  pool.instance_type = type;
  pool.purchase = "on-demand";
  pool.nodes = nodes;
  option.figures.monthly = from_dollars(monthly);
  return option;
}

scenarios::Scenario in_virginia() {
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {});
  scenario.region = "us-east-1";
  return scenario;
}

TEST(OtherRegions, NameTheCheapestOptionThere) {
  // One A10G or two T4: 1.006 and 2 x 0.526 an hour here, 1.459 and 2 x 0.71 in Tokyo.
  const std::vector<PlanOption> options{option("g5.xlarge", 1, 734.38),
                                        option("g4dn.xlarge", 2, 767.96)};
  const auto regions = other_regions({"us-west-2", "ap-northeast-1", "us-gov-east-1"}, options,
                                     in_virginia(), demo::catalogue());
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].rank, 1);
  EXPECT_NEAR(to_dollars(*regions[0].monthly), 734.38, 0.01);
  EXPECT_EQ(regions[1].rank, 2);
  EXPECT_NEAR(to_dollars(*regions[1].monthly), 2 * 0.71 * 730, 0.01);
  EXPECT_TRUE(regions[1].missing.empty());
  // What AWS does not sell there is no zero.
  EXPECT_EQ(regions[2].rank, 2);
}

TEST(OtherRegions, SayWhyNothingCanBeBoughtThere) {
  PlanOption reserved = option("g5.xlarge", 1, 300);
  reserved.pools.front().purchase = "reserved";
  const auto dear = other_regions({"us-gov-east-1"}, {option("g5.xlarge", 1, 734.38)},
                                  in_virginia(), demo::catalogue());
  ASSERT_EQ(dear.size(), 1U);
  EXPECT_FALSE(dear[0].rank || dear[0].monthly);
  EXPECT_THAT(dear[0].missing, HasSubstr("g5.xlarge in us-gov-east-1"));
  const auto unknown = other_regions({"us-west-2"}, {reserved}, in_virginia(), demo::catalogue());
  EXPECT_FALSE(unknown[0].monthly);
  EXPECT_THAT(unknown[0].missing, HasSubstr("reserved"));
}

// Spot by the spot prices of both regions; a savings plan takes its part of either.
TEST(OtherRegions, AreBoughtInAsTheOptionIs) {
  const auto hour = [](const std::string& region) {
    const auto price =
        demo::catalogue().prices.find("g5.xlarge", region, models::PurchaseOption::Spot);
    return to_dollars(price->usd.per_hour);
  };
  PlanOption spot = option("g5.xlarge", 1, 300);
  spot.pools.front().purchase = "spot";
  const auto there = other_regions({"us-west-2"}, {spot}, in_virginia(), demo::catalogue());
  ASSERT_TRUE(there[0].monthly);
  EXPECT_NEAR(to_dollars(*there[0].monthly), 300 * hour("us-west-2") / hour("us-east-1"), 0.01);

  scenarios::Scenario planned = in_virginia();
  scenarios::PricePlan half;
  half.name = "half";
  half.instance_type.value = "g5.xlarge";
  half.discount = 0.5;
  planned.price_plans.push_back(half);
  PlanOption bought = option("g5.xlarge", 1, 367.19);
  bought.pools.front().purchase = "half";
  const auto tokyo = other_regions({"ap-northeast-1"}, {bought}, planned, demo::catalogue());
  EXPECT_NEAR(to_dollars(*tokyo[0].monthly), 0.5 * 1.459 * 730, 0.01);
}

// Half of the month: the hours stay what they are.
TEST(OtherRegions, NodesThatComeAndGoCostTheirHours) {
  PlanOption elastic = option("g5.xlarge", 10, 3'671.90);
  elastic.pools.front().elastic = true;
  const auto there = other_regions({"eu-west-1"}, {elastic}, in_virginia(), demo::catalogue());
  EXPECT_NEAR(to_dollars(*there[0].monthly), 5 * 1.123 * 730, 0.01);
  elastic.pools.push_back(option("g4dn.xlarge", 1, 0).pools.front());
  const auto mixed = other_regions({"eu-west-1"}, {elastic}, in_virginia(), demo::catalogue());
  EXPECT_FALSE(mixed[0].rank);
}

TEST(OtherRegions, AreThoseOfThePriceBook) {
  Diagnostics found;
  EXPECT_THAT(regions_named({"eu-west-1", "us-east-1", "eu-west-1"}, in_virginia(),
                            demo::catalogue(), found),
              ElementsAre("eu-west-1"));
  EXPECT_EQ(regions_named({"all"}, in_virginia(), demo::catalogue(), found).size(),
            demo::catalogue().prices.regions().size() - 1);
  EXPECT_TRUE(found.empty());
  regions_named({"eu-west-11"}, in_virginia(), demo::catalogue(), found);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, Code::RegionUnknown);
}

}  // namespace
}  // namespace slicewise::sim
