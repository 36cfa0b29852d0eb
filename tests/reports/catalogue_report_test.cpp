#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "slicewise/reports/reference.hpp"

#include "../../reports/document/document_text.hpp"
#include "../../reports/text/text_table.hpp"

namespace slicewise::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

const models::Catalogue& catalogue() {
  static const models::Catalogue loaded = models::load_catalogue();
  return loaded;
}

std::string instances(const InstanceFilter& filter, ListFormat format, int width = 120) {
  const auto text = list_instances(catalogue(), filter, format, {false, true, width});
  return text
             ? *text
             : std::string(info(text.error().front().code).name) + ": " + text.error().front().help;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

TEST(TextTable, DropsTheLeastImportantColumnsUntilItFits) {
  const std::vector<Column> columns = {{"NAME", false, 0}, {"LESS", true, 2}, {"NOTE", false, 1}};
  const std::vector<std::vector<std::string>> rows = {{"é", "1", "long note"}, {"abc", "20", ""}};
  std::vector<std::string> dropped;
  EXPECT_EQ(text_table(columns, rows, 0, &dropped),
            "NAME  LESS  NOTE\n"
            "é        1  long note\n"
            "abc     20\n");
  EXPECT_TRUE(dropped.empty());
  EXPECT_EQ(text_table(columns, rows, 20, &dropped), "NAME  NOTE\né     long note\nabc\n");
  EXPECT_EQ(dropped, std::vector<std::string>{"LESS"});
  EXPECT_EQ(text_table(columns, rows, 2, nullptr), "NAME\né\nabc\n");
}

TEST(TextTable, WidthCountsWhatATerminalShows) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("é"), 1);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("\x1b[1mbold\x1b[0m"), 4);
}

// What a YAML reader gets back is what went in, strings that look like other types included.
TEST(YamlText, RoundTripsThroughAnIndependentReader) {
  const std::vector<std::string> tricky = {
      "on",   "No",  "y",    "null", "~",    "1e3", "0x1F", "12:30",          "1_000",
      ".inf", "- a", "a: b", "a #b", "",     " a",  "a ",   "2025-01-01",     "@x",
      "*x",   "&x",  "!x",   "%x",   "a\nb", "{a",  "[a",   "nvidia.com/gpu", "µs",
      "tail:"};
  for (const std::string& text : tricky) {
    const YAML::Node node = YAML::Load(yaml_text({{"key", text}}));
    EXPECT_EQ(node["key"].as<std::string>(), text);
    EXPECT_TRUE(node["key"].IsScalar() && !node["key"].IsNull()) << text;
  }
  EXPECT_EQ(yaml_scalar("on"), "\"on\"");
  EXPECT_EQ(yaml_scalar("1e3"), "\"1e3\"");
  EXPECT_EQ(yaml_scalar("x\u2028y"), "\"x\\u2028y\"");
  EXPECT_EQ(yaml_scalar("\u0085"), "\"\\u0085\"");
  EXPECT_EQ(yaml_scalar("nvidia.com/gpu"), "nvidia.com/gpu");
  EXPECT_EQ(yaml_text({{"a", {1, {{"b", true}}}}, {"c", nlohmann::json::object()}}),
            "a:\n- 1\n- b: true\nc: {}\n");
  // YAML 1.1, as PyYAML reads it, has no float without a point.
  EXPECT_EQ(yaml_text({{"a", 1e-9}, {"b", 2.5e-9}, {"c", 1e30}, {"d", 2.0}, {"e", 3}}),
            "a: 1.0e-09\nb: 2.5e-09\nc: 1.0e+30\nd: 2.0\ne: 3\n");
}

TEST(ListInstances, ShowsTheDemoNodeWithItsPriceAndRetirement) {
  const std::string text = instances({.family = "p3"}, ListFormat::Table);
  const auto lines = lines_of(text);
  EXPECT_EQ(lines[0],
            "NAME         GPUS  MODEL           GPU-MEMORY  VCPU   MEMORY      $/H  $/GPU-H  NOTE");
  EXPECT_EQ(lines[2],
            "p3.8xlarge      4  V100-SXM2-16GB    15.8 GiB    32  244 GiB  12.2400   3.0600  "
            "retired");
  EXPECT_THAT(text, HasSubstr("withdrew the type on 2025-12-20"));
  EXPECT_THAT(text, HasSubstr("as of 2026-07-20"));
}

