#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/result_report.hpp"

#include "golden_file.hpp"
#include "platform_sample.hpp"
#include "result_samples.hpp"

namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ResultYaml, MatchesTheGoldenDocument) {
  expect_golden("voice.yaml", Report(samples::voice()).yaml());
}

TEST(ResultCsv, MatchesTheGoldenRows) {
  expect_golden("aws_demo.csv", Report(samples::aws_demo()).csv());
  expect_golden("voice.csv", Report(samples::voice()).csv());
  expect_golden("platform.csv", Report(samples::platform()).csv());
}

TEST(ResultCsv, QuotesCommasQuotesAndLineBreaks) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  result.variants[0].name = "one, \"two\"\nthree";
  EXPECT_THAT(Report(result).csv(), HasSubstr(",\"one, \"\"two\"\"\nthree\",exclusive,"));
}

TEST(ResultCsv, EveryRecordHasAsManyFieldsAsTheHeader) {
  const std::string csv = Report(samples::voice()).csv();
  const auto commas = [&](std::size_t begin, std::size_t end) {
    return std::count(csv.begin() + static_cast<std::ptrdiff_t>(begin),
                      csv.begin() + static_cast<std::ptrdiff_t>(end), ',');
  };
  const std::size_t header_end = csv.find("\r\n");
  std::size_t begin = header_end + 2;
  for (int record = 0; record < 2; ++record) {
    const std::size_t end = csv.find("\r\n", begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(commas(begin, end), commas(0, header_end));
    begin = end + 2;
  }
  EXPECT_EQ(begin, csv.size());
}

TEST(ResultMarkdown, MatchesTheGoldenReport) {
  expect_golden("aws_demo.md", Report(samples::aws_demo()).markdown());
}

TEST(ResultMarkdown, SaysThatTheRunWasInterruptedAndWithWhichPrices) {
  sim::Result result = samples::aws_demo();
  result.interrupted = true;
  result.stamp.replications = 20;
  result.variants[1].replications = 1;
  for (sim::VariantResult& variant : result.variants) variant.replications_asked = 20;
  result.stamp.price_file = "our.json";
  result.stamp.price_file_sha256 = "1f2e3d4c5b6a";
  const std::string text = Report(result).markdown();
  EXPECT_THAT(text,
              HasSubstr("**INTERRUPTED: before 5 of 20 runs done, after 1 of 20 runs done, "));
  EXPECT_THAT(text, HasSubstr("prices our.json (2026-07-20, 1f2e3d4c…)"));
  EXPECT_THAT(text, HasSubstr("no intervals"));
}

TEST(ResultMarkdown, SaysFirstWhichVariantDoesMostForTheMoney) {
  EXPECT_THAT(
      Report(samples::aws_demo()).markdown(),
      StartsWith("### aws-cifar10\n\nafter-memory-growth finishes the most jobs per "
                 "dollar: 20 jobs for $12.24, $0.6120 each; before did other work, 5 jobs at $2.45 "
                 "each."));
  EXPECT_THAT(Report(samples::voice()).markdown(), HasSubstr("default misses an objective."));
  sim::Result lab = samples::platform();
  sim::VariantResult& variant = lab.variants[0];
  variant.workloads = {variant.workloads[4]};  // the notebooks
  variant.workloads[0].objectives.clear();
  variant.verdict = sim::judge(variant, false);
  variant.cost.per_job.reset();
  variant.cost.per_1k_requests_in_slo.reset();
  EXPECT_THAT(Report(lab).markdown(),
              HasSubstr("platform serves its users at $48.60 each a month."));
}

// What all language models cost by what all of them wrote: 7.31 for 402,000 tokens, 100 for 4,000.
TEST(ResultMarkdown, AMillionTokensCostsWhatAllLanguageModelsDo) {
  sim::Result result = samples::platform();
  std::vector<sim::WorkloadResult>& workloads = result.variants[0].workloads;
  sim::WorkloadResult prefill = *std::ranges::find_if(
      workloads, [](const sim::WorkloadResult& w) { return w.tokens.has_value(); });
  prefill.name = "prefill";
  prefill.tokens->per_million_output = from_dollars(100);
  prefill.tokens->output_tokens = 4'000;
  workloads.push_back(prefill);
  EXPECT_THAT(Report(result).table({}, true), HasSubstr("$8.22"));
}

TEST(ResultMarkdown, ComparesThePriceOfAJobWhereTheWorkIsTheSame) {
  sim::Result result = samples::aws_demo();
  sim::VariantResult& first = result.variants.front();
  const sim::VariantResult& best = result.variants.back();
  first.workloads = best.workloads;
  first.makespan = best.makespan;
  first.cost.per_job = from_dollars(1.53);
  EXPECT_THAT(Report(result).markdown(), HasSubstr("$0.6120 each, 60% less than before ($1.53)."));
  // As many jobs, each of them a tenth longer.
  first.workloads.front().throughput_per_second *= 1.1;
  EXPECT_THAT(Report(result).markdown(),
              HasSubstr("; before did other work, 20 jobs at $1.53 each."));
}

TEST(ResultMarkdown, StaysBelowTheLimitByLeavingOutTheLargestSectionFirst) {
  sim::Result result = samples::aws_demo();
  sim::VariantResult& large = result.variants[1];
  while (large.pods.pending_reasons.size() < 1000) {
    large.pods.pending_reasons.emplace_back(80, 'x');
  }
  const std::string text = Report(result).markdown();
  EXPECT_LE(text.size(), 60'000U);
  EXPECT_THAT(text, HasSubstr("1 of 4 sections were left out"));
  EXPECT_THAT(text, Not(HasSubstr("<summary>Variant after</summary>")));
  EXPECT_THAT(text, HasSubstr("<summary>Variant before</summary>"));
}

TEST(ResultMarkdown, NamesCannotBreakTheTable) {
  sim::Result result = samples::aws_demo();
  result.variants[0].name = "a|b<script>";
  EXPECT_THAT(Report(result).markdown(), HasSubstr("| a\\|b&lt;script> |"));
}

TEST(EveryFormat, ToleratesAResultWithoutVariantsOrWorkloads) {
  sim::Result empty;
  sim::Result bare;
  bare.variants.emplace_back();
  for (const sim::Result* result : {&empty, &bare}) {
    EXPECT_FALSE(Report(*result).table({}, true).empty());
    EXPECT_FALSE(Report(*result).json().empty());
    EXPECT_FALSE(Report(*result).yaml().empty());
    EXPECT_THAT(Report(*result).csv(), StartsWith("scenario,seed,variant,"));
    EXPECT_FALSE(Report(*result).markdown().empty());
  }
}

TEST(ResultMarkdown, KeepsTheMarkerOfItsScenario) {
  sim::Result result = samples::aws_demo();
  result.stamp.scenario = "a --> b";
  EXPECT_THAT(Report(result).markdown(), ::testing::EndsWith("<!-- slicewise:a-b -->\n"));
  // Even where one sentence alone is too long.
  result.variants[0].name = std::string(200'000, 'x');
  const std::string text = Report(result).markdown();
  EXPECT_LE(text.size(), 60'000U);
  EXPECT_THAT(text, ::testing::EndsWith("<!-- slicewise:a-b -->\n"));
}

TEST(ResultJunit, HasACaseForEachObjectiveAndPolicy) {
  sim::Result result = samples::voice();
  sim::VariantResult& variant = result.variants[0];
  variant.policies = {{"budget",
                       "cost.monthly <= 1",
                       sim::PolicyResult::Verdict::Fail,
                       scenarios::PolicySeverity::Deny,
                       {{"cost.monthly", "1,632"}}},
                      {"busy",
                       "gpu.busy >= 90%",
                       sim::PolicyResult::Verdict::Fail,
                       scenarios::PolicySeverity::Warn,
                       {}},
                      {"odd",
                       "pods.failed == 0",
                       sim::PolicyResult::Verdict::Unknown,
                       scenarios::PolicySeverity::Deny,
                       {}}};
  std::size_t objectives = 0;
  std::size_t missed = 0;
  for (const sim::WorkloadResult& w : variant.workloads) {
    objectives += w.objectives.size();
    missed += static_cast<std::size_t>(
        std::ranges::count(w.objectives, false, &sim::ObjectiveResult::pass));
  }
  ASSERT_GT(objectives, 0U);
  result.variants.resize(1);
  const std::string text = result_junit(result);
  // Pods that run, and one policy that fails, one that is skipped.
  EXPECT_THAT(text, HasSubstr("tests=\"" + std::to_string(objectives + 4) + "\" failures=\"" +
                              std::to_string(missed + 1) + "\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("name=\"policy budget: cost.monthly &lt;= 1\""));
  EXPECT_THAT(text, HasSubstr("cost.monthly = 1,632"));
  EXPECT_THAT(text, HasSubstr("severity Warn"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"not judged: "));
  result.variants[0].policies[2].severity = scenarios::PolicySeverity::Require;
  EXPECT_THAT(result_junit(result), HasSubstr("<failure message=\"not judged: "));
}

TEST(ResultJunit, AnObjectiveThatNothingTestedIsSkipped) {
  sim::Result result = samples::voice();
  result.variants.resize(1);
  sim::ObjectiveResult& objective = result.variants[0].workloads[0].objectives.front();
  objective.pass = objective.is_unasked = true;
  EXPECT_THAT(result_junit(result), HasSubstr("<skipped message=\"nothing was put to the test"));
}

TEST(ResultJunit, AnObjectiveOfNothingHasNoValue) {
  sim::Result result = samples::voice();
  sim::ObjectiveResult& objective = result.variants[0].workloads[0].objectives.front();
  objective.value = Duration{};
  objective.ci95.reset();
  objective.pass = false;
  EXPECT_THAT(result_junit(result), HasSubstr("has no value, nothing was finished"));
  EXPECT_THAT(result_junit(result), testing::Not(HasSubstr("is 0 s")));
}

TEST(ResultJunit, WhatXmlCannotHoldIsShownByItsBytes) {
  sim::Result result = samples::voice();
  result.stamp.scenario = "a\x01\xff\xef\xbf\xbe<\"\xc3\xa9\">";
  EXPECT_THAT(result_junit(result),
              HasSubstr("a\\x01\\xff\\xef\\xbf\\xbe&lt;&quot;\xc3\xa9&quot;&gt;"));
}

}  // namespace
}  // namespace slicewise::reports
