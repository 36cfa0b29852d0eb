#include "slicewise/sim/judge.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/sim/replay/replay.hpp"
#include "slicewise/sim/run.hpp"

#include "../demo.hpp"

namespace slicewise::sim {
namespace {

using Cause = Verdict::Cause;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Six pods of a workload that all run.
VariantResult six_running() {
  VariantResult variant;
  variant.pods.submitted = 6;
  variant.pods.running_max = 6;
  WorkloadResult& chat = variant.workloads.emplace_back();
  chat.name = "chat";
  chat.left_behind.pods = 6;
  return variant;
}

std::vector<Cause> causes(const VariantResult& variant, bool allow_pending = false) {
  std::vector<Cause> found;
  for (const Verdict::Reason& reason : judge(variant, allow_pending).reasons) {
    found.push_back(reason.cause);
    EXPECT_FALSE(reason.brief.empty());
    EXPECT_FALSE(reason.text.empty());
  }
  return found;
}

VariantResult with_objective(Duration value, std::optional<Duration> ci95, bool pass) {
  VariantResult variant = six_running();
  ObjectiveResult objective{"latencyP99", milliseconds(50), value, std::nullopt, pass, false};
  if (ci95) objective.ci95 = *ci95;
  variant.workloads.front().objectives = {objective};
  return variant;
}

TEST(Judge, WhatRunsAllItsPodsStands) {
  EXPECT_TRUE(judge(six_running(), false).stands());
  VariantResult waited = six_running();
  waited.pods.pending_max = 4;  // for a while
  EXPECT_THAT(causes(waited), IsEmpty());
}

// A p95 leaves out a twentieth of the requests.
TEST(Judge, LossesThatMayBeMoreThanAQuantileLeavesOutDecideNothing) {
  VariantResult variant = with_objective(milliseconds(35), milliseconds(1), true);
  std::optional<LostShare>& lost = variant.workloads.front().objectives.front().lost;
  lost = LostShare{0.049, 0.003, 0.05};
  ASSERT_THAT(causes(variant), ElementsAre(Cause::ObjectiveUndecided));
  EXPECT_THAT(
      judge(variant, false).reasons.front().text,
      HasSubstr("4.9 %, give or take 0.3 %, of its requests are lost, which leaves out 5 %"));
  lost->share = 0.046;
  EXPECT_THAT(causes(variant), IsEmpty());
}

// Requests of the first 25 of 600 s find no ready replica, give or take chance.
TEST(Judge, SeesTheIntervalOfLossesInARun) {
  scenarios::Workload api =
      demo::service(1, 5, milliseconds(5), scenarios::ServiceTime::Law::Deterministic);
  api.startup.model_load = seconds(25);
  scenarios::Objective limit;
  limit.limit = seconds(1);
  for (const auto figure : {scenarios::Figure::LatencyP50, scenarios::Figure::LatencyP95}) {
    limit.figure = figure;
    api.objectives.push_back(limit);
  }
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {api});
  scenario.duration = minutes(10);
  scenario.replications = 2;
  const VariantResult result = demo::result(scenario);
  const ObjectiveResult& p50 = result.workloads.front().objectives[0];
  const ObjectiveResult& p95 = result.workloads.front().objectives[1];
  ASSERT_TRUE(p50.lost && p95.lost && p95.lost->ci95);
  EXPECT_NEAR(p95.lost->share, 25.0 / 600, 0.006);
  EXPECT_GT(*p95.lost->ci95, 0);
  EXPECT_EQ(p50.lost->most, 0.5);
  EXPECT_EQ(standing_of(p50), ObjectiveStanding::Holds);
  EXPECT_EQ(standing_of(p95), p95.lost->share + *p95.lost->ci95 > 1 - 0.95
                                  ? ObjectiveStanding::Undecided
                                  : ObjectiveStanding::Holds);
}

TEST(Judge, EachKindOfLostPodIsAReasonInItsOwnWords) {
  VariantResult variant = six_running();
  LeftBehind& left = variant.workloads.front().left_behind;
  left.pending = 2;
  EXPECT_THAT(causes(variant), ElementsAre(Cause::PodsPending));
  const Verdict::Reason pending = judge(variant, false).reasons.front();
  EXPECT_EQ(pending.workload, "chat");
  EXPECT_EQ(pending.brief, "2 Pending");
  EXPECT_EQ(pending.text, "2 of 6 pods of \"chat\" stayed Pending");
  left.pending = 0;
  left.jobs = 3;
  left.never_admitted = 1;
  EXPECT_EQ(judge(variant, false).reasons.front().text,
            "1 of 3 jobs of \"chat\" is never admitted by its queue");
  EXPECT_THAT(causes(variant, true), IsEmpty());
  left.never_admitted = 0;
  left.pending = 2;
  left.crash_looping = 3;
  left.failed = 1;
  left.oom_kills = 1;
  variant.pods.running_max = 0;
  EXPECT_THAT(causes(variant), ElementsAre(Cause::NothingRan, Cause::OutOfMemory, Cause::PodsFailed,
                                           Cause::CrashLoopBackOff, Cause::PodsPending));
  EXPECT_EQ(judge(variant, false).reasons[1].brief, "1 OOM kill");
  EXPECT_TRUE(judge(variant, false).loses_pods());
  EXPECT_TRUE(judge(variant, false).meets_objectives());
}

TEST(Judge, AllowPendingForgivesPendingPodsAndNoDeadOnes) {
  VariantResult variant = six_running();
  variant.workloads.front().left_behind.pending = 2;
  EXPECT_THAT(causes(variant, true), IsEmpty());
  variant.workloads.front().left_behind.failed = 1;
  EXPECT_THAT(causes(variant, true), ElementsAre(Cause::PodsFailed));
}

TEST(Judge, AnObjectiveHoldsOnlyWithAllOfItsInterval) {
  EXPECT_THAT(causes(with_objective(milliseconds(40), milliseconds(9), true)), IsEmpty());
  EXPECT_THAT(causes(with_objective(milliseconds(50), std::nullopt, true)), IsEmpty());
  const VariantResult close = with_objective(milliseconds(48), milliseconds(5), true);
  EXPECT_THAT(causes(close), ElementsAre(Cause::ObjectiveUndecided));
  EXPECT_FALSE(judge(close, false).meets_objectives());
  EXPECT_THAT(judge(close, false).reasons.front().text, HasSubstr("48 ms, give or take 5 ms"));
  // Even where the interval reaches to the good side.
  EXPECT_THAT(causes(with_objective(milliseconds(52), milliseconds(5), false)),
              ElementsAre(Cause::ObjectiveMissed));
}

TEST(Judge, AMissReadsAsOne) {
  ObjectiveResult availability{"availability",
                               scenarios::Share{0.999},
                               scenarios::Share{0.9989669},
                               std::nullopt,
                               false,
                               true};
  EXPECT_EQ(missed_text("chat", availability),
            "\"chat\" misses availability: 99.897 % against a limit of 99.9 %");
  availability.value = scenarios::Share{0.95};
  EXPECT_THAT(missed_text("chat", availability), HasSubstr(": 95 % against"));
}

// All were finished, none in time.
TEST(Judge, ZeroIsAFigure) {
  ObjectiveResult deadlines{
      "deadlinesMet", scenarios::Share{0.6}, scenarios::Share{0}, std::nullopt, false, true};
  EXPECT_EQ(missed_text("team", deadlines),
            "\"team\" misses deadlinesMet: 0 % against a limit of 60 %");
  deadlines.is_absent = true;
  EXPECT_THAT(missed_text("team", deadlines), HasSubstr("nothing was finished"));
}

TEST(Judge, DurationsReadAsOnScreens) {
  const ObjectiveResult wait{"waitP95", seconds(1), seconds(150), std::nullopt, false, false};
  EXPECT_THAT(missed_text("team", wait), HasSubstr(": 2m30s against a limit of 1 s"));
  const ObjectiveResult long_wait{"waitP95",    minutes(15), seconds(36'320),
                                  std::nullopt, false,       false};
  EXPECT_THAT(missed_text("team", long_wait), HasSubstr(": 10h05m against a limit of 15m00s"));
}

TEST(Judge, JobsOfATraceThatNeverFitStayPending) {
  ReplayResult replayed;
  replayed.jobs = 10;
  replayed.finished = 8;
  replayed.without_run = 2;
  EXPECT_TRUE(judge(replayed, false).stands());
  replayed.finished = 5;
  replayed.never_fit = 3;
  const Verdict lost = judge(replayed, false);
  ASSERT_EQ(lost.reasons.size(), 1U);
  EXPECT_EQ(lost.reasons.front().cause, Cause::PodsPending);
  EXPECT_EQ(lost.reasons.front().brief, "3 Pending");
  EXPECT_THAT(lost.reasons.front().text, HasSubstr("3 of 8 jobs stayed Pending"));
  EXPECT_TRUE(judge(replayed, true).stands());
  replayed.finished = 0;
  replayed.never_fit = 8;
  EXPECT_TRUE(judge(replayed, false).has(Cause::NothingRan));
  EXPECT_TRUE(judge(replayed, true).has(Cause::NothingRan));
}

TEST(Judge, OfAtLeastTheIntervalIsBelow) {
  const auto clears = [](double value, double half) {
    return clears_limit(scenarios::Share{value}, scenarios::FigureValue(scenarios::Share{half}),
                        scenarios::Share{0.9}, true);
  };
  EXPECT_TRUE(clears(0.95, 0.04));
  EXPECT_FALSE(clears(0.95, 0.06));
}

TEST(Judge, TheShareOfALimitOfNothingIsNothingWhereItIsMet) {
  EXPECT_EQ(share_of_limit(0.0, 0.0, false), 0);
  EXPECT_EQ(share_of_limit(1.0, 0.0, false), kHopelessShare);
  EXPECT_EQ(share_of_limit(milliseconds(50), milliseconds(100), false), 0.5);
  EXPECT_EQ(share_of_limit(Rate{5}, Rate{10}, true), 2);
  // 0.5 of the 1 % that may be lost.
  EXPECT_NEAR(share_of_limit(scenarios::Share{0.995}, scenarios::Share{0.99}, true), 0.5, 1e-9);
}

TEST(Judge, OnlyPoliciesThatDenyAndFailCount) {
  VariantResult variant = six_running();
  PolicyResult policy;
  policy.name = "budget";
  policy.assertion = "cost.monthly <= 10";
  policy.verdict = PolicyResult::Verdict::Unknown;
  variant.policies = {policy};
  EXPECT_THAT(causes(variant), IsEmpty());
  variant.policies.front().verdict = PolicyResult::Verdict::Fail;
  EXPECT_THAT(causes(variant), ElementsAre(Cause::PolicyDenies));
  variant.policies.front().severity = scenarios::PolicySeverity::Warn;
  EXPECT_THAT(causes(variant), IsEmpty());
  variant.policies.front().severity = scenarios::PolicySeverity::Require;
  EXPECT_THAT(causes(variant), ElementsAre(Cause::PolicyDenies));
  variant.policies.front().verdict = PolicyResult::Verdict::Unknown;
  ASSERT_THAT(causes(variant), ElementsAre(Cause::PolicyDenies));
  EXPECT_EQ(judge(variant, false).reasons.front().text,
            "policy \"budget\" denies it: cost.monthly <= 10 is not judged");
}

// A kernel that dies is seen by its user, who goes on: how often is an objective.
TEST(Judge, OfNotebooksAnObjectiveSaysHowMuchIsTooMuch) {
  VariantResult variant = six_running();
  LeftBehind& left = variant.workloads.front().left_behind;
  left.oom_kills = 3;
  left.pending = 1;
  EXPECT_THAT(causes(variant), ElementsAre(Cause::OutOfMemory, Cause::PodsPending));
  variant.workloads.front().objectives = {
      {"oomPerUserMonth", 5.0, 1.0, std::nullopt, true, false},
      {"sessionStartP95", minutes(3), seconds(10), std::nullopt, true, false}};
  EXPECT_THAT(causes(variant), IsEmpty());
}

TEST(Judge, CausesHaveNamesAndWords) {
  std::set<std::string_view> names;
  std::set<std::string> words;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    names.insert(cause_name(cause));
    Verdict verdict;
    verdict.reasons.push_back({cause, "", "", ""});
    words.insert(causes_text({&verdict, 1}));
  }
  EXPECT_EQ(names.size(), kCauses);
  EXPECT_EQ(words.size(), kCauses);
  Verdict some;
  some.reasons = {{Cause::PolicyDenies, "", "", ""}, {Cause::PodsPending, "", "", ""}};
  const std::vector<Verdict> all = {some, Verdict{}};
  EXPECT_EQ(causes_text(all), "leave pods Pending or are denied by a policy");
  EXPECT_EQ(causes_text({}), "");
}

// Five jobs on four GPUs: the fifth waits for its turn and is done in the end.
TEST(Judge, AQueueThatIsWorkedOffStands) {
  const auto world =
      build_world(demo::scenario(demo::pool(0), {demo::training(5)}), demo::catalogue());
  ASSERT_TRUE(world.has_value());
  const auto result = simulate(*world);
  EXPECT_GT(result->pods.pending_max, 0);
  EXPECT_TRUE(result->verdict.stands());
}

// The same, cut off before the first four are done.
TEST(Judge, AJobWhoseTurnDidNotComeDoesNotStand) {
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {demo::training(5)});
  scenario.duration = minutes(5);
  const auto world = build_world(scenario, demo::catalogue());
  ASSERT_TRUE(world.has_value());
  EXPECT_THAT(causes(*simulate(*world)), ElementsAre(Cause::PodsPending));
}

