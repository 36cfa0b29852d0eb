#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/studies.hpp"

#include "plan_samples.hpp"
#include "terminals.hpp"

// What a plan says beside its ranking: what rules cost and what a step of its path loses.
namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using plan_samples::sample_path;
using plan_samples::sample_plan;

sim::PlanOption option_of(int dollars, std::vector<std::string> workloads) {
  sim::PoolChoice pool;
  pool.instance_type = "g4dn.xlarge";
  pool.strategy = sim::Strategy::TimeSlicing;
  pool.replicas = 3;
  pool.nodes = 3;
  pool.workloads = std::move(workloads);
  sim::PlanOption option{{pool}, {}, static_cast<double>(dollars), false};
  option.figures.monthly = from_dollars(dollars);
  return option;
}

// In words, and again after the document was read.
std::string said_of(const sim::Plan& plan) {
  const auto again = read_plan({"plan.json", Report(plan).json()});
  EXPECT_TRUE(again && Report(*again).json() == Report(plan).json());
  std::string text = Report(plan).table(kTerminal, true);
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) {
    text.replace(at, 3, " ");
  }
  return text;
}

TEST(PlanHints, NamesTheClassesThatAreKeptApart) {
  sim::Plan plan;
  plan.options = {option_of(1152, {"asr", "tts", "ocr"}), option_of(1536, {"asr", "tts", "ocr"})};
  plan.options.front().pools.front().apart = {{"asr"}, {"tts", "ocr"}};
  const std::string text = said_of(plan);
  EXPECT_THAT(text, HasSubstr("one of asr and one of tts/ocr a node"));
  EXPECT_THAT(text, HasSubstr("#1 has one pod of asr and one of tts or ocr a node, by a required"));
  EXPECT_THAT(text, HasSubstr("Without, the cheapest is #2: $384.00 a month more."));
}

TEST(PlanHints, SaysWhatSelectorsCost) {
  sim::Plan plan;
  plan.options = {option_of(1152, {"asr", "tts"})};
  plan.unselected = sim::UnselectedNodes{{"asr", "tts"}, option_of(734, {"asr", "tts"})};
  EXPECT_THAT(said_of(plan), HasSubstr("Without the nodeSelectors of asr, tts: 3 x g4dn.xlarge, "
                                       "time-slicing x3, $734.00 a month."));
}

TEST(PlanHints, SaysWhatOnePodAfterTheOtherLoses) {
  sim::Plan plan;
  plan.options = {option_of(1152, {"asr"})};
  sim::PlanPath path;
  path.now = option_of(1536, {"asr"});
  sim::PathStep step;
  step.from = path.now.pools;
  step.to = plan.options.front().pools;
  step.restarts = {"asr"};
  step.pods_restarted = 4;
  step.start = seconds(50);
  step.disruption = sim::RestartLoss{400, 12};
  step.one_by_one = sim::RestartLoss{0, 31};
  step.one_by_one_takes = seconds(200);
  path.steps = {step};
  path.max_changes = 1;
  path.is_cheapest = true;
  plan.path = path;
  const std::string text = said_of(plan);
  EXPECT_THAT(text, HasSubstr("400 requests lost, 12 late; of each Service one after the other"));
  EXPECT_THAT(text, HasSubstr("0 requests lost, 31 late."));
  EXPECT_THAT(text, HasSubstr("Of all ways to change no more pools than that none saves more."));
}

// Its page said "Recommended" where nobody had said what comes to the workloads.
TEST(PlanHints, OfPlaceholdersNothingIsRecommended) {
  sim::Plan plan = sample_plan();
  plan.placeholders = {"asr"};
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text,
              HasSubstr("No recommendation: nobody says what load asr has, nor what GPU time"));
  EXPECT_THAT(text, HasSubstr("The best, were these figures right: #1, "));
  EXPECT_THAT(text, Not(HasSubstr("Recommended")));
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->placeholders, plan.placeholders);
  const auto explained = explain_plan({"plan.json", Report(plan).json()}, std::nullopt, kTerminal);
  ASSERT_TRUE(explained);
  const std::string& whole = *explained;
  EXPECT_THAT(whole, HasSubstr("No recommendation: "));
  EXPECT_THAT(whole, Not(HasSubstr("Recommended")));
}

// What p99 would be stood in JSON alone where no objective is of it.
TEST(PlanHints, SaysWhatTheSlowestRequestsTake) {
  sim::Plan plan = sample_plan();
  for (sim::PlanOption& option : plan.options) {
    option.figures.objectives.clear();
    option.figures.latency_p99 = milliseconds(412);
  }
  plan.today->figures.objectives.clear();
  plan.today->figures.latency_p99 = std::nullopt;
  const std::string text = Report(plan).table({false, true, 80}, false);
  EXPECT_THAT(text, ::testing::ContainsRegex("#  \\$/MONTH .*P99 .*VERDICT"));
  EXPECT_THAT(text, ::testing::ContainsRegex("1 +\\$1,152 .*412 ms "));
  EXPECT_THAT(text, Not(HasSubstr("TIGHTEST OBJECTIVE")));
  EXPECT_THAT(Report(plan).markdown(), HasSubstr("| P99 |"));
}

// A plan with such a path could not be read again, and an advice wrote nothing to apply.
TEST(PlanHints, AStepThatCostsMoreIsReadAgain) {
  sim::Plan plan = sample_plan();
  plan.path = sample_path();
  ASSERT_FALSE(plan.path->steps.empty());
  plan.path->steps.front().saves = from_dollars(-438);
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read) << read.error().front().message;
  EXPECT_EQ(read->path->steps.front().saves, from_dollars(-438));
}

}  // namespace
}  // namespace slicewise::reports
