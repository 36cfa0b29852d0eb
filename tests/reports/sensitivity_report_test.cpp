#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "golden_file.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextStyle kStudyTerminal{false, true, 100};

sim::InputVariation varied_sample(double factor, double value, double bill, double p99) {
  sim::InputVariation end;
  end.factor = factor;
  end.value = value;
  end.changes = {sim::OutcomeChange{100 * (1 + bill), bill, 0.0},
                 sim::OutcomeChange{0.4 * (1 + p99), p99, 0.012}};
  return end;
}

sim::InputEffect effect_sample(std::string path, sim::Amount value,
                               std::optional<scenarios::Provenance> basis) {
  sim::InputEffect effect;
  effect.input.path = std::move(path);
  effect.input.value = value;
  effect.input.basis = basis;
  return effect;
}

// Hand-built. Nothing here was simulated.
sim::SensitivityStudy study_sample() {
  using sim::AmountUnit;
  sim::SensitivityStudy study;
  study.stamp.scenario = "voice";
  study.stamp.scenario_sha256 = "9f3c1e0a5b7d";
  study.stamp.variant = "busy";
  study.stamp.variants = 2;
  study.stamp.seed = 42;
  study.stamp.replications = 5;
  study.by = 0.2;
  study.simulations = 17;
  study.stamp.price_date = "2026-07-20";
  sim::OutcomeFigure bill{"", "monthlyUsd", {100, AmountUnit::Dollars}, 0.0, std::nullopt};
  sim::OutcomeFigure p99{"asr", "latencyP99", {0.4, AmountUnit::Seconds}, 0.009, 0.5};
  study.figures = {bill, p99};
  sim::InputEffect work =
      effect_sample("workloads.asr.measured.requestGpuTime", {0.031, AmountUnit::Seconds},
                    scenarios::Provenance::Assumed);
  work.low = varied_sample(0.8, 0.0248, 0, -0.21);
  work.high = varied_sample(1.2, 0.0372, 0, 0.58);
  work.high->flips = {
      {"asr", "latencyP99", {0.632, AmountUnit::Seconds}, {0.5, AmountUnit::Seconds}}};
  work.high->pods.oom_kills = 12;
  work.high->verdict.reasons = {
      {sim::Verdict::Cause::OutOfMemory, "asr", "12 OOM kills",
       "12 containers of \"asr\" ran out of GPU memory"},
      {sim::Verdict::Cause::ObjectiveMissed, "asr", "asr latencyP99 missed",
       "\"asr\" misses latencyP99: 632.0 ms against a limit of 500.0 ms"}};
  sim::InputEffect price = effect_sample("nodePools.t4.price", {0.526, AmountUnit::DollarsPerHour},
                                         scenarios::Provenance::Catalog);
  price.low = varied_sample(0.8, 0.4208, -0.2, 0);
  price.high = varied_sample(1.2, 0.6312, 0.2, 0);
  sim::InputEffect memory = effect_sample("workloads.asr.gpuMemory.resident",
                                          {4294967296.0, AmountUnit::Bytes}, std::nullopt);
  memory.high = sim::InputVariation{};
  memory.high->factor = 1.2;
  memory.high->refused = "it does not fit";
  study.effects = {work, price, memory};
  sim::BreakEven even;
  even.effect = 0;
  even.passes = 1.1;
  even.fails = 1.14;
  even.workload = "asr";
  even.objective = "latencyP99";
  even.simulations = 5;
  study.break_evens = {even};
  return study;
}

TEST(SensitivityReport, MatchesTheGoldenFiles) {
  expect_golden("sensitivity.txt", Report(study_sample()).table(kStudyTerminal, false));
  expect_golden("sensitivity_wide.txt", Report(study_sample()).table(kStudyTerminal, true));
  expect_golden("sensitivity.md", Report(study_sample()).markdown());
  expect_golden("sensitivity.csv", Report(study_sample()).csv());
  expect_golden("sensitivity.json", Report(study_sample()).json());
}

TEST(SensitivityReport, AsciiHasNoOtherBytesAndFitsTheTerminal) {
  const std::string text = Report(study_sample()).table({false, false, 80}, false);
  std::size_t column = 0;
  for (const char c : text) {
    ASSERT_LT(static_cast<unsigned char>(c), 0x80U) << text;
    column = c == '\n' ? 0 : column + 1;
    ASSERT_LE(column, 80U) << text;
  }
}

TEST(SensitivityReport, SaysWhatFlipsAndWhatDies) {
  const std::string text = Report(study_sample()).table({false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("requestGpuTime +20%: asr latencyP99 fails 632 ms against 500 ms"));
  EXPECT_THAT(text, HasSubstr("12 pods die for lack of GPU memory (0 as the scenario is)"));
  EXPECT_THAT(text, HasSubstr("cannot be simulated: it does not fit"));
}

TEST(SensitivityReport, SaysWhatTheOneJudgeSays) {
  using Cause = sim::Verdict::Cause;
  sim::SensitivityStudy study = study_sample();
  study.figures[1].standing = sim::ObjectiveStanding::Undecided;
  study.verdict.reasons = {{Cause::ObjectiveUndecided, "asr", "asr undecided", "asr may miss"}};
  sim::InputVariation& high = study.effects[0].high.value();
  high.flips[0].standing = sim::ObjectiveStanding::Undecided;
  high.verdict.reasons = {study.verdict.reasons[0],
                          {Cause::PodsPending, "asr", "1 Pending", "1 of 2 pods stayed Pending"}};
  const std::string text = Report(study).table({false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("✗ as the scenario is: asr may miss"));
  EXPECT_THAT(text, HasSubstr("limit 500 ms !"));
  EXPECT_THAT(text, HasSubstr("+58% ±1.2 !"));
  EXPECT_THAT(text, HasSubstr("asr latencyP99 is undecided, 632 ms against 500 ms"));
  EXPECT_THAT(text, HasSubstr("requestGpuTime +20%: 1 of 2 pods stayed Pending"));
  EXPECT_THAT(text, Not(HasSubstr("+20%: asr may miss")));
  const json document = json::parse(Report(study).json());
  EXPECT_EQ(document["verdict"]["reasons"][0]["cause"], "objectiveUndecided");
  EXPECT_EQ(document["figures"][1]["standing"], "undecided");
  EXPECT_EQ(document["inputs"][0]["high"]["flips"][0]["pass"], false);
  EXPECT_THAT(Report(study).csv(), HasSubstr(",false,asr undecided; 1 Pending"));
}

TEST(SensitivityReport, AnUnfinishedStudySaysSo) {
  sim::SensitivityStudy partial = study_sample();
  partial.interrupted = true;
  EXPECT_THAT(Report(partial).table(kStudyTerminal, false), HasSubstr("INTERRUPTED"));
  EXPECT_THAT(Report(partial).markdown(), HasSubstr("INTERRUPTED"));
  EXPECT_EQ(json::parse(Report(partial).json())["metadata"]["interrupted"], true);
}

TEST(SensitivityReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file = std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" /
                    "sensitivity.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::SensitivityStudy>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::SensitivityStudy>::schema());
}

}  // namespace
}  // namespace slicewise::reports
