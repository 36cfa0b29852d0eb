#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/ci.hpp"
#include "slicewise/reports/studies.hpp"

#include "golden_file.hpp"
#include "plan_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using plan_samples::deny;
using plan_samples::planned_figures;
using plan_samples::planned_pool;
using plan_samples::sample_path;
using plan_samples::sample_plan;

TEST(PlanReport, SaysWhatSetsAnOptionUp) {
  sim::Plan plan = sample_plan();
  plan.options[0].routes = {{"devicePlugin"}, {"dra"}};
  plan.options[1].routes = {
      {"devicePlugin"}, {"dra", {"a claim has no shares"}}, {"autoMode", {"it shares no GPU"}}};
  const std::string text = Report(plan).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("Set up by: the device plugin, or NVIDIA's DRA driver (export --to"));
  EXPECT_THAT(text, HasSubstr("#2: the device plugin; not NVIDIA's DRA driver: a claim has no sh"));
  EXPECT_THAT(text, HasSubstr("not on EKS Auto Mode"));
  plan.options[0].routes = {{"devicePlugin", {"it refuses"}}, {"dra"}};
  EXPECT_THAT(Report(plan).table(kTerminal, false),
              HasSubstr("Set up by: NVIDIA's DRA driver alone (export --to dra): it refuses."));
  const auto again = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(again);
  EXPECT_EQ(Report(*again).json(), Report(plan).json());
}

// The autoscaler was held down, and nobody was told.
TEST(PlanReport, SaysThatAnAutoscalerWantsMoreNodes) {
  sim::Plan plan = sample_plan();
  EXPECT_THAT(Report(plan).table(kTerminal, false), Not(HasSubstr("Pending")));
  plan.options[0].figures.pending_at_limit = 4;
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("ok, up to 4 Pending"));
  EXPECT_THAT(text, HasSubstr("At the peak an autoscaler wants 4 pods more than these nodes hold"));
  const auto again = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->options[0].figures.pending_at_limit, 4);
}

// What is long takes lines, not the verdict of all.
TEST(PlanReport, KeepsRankAndVerdictBesideLongConfigurations) {
  sim::Plan plan = sample_plan();
  plan.options[0].pools.front().purchase = "spot-fallback";
  const std::string text = Report(plan).table({false, true, 80}, false);
  EXPECT_THAT(text, HasSubstr("3 x g4dn.xlarge spot,"));
  EXPECT_THAT(text, HasSubstr("\n  on-demand when there is none, MPS x4"));
  EXPECT_THAT(text, ::testing::ContainsRegex("CONFIGURATION +# .*VERDICT"));
}

// Beside the recommendation, and once.
TEST(PlanReport, WarnsOfWhatTheAnswerDoesNotHoldFor) {
  sim::Plan plan = sample_plan();
  plan.notes = {make_diagnostic(Code::PeakNotInRun, {}, "nobody saw its peak")};
  const std::string text = Report(plan).table(kTerminal, true);
  const std::size_t at = text.find("PEAK_NOT_IN_RUN: nobody saw its peak.");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(text.find("Recommended: #1"), at);
  EXPECT_LT(at, text.find("NOTES"));
  EXPECT_EQ(text.find("PEAK_NOT_IN_RUN", at + 1), std::string::npos);
  plan.options.clear();
  EXPECT_THAT(Report(plan).table(kTerminal, true), HasSubstr("nobody saw its peak."));
}

