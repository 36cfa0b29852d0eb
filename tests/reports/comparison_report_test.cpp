#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/html_report.hpp"
#include "slicewise/reports/studies.hpp"

#include "comparison_samples.hpp"
#include "golden_file.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t longest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    widest = std::max(widest, static_cast<std::size_t>(std::ranges::count_if(line, is_start)));
  }
  return widest;
}

TEST(ComparisonReport, MatchesTheGoldenFiles) {
  expect_golden("comparison.txt", Report(samples::chat()).table(kTerminal, false));
  expect_golden("comparison_wide.txt", Report(samples::chat()).table(kTerminal, true));
  expect_golden("comparison.md", Report(samples::chat()).markdown());
  expect_golden("comparison.csv", Report(samples::chat()).csv());
  expect_golden("comparison.json", Report(samples::chat()).json());
}

// The whole screen, its chart and its figures in one file.
TEST(ComparisonReport, IsAPageOfItsOwn) {
  const sim::StrategyComparison comparison = samples::chat();
  const std::string page = study_page(comparison);
  EXPECT_THAT(page, ::testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<figure"));
  EXPECT_THAT(page, HasSubstr("<caption>"));
  EXPECT_THAT(page, HasSubstr("<td>time-slicing x4"));
  EXPECT_THAT(page, HasSubstr("\"kind\":\"Comparison\""));
}

// What a language model is judged by.
TEST(ComparisonReport, HasTheTimesOfTokens) {
  sim::StrategyComparison comparison = samples::chat();
  EXPECT_THAT(Report(comparison).table(kTerminal, true), Not(HasSubstr("TTFT")));
  for (sim::ComparedOption& option : comparison.options) {
    sim::WorkloadResult& chat = option.result.workloads.front();
    chat.tokens.emplace().first_token = chat.latency;
    chat.tokens->per_token = chat.latency;
    chat.tokens->per_token->p95 = milliseconds(43);
  }
  const std::string text = Report(comparison).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("TTFT P95"));
  EXPECT_THAT(text, HasSubstr("43.0 ms"));
}

TEST(ComparisonReport, FitsAHundredColumns) {
  EXPECT_LE(longest_line(Report(samples::chat()).table(kTerminal, false)), 100U);
}

// As users count them: once, however many stages a request goes through.
TEST(ComparisonReport, RequestsOfAPipelineCountOnce) {
  sim::StrategyComparison comparison = samples::chat();
  for (sim::ComparedOption& option : comparison.options) {
    sim::WorkloadResult whole = samples::chat_service(milliseconds(100));
    whole.kind = "Pipeline";
    whole.goodput_per_second = 7.25;
    option.result.workloads.front().is_stage = true;
    option.result.workloads.push_back(whole);
  }
  const std::string text = Report(comparison).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("7.25"));
  EXPECT_THAT(text, Not(HasSubstr("REQUEST/S")));
  EXPECT_THAT(text, Not(HasSubstr("17.2")));
}

TEST(ComparisonReport, AsciiHasNoOtherBytes) {
  const std::string text = Report(samples::chat()).table({false, false, 100}, false);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80U) << text;
}

TEST(ComparisonReport, OneReasonStandsOnceForAllThatItRefuses) {
  const std::string text = Report(samples::chat()).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("vGPU on g5.xlarge, p4d.24xlarge\n"));
  EXPECT_THAT(text, HasSubstr("MIG, MIG + MPS on g5.xlarge\n"));
  EXPECT_EQ(text.find("has no MIG"), text.rfind("has no MIG"));
}

// On the line between gain and loss the sign is not known.
TEST(ComparisonReport, AGainWithinTheErrorToExpectMayBeALoss) {
  const auto text_with = [](double times) {
    sim::StrategyComparison comparison = samples::chat();
    const Usd whole = *comparison.options[0].per_work_hour;
    sim::ComparedOption& mps = comparison.options[2];
    mps.per_work_hour = Usd{std::llround(static_cast<double>(whole.nano) * times)};
    mps.result.expected_errors = {{models::Evidence::Utilisation, "MPS", false, 16, 3.6, 10}};
    return Report(comparison).table(kTerminal, true);
  };
  EXPECT_THAT(text_with(0.98), HasSubstr("may be gain or loss"));
  EXPECT_THAT(text_with(1.03), HasSubstr("may be gain or loss"));
  EXPECT_THAT(text_with(0.9), Not(HasSubstr("may be gain or loss")));
}

