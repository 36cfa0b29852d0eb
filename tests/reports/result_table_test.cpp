#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/reports/result_report.hpp"

#include "golden_file.hpp"
#include "platform_sample.hpp"
#include "reports/screens/result_verdict.hpp"
#include "reports/screens/screen.hpp"
#include "result_samples.hpp"
#include "terminals.hpp"

namespace slicewise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Code points: every sign of a report takes one column.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, columns(line));
  return widest;
}

TEST(ResultTable, MatchesTheGoldenScreens) {
  expect_golden("aws_demo.txt", Report(samples::aws_demo()).table(kTerminal, false));
  expect_golden("aws_demo_wide.txt", Report(samples::aws_demo()).table(kTerminal, true));
  expect_golden("voice_ascii.txt", Report(samples::voice()).table(kAscii, false));
  expect_golden("platform.txt", Report(samples::platform()).table(kTerminal, false));
  expect_golden("platform_wide.txt", Report(samples::platform()).table(kTerminal, true));
}

TEST(ResultTable, PoliciesShowWhatTheyFound) {
  const std::string text = Report(samples::with_policies()).table(kAscii, false);
  EXPECT_THAT(text, HasSubstr("POLICIES"));
  EXPECT_THAT(text, HasSubstr("1 FAILED"));
  EXPECT_THAT(text, ::testing::ContainsRegex("FAILED +budget +cost.monthly <= 800 +cost.monthly = "
                                             "1151.94 USD"));
  EXPECT_THAT(text, ::testing::ContainsRegex("fails +idle"));
  EXPECT_THAT(text, ::testing::ContainsRegex("holds +crashes"));
  EXPECT_THAT(text, ::testing::ContainsRegex("not judged +room"));
  EXPECT_THAT(text, HasSubstr("headroom = unknown"));
  EXPECT_LE(widest_line(text), 100);
  const std::string comment = Report(samples::with_policies()).markdown();
  EXPECT_THAT(comment, HasSubstr("budget"));
  EXPECT_THAT(comment, HasSubstr(" Not judged: policy \"room\"."));
}

TEST(ResultTable, FitsAHundredColumns) {
  EXPECT_LE(widest_line(Report(samples::aws_demo()).table(kTerminal, false)), 100);
  EXPECT_LE(widest_line(Report(samples::voice()).table(kTerminal, false)), 100);
  EXPECT_LE(widest_line(Report(samples::platform()).table(kTerminal, false)), 100);
}

TEST(ResultTable, NarrowTerminalDropsColumnsAndSaysWhich) {
  const std::string text = Report(samples::aws_demo()).table({false, true, 80}, false);
  EXPECT_LE(widest_line(text), 80);
  EXPECT_THAT(text, HasSubstr("not shown: STRATEGY,"));
  EXPECT_THAT(Report(samples::aws_demo()).table(kTerminal, true), Not(HasSubstr("not shown")));
}

TEST(ResultTable, ASweepSaysWhereThePriceStopsFalling) {
  sim::Result result = samples::aws_demo();
  result.variants.clear();
  for (const auto& [name, price] :
       {std::pair{"replicas=2", 0.95}, {"replicas=5", 0.65}, {"replicas=10", 0.649}}) {
    sim::VariantResult& variant = result.variants.emplace_back(samples::after_memory_growth());
    variant.name = name;
    variant.swept_value = variant.name.substr(variant.name.find('=') + 1);
    variant.cost.per_job = from_dollars(price);
    variant.verdict = {};
  }
  const std::string knee = "replicas: 5 is where the price of a job stops falling ($0.6500)";
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr(knee + "\n"));
  sim::Result ends = result;
  ends.variants[2].verdict.reasons = {
      {sim::Verdict::Cause::PodsFailed, "cifar10", "16 failed", "16 of 20 pods failed"}};
  EXPECT_THAT(Report(ends).table(kTerminal, false), HasSubstr(knee + "; beyond it: 16 failed\n"));
  result.variants[1].verdict.reasons.push_back({});  // what does not stand is no knee
  // Nothing beyond the cheapest was tried: it may fall further.
  EXPECT_THAT(Report(result).table(kTerminal, false), Not(HasSubstr("is where the price")));
  result.variants.pop_back();
  EXPECT_THAT(Report(result).table(kTerminal, false), Not(HasSubstr("is where the price")));
}

