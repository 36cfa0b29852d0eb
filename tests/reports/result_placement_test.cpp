#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/html_report.hpp"
#include "slicewise/reports/result_report.hpp"

#include "result_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextStyle kUnlimited{false, true, 0};

// A variant of voice with pods on so many GPUs, the last of which has one tts more.
sim::Result placed(int gpus) {
  sim::Result result = samples::voice();
  result.variants.resize(1);
  sim::VariantResult& variant = result.variants.front();
  const sim::GpuResult gpu = samples::v100(0, 0.69, 0, mebibytes(1853));
  variant.gpus.assign(static_cast<std::size_t>(gpus), gpu);
  for (int g = 0; g < gpus; ++g) {
    sim::GpuResult& placed_on = variant.gpus[static_cast<std::size_t>(g)];
    placed_on.index = g;
    placed_on.time_busy_ratio = 0.69;
    placed_on.time_busy_most = g == 0 ? 0.87 : 0.7;
    placed_on.pods = {"asr-" + std::to_string(2 * g + 1), "asr-" + std::to_string(2 * g + 2),
                      "tts-" + std::to_string(g + 1)};
  }
  variant.gpus.back().pods.push_back("tts-99");
  variant.replications = 5;
  variant.workloads[0].neighbours = {{"asr", 5}, {"tts", 4}};
  variant.workloads[0].placement =
      sim::PlacementSpread{"latencyP95", seconds(2), 4, seconds(86), 1, {"tts"}};
  return result;
}

TEST(PlacementReport, GpusWithTheSamePodsAreOneLine) {
  const std::string text = Report(placed(4)).table(kUnlimited, false);
  EXPECT_THAT(text, HasSubstr("pods on GPUs, each at its fullest, in the first of 5 runs:"));
  EXPECT_THAT(text, HasSubstr("3 GPUs alike: 2 x asr, 1 x tts\n"));
  EXPECT_THAT(text, HasSubstr(" #3: 2 x asr, 2 x tts\n"));
}

TEST(PlacementReport, AllOfItIsShownOnlyWhenWide) {
  EXPECT_THAT(Report(placed(4)).table(kUnlimited, false), Not(HasSubstr("asr-3, asr-4, tts-2")));
  EXPECT_THAT(Report(placed(4)).table(kUnlimited, true), HasSubstr(" #1: asr-3, asr-4, tts-2\n"));
  sim::Result all_differ = placed(12);
  for (std::size_t g = 0; g < 12; ++g) {
    all_differ.variants[0].gpus[g].pods.resize(1);
    all_differ.variants[0].gpus[g].pods[0] = "w" + std::to_string(g) + "-1";
  }
  EXPECT_THAT(Report(all_differ).table(kUnlimited, false),
              HasSubstr("and 6 more kinds of GPUs (-o wide)"));
}

TEST(PlacementReport, SaysWhatPlacementDecidesAndWhatMeansHide) {
  const std::string text = Report(placed(4)).table(kUnlimited, false);
  EXPECT_THAT(text, HasSubstr("asr p95 is 2.00 s in 4 of 5 runs and 1m26s in one, where it shares "
                              "a GPU with tts"));
  EXPECT_THAT(text, HasSubstr("#0 with 87%; no mean over the runs is above 69%"));
  EXPECT_THAT(Report(placed(4)).markdown(), HasSubstr("1m26s in one"));
}

TEST(PlacementReport, SaysWhereNothingIsAnswered) {
  sim::Result result = placed(4);
  sim::PlacementSpread& spread = *result.variants[0].workloads[0].placement;
  spread.worst.reset();
  spread.usual_replications = 3;  // nothing came in the fifth
  const std::string sentence =
      "asr p95 is 2.00 s in 3 of 5 runs and it answers nothing in one, where it shares a GPU";
  EXPECT_THAT(Report(result).table(kUnlimited, false), HasSubstr(sentence));
  const std::string stored = Report(result).json();
  EXPECT_FALSE(
      json::parse(stored)["variants"][0]["workloads"][0]["placement"].contains("worstSeconds"));
  EXPECT_THAT(explain_result({"r.json", stored}, "asr", kUnlimited).value(),
              HasSubstr("it answers nothing in one"));
}

TEST(PlacementReport, IsInEveryFormat) {
  const json variant = json::parse(Report(placed(4)).json())["variants"][0];
  EXPECT_EQ(variant["gpus"][1]["pods"], json({"asr-3", "asr-4", "tts-2"}));
  EXPECT_EQ(variant["gpus"][0]["timeBusyMaxRatio"], 0.87);
  EXPECT_EQ(variant["workloads"][0]["neighbours"][1],
            json({{"workload", "tts"}, {"replications", 4}}));
  EXPECT_EQ(variant["workloads"][0]["placement"]["worstSeconds"], 86);
  EXPECT_THAT(Report(placed(4)).csv(), HasSubstr(",asr; tts,86"));
  HtmlReport report;
  report.result = placed(4);
  EXPECT_THAT(html_report(report), HasSubstr("3 GPUs alike"));
  EXPECT_THAT(html_report(report), HasSubstr("1m26s in one"));
}