TEST(ComparisonReport, TheVerdictSaysWhatIsWrong) {
  const std::string text = Report(samples::chat()).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr(" p99 missed\n"));
  EXPECT_THAT(text, HasSubstr(" forced, 1 failed\n"));
  EXPECT_THAT(text, HasSubstr(" best\n"));
  sim::StrategyComparison idle = samples::chat();
  idle.options.front().per_work_hour.reset();
  EXPECT_THAT(Report(idle).table(kTerminal, false), HasSubstr(" no work done\n"));
  sim::StrategyComparison none = samples::chat();
  for (sim::ComparedOption& option : none.options) {
    option.best = false;
    option.result.verdict.reasons = {
        {sim::Verdict::Cause::PodsPending, "chat", "1 Pending", "1 of 2 pods stayed Pending"}};
  }
  EXPECT_THAT(Report(none).table(kTerminal, false),
              HasSubstr("Nothing stands: the options leave pods Pending."));
}

// As the exit code of `compare`: options are tried to find one that stands.
TEST(ComparisonReport, JunitFailsWhereNoOptionStands) {
  sim::StrategyComparison comparison = samples::chat();
  const std::string one = comparison_junit(comparison);
  EXPECT_THAT(one, HasSubstr("failures=\"0\""));
  EXPECT_THAT(one, HasSubstr("<skipped message=\"chat latencyP99 is 240 "));
  EXPECT_THAT(one, HasSubstr("testsuite name=\"1 x g5.xlarge, MPS x3\""));
  std::erase_if(comparison.options,
                [](const auto& option) { return option.result.verdict.stands(); });
  const std::string none = comparison_junit(comparison);
  EXPECT_THAT(none, HasSubstr("<failure message=\"none of 2 does\""));
  EXPECT_THAT(none, HasSubstr("<failure message=\"chat latencyP99 is 240 "));
}

TEST(ComparisonReport, TheScenarioAsItStandsIsMarked) {
  sim::StrategyComparison comparison = samples::chat();
  sim::ComparedOption own = comparison.options.front();
  own.yours = true;
  own.configuration.strategy = sim::Strategy::Mig;
  own.result.node_pools.front().mig_config = "one-gpu-for-large";
  comparison.options.insert(comparison.options.begin(), own);
  const std::string text = Report(comparison).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("yours: MIG one-gpu-for-large"));
  const json document = json::parse(Report(comparison).json());
  EXPECT_EQ(document["options"][0]["yours"], true);
  EXPECT_FALSE(document["options"][1].contains("yours"));
}

TEST(ComparisonReport, ALayoutOfTwoProfilesIsNamedWhole) {
  sim::StrategyComparison comparison = samples::chat();
  comparison.options[4].configuration.mig = {{"1g.5gb", 5}, {"2g.10gb", 1}};
  EXPECT_THAT(Report(comparison).table(kTerminal, false), HasSubstr("MIG 5x1g.5gb+1x2g.10gb "));
  const json option = json::parse(Report(comparison).json())["options"][4];
  EXPECT_FALSE(option.contains("migProfile"));
  EXPECT_EQ(option["mig"].size(), 2U);
}

TEST(ComparisonReport, PodsAreCountedWholeAndAMeanIsCalledOne) {
  sim::StrategyComparison comparison = samples::chat();
  for (sim::ComparedOption& option : comparison.options) option.result.pods.submitted = 27.6;
  const std::string text = Report(comparison).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr(": 28 pods (mean of 2 runs) under every way of sharing\n"));
  EXPECT_THAT(text, Not(HasSubstr("27.6")));
}

TEST(ComparisonReport, ScaledPodsAreCountedThatRunAtOnce) {
  sim::StrategyComparison comparison = samples::chat();
  for (sim::ComparedOption& option : comparison.options) {
    option.result.workloads.front().scaling.emplace();
    option.result.pods.submitted = 127;
  }
  comparison.options.back().result.pods.running_max = 18;
  EXPECT_THAT(Report(comparison).table(kTerminal, false),
              HasSubstr(": up to 18 pods at once under every way of sharing\n"));
}

TEST(ComparisonReport, SaysWhatBindsTheBestAndHowManyRunsWereTaken) {
  sim::StrategyComparison comparison = samples::chat();
  for (sim::ComparedOption& option : comparison.options) {
    option.result.workloads.front().bound_by = "batch window";
    if (option.best) option.result.replications = 8;
  }
  const std::string text = Report(comparison).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("It is bound by: batch window (chat).\n"));
  EXPECT_THAT(text, HasSubstr("2 to 8 runs"));
}

