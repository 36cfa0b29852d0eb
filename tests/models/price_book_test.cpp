#include "slicewise/models/price_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using testing::HasSubstr;

TEST(PriceBook, UnknownPriceNamesWhatIsMissing) {
  const auto price = catalogue().prices.find("p5.48xlarge", "eu-west-1", PurchaseOption::OnDemand);
  ASSERT_FALSE(price.has_value());
  ASSERT_EQ(price.error().size(), 1U);
  const Diagnostic& problem = price.error().front();
  EXPECT_EQ(problem.code, Code::PriceUnknown);
  EXPECT_EQ(problem.message, "no on-demand price for p5.48xlarge in eu-west-1");
  EXPECT_THAT(problem.help, HasSubstr("did not offer this type"));
  EXPECT_THAT(problem.help,
              HasSubstr("known in ap-northeast-1, ap-south-1, ap-southeast-2, ca-central-1, "
                        "eu-north-1, eu-west-2, sa-east-1, us-east-1, us-east-2, us-gov-west-1, "
                        "us-west-2"));
  EXPECT_THAT(problem.help, HasSubstr("--prices"));
}

TEST(PriceBook, ATypeWithoutOnDemandOfferSaysHowItIsSold) {
  const auto price = catalogue().prices.find("p5e.48xlarge", "us-east-1", PurchaseOption::OnDemand);
  ASSERT_FALSE(price.has_value());
  EXPECT_THAT(price.error().front().help, HasSubstr("Capacity Blocks and Spot only"));
}

TEST(PriceBook, ReservedPricesComeFromTheUserOnly) {
  for (const InstanceType& type : catalogue().instances) {
    const auto price = catalogue().prices.find(type.name, "us-east-1", PurchaseOption::Reserved);
    ASSERT_FALSE(price.has_value()) << type.name;
    EXPECT_THAT(price.error().front().help, HasSubstr("contract"));
    EXPECT_THAT(price.error().front().help, HasSubstr("pricing.plans"));
    EXPECT_THAT(price.error().front().message, HasSubstr("`plan --horizon 12` chooses"));
  }
}

TEST(PriceBook, KnowsFifteenRegionsAndItsDate) {
  EXPECT_EQ(catalogue().prices.regions(),
            (std::vector<std::string>{
                "ap-northeast-1", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1",
                "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "sa-east-1", "us-east-1",
                "us-east-2", "us-gov-east-1", "us-gov-west-1", "us-west-2"}));
  const auto unknown = catalogue().prices.find("g6e.xlarge", "sa-east-1", PurchaseOption::OnDemand);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().front().code, Code::PriceUnknown);
  EXPECT_THAT(unknown.error().front().help, HasSubstr("--prices"));
  EXPECT_EQ(catalogue().prices.date(), "2026-07-20");
}

TEST(PriceOverrides, ReplaceAndAddPrices) {
  const auto book = with_overrides(catalogue(), {"mine.json", R"({"date": "2026-11-01", "prices": [
    {"instanceType": "p4d.24xlarge", "region": "us-east-1", "usdPerHour": 20.5, "source": "deal"},
    {"instanceType": "p4d.24xlarge", "region": "us-east-1", "purchase": "reserved",
     "usdPerHour": 12},
    {"instanceType": "g5.xlarge", "region": "eu-north-1", "usdPerHour": 1.08}]})"});
  ASSERT_TRUE(book.has_value());
  const auto price = book->find("p4d.24xlarge", "us-east-1", PurchaseOption::OnDemand);
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->usd.per_hour, from_dollars(20.5));
  EXPECT_EQ(price->source.text, "deal");
  EXPECT_EQ(price->source.date, "2026-11-01");
  EXPECT_EQ(book->find("p4d.24xlarge", "us-east-1", PurchaseOption::Reserved)->source.text,
            "mine.json");
  EXPECT_TRUE(book->find("g5.xlarge", "eu-north-1", PurchaseOption::OnDemand).has_value());
  EXPECT_EQ(book->date(), "2026-11-01");
  EXPECT_EQ(book->find("g5.xlarge", "us-east-1", PurchaseOption::OnDemand)->usd,
            catalogue().prices.find("g5.xlarge", "us-east-1", PurchaseOption::OnDemand)->usd);
}

