#include "slicewise/reports/difference.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "comparison_samples.hpp"
#include "golden_file.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextStyle kDiffTerminal{false, true, 100};

// A stored result with one Service.
json stored_result(double p99, bool pass, double monthly) {
  return {
      {"apiVersion", "slicewise.dev/result.v1alpha1"},
      {"kind", "Result"},
      {"metadata", {{"scenario", "voice-t4"}, {"seed", 42}, {"version", "0.1.0"}}},
      {"variants",
       {{{"name", "base"},
         {"cost", {{"monthlyUsd", monthly}, {"per1kRequestsInSloUsd", monthly / 1e5}}},
         {"pods", {{"pendingMax", 0}, {"oomKilled", 0}, {"failed", 0}}},
         {"nodePools", {{{"name", "t4"}, {"instanceType", "g4dn.xlarge"}, {"strategy", "mps"}}}},
         {"workloads",
          {{{"name", "asr"},
            {"objectives",
             {{{"name", "latencyP99"},
               {"unit", "seconds"},
               {"limit", 0.5},
               {"value", p99},
               {"ci95", 0.009},
               {"pass", pass}}}}}}}}}}};
}

SourceText source(const std::string& name, const json& document) {
  return {name, document.dump(1)};
}

DocumentDifference difference_of(const json& older, const json& newer) {
  auto difference = compare_documents(source("old.json", older), source("new.json", newer));
  if (!difference) throw std::runtime_error(difference.error().front().message);
  return std::move(*difference);
}

json changed() {
  json newer = stored_result(0.631, false, 1152);
  newer["variants"][0]["nodePools"][0]["strategy"] = "timeSlicing";
  newer["metadata"]["seed"] = 43;
  newer["variants"][0]["pods"]["pendingMax"] = 2;
  return newer;
}

std::vector<std::string> failing(const DocumentDifference& difference, const std::string& on) {
  return failed_conditions(difference, parse_fail_on(on).value());
}

Diagnostic first_problem(const std::string& text) {
  const auto difference =
      compare_documents({"old.json", text}, source("new.json", stored_result(0.4, true, 1)));
  return difference.error().front();
}

json with_verdict(json document, const std::string& cause, const std::string& brief) {
  json& verdict = document["variants"][0]["verdict"];
  verdict = {{"stands", cause.empty()}, {"reasons", json::array()}};
  if (!cause.empty()) {
    verdict["reasons"].push_back(
        {{"cause", cause}, {"workload", "asr"}, {"brief", brief}, {"text", brief}});
  }
  return document;
}

TEST(Difference, MatchesTheGoldenFiles) {
  json older = with_verdict(stored_result(0.412, true, 1152), "", "");
  json newer = with_verdict(changed(), "objectiveMissed", "asr latencyP99 missed");
  older["metadata"]["inputs"] = {"workloads.asr.replicas=2", "seed=42"};
  newer["metadata"]["inputs"] = {"workloads.asr.replicas=4", "seed=42"};
  const DocumentDifference difference = difference_of(older, newer);
  expect_golden("difference.txt", difference_table(difference, kDiffTerminal, false));
  expect_golden("difference.md", difference_markdown(difference));
  expect_golden("difference.json", difference_json(difference));
}

TEST(Difference, ADocumentIsEqualToItself) {
  const json same = stored_result(0.412, true, 1152);
  EXPECT_FALSE(difference_of(same, same).differs());
  json other_version = same;
  other_version["metadata"]["version"] = "0.2.0";
  EXPECT_FALSE(difference_of(same, other_version).differs());
  EXPECT_TRUE(difference_of(same, changed()).differs());
}

TEST(Difference, AChangeWithinTheIntervalsIsNotSignificant) {
  const auto near = difference_of(stored_result(0.412, true, 1), stored_result(0.42, true, 1));
  EXPECT_THAT(difference_table(near, kDiffTerminal, false), HasSubstr("within the interval"));
  EXPECT_TRUE(failing(near, "p99:+1%").empty());
  // Two half widths of 9 ms leave 12.7 ms open.
  const auto far = difference_of(stored_result(0.412, true, 1), stored_result(0.426, true, 1));
  EXPECT_EQ(failing(far, "p99:+1%").size(), 1U);
}