TEST(ComparisonReport, ThePriceOfAnHourOfWorkIsDefinedByItsName) {
  sim::StrategyComparison comparison = samples::chat();
  for (sim::ComparedOption& option : comparison.options) {
    sim::WorkloadResult job = option.result.workloads.front();
    job.name = "train";
    job.kind = "Job";
    option.result.workloads.push_back(job);
  }
  const std::string text = Report(comparison).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("$/WORK-H  "));
  EXPECT_THAT(text, HasSubstr("\n  $/WORK-H: dollars for an hour of work"));
}

// What no setting of the device plugin gives is shown, with the reason once, and never recommended.
TEST(ComparisonReport, MpsWithoutItsCapIsNotStock) {
  const std::string text = Report(samples::chat()).table(kTerminal, false);
  EXPECT_THAT(text, ContainsRegex("MPS x3 uncapped .* not stock\n"));
  EXPECT_THAT(text, HasSubstr("\n  not stock: no setting of the device plugin uncaps MPS"));
  sim::StrategyComparison stock = samples::chat();
  std::erase_if(stock.options, [](const sim::ComparedOption& o) {
    return o.configuration.strategy == sim::Strategy::MpsUncapped;
  });
  EXPECT_THAT(Report(stock).table(kTerminal, false), Not(HasSubstr("not stock")));
}

TEST(ComparisonReport, IsolationAndRefusalsStandWhereAllIsAskedFor) {
  const std::string brief = Report(samples::chat()).table(kTerminal, false);
  EXPECT_THAT(brief, Not(HasSubstr("\nISOLATION")));
  EXPECT_THAT(brief, Not(HasSubstr("\nREFUSED")));
  EXPECT_THAT(brief, HasSubstr("isolation between pods: -o wide"));
  const std::string wide = Report(samples::chat()).table(kTerminal, true);
  EXPECT_THAT(wide, ContainsRegex("ISOLATION .*\n +STRATEGY +MEMORY +COMPUTE +FAULT +MEANS\n"));
  EXPECT_THAT(wide, HasSubstr("\nREFUSED\n"));
  EXPECT_THAT(wide, HasSubstr("not modelled: slicewise explain not-modelled\n"));
}

TEST(ComparisonReport, AnUnfinishedComparisonSaysSo) {
  sim::StrategyComparison partial = samples::chat();
  partial.interrupted = true;
  partial.options.clear();
  EXPECT_THAT(Report(partial).table(kTerminal, false), HasSubstr("INTERRUPTED"));
  EXPECT_THAT(Report(partial).table(kTerminal, false), Not(HasSubstr("Nothing stands")));
  EXPECT_THAT(Report(partial).markdown(), HasSubstr("INTERRUPTED"));
  EXPECT_EQ(json::parse(Report(partial).json())["metadata"]["interrupted"], true);
}

TEST(ComparisonReport, ColourIsOnlyWrittenWhenAsked) {
  EXPECT_THAT(Report(samples::chat()).table(kTerminal, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Report(samples::chat()).table({true, true, 100}, false), HasSubstr("\x1b"));
}

TEST(ComparisonReport, EveryCsvRecordHasAsManyFieldsAsTheHeader) {
  std::istringstream csv(Report(samples::chat()).csv());
  std::string header;
  std::getline(csv, header);
  std::size_t records = 0;
  for (std::string record; std::getline(csv, record); ++records) {
    EXPECT_EQ(std::ranges::count(record, ','), std::ranges::count(header, ',')) << record;
  }
  const sim::StrategyComparison sample = samples::chat();
  EXPECT_EQ(records, sample.options.size() + sample.refused.size());
}

TEST(ComparisonReport, JsonCarriesTheNamesThatScriptsDependOn) {
  const json document = json::parse(Report(samples::chat()).json());
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/comparison.v1alpha1");
  EXPECT_EQ(document["kind"], "Comparison");
  const json& best = document["options"][2];
  EXPECT_EQ(best["best"], true);
  EXPECT_EQ(best["strategy"], "mps");
  EXPECT_EQ(best["stock"], true);
  EXPECT_EQ(document["options"][3]["strategy"], "mpsUncapped");
  EXPECT_EQ(document["options"][3]["stock"], false);
  EXPECT_EQ(best["isolation"]["fault"], "shared");
  EXPECT_EQ(best["workloads"][0]["latencyP99Seconds"], 0.15);
  EXPECT_EQ(best["cost"]["usdPerHour"], 1.006);
  EXPECT_EQ(document["refused"][0]["code"], "MIG_UNSUPPORTED");
  EXPECT_EQ(document["isolation"].size(), sim::kStrategies.size());
}

// tests/tools/compare_test.py holds what the program prints to it.
TEST(ComparisonReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file = std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" /
                    "comparison.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::StrategyComparison>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::StrategyComparison>::schema());
}

}  // namespace
}  // namespace slicewise::reports