// The plan made a Service 18 times slower and named the job beside it only.
TEST(PlanReport, NamesServicesThatAnswerLaterAndThatNoObjectiveHolds) {
  sim::Plan plan = sample_plan();
  plan.today->figures.answers = {{"asr", milliseconds(164)},
                                 {"tts", milliseconds(100)},
                                 {"a", milliseconds(100)},
                                 {"b", milliseconds(100)},
                                 {"c", milliseconds(100)}};
  sim::OptionFigures& best = plan.options.front().figures;
  best.answers = {{"asr", milliseconds(2960)}, {"tts", milliseconds(110)}};
  EXPECT_NE(Report(plan).markdown().find(
                "99% of requests are answered later, asr in 2.96 s instead of 164 ms: no objective "
                "says how soon they must."),
            std::string::npos)
      << Report(plan).markdown();
  for (const char* name : {"tts", "a", "b", "c"}) best.answers.push_back({name, milliseconds(300)});
  best.answers.erase(best.answers.begin() + 1);
  EXPECT_NE(Report(plan).markdown().find("a in 300 ms instead of 100 ms and 2 more: no objective"),
            std::string::npos)
      << Report(plan).markdown();
  best.answers.clear();
  EXPECT_EQ(Report(plan).markdown().find("answered later"), std::string::npos);
}

TEST(PlanReport, SaysWhenItWasJudgedAndWhatTheNightSaves) {
  sim::Plan plan = sample_plan();
  plan.stamp.starts_at = "Mon 13:45";
  plan.notes = {make_diagnostic(Code::StartsAtPeak, {}, "judged from Mon 13:45 on")};
  plan.over_days = plan.options.front();
  plan.by_load = plan.options.front();
  sim::PoolChoice& pool = plan.by_load->pools.front();
  pool.elastic = true;
  pool.scalings = {{"asr", 1, 4, 1.25}};
  plan.by_load->figures.monthly = from_dollars(100);
  const std::string text = Report(plan).table({false, true, 240}, false);
  EXPECT_LT(text.find("STARTS_AT_PEAK: judged from Mon 13:45 on."), text.find("NOTES"));
  EXPECT_THAT(text, HasSubstr("SCALED DOWN AT NIGHT"));
  EXPECT_THAT(text, HasSubstr("1 to 4 pods of asr at 1.25 requests/s each"));
  EXPECT_THAT(text, HasSubstr("No schedule (KEDA's cron scaler) that was tried stands and saves."));
  EXPECT_THAT(text, HasSubstr("plan.json#load"));
  const auto again = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->by_load->pools, plan.by_load->pools);
  EXPECT_EQ(Report(*again).json(), Report(plan).json());
  pool.scalings.front().least = 5;
  EXPECT_FALSE(read_plan({"plan.json", Report(plan).json()}));
}

TEST(PlanReport, SaysThatPodsMightVary) {
  sim::Plan plan = sample_plan();
  EXPECT_THAT(Report(plan).table(kTerminal, true), HasSubstr("--vary-pods N"));
  plan.vary_pods = 3;
  const std::string text = Report(plan).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("Services might have up to 3 pods more or fewer"));
  EXPECT_THAT(text, Not(HasSubstr("--vary-pods N")));
  plan.options.clear();
  EXPECT_THAT(Report(plan).table(kTerminal, true), HasSubstr("none of that is enough"));
}

TEST(PlanReport, SaysWhatItCostsInOtherRegions) {
  sim::Plan plan = sample_plan();
  const Usd here = plan.options.front().figures.monthly;
  plan.regions = {{"us-west-2", 1, here, ""},
                  {"eu-central-1", 2, from_dollars(1.25 * to_dollars(here)), ""},
                  {"us-gov-east-1", std::nullopt, std::nullopt, "no on-demand price"}};
  const std::string text = Report(plan).table(kTerminal, true);
  EXPECT_THAT(text, HasSubstr("In us-west-2 the same nodes cost $1,152 a month (as much)."));
  EXPECT_THAT(text, HasSubstr("In eu-central-1 #2 is the cheapest, $1,440 a month (+25.0%)."));
  EXPECT_THAT(text, HasSubstr("In us-gov-east-1 none of the options can be priced: no on-demand "));
  const auto again = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(again);
  EXPECT_EQ(Report(*again).json(), Report(plan).json());
}

