#include "turns.hpp"

#include <gtest/gtest.h>

#include "fake_timetable.hpp"
#include "options.hpp"

namespace slicewise::gpu_probe {
namespace {

TEST(Spread, QuantilesLieBetweenNeighbours) {
  const Spread spread = spread_of({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(spread.median, 3);
  EXPECT_DOUBLE_EQ(spread.low, 1.2);
  EXPECT_DOUBLE_EQ(spread.high, 4.8);
  EXPECT_EQ(spread.count, 5U);
  EXPECT_EQ(spread_of({}).count, 0U);
}

TEST(Turns, PausesSplitTheTimeOfAKernel) {
  KernelReport report;
  report.begin = 100;
  report.end = 900;
  report.pauses = 1;
  report.pause[0] = {300, 600};
  const std::vector<Interval> active = active_times(report);
  ASSERT_EQ(active.size(), 2U);
  EXPECT_EQ(active[0].from, 100U);
  EXPECT_EQ(active[0].to, 300U);
  EXPECT_EQ(active[1].from, 600U);
  EXPECT_EQ(active[1].to, 900U);
}

// When more pauses came than are kept, the time after the last one is not taken for a turn.
TEST(Turns, WhatWasNotKeptIsNoTurn) {
  KernelReport report;
  report.end = 1'000'000;
  report.pauses = kMostPauses;
  for (std::size_t i = 0; i < kMostPauses; ++i) report.pause[i] = {10 * i + 5, 10 * i + 8};
  EXPECT_EQ(active_times(report).back().to, report.pause.back().from);
}

TEST(Turns, TurnAndSwitchOfARoundRobin) {
  constexpr std::uint64_t kTurn = 2'000'000;
  constexpr std::uint64_t kSwitch = 150'000;
  for (const int processes : {2, 3, 5}) {
    std::vector<fake_gpu::Record> records;
    for (int i = 0; i < processes; ++i) {
      const auto start = static_cast<std::uint64_t>(1'000'000 + 70'000 * i);
      records.push_back({i, 0, false, start, start + 300'000'000});
    }
    std::vector<std::vector<Interval>> active;
    for (const fake_gpu::Record& record : records) {
      active.emplace_back();
      for (const fake_gpu::Span& span : fake_gpu::turns_of(record, records, kTurn, kSwitch)) {
        active.back().push_back({span.from, span.to});
      }
    }
    const Turns turns = turns_of(active);
    EXPECT_DOUBLE_EQ(spread_of(turns.turn_us).median, 2'000);
    EXPECT_DOUBLE_EQ(spread_of(turns.switch_us).median, 150);
    EXPECT_GT(turns.switch_us.size(), 100U);
    EXPECT_DOUBLE_EQ(turns.together, 0);
  }
}

TEST(Turns, ProcessesSideBySideAreTogether) {
  const Turns turns = turns_of({{{0, 1'000}}, {{10, 1'010}}});
  EXPECT_TRUE(turns.turn_us.empty());
  EXPECT_DOUBLE_EQ(turns.together, 1);
}

TEST(Turns, AProcessThatNeverRanLeavesNoWindow) {
  EXPECT_TRUE(turns_of({{{0, 1'000}}, {}}).turn_us.empty());
}

TEST(Options, NumbersHaveBounds) {
  EXPECT_EQ(options_of({"--processes", "8"}).machine.most_processes, 8);
  EXPECT_THROW(options_of({"--processes", "1"}), std::invalid_argument);
  EXPECT_THROW(options_of({"--run-ms", "4o0"}), std::invalid_argument);
  EXPECT_THROW(options_of({"--proceses", "8"}), std::invalid_argument);
  EXPECT_THROW(options_of({"--out"}), std::invalid_argument);
}

TEST(Task, TravelsAsJson) {
  Task task;
  task.kernel = Kernel::Latency;
  task.launch_us = 7;
  const Task again = nlohmann::json(task).get<Task>();
  EXPECT_EQ(again.kernel, Kernel::Latency);
  EXPECT_EQ(again.launch_us, 7);
  Outcome outcome;
  outcome.active = {{1, 2}, {18'000'000'000'000'000'000U, 18'000'000'000'000'000'001U}};
  EXPECT_EQ(nlohmann::json(outcome).get<Outcome>().active[1].to, 18'000'000'000'000'000'001U);
}

}  // namespace
}  // namespace slicewise::gpu_probe