VariantResult cut_off(scenarios::Workload workload, Duration after) {
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {std::move(workload)});
  scenario.duration = after;
  return demo::result(scenario);
}

// Of five jobs on four GPUs, half an hour each.
TEST(Judge, JobsThatTheRunWasOverBeforeAreUnfinished) {
  using Left = std::vector<UnfinishedJobs>;
  EXPECT_EQ(unfinished_jobs(cut_off(demo::training(5), hours(2))), Left{});
  const VariantResult one_left = cut_off(demo::training(5), minutes(40));
  EXPECT_TRUE(one_left.verdict.stands());
  EXPECT_EQ(unfinished_jobs(one_left), (Left{{"cifar10", 1, 5}}));
  EXPECT_FALSE(all_jobs_end(one_left.workloads.front()));
  // The fifth stayed Pending, which the verdict says.
  EXPECT_EQ(unfinished_jobs(cut_off(demo::training(5), minutes(5))), (Left{{"cifar10", 4, 5}}));
  // A Deployment has nothing to get done.
  scenarios::Workload deployment = demo::training(2);
  deployment.kind = scenarios::WorkloadKind::Deployment;
  deployment.restart_policy = scenarios::RestartPolicy::Always;
  EXPECT_EQ(unfinished_jobs(cut_off(deployment, minutes(5))), Left{});
}