TEST(ResultTable, PricesOfOtherWorkHaveNoKnee) {
  sim::Result result = samples::voice();
  result.variants.clear();
  for (const auto& [name, price] :
       {std::pair{"mean=10", 0.02}, {"mean=20", 0.011}, {"mean=30", 0.012}}) {
    sim::VariantResult& variant = result.variants.emplace_back(samples::voice().variants[0]);
    variant.name = name;
    variant.swept_value = variant.name.substr(variant.name.find('=') + 1);
    variant.cost.per_1k_requests_in_slo = from_dollars(price);
    variant.verdict = {};
  }
  EXPECT_THAT(Report(result).table(kTerminal, false),
              HasSubstr("mean: 20 is where the price of 1,000 requests in SLO stops falling"));
  result.variants[0].workloads[0].requests->arrived /= 2;  // it is the load
  EXPECT_THAT(Report(result).table(kTerminal, false), Not(HasSubstr("is where the price")));
  sim::Result jobs = samples::aws_demo();
  jobs.variants.clear();
  for (const auto& [name, price] :
       {std::pair{"jobs=2", 0.95}, {"jobs=5", 0.65}, {"jobs=10", 0.66}}) {
    sim::VariantResult& variant = jobs.variants.emplace_back(samples::after_memory_growth());
    variant.name = name;
    variant.swept_value = variant.name.substr(variant.name.find('=') + 1);
    variant.cost.per_job = from_dollars(price);
    variant.verdict = {};
    variant.workloads[0].completed = 5 * static_cast<double>(jobs.variants.size());
  }
  EXPECT_THAT(Report(jobs).table(kTerminal, false), Not(HasSubstr("is where the price")));
}

TEST(Screen, TablesWithOtherHeadersAreNotAlike) {
  ScreenPart narrow{.alike = true};
  narrow.table.columns = {{"WORKLOAD"}, {"A", true}};
  narrow.table.rows.push_back({Cell("asr"), Cell("1")});
  ScreenPart wide{.alike = true};
  wide.table.columns = {{"WORKLOAD"}, {"REQUESTS", true}, {"B", true}};
  wide.table.rows.push_back({Cell("asr"), Cell("22"), Cell("3")});
  ScreenPart longer = wide;
  longer.table.rows[0][0] = Cell("transcription");
  const Screen screen{.scenario = "s", .alarm = "", .heading = "", .parts = {narrow, wide, longer}};
  EXPECT_EQ(screen_text(screen, kTerminal, false),
            "WORKLOAD  A\nasr       1\n\n"
            "WORKLOAD       REQUESTS  B\nasr                  22  3\n\n"
            "WORKLOAD       REQUESTS  B\ntranscription        22  3\n");
}