TEST(PlanReport, TheWayFromThePresentPoolsIsStepByStep) {
  sim::Plan plan = sample_plan();
  plan.path = sample_path();
  const std::string text = Report(plan).table(kTerminal, true);
  const auto says = [&](const char* what) { EXPECT_THAT(text, HasSubstr(what)); };
  says("FROM WHERE YOU ARE");
  says("keep as is: 12 x g4dn.xlarge, exclusive");
  says("becomes 3 x g4dn.xlarge, MPS x4");
  says("12 pods (asr), 52.0 s each");
  says("1 step of 1 pool saves $3,456 a month.");
  says("Step 1, all its pods at once: 1,240 requests lost, 12 late.");
  says("More changes than --max-changes allows may save more.");
  const auto again = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->path);
  EXPECT_EQ(Report(*again).json(), Report(plan).json());
  plan.path->steps.clear();
  EXPECT_THAT(Report(plan).table(kTerminal, true), HasSubstr("keep it as it is"));
}

// However long the list of pools: what a month costs is seen.
TEST(PlanReport, MonthsHaveTheirPoolsBelowEachOther) {
  sim::PlanOption fleet{{}, planned_figures(1919, milliseconds(412)), 1919, false};
  fleet.pools.assign(2, planned_pool("g4dn.xlarge", sim::Strategy::TimeSlicing, 4, 3));
  fleet.pools.back().workloads = {"tenant-01", "tenant-02", "tenant-03",
                                  "tenant-04", "tenant-05", "tenant-06"};
  fleet.pools.back().pods = {2, 2, 2, 2, 2, 2};
  fleet.pools.front().elastic = true;
  sim::Plan plan = sample_plan();
  plan.over_time = sim::PlanOverTime{};
  plan.over_time->months = 12;
  plan.over_time->spans = {{1, 8, 1.7, plan.options.front()}, {9, 12, 2.6, fleet}};
  plan.over_time->next_node = 9;
  for (const bool wide : {false, true}) {
    const std::string text = Report(plan).table(kTerminal, wide);
    EXPECT_THAT(text, HasSubstr("1-8      1.70x   $1,152  3 x g4dn.xlarge, MPS x4"));
    EXPECT_THAT(text, HasSubstr("+ 3 x g4dn.xlarge, time-slicing x4, 2 pods each (6 workloads)"));
    EXPECT_THAT(text, HasSubstr("The next node is needed in month 9."));
    EXPECT_THAT(text, HasSubstr("nothing is committed for them"));
  }
}

TEST(PlanReport, Text) { expect_golden("plan.txt", Report(sample_plan()).table(kTerminal, true)); }

// "2 is where the cost stops falling" under a recommendation of 4 left the reader with two answers.
TEST(PlanReport, ThePodsPerGpuThatItNamesAreThoseThatItRecommends) {
  sim::Plan plan = sample_plan();
  plan.replicas.insert(plan.replicas.begin() + 1,
                       {2, 3, planned_figures(1152, milliseconds(430)), ""});
  const std::string same = Report(plan).table(kTerminal, false);
  EXPECT_NE(same.find("Pods per GPU: 4 costs what 2 does and is further from its limits.\n"),
            std::string::npos)
      << same;
  plan.replicas[1].figures->monthly = Usd{1000'000'000'000};
  EXPECT_NE(
      Report(plan)
          .table(kTerminal, false)
          .find("Pods per GPU: 4 of those that were tried; 2 would cost less, $1,000 a month.\n"),
      std::string::npos);
  plan.goal = scenarios::PlanGoal::LatencyP99;
  EXPECT_NE(Report(plan)
                .table(kTerminal, false)
                .find("Pods per GPU: 4 by latencyP99; 2 would cost less, $1,000 a month.\n"),
            std::string::npos);
}

TEST(PlanReport, Markdown) { expect_golden("plan.md", Report(sample_plan()).markdown()); }

TEST(PlanReport, Json) { expect_golden("plan.json", Report(sample_plan()).json()); }

TEST(PlanReport, SaysWhatBindsTheBestAndHowManyRunsWereTaken) {
  sim::Plan plan = sample_plan();
  plan.options.front().figures.bound_by = "GPU (asr)";
  plan.options.front().figures.replications = 20;
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("\nBound by: GPU (asr).\n"));
  EXPECT_THAT(text, HasSubstr("5 to 20 runs"));
  EXPECT_THAT(Report(plan).json(), HasSubstr("\"boundBy\": \"GPU (asr)\""));
}

