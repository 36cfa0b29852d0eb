#include "studies/plan/option_order.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "../demo.hpp"
#include "studies/plan/plan_sections.hpp"
#include "studies/probe/simulations.hpp"

namespace slicewise::sim {
namespace {

struct Figures {
  int dollars = 100;
  double per_hour = 0;
  double of_limit = 0;
  std::optional<Duration> completion = {};
};

PlanOption option_with(const Figures& figures) {
  PlanOption option;
  option.goal = figures.dollars;
  option.figures.monthly = from_dollars(figures.dollars);
  option.figures.worst_ratio = figures.of_limit;
  option.figures.work.push_back({"trainer", "epoch", figures.per_hour, figures.completion});
  return option;
}

std::vector<PlanOption> options_with(std::vector<Figures> all) {
  std::vector<PlanOption> options;
  for (const Figures& figures : all) options.push_back(option_with(figures));
  return options;
}

// Rates by rank.
std::vector<double> ranked(std::vector<Figures> all) {
  std::vector<PlanOption> options = options_with(std::move(all));
  put_best_first(options);
  std::vector<double> rates;
  for (const PlanOption& option : options) rates.push_back(option.figures.work.front().per_hour);
  return rates;
}

using Rates = std::vector<double>;

TEST(OptionOrder, OfOnePriceTheMostGetsDone) {
  EXPECT_EQ(ranked({{100, 36, 0.16}, {100, 57, 0.35}}), (Rates{57, 36}));
  EXPECT_EQ(ranked({{101, 57, 0.35}, {100, 36, 0.16}}), (Rates{36, 57}));
}

TEST(OptionOrder, AsMuchWithinATenthIsFurtherFromItsLimits) {
  EXPECT_EQ(ranked({{100, 57, 0.35}, {100, 52, 0.16}}), (Rates{52, 57}));
  // Each with the most that is left, not with its neighbour: 47 is no tenth below 52.
  EXPECT_EQ(ranked({{100, 47, 0.1}, {100, 52, 0.16}, {100, 57, 0.35}}), (Rates{52, 57, 47}));
}

TEST(OptionOrder, WhatIsCloseToItsLimitsComesLast) {
  EXPECT_EQ(ranked({{100, 57, 0.9}, {100, 36, 0.16}, {100, 30, 0.9}}), (Rates{36, 57, 30}));
}

TEST(OptionOrder, WhatEndsSoonerIsBefore) {
  std::vector<PlanOption> options = options_with(
      {{100, 36, 0.1, minutes(20)}, {100, 36, 0.2, minutes(10)}, {100, 36, 0.3, minutes(40)}});
  put_best_first(options);
  EXPECT_EQ(options[0].figures.worst_ratio, 0.2);
  EXPECT_EQ(options[1].figures.worst_ratio, 0.1);
}

// As much an hour, and nearer to its limits: but done.
TEST(OptionOrder, OfOnePriceWhatLeavesNoJobsUnfinishedIsBefore) {
  std::vector<PlanOption> options =
      options_with({{100, 57, 0.1}, {100, 55, 0.3}, {90, 10, 0.1}, {100, 60, 0.9}});
  options[0].figures.unfinished_jobs = {{"trainer", 2, 5}};
  options[2].figures.unfinished_jobs = {{"trainer", 4, 5}};
  put_best_first(options);
  EXPECT_EQ(options[0].goal, 90);  // they may be done in a longer run
  EXPECT_EQ(options[1].figures.worst_ratio, 0.3);
  EXPECT_EQ(options[2].figures.worst_ratio, 0.1);
  EXPECT_EQ(options[3].figures.worst_ratio, 0.9);
}

// The price of a job is that of those that were done.
TEST(OptionOrder, ByThePriceOfAJobWhatGetsMoreJobsDoneIsBefore) {
  const std::vector<PlanOption> options = [] {
    std::vector<PlanOption> all =
        options_with({{90, 10, 0.1}, {100, 57, 0.1}, {110, 57, 0.1}, {120, 57, 0.1}});
    all[0].figures.unfinished_jobs = {{"trainer", 4, 5}, {"miner", 1, 1}};
    all[1].figures.unfinished_jobs = {{"trainer", 1, 5}};
    all[3].figures.unfinished_jobs = {{"miner", 1, 1}};
    return all;
  }();
  const auto order = [&](scenarios::PlanGoal goal) {
    std::vector<PlanOption> sorted = options;
    put_best_first(sorted);
    put_unfinished_last(goal, sorted);
    std::vector<double> goals;
    for (const PlanOption& option : sorted) goals.push_back(option.goal.value_or(0));
    return goals;
  };
  EXPECT_EQ(order(scenarios::PlanGoal::CostPerJob), (Rates{110, 90, 100, 120}));
  EXPECT_EQ(order(scenarios::PlanGoal::MonthlyCost), (Rates{90, 100, 110, 120}));
}

TEST(OptionOrder, TheMeanOfAllWorkCounts) {
  std::vector<PlanOption> options = options_with({{100, 50, 0.2}, {100, 70, 0.1}});
  options[0].figures.work.push_back({"miner", "", 10});  // half and all of what might be: 0.86
  options[1].figures.work.push_back({"miner", "", 4});   // all and two fifths: 0.7
  put_best_first(options);
  EXPECT_EQ(options.front().figures.worst_ratio, 0.2);
}

// What a search leaves out does not change the order of the rest.
TEST(OptionOrder, TheFirstFewStayInTheirOrder) {
  for (std::uint32_t n = 0; n < 200; ++n) {
    RandomStream random(7, n, 0, Purpose::Test);
    std::vector<Figures> all;
    for (int o = 0; o < 8; ++o) {
      const int dollars = 100 + static_cast<int>(random.below(2));
      const double rate = 20 + random.below(30);
      all.push_back({dollars, rate, 0.1 * random.below(11)});
    }
    std::vector<PlanOption> options = options_with(all);
    put_best_first(options);
    std::vector<PlanOption> first(options.begin(), options.begin() + 4);
    put_best_first(first);
    for (std::size_t o = 0; o < first.size(); ++o) {
      EXPECT_EQ(first[o].figures.work.front().per_hour, options[o].figures.work.front().per_hour);
      EXPECT_EQ(first[o].figures.worst_ratio, options[o].figures.worst_ratio);
    }
  }
}

TEST(OptionOrder, ParetoIsAlsoWhoeverGetsMoreDone) {
  std::vector<PlanOption> options =
      options_with({{100, 57, 0.35}, {100, 36, 0.16}, {120, 36, 0.2}, {120, 80, 0.5}});
  mark_pareto(options);
  EXPECT_TRUE(options[0].pareto && options[1].pareto && options[3].pareto);
  EXPECT_FALSE(options[2].pareto);
}

}  // namespace
}  // namespace slicewise::sim