TEST(ResultTable, AResultBeginsWithWhatAGpuHolds) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  sim::GpuRoom room;
  room.safe = room.may_meet = 4;
  room.bound = sim::GpuRoom::Bound::Memory;
  room.usable = mebibytes(22'630);
  room.context = mebibytes(512);
  room.tenants = {{"cifar10", 4, 1, mebibytes(4'198), false}};
  room.next = mebibytes(5 * 4'710);
  result.variants.front().rooms = {room};
  EXPECT_THAT(Report(result).table(kTerminal, false),
              StartsWith("4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; a fifth lacks 0.9 GiB\n"));
  sim::ObjectiveResult missed;
  missed.name = "completionP95";
  missed.limit = missed.value = scenarios::FigureValue(seconds(1));
  result.variants.front().workloads.front().objectives = {missed};
  EXPECT_THAT(
      Report(result).table({false, true, 140}, false),
      StartsWith("4 per GPU: 4 x (4.1 + 0.5 GiB) of 22.1; a fifth lacks 0.9 GiB; completionP95 "
                 "of cifar10 is missed\n"));
}

TEST(ResultTable, ColourIsOnlyWrittenWhenAsked) {
  EXPECT_THAT(Report(samples::voice()).table(kTerminal, false), Not(HasSubstr("\x1b")));
  const std::string coloured = Report(samples::voice()).table({true, true, 100}, false);
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m✗ MISSED\x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[32m✓ met\x1b[0m"));
}

TEST(ResultTable, AsciiHasNoOtherBytes) {
  const std::string text = Report(samples::voice()).table(kAscii, false);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80U) << text;
  EXPECT_THAT(text, HasSubstr("X MISSED"));
}

TEST(ResultTable, LastLineSaysWhereTheNumbersComeFrom) {
  const std::string text = Report(samples::aws_demo()).table(kTerminal, false);
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  EXPECT_EQ(last,
            "seed 42 · 5 runs · 95% intervals · prices 2026-07-20 · scenario 9f3c1e0a… · "
            "slicewise v0.1.0\n");
}

TEST(ResultTable, NamesTheAssumedInputsOnceAndWhatIsNotModelled) {
  const std::string text = Report(samples::aws_demo()).table({false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("4 inputs Assumed (-o wide lists them): unitTime, gpuBusy, smActive, "
                              "cpu\n"));
  EXPECT_THAT(text, HasSubstr("not modelled: slicewise explain not-modelled\n"));
  const std::string wide = Report(samples::aws_demo()).table({false, true, 0}, true);
  EXPECT_THAT(wide, HasSubstr("4 inputs Assumed: nobody measured them: cifar10: unitTime, "));
  EXPECT_EQ(wide.find("nobody measured"), wide.rfind("nobody measured"));
  EXPECT_THAT(wide, HasSubstr("not modelled: slicewise explain not-modelled\n"));
}

TEST(ResultTable, RatesOfAllVariantsHaveOneUnit) {
  sim::Result result = samples::aws_demo();
  result.variants[0].workloads[0].throughput_per_second = 20;
  const std::string text = Report(result).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr(" 20.0 epoch/s"));
  EXPECT_THAT(text, Not(HasSubstr("epoch/h")));
}

TEST(ResultTable, APriceFileIsNamedInTheLastLine) {
  sim::Result result = samples::aws_demo();
  result.stamp.price_date = "2026-01-01";
  result.stamp.price_file = "our.json";
  result.stamp.price_file_sha256 = "1f2e3d4c5b6a";
  EXPECT_THAT(Report(result).table(kTerminal, false),
              HasSubstr(" · prices our.json (2026-01-01, 1f2e3d4c…) · "));
}

TEST(ResultTable, AnInterruptedRunSaysSoFirstAndClaimsNoIntervals) {
  sim::Result result = samples::aws_demo();
  result.interrupted = true;
  result.stamp.replications = 20;
  result.variants.resize(1);
  result.variants[0].replications = 3;
  result.variants[0].replications_asked = 20;
  EXPECT_THAT(Report(result).table(kTerminal, false),
              StartsWith("INTERRUPTED: 3 of 20 runs done\n"));
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr("95% intervals"));
  result.variants[0].replications = 1;
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr("no intervals"));
  result.variants.clear();
  EXPECT_THAT(Report(result).table(kTerminal, false),
              StartsWith("INTERRUPTED: 0 of 20 runs done\nseed 42 · 20 runs · no intervals"));
}

TEST(ResultTable, FitsSixtyColumns) {
  for (const sim::Result& result : {samples::aws_demo(), samples::voice(), samples::platform()}) {
    EXPECT_LE(widest_line(Report(result).table({false, true, 60}, false)), 60);
  }
}

TEST(ResultTable, FailedPodsAreShownOnNarrowTerminals) {
  const std::string text = Report(samples::aws_demo()).table({false, true, 60}, false);
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("FAILED"));
}

TEST(ResultTable, RestartsAreShownWhenNothingElseTellsOfCrashes) {
  sim::Result result = samples::voice();
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr("not shown: STRATEGY, FAILED"));
  result.variants[0].pods.restarts = 7;
  const std::string text = Report(result).table({false, true, 80}, false);
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("RESTARTS"));
}