// It was over after a year, with a warning, and stood.
TEST(Judge, WhatAYearDoesNotEndDoesNotStand) {
  scenarios::Workload job = demo::training(2);
  job.measured->unit_time = hours(24 * 400);
  const VariantResult result = demo::result(demo::scenario(demo::pool(0), {job}));
  EXPECT_TRUE(demo::has(result.findings, Code::RunNeverEnds));
  ASSERT_EQ(result.verdict.reasons.size(), 1U);
  EXPECT_EQ(result.verdict.reasons.front().cause, Cause::PodsFailed);
  EXPECT_EQ(result.verdict.reasons.front().brief, "2 of 2 jobs never ended");
}

// Half an hour each, four at a time: the run goes on for longer.
TEST(Judge, JobsAreDoneBeforeTheRunIsOver) {
  const VariantResult two_rounds = cut_off(demo::training(5), hours(3));
  EXPECT_EQ(two_rounds.makespan.mean, hours(3));
  ASSERT_TRUE(two_rounds.last_job_end);
  EXPECT_GE(two_rounds.last_job_end->mean, minutes(60));
  EXPECT_LT(two_rounds.last_job_end->mean, minutes(90));
  EXPECT_FALSE(cut_off(demo::training(5), minutes(5)).last_job_end);
}