// Jobs of 100 s: 60 s for quota, then 20 s Pending.
TEST(WaitsReport, TellsTheWaitForQuotaApart) {
  HtmlReport report;
  report.result = placed(4);
  EXPECT_THAT(html_report(report), Not(HasSubstr("What do Jobs wait for?")));
  sim::WorkloadResult& workload = report.result.variants[0].workloads[0];
  const auto mean = [](Duration time) {
    sim::TimeSummary summary;
    summary.count = 1;
    summary.mean = time;
    return summary;
  };
  workload.wait = mean(seconds(80));
  workload.quota = {mean(seconds(60)), 0, 2};
  EXPECT_THAT(html_report(report), HasSubstr("wait 1m00s for quota and 20.0 s for a node"));
  workload.quota->wait.reset();
  EXPECT_THAT(html_report(report), HasSubstr("Without quota at the end"));
}

TEST(PlacementReport, ExplainNamesTheNeighboursOfAPodAndOfAWorkload) {
  const SourceText stored{"r.json", Report(placed(4)).json()};
  const auto pod = explain_result(stored, "asr-3", kUnlimited);
  ASSERT_TRUE(pod);
  EXPECT_THAT(*pod,
              HasSubstr(" #1 in the first run; beside it when most were there: asr-4, tts-2"));
  const auto workload = explain_result(stored, "asr", kUnlimited);
  ASSERT_TRUE(workload);
  EXPECT_THAT(*workload, HasSubstr("on a GPU with one of its pods at a time: pods of its own in 5 "
                                   "of 5 runs, tts in 4 of 5 runs"));
  EXPECT_THAT(*workload, HasSubstr("1m26s in one, where it shares a GPU with tts"));
  EXPECT_THAT(*workload, Not(HasSubstr("; beside it: tts")));
  for (const char* nobody : {"asr-77", "asr-0", "asr-9x", "asr-", "asr--1", "nobody-1"}) {
    EXPECT_FALSE(explain_result(stored, nobody, kUnlimited)) << nobody;
  }
}

TEST(PlacementReport, ExplainKnowsThePodsThatWereOnNoFullGpu) {
  const auto pod = explain_result({"r.json", Report(placed(4)).json()}, "asr-9", kUnlimited);
  ASSERT_TRUE(pod);
  EXPECT_THAT(*pod, HasSubstr("  asr-9\n    a pod of asr: on no GPU when that was fullest in the "
                              "first run\n"));
  EXPECT_THAT(*pod, HasSubstr("1m26s in one, where it shares a GPU with tts"));
}

TEST(PlacementReport, ExplainWritesWhatKeepsWorkloadsApart) {
  sim::Result result = placed(4);
  result.variants[0].nodes.assign(1, {"v100-1", "v100", 0.2});
  const auto fix = [&] {
    return explain_result({"r.json", Report(result).json()}, "asr", kUnlimited).value();
  };
  EXPECT_THAT(fix(), HasSubstr("      nodeSelector: {gpu-class: asr}\n"));
  EXPECT_THAT(fix(), Not(HasSubstr("podAntiAffinity")));  // one node: it would stay Pending
  result.variants[0].nodes.push_back({"v100-2", "v100", 0.2});
  EXPECT_THAT(fix(), HasSubstr("{key: app, operator: In, values: [tts]}\n"));
  std::vector<std::string>& beside = result.variants[0].workloads[0].placement->beside;
  beside = {"asr", "tts"};
  EXPECT_THAT(fix(), HasSubstr("{key: app, operator: In, values: [tts]}\n"));
  EXPECT_THAT(fix(), HasSubstr("      topologySpreadConstraints:\n"));
  beside = {"asr"};  // alone it would disturb itself as much
  EXPECT_THAT(fix(), HasSubstr("labelSelector: {matchLabels: {app: asr}}\n"));
  EXPECT_THAT(fix(), Not(HasSubstr("nodeSelector")));
  EXPECT_THAT(fix(), Not(HasSubstr("podAntiAffinity")));
  result.variants[0].nodes.resize(1);
  EXPECT_THAT(fix(), Not(HasSubstr("What lasts is a rule")));
  result.variants[0].workloads[0].placement.reset();
  EXPECT_THAT(fix(), Not(HasSubstr("nodeSelector")));
}

}  // namespace
}  // namespace slicewise::reports