TEST(ResultTable, OnlyJobsHaveAMakespanAndOnlyObjectivesAnSlo) {
  sim::Result result = samples::voice();
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr("$/1K IN SLO"));
  for (sim::WorkloadResult& w : result.variants[0].workloads) w.objectives.clear();
  const std::string text = Report(result).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("  LENGTH  "));
  EXPECT_THAT(text, Not(HasSubstr("MAKESPAN")));
  EXPECT_THAT(text, HasSubstr("$/1K REQ"));
  EXPECT_THAT(text, Not(HasSubstr("IN SLO")));
  EXPECT_THAT(text, HasSubstr("per 1,000 requests ·"));
}

TEST(ResultTable, ASchedulerMessageIsPrintedOnce) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  const std::string reason = result.variants[0].pods.pending_reasons.at(0);
  result.variants[0].findings[0].message = "1 of 5 pods waited: " + reason;
  const std::string text = Report(result).table({false, true, 0}, false);
  EXPECT_NE(text.find(reason), std::string::npos);
  EXPECT_EQ(text.find(reason), text.rfind(reason));
}

TEST(ResultTable, WaitingSaysHowManyPodsNeverStarted) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  EXPECT_THAT(Report(result).table({false, true, 0}, false), Not(HasSubstr("2 never")));
  result.variants[0].workloads[0].left_behind.pending = 2;
  const std::string text = Report(result).table({false, true, 0}, false);
  EXPECT_THAT(text, HasSubstr("6m00s, up to 2 never"));  // beside the other variants
  EXPECT_THAT(text, ::testing::ContainsRegex("6m00s ±[^,]*, up to 2 never"));
}

TEST(ResultTable, JobsThatTheRunWasOverBeforeAreCounted) {
  sim::Result result = samples::aws_demo();
  const TextStyle wide{false, true, 0};
  EXPECT_THAT(Report(result).table(wide, false), Not(HasSubstr("unfinished")));
  sim::LeftBehind& left = result.variants[0].workloads[0].left_behind;
  left.jobs = left.pods = 20;  // 5 were done
  EXPECT_THAT(Report(result).table(wide, false),
              HasSubstr("before: 15 of 20 jobs of cifar10 unfinished when the run was over; a "
                        "longer duration shows when they are done\n"));
  EXPECT_THAT(Report(result).markdown(), HasSubstr("before: 15 of 20 jobs of cifar10 unfinished"));
  // A line for all that leave as many.
  for (sim::VariantResult& variant : result.variants) {
    variant.workloads[0] = result.variants[0].workloads[0];
  }
  EXPECT_THAT(Report(result).table(wide, false),
              HasSubstr("every variant: 15 of 20 jobs of cifar10 unfinished"));
  result.variants.resize(1);
  EXPECT_THAT(verdict(result), HasSubstr("before finishes 5 of 20 jobs for "));
  result.variants[0].stopped_at = minutes(1);  // an interrupt has a line of its own
  EXPECT_THAT(Report(result).table(wide, false), Not(HasSubstr("unfinished")));
}

TEST(ResultTable, AnOpenVerdictSaysHowManyRunsDecideIt) {
  sim::Result result = samples::voice();
  sim::VariantResult& variant = result.variants.front();
  variant.replications = 5;
  for (sim::WorkloadResult& w : variant.workloads) w.objectives.clear();
  sim::ObjectiveResult& p99 = variant.workloads.front().objectives.emplace_back();
  p99 = {"latencyP99", milliseconds(500), milliseconds(490), milliseconds(30), true};
  const auto screen = [&] {
    variant.verdict = sim::judge(variant, false);
    return Report(result).table(kTerminal, false);
  };
  EXPECT_THAT(screen(), HasSubstr("--replications 45 should decide"));  // (30 / 10)^2 times as many
  p99.value = milliseconds(505);                                        // a miss by chance, perhaps
  p99.pass = false;
  EXPECT_THAT(screen(), HasSubstr("--replications 180 should decide"));
  p99.value = milliseconds(500);  // no number of runs
  p99.pass = true;
  EXPECT_THAT(screen(), Not(HasSubstr("--replications")));
  p99.value = milliseconds(400);
  EXPECT_THAT(screen(), Not(HasSubstr("--replications")));
  // As are the requests that may be lost: 0.8 % of 1 %, give or take 0.4 %.
  p99.lost = sim::LostShare{.share = 0.008, .ci95 = 0.004, .most = 0.01};
  EXPECT_THAT(screen(), HasSubstr("--replications 20 should decide"));
  p99.lost.reset();
}