TEST(PlanReport, TheConfigurationComesFirstAtAnyWidth) {
  for (const int width : {0, 20, 40, 80, 120, 160}) {
    const std::string text = Report(sample_plan()).table({false, true, width}, false);
    EXPECT_THAT(text, HasSubstr("\nCONFIGURATION")) << width;
    EXPECT_THAT(text, HasSubstr("\n3 x g4dn.xlarge, MPS x4 ")) << width;
  }
}

TEST(PlanReport, FlipsThatEndAlikeAreOneLine) {
  sim::Plan plan = sample_plan();
  sim::Flip flip = plan.flips.front();
  for (const char* input : {"cpu of asr", "gpuMemory of asr"}) {
    flip.input = input;
    plan.flips.push_back(flip);
  }
  flip.factor = 2;
  plan.flips.push_back(flip);
  const std::string text = Report(plan).table({false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("Flips if one of traffic, cpu of asr, gpuMemory of asr grows 1.38 "));
  EXPECT_THAT(text, HasSubstr("Flips if gpuMemory of asr grows 2 times"));
}

TEST(PlanReport, SaysWhyTheFirstIsNotTheFurthestFromItsLimits) {
  sim::Plan plan = sample_plan();
  plan.options[1].goal = plan.options[0].goal;
  plan.options[1].figures = planned_figures(1152, milliseconds(100));
  EXPECT_THAT(Report(plan).table(kTerminal, false), Not(HasSubstr("gets more done")));
  plan.options[0].figures.work = {{"trainer", "epoch", 57.2, {}}};
  plan.options[1].figures.work = {{"trainer", "epoch", 36, {}}};
  EXPECT_THAT(
      Report(plan).table(kTerminal, false),
      HasSubstr("with #2 trainer gets 36 epoch/h done instead of\n  57.2, though that uses 20% "
                "of its limits instead of 82%."));
  plan.options[0].figures.work = {{"trainer", "epoch", 36, minutes(10)}};
  plan.options[1].figures.work = {{"trainer", "epoch", 36, minutes(20)}};
  EXPECT_THAT(Report(plan).table(kTerminal, false),
              HasSubstr("with #2 trainer takes 20m00s instead of 10m00s"));
  plan.options[1].figures.monthly = from_dollars(1153);
  EXPECT_THAT(Report(plan).table(kTerminal, false), Not(HasSubstr("gets more done")));
}

TEST(PlanReport, SaysWhatTheSecondWouldHaveBorne) {
  sim::Plan plan = sample_plan();
  const auto says = [&](const char* what) {
    EXPECT_THAT(Report(plan).table({false, true, 0}, false), HasSubstr(what));
  };
  says("Regret: #2 costs $23.00 a month more and bears the change at which #1 misses something.");
  plan.flips.push_back({"workloads.asr.gpuMemory", 1.5, 1.4, true, {}, false});
  plan.flips.push_back({"price of g4dn.xlarge", 1.02, 1, false, plan.options[1]});
  says("bears 1 of the 2 changes at which #1 misses something: traffic.");
  plan.flips.front().second_stands = false;
  says("Regret: #2 costs $23.00 a month more and does not bear that either.");
  plan.options[1].figures.monthly = plan.options[0].figures.monthly;
  says("#2 costs as much and does not");
  plan.options.resize(1);
  EXPECT_THAT(Report(plan).table({false, true, 0}, false), Not(HasSubstr("Regret")));
}

TEST(PlanReport, SaysWhichTypeWhereThatHangsOnSmActive) {
  sim::Plan plan = sample_plan();
  const auto says = [&] { return Report(plan).markdown(); };
  EXPECT_THAT(says(),
              HasSubstr("It hangs on smActive of asr, which is not given: g4dn.xlarge if it "
                        "is 62% or more, g6.xlarge (2 x g6.xlarge, time-slicing x4) at 60%."));
  plan.sm_active->then.reset();
  EXPECT_THAT(says(), HasSubstr("62% or more, nothing that was tried at 60%."));
  plan.sm_active->turns_at.reset();
  plan.sm_active->holds_from = 0.01;
  EXPECT_THAT(says(), Not(HasSubstr("It hangs on")));
  EXPECT_THAT(says(), HasSubstr("the answer is the same for any from 1.0% up"));
}

TEST(PlanReport, SaysWhichPolicyDeniesWhatWarnsAndWhatTodayMisses) {
  sim::Plan plan = sample_plan();
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("Warned by keep-room"));
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("budget denies it"));
  deny(plan.today->figures);
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("which are denied by a policy"));
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("policy budget"));
}