// Jobs were counted as pods: two of two pods each were one done of four.
TEST(Judge, AGangIsOneJob) {
  scenarios::Workload gangs = demo::training(4);
  gangs.pods_per_job = 2;
  const VariantResult done = cut_off(gangs, hours(2));
  EXPECT_EQ(done.workloads.front().left_behind.jobs, 2);
  EXPECT_TRUE(all_jobs_end(done.workloads.front()));
  EXPECT_THAT(unfinished_jobs(done), IsEmpty());
  EXPECT_EQ(unfinished_jobs(cut_off(gangs, minutes(5))),
            (std::vector<UnfinishedJobs>{{"cifar10", 2, 2}}));
}

TEST(Judge, MoreJobsAreDoneWhereAllAreThatAnotherGetsDoneAndSomeThatItDoesNot) {
  const std::vector<UnfinishedJobs> none;
  const std::vector<UnfinishedJobs> first{{"a", 1, 5}};
  const std::vector<UnfinishedJobs> second{{"b", 1, 1}};
  const std::vector<UnfinishedJobs> both{{"a", 3, 5}, {"b", 1, 1}};
  EXPECT_TRUE(gets_more_jobs_done(none, first));
  EXPECT_TRUE(gets_more_jobs_done(second, both));
  EXPECT_FALSE(gets_more_jobs_done(first, none));
  EXPECT_FALSE(gets_more_jobs_done(first, second));
  EXPECT_FALSE(gets_more_jobs_done(first, {{"a", 4, 5}}));  // both leave some
  EXPECT_FALSE(gets_more_jobs_done({{"c", 1, 1}}, both));
}