TEST(ResultTable, SayNoVariantsWhenThereAreNone) {
  sim::Result empty = samples::aws_demo();
  empty.variants.clear();
  EXPECT_THAT(Report(empty).table(kTerminal, false), HasSubstr("aws-cifar10: no variants\n"));
}

TEST(ResultTable, SweepShowsTheComparisonOnlyUnlessWide) {
  sim::Result sweep = samples::aws_demo();
  while (sweep.variants.size() < 7) sweep.variants.push_back(samples::before());
  EXPECT_THAT(Report(sweep).table(kTerminal, false), HasSubstr("7 variants; -o wide shows each"));
  EXPECT_THAT(Report(sweep).table(kTerminal, false), Not(HasSubstr("MEMORY PEAK")));
  EXPECT_THAT(Report(sweep).table(kTerminal, true), HasSubstr("MEMORY PEAK"));
  TextStyle terminal = kTerminal;
  terminal.width = 200;
  EXPECT_THAT(Report(sweep).table(terminal, false), HasSubstr("BOUND BY"));
}

// 20 services of which the 18th misses its objective and the last serves nobody.
sim::Result many_services() {
  sim::Result result = samples::voice();
  auto& workloads = result.variants[0].workloads;
  const sim::WorkloadResult met = workloads[0];
  workloads.assign(20, met);
  for (std::size_t w = 0; w < workloads.size(); ++w) workloads[w].name = fmt::format("svc-{}", w);
  workloads[17].objectives[0].pass = false;
  sim::WorkloadResult& idle = workloads[19];
  idle.completed = idle.throughput_per_second = idle.goodput_per_second = 0;
  idle.requests.emplace().refused = 500;
  idle.requests->arrived = 500;
  idle.latency.reset();
  idle.objectives = {{"latencyP99", milliseconds(800), {}, {}, false}};
  return result;
}

TEST(ResultTable, OfManyWorkloadsThoseInTroubleAreShown) {
  const std::string text = Report(many_services()).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("\n  svc-9 "));
  EXPECT_THAT(text, Not(HasSubstr("\n  svc-10 ")));  // ten of those that are well, two that are not
  EXPECT_THAT(text, HasSubstr("\n  svc-17 "));
  EXPECT_THAT(text, HasSubstr("\n  svc-19 "));
  EXPECT_THAT(text, HasSubstr("and 8 more workloads, without a missed objective (-o wide)"));
  const std::string wide = Report(many_services()).table(kTerminal, true);
  EXPECT_THAT(wide, HasSubstr("\n  svc-10 "));
  EXPECT_THAT(wide, Not(HasSubstr("more workloads")));
}

TEST(ResultTable, LeftOutWorkloadsAreNotCalledWellWhenTheyMayNotBe) {
  sim::Result result = many_services();
  for (sim::WorkloadResult& w : result.variants[0].workloads) w.objectives[0].pass = false;
  EXPECT_THAT(Report(result).table(kTerminal, false), HasSubstr("and 8 more workloads (-o wide)"));
}

TEST(ResultTable, RequestsThatFoundNoReplicaAreNotInTheObjective) {
  sim::Result result = samples::voice();
  sim::WorkloadResult& asr = result.variants[0].workloads[0];
  asr.requests->in_objectives = asr.requests->answered;
  asr.requests->refused = asr.requests->answered;  // as many as were served
  const std::string text = Report(result).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("REFUSED"));
  EXPECT_THAT(text, HasSubstr(" 50.00%"));
  // Nobody was served: no value, and nothing in time.
  const std::string idle = Report(many_services()).table({false, true, 0}, false);
  EXPECT_THAT(idle, ::testing::ContainsRegex("MISSED +svc-19 +latency p99 +– +800 ms"));
  EXPECT_THAT(idle, ::testing::ContainsRegex("svc-19 +500 +500 +0.00/s +0.00%"));
}