TEST(Difference, FailsOnWhatIsAskedFor) {
  const auto difference = difference_of(stored_result(0.412, true, 1000), changed());
  EXPECT_EQ(failing(difference, "cost:+15%").size(), 1U);
  EXPECT_TRUE(failing(difference, "cost:+16%").empty());
  EXPECT_EQ(failing(difference, "slo.newlyFailing,p99:+50%,pods.pending,cost:+15%").size(), 4U);
  EXPECT_TRUE(failing(difference, "pods.oom,pods.failed").empty());
  EXPECT_TRUE(failing(difference_of(changed(), changed()), "slo.newlyFailing").empty());
  EXPECT_EQ(failing(difference_of(changed(), changed()), "slo.failing").size(), 1U);
}

// A gate whose figure is gone is a gate that checks nothing.
TEST(Difference, FailsWhereThereIsNothingToJudge) {
  const auto difference = difference_of(stored_result(0.412, true, 1000), changed());
  EXPECT_THAT(failing(difference, "p95:+1%,headroom:-10%"),
              ::testing::ElementsAre(
                  "p95:+1%: nothing to judge: no such figure is in both documents",
                  "headroom:-10%: nothing to judge: no such figure is in both documents"));
  json other = changed();
  other["variants"].push_back(other["variants"][0]);
  other["variants"][0]["name"] = "a";
  other["variants"][1]["name"] = "b";
  const auto unmatched = difference_of(stored_result(0.412, true, 1000), other);
  EXPECT_EQ(failing(unmatched, "cost:+500%").size(), 1U);
  json mute = stored_result(0.412, true, 1000);
  mute["variants"][0]["workloads"][0].erase("objectives");
  EXPECT_THAT(
      failing(difference_of(stored_result(0.412, true, 1000), mute), "slo.newlyFailing"),
      ::testing::ElementsAre("slo.newlyFailing: nothing to judge: no such figure is in NEW"));
}

TEST(Difference, NothingFinishedIsNoBetterFigure) {
  json nothing = stored_result(0, false, 1000);
  nothing["variants"][0]["workloads"][0]["objectives"][0].erase("ci95");
  const auto gone = difference_of(stored_result(0.412, true, 1000), nothing);
  const std::string table = difference_table(gone, kDiffTerminal, false);
  EXPECT_THAT(table, HasSubstr("– ✗"));
  EXPECT_THAT(table, HasSubstr("gone"));
  EXPECT_THAT(table, Not(HasSubstr("-100%")));
  EXPECT_EQ(failing(gone, "p99:+20%").size(), 1U);
  EXPECT_TRUE(failing(difference_of(nothing, nothing), "p99:+20%").empty());
}

TEST(Difference, FailsOnAVerdictThatIsWorse) {
  const json plain = stored_result(0.412, true, 1152);
  const json stands = with_verdict(plain, "", "");
  const json pending = with_verdict(plain, "podsPending", "2 Pending");
  EXPECT_THAT(failing(difference_of(stands, pending), "verdict"),
              ::testing::ElementsAre("verdict: base no longer stands: 2 Pending"));
  EXPECT_THAT(
      failing(difference_of(with_verdict(plain, "podsFailed", "1 failed"), pending), "verdict"),
      ::testing::ElementsAre("verdict: base stands even less: 2 Pending"));
  EXPECT_TRUE(failing(difference_of(pending, stands), "verdict").empty());
  // The same reason with another count is what pods.pending is for.
  EXPECT_TRUE(
      failing(difference_of(pending, with_verdict(plain, "podsPending", "3 Pending")), "verdict")
          .empty());
  EXPECT_THAT(failing(difference_of(plain, plain), "verdict"),
              ::testing::ElementsAre("verdict: nothing to judge: NEW has no verdict"));
  EXPECT_FALSE(parse_fail_on("verdict:+1%"));
}