TEST(PlanReport, JunitNamesThePoliciesThatWarn) {
  sim::Plan plan = sample_plan();
  const std::string before = plan_junit(plan);
  plan.options.at(0).figures.warned_by = {"spread-risk"};
  const std::string text = plan_junit(plan);
  EXPECT_THAT(before, testing::Not(testing::HasSubstr("spread-risk")));
  EXPECT_THAT(text, testing::HasSubstr("name=\"policy spread-risk\""));
  EXPECT_THAT(text, testing::HasSubstr("does not hold; severity Warn"));
}

TEST(PlanReport, WithoutAnOptionSaysWhatHelps) {
  sim::Plan plan = sample_plan();
  plan.options.clear();
  plan.replicas.clear();
  plan.flips.clear();
  EXPECT_THAT(
      Report(plan).table(kTerminal, false),
      HasSubstr("Nearest: 12 x g6.xlarge, exclusive at $2,000 a month: budget denies it.\n"));
  plan.rejected.clear();
  plan.today.reset();
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("--max-nodes"));
  EXPECT_EQ(nlohmann::json::parse(Report(plan).json())["options"].size(), 0U);
  // An unfinished search says nothing against what it had not come to.
  plan.interrupted = true;
  EXPECT_THAT(Report(plan).table(kTerminal, false), HasSubstr("No option was confirmed"));
  EXPECT_THAT(Report(plan).table(kTerminal, false),
              testing::Not(HasSubstr("Nothing that was tried")));
}

TEST(PlanReport, WhatIsNoWorseIsKept) {
  sim::Plan plan = sample_plan();
  ASSERT_TRUE(plan.today);
  plan.keep_as_is = true;
  plan.today->figures.monthly = plan.options.front().figures.monthly - from_dollars(52);
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("Keep what you have: the scenario's own pools stand at $1,100 a "
                              "month, #1 costs $52.00 more.\n"));
  EXPECT_THAT(text, HasSubstr("The best of what was planned: #1, "));
  EXPECT_THAT(text, Not(HasSubstr("Recommended")));
  plan.today->figures.monthly = plan.options.front().figures.monthly;
  EXPECT_THAT(Report(plan).table(kTerminal, false),
              HasSubstr("#1 costs as much and is no\n  better."));
  EXPECT_EQ(nlohmann::json::parse(Report(plan).json())["keepAsIs"], true);
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->keep_as_is);
}

TEST(PlanReport, AGainThatMayBeALossIsSaidOfTheBest) {
  sim::Plan plan = sample_plan();
  const TextStyle wide{false, true, 0};
  EXPECT_THAT(Report(plan).table(wide, false), Not(HasSubstr("gain or loss")));
  plan.options.front().figures.unsure_gains = {{"MPS", -0.012, 8.5}};
  EXPECT_THAT(Report(plan).table(wide, false),
              HasSubstr("#1, MPS: may be gain or loss: together 1.2 % less is done than one after "
                        "the other, and half of such answers are off by 8.5 %"));
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->options.front().figures.unsure_gains.size(), 1U);
  EXPECT_EQ(read->options.front().figures.unsure_gains.front().gain, -0.012);
}

