#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/result_report.hpp"
#include "slicewise/version.hpp"

#include "golden_file.hpp"
#include "platform_sample.hpp"
#include "result_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

TEST(ResultJson, MatchesTheGoldenDocuments) {
  expect_golden("aws_demo.json", Report(samples::aws_demo()).json());
  expect_golden("voice.json", Report(samples::voice()).json());
  expect_golden("platform.json", Report(samples::platform()).json());
}

TEST(ResultJson, CarriesTheNamesThatScriptsDependOn) {
  const json document = json::parse(Report(samples::aws_demo()).json());
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/result.v1alpha1");
  EXPECT_EQ(document["kind"], "Result");
  EXPECT_EQ(document["metadata"]["version"], kVersion);
  const json& grown = document["variants"][2];
  EXPECT_EQ(grown["nodePools"][0]["advertised"]["nvidia.com/gpu"], 40);
  EXPECT_EQ(grown["pods"]["runningMax"], 20);
  EXPECT_EQ(grown["workloads"][0]["jobCompletionSeconds"]["p95"], 3600);
  EXPECT_EQ(grown["cost"]["perJobUsd"], 0.612);
}

TEST(ResultJson, SaysWhetherItIsWholeAndWhichPricesWereInForce) {
  sim::Result result = samples::aws_demo();
  json metadata = json::parse(Report(result).json())["metadata"];
  for (const char* key : {"interrupted", "priceFile", "priceFileSha256"}) {
    EXPECT_FALSE(metadata.contains(key)) << key;
  }
  result.interrupted = true;
  result.stamp.replications = 20;
  result.variants[0].replications = 3;
  result.stamp.price_file = "our.json";
  result.stamp.price_file_sha256 = "1f2e";
  const json document = json::parse(Report(result).json());
  EXPECT_EQ(document["metadata"]["interrupted"], true);
  EXPECT_EQ(document["metadata"]["replications"], 20);
  EXPECT_EQ(document["metadata"]["priceFile"], "our.json");
  EXPECT_EQ(document["metadata"]["priceFileSha256"], "1f2e");
  EXPECT_EQ(document["variants"][0]["replications"], 3);
}

// Usd counts nano-dollars, a double has 53 bits: the printed decimals must still be the ledger's.
TEST(ResultJson, CostPartsAddUpToTheTotalInDecimalNanoDollars) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  result.variants[0].cost.ledger = {{123'456'789'012'347},
                                    {100'000'000'000'001},
                                    {23'000'000'000'003},
                                    {456'000'000'007},
                                    {789'000'011},
                                    {11'000},
                                    {1'000},
                                    {},
                                    {325}};
  const json cost = json::parse(Report(result).json())["variants"][0]["cost"];
  std::int64_t sum = 0;
  for (const char* part : {"usefulUsd", "idleUsd", "switchUsd", "failedUsd", "coldStartUsd",
                           "missedSloUsd", "controlPlaneUsd"}) {
    sum += std::llround(cost[part].get<double>() * 1e9);
  }
  EXPECT_EQ(sum, std::llround(cost["totalUsd"].get<double>() * 1e9));
  EXPECT_NE(Report(result).json().find("\"totalUsd\": 123456.789012347"), std::string::npos);
}

TEST(ResultJson, IsExplainedByVariantAndWorkload) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const SourceText demo{"demo.json", Report(samples::aws_demo()).json()};
  const auto whole = explain_result(demo, "", kTerminal);
  ASSERT_TRUE(whole);
  EXPECT_THAT(*whole, HasSubstr("before: exclusive on 1 x p3.8xlarge (4 x V100-SXM2-16GB)\n"));
  EXPECT_THAT(*whole, HasSubstr("up to 1 Pending: 0/1 nodes are available"));
  EXPECT_THAT(*whole, ::testing::ContainsRegex("Pool v100 advertises 4[ \n]+nvidia.com/gpu\\."));
  EXPECT_THAT(*whole, HasSubstr("were killed for want of GPU memory, 16 pods failed for good"));
  const auto after = explain_result(demo, "after", kTerminal);
  ASSERT_TRUE(after);
  EXPECT_THAT(*after, HasSubstr("processes of one GPU take turns of 1.05 ms; each change costs"));
  EXPECT_THAT(*after, Not(HasSubstr("before:")));
  const auto classifier =
      explain_result({"v.json", Report(samples::voice()).json()}, "asr", kTerminal);
  ASSERT_TRUE(classifier);
  EXPECT_THAT(*classifier, HasSubstr("asr (Service)"));
  EXPECT_THAT(*classifier, HasSubstr("beside it: tts"));
  EXPECT_THAT(*classifier, HasSubstr("latencyP99"));
  const auto unknown = explain_result(demo, "afer", kTerminal);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().front().help, HasSubstr("did you mean after?"));
  EXPECT_THAT(unknown.error().front().help, HasSubstr("cifar10"));
}