TEST(Difference, OnlyWhatIsGoodHasATick) {
  const json plain = stored_result(0.412, true, 1152);
  const json stands = with_verdict(plain, "", "");
  const json dearer = with_verdict(stored_result(0.412, true, 2200), "", "");
  const json pending = with_verdict(plain, "podsPending", "2 Pending");
  const auto heading = [](const DocumentDifference& difference) {
    const std::string text = difference_markdown(difference);
    return text.substr(0, text.find('\n'));
  };
  DocumentDifference bill = difference_of(stands, dearer);
  EXPECT_THAT(heading(bill), HasSubstr("✓ bill +91%"));
  bill.failed = failing(bill, "cost:+10%");
  EXPECT_THAT(heading(bill), HasSubstr("✗ bill +91%"));
  EXPECT_THAT(difference_markdown(bill), HasSubstr("- ✗ --fail-on cost:+10%: base: $/month"));
  EXPECT_THAT(json::parse(difference_json(bill))["failedConditions"][0], HasSubstr("cost:+10%"));
  EXPECT_THAT(heading(difference_of(stands, pending)), HasSubstr("✗ base no longer stands"));
  EXPECT_THAT(heading(difference_of(pending, pending)), HasSubstr("✗ no difference"));
  EXPECT_THAT(heading(difference_of(pending, stands)), HasSubstr("✓ base stands now"));
  // Worst of all, whatever else changes.
  json killed = with_verdict(stored_result(0.631, false, 1000), "", "");
  killed["variants"][0]["pods"]["oomKilled"] = 16;
  EXPECT_THAT(heading(difference_of(stands, killed)), HasSubstr("✗ 16 more OOM kills in base, 1"));
}

// As `compare` exits: an option that was tried and does not stand is no fault of the others.
TEST(Difference, AComparisonIsWorseWhenNoOptionStands) {
  sim::StrategyComparison options = samples::chat();
  const json newer = [&] {
    options.options[1].result.pods.oom_kills = 16;
    return json::parse(Report(options).json());
  }();
  options.options.erase(options.options.begin() + 1);
  const json older = json::parse(Report(options).json());
  DocumentDifference difference = difference_of(older, newer);
  EXPECT_EQ(difference.stands(), true);
  EXPECT_TRUE(difference.worse().empty());
  EXPECT_TRUE(difference.is_good());
  EXPECT_TRUE(failing(difference, "verdict").empty());
  const std::string text = difference_markdown(difference);
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("✓"));
  EXPECT_THAT(text.substr(0, text.find('\n')), Not(HasSubstr("does not stand")));
  // It stands, but cannot be had.
  for (sim::ComparedOption& option : options.options) option.best = false;
  const json not_had = json::parse(Report(options).json());
  difference = difference_of(older, not_had);
  EXPECT_EQ(difference.stands(), false);
  EXPECT_THAT(failing(difference, "verdict"),
              testing::ElementsAre("verdict: no option that stands can be had"));
  EXPECT_THAT(difference_markdown(difference), HasSubstr("no option that stands can be had"));
  difference = difference_of(not_had, not_had);
  EXPECT_TRUE(failing(difference, "verdict").empty());
  EXPECT_THAT(difference_markdown(difference), HasSubstr("still no option that stands can be had"));
  for (sim::ComparedOption& option : options.options) {
    option.result.verdict.reasons = {
        {sim::Verdict::Cause::PodsPending, "chat", "1 Pending", "1 of 2 pods stayed Pending"}};
  }
  difference = difference_of(older, json::parse(Report(options).json()));
  EXPECT_EQ(difference.stands(), false);
  EXPECT_FALSE(difference.is_good());
  EXPECT_FALSE(failing(difference, "verdict").empty());
}