TEST(ListInstances, FitsEightyAndAHundredColumns) {
  for (const int width : {80, 100}) {
    for (const std::string& line : lines_of(instances({}, ListFormat::Table, width))) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  EXPECT_THAT(instances({}, ListFormat::Table, 80), HasSubstr("-o wide shows every column"));
  EXPECT_THAT(instances({}, ListFormat::Table, 100), Not(HasSubstr("Too narrow")));
}

TEST(ListInstances, AMissingPriceIsADashWithAReasonAndAbsentFromJson) {
  const InstanceFilter filter{.family = "p5e"};
  const std::string text = instances(filter, ListFormat::Table);
  EXPECT_THAT(text, HasSubstr(" -        -\n"));
  EXPECT_THAT(text, HasSubstr("- no on-demand price in us-east-1 for p5e.48xlarge: the type has no "
                              "on-demand offer"));
  const auto document = nlohmann::json::parse(instances(filter, ListFormat::Json));
  EXPECT_FALSE(document["items"][0].contains("usdPerHour"));
  EXPECT_TRUE(document["items"][0].contains("priceMissing"));
}

TEST(ListInstances, JsonHasSiUnitsAndSortedKeys) {
  const std::string text = instances({.family = "p3.8xlarge"}, ListFormat::Json);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/catalogue.v1alpha1");
  EXPECT_EQ(document["kind"], "InstanceList");
  ASSERT_EQ(document["items"].size(), 1U);
  const auto& item = document["items"][0];
  EXPECT_EQ(item["usdPerHour"], 12.24);
  EXPECT_EQ(item["memoryBytes"], 249856LL * 1024 * 1024);
  EXPECT_EQ(item["gpuMemoryBytes"], 16160LL * 1024 * 1024);
  EXPECT_EQ(item["retiredOn"], "2025-12-20");
  EXPECT_LT(text.find("\"family\""), text.find("\"gpuCount\""));
  EXPECT_THAT(text, HasSubstr("\"usdPerHour\": 12.24,"));
}

TEST(ListInstances, YamlSaysWhatJsonSays) {
  const auto document = nlohmann::json::parse(instances({}, ListFormat::Json));
  const YAML::Node yaml = YAML::Load(instances({}, ListFormat::Yaml));
  ASSERT_EQ(yaml["items"].size(), document["items"].size());
  for (std::size_t i = 0; i < yaml["items"].size(); ++i) {
    for (const auto& [key, value] : document["items"][i].items()) {
      const auto text = yaml["items"][i][key].as<std::string>();
      EXPECT_EQ(text, value.is_string() ? value.get<std::string>() : value.dump()) << key;
    }
  }
}

TEST(ListInstances, CsvHasOneRecordPerTypeAndQuotesCommas) {
  const std::string text = instances({}, ListFormat::Csv);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 70);
  EXPECT_TRUE(text.starts_with("name,family,gpuCount,"));
  EXPECT_THAT(text, HasSubstr("\"previous generation, still offered\""));
}

TEST(ListInstances, FiltersAndSorts) {
  EXPECT_EQ(instances({.gpu = "a100-80gb"}, ListFormat::Name), "p4de.24xlarge\n");
  const std::string cheapest = instances({.sort = "price"}, ListFormat::Name);
  EXPECT_TRUE(cheapest.starts_with("g6f.large\ng6f.xlarge\n"));
  EXPECT_TRUE(cheapest.ends_with("p6e-gb200.36xlarge\n")) << "no price comes last";
  EXPECT_TRUE(instances({.sort = "price-per-gpu"}, ListFormat::Name).starts_with("g5g.xlarge\n"));
  // CUDA sees 15,110 MiB of a T4 although nvidia-smi prints 15 GiB.
  EXPECT_THAT(instances({.fits = gibibytes(15)}, ListFormat::Name), Not(HasSubstr("g4dn")));
  EXPECT_THAT(instances({.fits = gibibytes(14)}, ListFormat::Name), HasSubstr("g4dn"));
  EXPECT_THAT(instances({.include_retired = false}, ListFormat::Name), Not(HasSubstr("p3.")));
}

TEST(ListInstances, NamesTheNearestWhereNothingMatches) {
  EXPECT_EQ(instances({.fits = gibibytes(9999)}, ListFormat::Table),
            "No instance type has a GPU with 9999 GiB; nearest: p6-b300.48xlarge (B300, 268.6 GiB "
            "for CUDA).\n");
  EXPECT_THAT(instances({.family = "g4dn", .fits = gibibytes(30)}, ListFormat::Table),
              testing::AllOf(HasSubstr("nearest: g4dn.xlarge (T4, 14.8 GiB for CUDA)"),
                             HasSubstr("Without --family and --gpu:\n  g6e.xlarge (L40S")));
  EXPECT_EQ(instances({.family = "g5", .gpu = "T4"}, ListFormat::Table),
            "No instance type of family g5 has the GPU T4.\n");
}