TEST(PlanReport, JobsThatAnOptionLeavesUnfinishedAreSaid) {
  sim::Plan plan = sample_plan();
  const TextStyle wide{false, true, 0};
  EXPECT_THAT(Report(plan).table(wide, false), Not(HasSubstr("unfinished")));
  plan.options.front().figures.unfinished_jobs = {{"trainer", 3.5, 5}};
  const std::string text = Report(plan).table(wide, false);
  EXPECT_THAT(text, HasSubstr("ok, 3.5 of 5 jobs unfinished, Pareto"));
  EXPECT_THAT(text,
              HasSubstr("#1 leaves 3.5 of 5 jobs of trainer unfinished when the run was over; "
                        "#2 gets them done, for $23.00 a month more: "));
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->options.front().figures.unfinished_jobs,
            plan.options.front().figures.unfinished_jobs);
  plan.options.back().figures.unfinished_jobs = {{"trainer", 1, 5}};
  const std::string alike = Report(plan).table(wide, false);
  EXPECT_THAT(alike, HasSubstr("no option that is shown gets more of them"));
  EXPECT_THAT(alike, Not(HasSubstr("ok, 3.5 of 5 jobs")));
}

TEST(PlanReport, NothingThatWasSimulatedReadsSo) {
  sim::Plan plan = sample_plan();
  plan.counts.simulations = 0;
  EXPECT_THAT(Report(plan).table(kTerminal, false),
              HasSubstr("nothing was simulated: rules and closed forms leave no configuration."));
}

TEST(PlanReport, WithoutAnOptionNamesWhatIsNearest) {
  sim::Plan plan = sample_plan();
  plan.options.clear();
  plan.rejected.push_back({sim::RejectedChoice::Stage::Simulation,
                           planned_pool("g4dn.xlarge", sim::Strategy::Mps, 6, 2),
                           std::nullopt,
                           {"misses latencyP99 of asr"},
                           planned_figures(768, milliseconds(600))});
  plan.rejected.erase(plan.rejected.begin() + 1);  // it meets its objectives
  // Cheaper and closer to either limit, but it misses two.
  plan.rejected.push_back(plan.rejected.back());
  sim::OptionFigures& two = *plan.rejected.back().figures;
  two = planned_figures(384, milliseconds(510));
  two.objectives.push_back(two.objectives.front());
  plan.nearest = {"what could stand takes more"};
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text,
              HasSubstr("Nearest: 2 x g4dn.xlarge, MPS x6 at $768.00 a month: misses latencyP99 "
                        "of asr with 600 ±9 ms, the\n  limit is 500 ms (120% of it).\n"));
  EXPECT_THAT(text, HasSubstr("What could stand takes more.\n"));
  EXPECT_THAT(text, HasSubstr("The scenario's own pools do, for $3,072 a month"));
  EXPECT_EQ(nlohmann::json::parse(Report(plan).json())["nearest"].size(), 1U);
  const auto read = read_plan({"plan.json", Report(plan).json()});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->nearest, plan.nearest);
}

// Dearer nodes on which as little is answered were the nearest.
TEST(PlanReport, WhatIsDearerAndNoBetterIsNotNearest) {
  sim::Plan plan = sample_plan();
  plan.options.clear();
  sim::OptionFigures then = planned_figures(3000, milliseconds(600));
  then.objectives.clear();
  then.worst_ratio = 0;
  then.verdict.reasons = {{sim::Verdict::Cause::Overloaded, "asr", "overloaded",
                           "\"asr\" answers 0.4 of 1 requests/s"}};
  plan.rejected = {{sim::RejectedChoice::Stage::Simulation,
                    planned_pool("g4dn.xlarge", sim::Strategy::Exclusive, 1, 2),
                    std::nullopt,
                    {"leaves requests of asr unanswered"},
                    then}};
  const auto nearest = [&] { return Report(plan).table(TextStyle{false, true, 0}, false); };
  EXPECT_THAT(nearest(), HasSubstr("Nothing new that was tried stands: "));
  EXPECT_THAT(nearest(), HasSubstr("Nearest: 2 x g4dn.xlarge, exclusive at $3,000 a month: \"asr\" "
                                   "answers 0.4 of 1 requests/s. Each of its pods has a GPU"));
  plan.today->figures = then;
  plan.today->figures.monthly = from_dollars(1000);
  EXPECT_THAT(nearest(),
              HasSubstr("Nearest: the scenario's own pools at $1,000 a month: \"asr\" "));
  plan.today->figures.monthly = from_dollars(4000);
  EXPECT_THAT(nearest(), HasSubstr("Nearest: 2 x g4dn.xlarge, exclusive at $3,000 a month"));
}