TEST(PriceOverrides, EveryMistakeIsReportedWithItsPlace) {
  const auto book = with_overrides(catalogue(), {"bad.json", R"({"date": "yesterday",
 "price": 1,
 "prices": [
  {"instanceType": "p4d.24xlrage", "region": "us-east-1", "usdPerHour": 20},
  {"instanceType": "g5.xlarge", "region": "us-esat-1", "usdPerHour": 20},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "usdPerHuor": 20},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "usdPerHour": 0},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "usdPerHour": "é1.0"},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "purchase": "Spot", "usdPerHour": 1},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "source": "é", "usdPerHour": -1,
   "usdPerHour": 2},
  7]})"});
  ASSERT_FALSE(book.has_value());
  struct Expectation {
    Code code;
    int line;
    int column;
    std::string help;
  };
  const std::vector<Expectation> expected = {
      {Code::FieldUnknown, 2, 2, "did you mean `prices`?"},
      {Code::FieldType, 1, 10, ""},
      {Code::InstanceUnknown, 4, 20, "did you mean p4d.24xlarge?"},
      {Code::RegionUnknown, 5, 43, "did you mean us-east-1?"},
      {Code::FieldUnknown, 6, 56, "did you mean `usdPerHour`?"},
      {Code::FieldMissing, 6, 3, ""},
      {Code::ValueRange, 7, 70, ""},
      {Code::FieldType, 8, 70, ""},
      {Code::EnumUnknown, 9, 68, "on-demand, spot, reserved"},
      {Code::FieldDuplicate, 11, 4, ""},
      {Code::ValueRange, 10, 85, ""},
      {Code::FieldType, 12, 3, ""}};
  ASSERT_EQ(book.error().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Diagnostic& problem = book.error()[i];
    SCOPED_TRACE(problem.message);
    EXPECT_EQ(problem.code, expected[i].code);
    EXPECT_EQ(problem.where.file, "bad.json");
    EXPECT_EQ(problem.where.line, expected[i].line);
    EXPECT_EQ(problem.where.column, expected[i].column);
    EXPECT_THAT(problem.help, HasSubstr(expected[i].help));
  }
}

TEST(PriceOverrides, TheSamePriceTwiceIsAnError) {
  const auto book = with_overrides(catalogue(), {"twice.json", R"({"prices": [
  {"instanceType": "g5.xlarge", "region": "us-east-1", "usdPerHour": 1},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "purchase": "spot", "usdPerHour": 1},
  {"instanceType": "g5.xlarge", "region": "us-east-1", "purchase": "on-demand",
   "usdPerHour": 2}]})"});
  ASSERT_FALSE(book.has_value());
  ASSERT_EQ(book.error().size(), 1U);
  EXPECT_EQ(book.error()[0].code, Code::NameDuplicate);
  EXPECT_EQ(book.error()[0].where.line, 4);
  EXPECT_THAT(book.error()[0].help, HasSubstr("the first is at 2:3"));
}

TEST(PriceOverrides, ANameUnlikeAnyRegionIsToldWhatOneLooksLike) {
  const auto book = with_overrides(
      catalogue(),
      {"mars.json",
       R"({"prices": [{"instanceType": "g5.xlarge", "region": "mars-1", "usdPerHour": 1}]})"});
  ASSERT_FALSE(book.has_value());
  EXPECT_EQ(book.error()[0].code, Code::RegionUnknown);
  EXPECT_THAT(book.error()[0].help, HasSubstr("like eu-west-3"));
}

TEST(PriceOverrides, DeepNestingIsADiagnostic) {
  const std::string deep(20'000, '[');
  const std::string close(20'000, ']');
  const auto book = with_overrides(catalogue(), {"deep.json", "{\"prices\":" + deep + close + "}"});
  ASSERT_FALSE(book.has_value());
  EXPECT_FALSE(book.error().empty());
}

TEST(PriceOverrides, BrokenJsonPointsAtTheByte) {
  const auto book =
      with_overrides(catalogue(), {"cut.json", "{\"prices\": [\n  {\"region\": us}]}"});
  ASSERT_FALSE(book.has_value());
  EXPECT_EQ(book.error().front().code, Code::YamlSyntax);
  EXPECT_EQ(book.error().front().where.line, 2);
  EXPECT_EQ(book.error().front().where.column, 14);
  EXPECT_FALSE(with_overrides(catalogue(), {"empty.json", ""}).has_value());
  EXPECT_FALSE(with_overrides(catalogue(), {"list.json", "[]"}).has_value());
  EXPECT_FALSE(with_overrides(catalogue(), {"yaml.json", "prices: []"}).has_value())
      << "YAML is not JSON";
  EXPECT_FALSE(with_overrides(catalogue(), {"huge.json", R"({"date": 1e999})"}).has_value());
}

TEST(PriceOverrides, TabsAreWhitespace) {
  const auto book = with_overrides(
      catalogue(), {"tabs.json",
                    "{\n\t\"prices\":\t[\n\t\t{\"instanceType\":\t\"g5.xlarge\",\n\t\t"
                    "\"region\": \"us-east-1\", \"usdPerHour\": 2}\n\t]\n}\n"});
  ASSERT_TRUE(book.has_value()) << book.error().front().message;
}

}  // namespace
}  // namespace slicewise::models