TEST(ListInstances, UnknownFiltersAreDiagnosticsWithTheNearestName) {
  EXPECT_EQ(instances({.gpu = "A100-80G"}, ListFormat::Table),
            "GPU_UNKNOWN: did you mean A100-80GB?");
  EXPECT_EQ(instances({.gpu = "A100"}, ListFormat::Table),
            "GPU_UNKNOWN: did you mean A100-SXM4-40GB or A100-SXM4-80GB?");
  EXPECT_EQ(instances({.family = "p3.8xlrage"}, ListFormat::Table),
            "INSTANCE_UNKNOWN: did you mean p3.8xlarge?");
  EXPECT_THAT(instances({.region = "us-esat-1"}, ListFormat::Table),
              HasSubstr("REGION_UNKNOWN: did you mean us-east-1?"));
  EXPECT_THAT(instances({.sort = "cost"}, ListFormat::Table), HasSubstr("ENUM_UNKNOWN"));
}

TEST(ListGpus, MarksUnverifiedAndUnpublishedFigures) {
  const auto text = list_gpus(catalogue(), "b300", ListFormat::Table, {});
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("148?"));
  const auto document =
      nlohmann::json::parse(*list_gpus(catalogue(), "B300", ListFormat::Json, {}));
  EXPECT_FALSE(document["items"][0].contains("fp32FlopsPerSecond"));
  EXPECT_FALSE(list_gpus(catalogue(), "T5", ListFormat::Table, {}).has_value());
}

TEST(ListMigProfiles, AnInstanceTypeNamesItsGpu) {
  const auto text = list_mig_profiles(catalogue(), "p4d.24xlarge", ListFormat::Name, {});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "1g.5gb\n1g.5gb+me\n1g.10gb\n2g.10gb\n3g.20gb\n4g.20gb\n7g.40gb\n");
}

TEST(ListMigProfiles, AGpuWithoutMigIsAnError) {
  const auto text = list_mig_profiles(catalogue(), "g5.xlarge", ListFormat::Table, {});
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().front().code, Code::MigUnsupported);
  EXPECT_EQ(text.error().front().message, "g5.xlarge has A10G, which has no MIG");
}

TEST(ListProfiles, FiltersByKindGpuAndName) {
  const auto text = list_profiles(catalogue(), "inference", "T4", "resnet", ListFormat::Name, {});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(lines_of(*text).size(), 10U);  // nine profiles and the end
  EXPECT_EQ(list_profiles(catalogue(), "", "", "resnte-50-inference", ListFormat::Name, {})
                .error()
                .front()
                .code,
            Code::ProfileUnknown);
  const auto llms = list_profiles(catalogue(), "llm", "A100-80GB", "", ListFormat::Name, {});
  EXPECT_EQ(*llms,
            "llama-2-7b-fp16/a100-80gb\nllama-3-8b-fp16/a100-80gb\n"
            "llama-3-70b-fp16/a100-80gb\n");
  EXPECT_EQ(list_profiles(catalogue(), "infer", "", "", ListFormat::Name, {}).error().front().code,
            Code::EnumUnknown);
}

// The figure of the row, not that of another day.
TEST(ListPrices, TheSavingIsThatOfThePricesShown) {
  const auto text = list_prices(catalogue(), "p3.8xlarge", "eu-central-1", ListFormat::Json, {});
  const auto document = nlohmann::json::parse(*text);
  const auto& full = document["items"][0];
  const auto& spot = document["items"][1];
  EXPECT_EQ(spot["savingsPercent"], 63);
  EXPECT_EQ(spot["savingsPercent"], std::llround(100 * (1 - spot["usdPerHour"].get<double>() /
                                                                full["usdPerHour"].get<double>())));
  EXPECT_EQ(spot["advisorSavingsPercent"], 88);
  EXPECT_FALSE(full.contains("savingsPercent"));
}

TEST(ListPrices, SayWhatACommitmentIsByTheHour) {
  const auto text = list_prices(catalogue(), "g5.xlarge", "us-east-1", ListFormat::Json, {});
  const auto document = nlohmann::json::parse(*text);
  const double full = document["items"][0]["usdPerHour"].get<double>();
  int commitments = 0;
  for (const auto& item : document["items"]) {
    if (!item["purchase"].get<std::string>().starts_with("Standard RI")) continue;
    ++commitments;
    EXPECT_NEAR(item["usdPerHour"].get<double>(),
                full * (1 - item["savingsPercent"].get<double>() / 100), 1e-9);
  }
  EXPECT_GT(commitments, 0);
}

TEST(ListPrices, ShowsOnDemandSpotAndCommitments) {
  const auto text =
      list_prices(catalogue(), "p5.48xlarge", "us-east-1", ListFormat::Table, {false, true, 120});
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("on-demand       55.0400"));
  EXPECT_THAT(*text, HasSubstr("14.7253")) << "zones at the on-demand price have no market";
  EXPECT_THAT(*text, HasSubstr("Capacity Block  39.3300"));
  EXPECT_THAT(*text, HasSubstr("Capacity Block: for a day or more"));
}

}  // namespace
}  // namespace slicewise::reports