// 25 ms of work each, on one GPU.
VariantResult serving(double rate, int replications, bool objective = false) {
  scenarios::Workload service =
      demo::service(1, rate, milliseconds(25), scenarios::ServiceTime::Law::Exponential);
  if (objective) {
    scenarios::Objective enough;
    enough.figure = scenarios::Figure::Throughput;
    enough.limit = Rate{30};
    service.objectives.push_back(enough);
  }
  scenarios::Scenario scenario = demo::scenario(demo::pool(0), {service});
  scenario.duration = minutes(5);
  scenario.warmup = seconds(30);
  scenario.replications = replications;
  return demo::result(scenario);
}

// "ok" stood beside 40.7 of 50 requests/s.
TEST(Judge, AServiceThatAnswersLessThanComesDoesNotStand) {
  for (const int replications : {1, 3}) {
    const VariantResult overloaded = serving(50, replications);
    ASSERT_EQ(overloaded.verdict.reasons.size(), 1U);
    const Verdict::Reason& reason = overloaded.verdict.reasons.front();
    EXPECT_EQ(reason.cause, Cause::Overloaded);
    EXPECT_THAT(reason.text, ::testing::ContainsRegex("\"api\" answers [34][0-9].* of [45][0-9]"));
    // A busy queue is long now and then, and the end of the run finds some requests in it.
    EXPECT_TRUE(serving(36, replications).verdict.stands());
  }
  EXPECT_TRUE(serving(0.2, 1).verdict.stands());
}

TEST(Judge, NothingAnsweredStandsBesideWhatComes) {
  scenarios::Scenario scenario = demo::scenario(
      demo::pool(0), {demo::service(1, 5, minutes(5), scenarios::ServiceTime::Law::Deterministic)});
  scenario.duration = minutes(2);
  const Verdict verdict = demo::result(scenario).verdict;
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_THAT(verdict.reasons.front().text,
              ::testing::ContainsRegex("answers 0 of [45][.0-9]* requests/s"));
}

// It stood: nothing was dropped, and nothing waited.
TEST(Judge, AServiceThatRefusesRequestsDoesNotStand) {
  scenarios::Scenario scenario = demo::scenario(
      demo::pool(0),
      {demo::service(1, 5, milliseconds(25), scenarios::ServiceTime::Law::Deterministic)});
  scenario.duration = minutes(5);
  scenario.workloads[0].count = 0;
  const Verdict verdict = demo::result(scenario).verdict;
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_EQ(verdict.reasons.front().brief, "api refuses requests");
}

// An objective says how much is enough.
TEST(Judge, WithAnObjectiveOverloadMayBeWanted) {
  EXPECT_TRUE(serving(50, 3, true).verdict.stands());
}

}  // namespace
}  // namespace slicewise::sim