// "No request is late" where nobody says when one is, and every Service answers later.
TEST(PlanReport, AWayThatMakesServicesSlowerSaysSo) {
  sim::Plan plan = sample_plan();
  plan.path = sample_path();
  plan.path->steps.front().disruption = sim::RestartLoss{};
  plan.path->end = plan.path->now;
  plan.path->now.figures.answers = {{"asr", milliseconds(164)}};
  plan.path->end->figures.answers = {{"asr", milliseconds(400)}};
  const auto text = [&] { return Report(plan).table(TextStyle{false, true, 0}, false); };
  EXPECT_THAT(text(), HasSubstr("answered later, asr in 400 ms instead of 164 ms: no objective"));
  plan.path->now.figures.objectives.clear();
  EXPECT_THAT(text(), HasSubstr("all its pods at once: no request is lost"));
  EXPECT_THAT(text(), Not(HasSubstr("lost or late")));
}

TEST(PlanReport, NothingNewStandsButTheWayThere) {
  sim::Plan plan = sample_plan();
  plan.options.clear();
  plan.path = sample_path();
  plan.path->end = plan.path->now;
  plan.path->end->figures.verdict = {};
  const std::string text = Report(plan).table(TextStyle{false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("So does what 1 step of them leads to"));
  EXPECT_THAT(text, HasSubstr("export -f plan.json#step1 --to bundle"));
}

TEST(PlanReport, RejectionsOfOneReasonAreOneLine) {
  sim::Plan plan = sample_plan();
  plan.rejected.clear();
  const auto reject = [&](const std::string& type, sim::Strategy strategy, Code code,
                          const std::string& form, std::vector<std::string> figures) {
    plan.rejected.push_back({sim::RejectedChoice::Stage::Feasibility,
                             planned_pool(type, strategy, 2, 0),
                             code,
                             {form, std::move(figures)},
                             std::nullopt});
  };
  reject("g4dn.xlarge", sim::Strategy::Mig, Code::MigUnsupported, "no MIG on the {}", {"T4"});
  reject("g4dn.xlarge", sim::Strategy::TimeSlicing, Code::GpuOom, "one needs ({} MiB), not ${}",
         {"15110", "3"});
  reject("g4dn.2xlarge", sim::Strategy::Mig, Code::MigUnsupported, "no MIG on the {}", {"T4"});
  reject("g6.xlarge", sim::Strategy::MigTimeSlicing, Code::MigUnsupported, "no MIG on the {}",
         {"L4"});
  reject("g6.xlarge", sim::Strategy::Mps, Code::GpuOom, "one needs ({} MiB), not ${}",
         {"9000", "12"});
  reject("g6.xlarge", sim::Strategy::Mps, Code::GpuOom, "two need {} MiB", {"9000"});
  // What differs in the form is another reason, whatever its words look like.
  reject("g4dn.xlarge", sim::Strategy::Exclusive, Code::PodPending, "policy cap-1 denies it", {});
  reject("g6.xlarge", sim::Strategy::Exclusive, Code::PodPending, "policy cap-2 denies it", {});
  const std::string text = Report(plan).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("PENDING: policy cap-1 denies it\n"));
  EXPECT_THAT(text, HasSubstr("PENDING: policy cap-2 denies it\n"));
  EXPECT_THAT(text, HasSubstr("  MIG, MIG + time-slicing on g4dn, g6.xlarge (3 configurations): "
                              "MIG_UNSUPPORTED: no MIG on the T4,\n    L4\n"));
  EXPECT_THAT(text, HasSubstr("  time-slicing, MPS on g4dn.xlarge, g6.xlarge (2 configurations): "
                              "GPU_OOM: one needs (9000 to 15110\n    MiB), not $3 to $12\n"));
  EXPECT_THAT(text, HasSubstr("  g6.xlarge, MPS x2: GPU_OOM: two need 9000 MiB\n"));
  EXPECT_THAT(Report(plan).table(kTerminal, true), HasSubstr("on g4dn.xlarge, g4dn.2xlarge, g6"));
  EXPECT_EQ(nlohmann::json::parse(Report(plan).json())["rejected"].size(), 8U);
}