TEST(Difference, NamesEachInputThatChanged) {
  json older = stored_result(0.412, true, 1152);
  json newer = older;
  older["metadata"]["inputs"] = {"workloads.asr.replicas=2", "duration=10m", "seed=1"};
  newer["metadata"]["inputs"] = {"workloads.asr.replicas=4", "seed=1", "warmup=1m"};
  const auto difference = difference_of(older, newer);
  std::vector<std::string> named;
  for (const SettingDifference& input : difference.metadata) {
    named.push_back(input.name + ": " + input.before + " -> " + input.after);
  }
  EXPECT_THAT(named, ::testing::ElementsAre("workloads.asr.replicas: 2 -> 4", "warmup:  -> 1m",
                                            "duration: 10m -> "));
  EXPECT_THAT(difference_markdown(difference), HasSubstr("workloads.asr.replicas | 2 | 4"));
  older["metadata"].erase("inputs");  // of an older slicewise: nothing to compare with
  EXPECT_TRUE(difference_of(older, newer).metadata.empty());
}

TEST(Difference, UnknownConditionsAreErrorsWithTheList) {
  EXPECT_THAT(parse_fail_on("slo.newlyfailing").error(),
              HasSubstr("did you mean slo.newlyFailing"));
  EXPECT_THAT(parse_fail_on("bananas").error(), HasSubstr("pods.pending"));
  for (const char* wrong :
       {"cost", "cost:", "cost:10%", "cost:+x%", "cost:+10", "", "cost:+10%,"}) {
    EXPECT_FALSE(parse_fail_on(wrong)) << wrong;
  }
  EXPECT_FALSE(parse_fail_on("slo.failing:+1%"));
}

TEST(Difference, WhatIsOnOneSideOnlyIsSaid) {
  json both = stored_result(0.412, true, 1152);
  both["variants"].push_back(both["variants"][0]);
  both["variants"][1]["name"] = "cheap";
  const json one = stored_result(0.412, true, 1152);
  EXPECT_THAT(difference_table(difference_of(both, one), kDiffTerminal, false),
              HasSubstr("variant cheap: only in OLD"));
  EXPECT_THAT(difference_table(difference_of(one, both), kDiffTerminal, false),
              HasSubstr("variant cheap: only in NEW"));
  json more = one;
  more["variants"][0]["workloads"].push_back(more["variants"][0]["workloads"][0]);
  more["variants"][0]["workloads"][1]["name"] = "tts";
  EXPECT_THAT(difference_table(difference_of(one, more), kDiffTerminal, false),
              HasSubstr("tts latencyP99"));
}