TEST(ResultTable, TheSameWarningIsPrintedFourTimesUnlessWide) {
  sim::Result result = samples::voice();
  auto& findings = result.variants[0].findings;
  findings.assign(9, samples::finding(Code::ObjectiveMissed, "too slow", 40));
  EXPECT_THAT(Report(result).table(kTerminal, false),
              HasSubstr("and 5 more OBJECTIVE_MISSED (-o wide)"));
  EXPECT_THAT(Report(result).table(kTerminal, true), Not(HasSubstr("more OBJECTIVE_MISSED")));
}

TEST(ResultTable, MoreThanEightGpusOfANodeAreSummedUpUnlessWide) {
  sim::Result result = samples::aws_demo();
  result.variants.resize(1);
  auto& gpus = result.variants[0].gpus;
  gpus.clear();
  for (int i = 0; i < 16; ++i) {
    gpus.push_back(samples::v100(i, i % 2 == 0 ? 0.2 : 0.6, 0.1, mebibytes(1024 * (i + 1) / 2)));
  }
  const std::string text = Report(result).table(kTerminal, false);
  EXPECT_THAT(text, HasSubstr("v100-0 (16 GPUs)  ████░░░░░░  40%"));
  EXPECT_THAT(text, HasSubstr("8.0Gi of 15.8Gi"));
  EXPECT_THAT(text, Not(HasSubstr("v100-0 #15")));
  EXPECT_THAT(Report(result).table(kTerminal, true), HasSubstr("v100-0 #15"));
}

TEST(ResultTable, AKindOfWorkThatIsNotThereHasNoTable) {
  const std::string demo = Report(samples::aws_demo()).table({false, true, 0}, true);
  for (const char* heading : {"SERVICE", "LANGUAGE MODEL", "AUTOSCALED", "NOTEBOOKS", "TTFT"}) {
    EXPECT_THAT(demo, Not(HasSubstr(heading)));
  }
  const std::string voice = Report(samples::voice()).table({false, true, 0}, true);
  EXPECT_THAT(voice, HasSubstr("SERVICE"));
  EXPECT_THAT(voice, Not(HasSubstr("  DONE")));
}

TEST(ResultTable, LostRequestsAndBatchesAreShownWhenThereAreSome) {
  sim::Result result = samples::voice();
  const char* headings[] = {"REFUSED", "DROPPED", "TIMED OUT", "RETRIES", "BATCH", "QUEUE P95"};
  for (const char* heading : headings) {
    EXPECT_THAT(Report(result).table(kTerminal, true), Not(HasSubstr(heading)));
  }
  sim::WorkloadResult& asr = result.variants[0].workloads[0];
  asr.requests->refused = asr.requests->dropped = asr.requests->timed_out = 3;
  asr.requests->retried = 5;
  asr.requests->mean_batch = 2.5;
  asr.queueing = asr.latency;
  for (const char* heading : headings) {
    EXPECT_THAT(Report(result).table(kTerminal, true), HasSubstr(heading));
  }
}

TEST(ResultTable, ObjectivesShowTheirOwnUnitsAndLowerLimits) {
  const std::string text = Report(samples::platform()).table(kTerminal, false);
  EXPECT_THAT(text, ::testing::ContainsRegex("chat +TTFT p95 +742 ±31 ms +800 ms"));
  EXPECT_THAT(text, ::testing::ContainsRegex("chat +availability +99.97% +≥ 99.90%"));
  EXPECT_THAT(text, ::testing::ContainsRegex("lab +cell slowdown p95 +2.41 +2"));
  EXPECT_THAT(text, ::testing::ContainsRegex("lab +OOM per user month +0.12 +0.2"));
}

TEST(ResultTable, ARoughTailIsMarked) {
  sim::Result result = samples::platform();
  EXPECT_THAT(Report(result).table(kTerminal, true), HasSubstr(" ~"));
  for (sim::WorkloadResult& w : result.variants[0].workloads) {
    if (w.latency) w.latency->p999_is_rough = false;
  }
  EXPECT_THAT(Report(result).table(kTerminal, true), Not(HasSubstr(" ~")));
}

}  // namespace
}  // namespace slicewise::reports