TEST(PlanReport, DrawsWhatWasSimulated) {
  const std::string chart = Report(sample_plan()).table(kTerminal, false);
  EXPECT_THAT(chart, HasSubstr("1★"));
  EXPECT_THAT(chart, HasSubstr("×"));
  TextStyle narrow = kTerminal;
  narrow.unicode = false;
  narrow.width = 60;
  const std::string plain = Report(sample_plan()).table(narrow, false);
  EXPECT_THAT(plain, HasSubstr("1*"));
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](char c) { return c >= 0; }));
  sim::Plan jobs = sample_plan();
  jobs.today.reset();
  jobs.rejected.clear();
  EXPECT_THAT(Report(jobs).table(kTerminal, false), Not(HasSubstr("BY $/MONTH"))) << "two points";
}

TEST(PlanReport, ExplainsAStoredPlanAndEachOption) {
  const SourceText stored{"plan.json", Report(sample_plan()).json()};
  const auto second = explain_plan(stored, 2, kTerminal);
  ASSERT_TRUE(second);
  EXPECT_THAT(*second, HasSubstr("#2 of 2: 2 x g6.xlarge, time-slicing x4"));
  EXPECT_THAT(*second, HasSubstr("$1,175 a month, $23.00 more than #1 (+2.0%)"));
  EXPECT_THAT(*second, HasSubstr("447 ±9 ms of at most 500 ms"));
  EXPECT_THAT(*second, HasSubstr("#1 costs no more"));
  EXPECT_THAT(*second, HasSubstr("it would be best if traffic is 1.38 times"));
  const auto whole = explain_plan(stored, std::nullopt, kTerminal);
  ASSERT_TRUE(whole);
  EXPECT_THAT(*whole, HasSubstr("Recommended of 2: 3 x g4dn.xlarge, MPS x4"));
  EXPECT_THAT(*whole, HasSubstr("1 x GPU_OOM"));
  EXPECT_FALSE(explain_plan(stored, 3, kTerminal));
  EXPECT_FALSE(explain_plan({"plan.json", "{}"}, 1, kTerminal));
}

TEST(PlanReport, ExplainsAStepOfAStoredPath) {
  sim::Plan plan = sample_plan();
  EXPECT_FALSE(explain_step({"plan.json", Report(plan).json()}, 1, kTerminal));
  plan.path = sample_path();
  const auto step = explain_step({"plan.json", Report(plan).json()}, 1, kTerminal);
  ASSERT_TRUE(step);
  EXPECT_THAT(*step, HasSubstr(fmt::format("Step 1 of {}", plan.path->steps.size())));
  EXPECT_THAT(*step,
              AllOf(HasSubstr(" becomes "), HasSubstr("It saves $"), HasSubstr("What restarts: ")));
}

TEST(PlanReport, TheCommittedSchemaIsWhatTheProgramPrints) {
  const auto file =
      std::filesystem::path(SLICEWISE_SOURCE_DIR) / "reports" / "schema" / "plan.v1alpha1.json";
  if (std::getenv("SLICEWISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << Report<sim::Plan>::schema();
  }
  EXPECT_EQ(file_text(file), Report<sim::Plan>::schema());
}

}  // namespace
}  // namespace slicewise::reports