TEST(ResultJson, ExplainsFindingsByTheWorkloadsThatTheyAreAbout) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  sim::Result result = samples::voice();
  Diagnostic about_tts =
      make_diagnostic(Code::QueueUnstable, {}, "what \"asr\" sends makes it wait", "slow it down");
  about_tts.workloads = {"tts"};
  result.variants[0].findings = {about_tts};
  const SourceText stored{"v.json", Report(result).json()};
  const std::string said = "QUEUE_UNSTABLE: what \"asr\" sends makes it wait; slow it down";
  EXPECT_THAT(*explain_result(stored, "tts", {false, true, 0}), HasSubstr(said));
  EXPECT_THAT(*explain_result(stored, "asr", {false, true, 0}), Not(HasSubstr(said)));
  // What a newer slicewise found has a code that is not known here.
  json newer = json::parse(stored.text);
  newer["variants"][0]["findings"][0]["code"] = "NEW_CODE";
  EXPECT_THAT(*explain_result({"v.json", newer.dump()}, "tts", {false, true, 0}),
              HasSubstr("NEW_CODE: what"));
}

TEST(ResultJson, OfAnOlderResultIsExplainedWhatItHas) {
  using ::testing::HasSubstr;
  json older = json::parse(Report(samples::voice()).json());
  for (const char* later : {"verdict", "provenance", "nodes", "findings"}) {
    older["variants"][0].erase(later);
  }
  EXPECT_THAT(*explain_result({"v.json", older.dump()}, "", kTerminal), HasSubstr("pods were"));
  older["variants"][0]["gpus"][0]["index"] = "first";
  const auto wrong = explain_result({"v.json", older.dump()}, "", kTerminal);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().front().message, HasSubstr("\"index\" is absent or not what"));
}

TEST(ResultJson, RoundsToNineSignificantDigitsAndLeavesOutWhatIsNotFinite) {
  sim::Result result = samples::voice();
  sim::WorkloadResult& asr = result.variants[0].workloads[0];
  asr.throughput_per_second = 1.0 / 3.0;
  asr.goodput_per_second = std::numeric_limits<double>::quiet_NaN();
  const std::string text = Report(result).json();
  EXPECT_NE(text.find("\"throughputPerSecond\": 0.333333333,"), std::string::npos);
  EXPECT_FALSE(json::parse(text)["variants"][0]["workloads"][0].contains("goodputPerSecond"));
}

TEST(ResultJson, LeavesOutWhatDoesNotApply) {
  const std::string text = Report(samples::voice()).json();
  EXPECT_EQ(text.find("null"), std::string::npos);
  const json variant = json::parse(text)["variants"][0];
  EXPECT_FALSE(variant["workloads"][0].contains("jobCompletionSeconds"));
  EXPECT_FALSE(variant["workloads"][0]["latencySeconds"].contains("ci95"));
  EXPECT_FALSE(variant["gpus"][0].contains("smActiveRatio"));
  EXPECT_FALSE(variant["cost"].contains("perJobUsd"));
}

TEST(ResultJson, SaysInWhichUnitAnObjectiveIs) {
  const json workloads =
      json::parse(Report(samples::platform()).json())["variants"][0]["workloads"];
  std::set<std::string> units;
  for (const json& workload : workloads) {
    for (const json& objective : workload["objectives"]) {
      units.insert(objective["unit"]);
      EXPECT_EQ(objective.contains("atLeast"), objective["name"] == "availability");
    }
  }
  EXPECT_EQ(units, (std::set<std::string>{"seconds", "ratio", "number"}));
}

TEST(ResultJson, OnlyServicesHaveRequestsAndOnlyThoseThatScaleHaveReplicas) {
  const json workloads =
      json::parse(Report(samples::platform()).json())["variants"][0]["workloads"];
  for (const json& w : workloads) {
    EXPECT_EQ(w.contains("requests"), w["kind"] == "Service" || w["kind"] == "Pipeline");
    EXPECT_EQ(w.contains("notebooks"), w["kind"] == "Notebook");
    EXPECT_EQ(w.contains("tokens"), w["name"] == "chat");
    EXPECT_EQ(w.contains("scaling"), w["name"] == "chat");
  }
}

TEST(ResultJson, PrintsWholeNumbersAsIntegers) {
  const std::string text = Report(samples::aws_demo()).json();
  EXPECT_NE(text.find("\"submitted\": 20,"), std::string::npos);
  EXPECT_EQ(text.find(".0,"), std::string::npos);
}

TEST(ResultJson, EmptyResultIsAnEmptyList) {
  const json document = json::parse(Report(sim::Result{}).json());
  EXPECT_TRUE(document["variants"].is_array());
  EXPECT_TRUE(document["variants"].empty());
}

TEST(Version, IsTheVersionOfTheProject) {
  const std::string cmake =
      file_text(std::filesystem::path(SLICEWISE_SOURCE_DIR) / "CMakeLists.txt");
  EXPECT_NE(cmake.find("project(slicewise VERSION " + std::string(kVersion) + " "),
            std::string::npos);
}

}  // namespace
}  // namespace slicewise::reports
