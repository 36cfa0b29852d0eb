#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "golden_file.hpp"
#include "load_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MaxLoadReport, MatchesTheGoldenFiles) {
  expect_golden("max_load.txt", Report(samples::voice_load()).table(kTerminal, false));
  expect_golden("max_load_wide.txt", Report(samples::voice_load()).table(kTerminal, true));
  expect_golden("max_load.md", Report(samples::voice_load()).markdown());
  expect_golden("max_load.csv", Report(samples::voice_load()).csv());
  expect_golden("max_load.json", Report(samples::voice_load()).json());
}

TEST(MaxLoadReport, AsciiHasNoOtherBytes) {
  const std::string text = Report(samples::voice_load()).table({false, false, 100}, true);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80U) << text;
}

TEST(MaxLoadReport, OneLoadIsSaidInItsOwnUnit) {
  sim::MaxLoad one = samples::voice_load();
  one.loads.resize(1);
  EXPECT_THAT(Report(one).table({false, true, 0}, false),
              HasSubstr("Every objective is met up to 48.00 requests/s (2.40 times the scenario's "
                        "load); at 50.00 requests/s one is missed."));
  one.loads.front() = {"workloads.lab.notebooks", "lab", sim::LoadUnit::Users, 60, 1200, 1250};
  EXPECT_THAT(Report(one).table(kTerminal, false), HasSubstr("up to 1,200 users (20.0 times"));
}

TEST(MaxLoadReport, WithoutObjectivesItSpeaksOfPolicies) {
  sim::MaxLoad found = samples::voice_load();
  found.loads.resize(1);
  found.binding.reset();
  for (sim::LoadProbe& probe : found.probes) probe.objectives.clear();
  found.probes[*found.failed].left_behind = {
      {sim::Verdict::Cause::PolicyDenies, "", "denied", "policy spare denies it"}};
  const std::string text = Report(found).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("the highest load that no policy denies"));
  EXPECT_THAT(text, HasSubstr("No policy denies anything up to 48.00 requests/s"));
  EXPECT_THAT(text, HasSubstr("a policy denies it"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("objective is met")));
}

TEST(MaxLoadReport, SaysWhenAnEndIsMissing) {
  sim::MaxLoad found = samples::voice_load();
  found.loads.resize(1);
  found.failed.reset();
  found.binding.reset();
  EXPECT_THAT(Report(found).table({false, true, 0}, false),
              HasSubstr("nothing up to 1,000 times was seen to fail (--most)"));
  found = samples::voice_load();
  found.passed.reset();
  found.at_passed.reset();
  found.loads.resize(1);
  found.loads.front().passed.reset();
  EXPECT_THAT(Report(found).table(kTerminal, false),
              HasSubstr("Not even 50.00 requests/s (2.50 times the scenario's load) meets"));
  found.probes.clear();
  found.failed.reset();
  found.verdict->reasons = {{sim::Verdict::Cause::NothingRan, "", "no pod ran", "no pod ever ran"}};
  EXPECT_THAT(Report(found).table(kTerminal, false), HasSubstr("No pod ever ran"));
}

TEST(MaxLoadReport, SaysWhyAnIntervalIsWiderThanAskedFor) {
  EXPECT_THAT(Report(samples::voice_load()).table({false, true, 0}, false),
              HasSubstr("The interval is 4.2% wide, not 2.0%"));
  sim::MaxLoad narrow = samples::voice_load();
  narrow.loads.front().failed = 48.9;
  EXPECT_THAT(Report(narrow).table(kTerminal, false), Not(HasSubstr("The interval is")));
}

TEST(MaxLoadReport, AnUnfinishedSearchSaysSo) {
  sim::MaxLoad partial = samples::voice_load();
  partial.interrupted = true;
  EXPECT_THAT(Report(partial).table(kTerminal, false), HasSubstr("INTERRUPTED"));
  EXPECT_THAT(Report(partial).markdown(), HasSubstr("INTERRUPTED"));
  EXPECT_EQ(json::parse(Report(partial).json())["metadata"]["interrupted"], true);
}

TEST(MaxLoadReport, JsonCarriesTheNamesThatScriptsDependOn) {
  const json document = json::parse(Report(samples::voice_load()).json());
  EXPECT_EQ(document["apiVersion"], "slicewise.dev/max-load.v1alpha1");
  EXPECT_EQ(document["kind"], "MaxLoad");
  EXPECT_EQ(document["loads"][0]["passed"], 48);
  EXPECT_EQ(document["loads"][0]["headroom"], 2.4);
  EXPECT_EQ(document["binding"]["workload"], "asr");
  EXPECT_EQ(document["binding"]["verdict"], "fails");
  EXPECT_EQ(document["probes"].size(), 5U);
}

// tests/tools/load_test.py holds what the program prints to it.
TEST(MaxLoadReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file =
      std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" / "max-load.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::MaxLoad>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::MaxLoad>::schema());
}

}  // namespace
}  // namespace slicewise::reports