TEST(Difference, ACommentStaysWithinItsSizeAndKeepsItsMarker) {
  json many = stored_result(0.412, true, 1152);
  many["metadata"]["scenario"] = "a-->b";
  for (int n = 0; n < 300; ++n) {
    json variant = many["variants"][0];
    variant["name"] = "variant-" + std::to_string(n);
    variant["description"] = "x";
    variant["workloads"][0]["name"] = std::string(200, 'w');
    many["variants"].push_back(variant);
  }
  const std::string text = difference_markdown(difference_of(changed(), many));
  EXPECT_LE(text.size(), 60'000U);
  EXPECT_THAT(text, HasSubstr("left out"));
  EXPECT_TRUE(text.ends_with("<!-- slicewise:a-b -->\n")) << text.substr(text.size() - 60);
}

TEST(Difference, ReadsWhatTheOtherVerbsStore) {
  const auto stored = [](const std::string& name) {
    return file_text(std::filesystem::path(SLICEWISE_SOURCE_DIR) / "tests/reports/golden" / name);
  };
  for (const char* name :
       {"aws_demo.json", "voice.json", "platform.json", "comparison.json", "max_load.json"}) {
    const auto same = compare_documents({"a", stored(name)}, {"b", stored(name)});
    ASSERT_TRUE(same) << name << ": " << same.error().front().message;
    EXPECT_FALSE(same->differs()) << name;
    ASSERT_FALSE(same->items.empty());
    EXPECT_FALSE(same->items.front().figures.empty()) << name;
  }
  const auto mixed =
      compare_documents({"a", stored("comparison.json")}, {"b", stored("max_load.json")});
  EXPECT_THAT(mixed.error().front().message, HasSubstr("this is a MaxLoad"));
}

TEST(Difference, WrongDocumentsAreSaidWithTheirPlace) {
  const Diagnostic broken = first_problem("{\n  \"kind\": \"Result\",,\n}");
  EXPECT_EQ(broken.code, Code::YamlSyntax);
  EXPECT_EQ(broken.where.line, 2);
  EXPECT_EQ(broken.where.column, 20);
  const Diagnostic foreign = first_problem("{\n  \"kind\": \"Deployment\"}");
  EXPECT_EQ(foreign.code, Code::ApiVersionUnknown);
  EXPECT_EQ(foreign.where.line, 2);
  EXPECT_EQ(foreign.where.column, 11);
  json newer = stored_result(0.4, true, 1);
  newer["apiVersion"] = "slicewise.dev/result.v1alpha2";
  EXPECT_THAT(first_problem(newer.dump()).message, HasSubstr("newer slicewise (0.1.0)"));
  newer["apiVersion"] = "slicewise.dev/result.v1alphax";
  EXPECT_THAT(first_problem(newer.dump()).message, HasSubstr("is no format of a Result"));
  json wrong = stored_result(0.4, true, 1);
  wrong["variants"][0]["cost"]["monthlyUsd"] = "much";
  const Diagnostic type = first_problem(wrong.dump(1));
  EXPECT_EQ(type.code, Code::FieldType);
  EXPECT_THAT(type.message, HasSubstr("variants/0/cost/monthlyUsd must be a number"));
  EXPECT_GT(type.where.line, 3);
  EXPECT_EQ(first_problem(std::string(500, '[')).code, Code::YamlSyntax);
  EXPECT_EQ(first_problem("{\"kind\": 1e999}").code, Code::YamlSyntax);
  EXPECT_EQ(first_problem("[]").code, Code::FieldMissing);
  EXPECT_EQ(first_problem("").code, Code::YamlSyntax);
  EXPECT_THAT(first_problem(std::string(kLargestDocument + 1, ' ')).message,
              HasSubstr("larger than 64 MiB"));
}

sim::OptionFigures planned_figures(double monthly, double p99_ms) {
  sim::OptionFigures figures;
  figures.monthly = from_dollars(monthly);
  figures.running_max = 4;
  const Duration p99 = microseconds(static_cast<std::int64_t>(p99_ms * 1000));
  figures.objectives.push_back(
      {"asr", {"latencyP99", milliseconds(500), p99, std::nullopt, p99 <= milliseconds(500)}});
  return figures;
}

sim::PoolChoice shared_t4s(int nodes) {
  return {"g4dn.xlarge", "on-demand", sim::Strategy::TimeSlicing, 4, {}, {"asr"}, {}, nodes};
}

sim::PoolChoice whole_l4s(int nodes) {
  return {"g6.xlarge", "spot", sim::Strategy::Exclusive, 1, {}, {"asr"}, {}, nodes};
}

json stored_plan(const std::vector<sim::PlanOption>& options,
                 std::vector<sim::RejectedChoice> rejected) {
  sim::Plan plan;
  plan.stamp.scenario = "voice-t4";
  plan.stamp.variant = "base";
  plan.options = options;
  plan.rejected = std::move(rejected);
  return json::parse(Report(plan).json());
}

TEST(Difference, PlansAreComparedByTheirBestOption) {
  const sim::PlanOption cheap{{shared_t4s(1)}, planned_figures(384, 420), 384, false};
  const sim::PlanOption dear{{whole_l4s(2)}, planned_figures(1174, 80), 1174, false};
  sim::RejectedChoice slow{sim::RejectedChoice::Stage::Simulation,
                           shared_t4s(32),
                           Code{},
                           {"asr latencyP99 {} ms", {"612"}},
                           std::nullopt};
  slow.code.reset();
  sim::RejectedChoice small = slow;
  small.choice.instance_type = "g6f.xlarge";
  sim::RejectedChoice small_now = small;
  small_now.reason.figures = {"700"};
  const json older = stored_plan({cheap, dear}, {small});
  const json newer = stored_plan({dear}, {slow, small_now});
  const DocumentDifference difference = difference_of(older, newer);
  const std::string table = difference_table(difference, {false, true, 160}, false);
  EXPECT_THAT(table, HasSubstr("bill +206%"));
  EXPECT_THAT(table, HasSubstr("configuration: 1 x g4dn.xlarge, time-slicing x4 -> "
                               "2 x g6.xlarge spot, exclusive\n"));
  EXPECT_THAT(table, HasSubstr("g4dn.xlarge, time-slicing x4: rank 1 -> rejected: asr latencyP99 "
                               "612 ms\n"));
  EXPECT_THAT(table, HasSubstr("g6.xlarge spot, exclusive: rank 2 -> rank 1\n"));
  EXPECT_THAT(table, Not(HasSubstr("g6f")));
  EXPECT_EQ(failing(difference, "cost:+10%").size(), 1U);
  EXPECT_TRUE(failing(difference, "slo.newlyFailing,p99:+10%").empty());
  EXPECT_FALSE(difference_of(older, older).differs());
  // Nothing stands any more: no gate passes.
  const DocumentDifference none = difference_of(older, stored_plan({}, {slow}));
  EXPECT_TRUE(none.differs());
  EXPECT_EQ(failing(none, "cost:+10%,slo.newlyFailing").size(), 2U);
}

// Options of one plan may differ in nothing but the number of pods.
TEST(Difference, OptionsOfAPlanAreToldApartByAllThatTheyChoose) {
  sim::PoolChoice two = shared_t4s(1);
  two.pods = {2};
  sim::PoolChoice three = two;
  three.pods = {3};
  const sim::PlanOption first{{two}, planned_figures(384, 420), 384, false};
  const sim::PlanOption second{{three}, planned_figures(384, 300), 384, false};
  const std::string table = difference_table(
      difference_of(stored_plan({first, second}, {}), stored_plan({second, first}, {})),
      {false, true, 160}, false);
  EXPECT_THAT(table, HasSubstr("2 pods of asr: rank 1 -> rank 2\n"));
  EXPECT_THAT(table, HasSubstr("3 pods of asr: rank 2 -> rank 1\n"));
}

// The value is within its limit; the requests that were lost leave open whether the quantile is.
TEST(Difference, AnObjectiveThatTheJudgeLeavesOpenHasNoTick) {
  sim::OptionFigures open = planned_figures(384, 420);
  open.objectives[0].result.lost = sim::LostShare{0.009, 0.004, 0.01};
  ASSERT_EQ(sim::standing_of(open.objectives[0].result), sim::ObjectiveStanding::Undecided);
  const DocumentDifference difference =
      difference_of(stored_plan({{{shared_t4s(1)}, planned_figures(384, 300), 384, false}}, {}),
                    stored_plan({{{shared_t4s(1)}, open, 384, false}}, {}));
  const auto& figures = difference.items.at(0).figures;
  const auto objective = std::ranges::find(
      figures, "latencyP99", [](const FigureDifference& f) { return f.shown().name; });
  ASSERT_NE(objective, figures.end());
  EXPECT_EQ(objective->before->standing, sim::ObjectiveStanding::Holds);
  EXPECT_EQ(objective->after->standing, sim::ObjectiveStanding::Undecided);
}

TEST(Difference, AWrongValueIsReportedOnceAndANewerWordIsNone) {
  const sim::PlanOption option{{shared_t4s(1)}, planned_figures(384, 420), 384, false};
  const json plan = stored_plan({option}, {});
  json wrong = plan;
  wrong["options"][0]["objectives"][0]["ci95"] = "x";
  const auto refused = compare_documents({"old", plan.dump()}, {"new", wrong.dump()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().size(), 1U);
  json newer = plan;
  newer["options"][0]["pools"][0]["strategy"] = "sharing of the year 2030";
  EXPECT_TRUE(compare_documents({"old", plan.dump()}, {"new", newer.dump()}));
}

TEST(Difference, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file = std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" /
                    "difference.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << difference_schema_json();
  }
  EXPECT_EQ(file_text(file), difference_schema_json());
}

}  // namespace
}  // namespace slicewise::reports
