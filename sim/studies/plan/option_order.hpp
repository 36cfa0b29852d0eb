#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "slicewise/scenarios/studies.hpp"
#include "slicewise/sim/judge.hpp"

#include "block_search.hpp"

// Which of several options that stand comes first.
namespace slicewise::sim {

// An option that uses up so much of a limit is close to it.
inline constexpr double kCloseToLimits = 0.85;

// What an option is ranked by.
struct Ranked {
  double goal = 0;  // infinite where it is not defined
  const OptionFigures* figures = nullptr;
  std::size_t pools = 1;
};

// Places of the options, best first: by the goal, then by the bill. Of what costs the same, what is
// close to its limits comes last; before that what leaves Jobs of the fewest workloads unfinished,
// then what gets most done of the work that has no objective, and of what gets as much done within
// a tenth what is furthest from its limits, at last what has fewer pools.
std::vector<std::size_t> places_by_rank(std::span<const Ranked> options);

Ranked ranked_by(const PlanOption& option);
Ranked ranked_by(const BlockOption& option);

template <class Option>
void put_best_first(std::vector<Option>& options) {
  std::vector<Ranked> ranked;
  ranked.reserve(options.size());
  for (const Option& option : options) ranked.push_back(ranked_by(option));
  std::vector<Option> sorted;
  sorted.reserve(options.size());
  for (const std::size_t place : places_by_rank(ranked)) {
    sorted.push_back(std::move(options[place]));
  }
  options = std::move(sorted);
}

// By the price of what was done, what gets less Jobs done than another option comes after all that
// do not, as in a comparison: the price does not count the others. By other goals it stays where it
// is, as its Jobs may be done in a longer run.
template <class Option>
void put_unfinished_last(scenarios::PlanGoal goal, std::vector<Option>& options) {
  if (goal != scenarios::PlanGoal::CostPerJob) return;
  std::vector<std::vector<UnfinishedJobs>> left;
  left.reserve(options.size());
  for (const Option& option : options) left.push_back(option.figures.unfinished_jobs);
  std::stable_partition(options.begin(), options.end(), [&](const Option& option) {
    return std::ranges::none_of(left, [&](const auto& other) {
      return gets_more_jobs_done(other, option.figures.unfinished_jobs);
    });
  });
}

bool is_better(const BlockOption& a, const BlockOption& b);

// No other option that gets as much done is both cheaper and uses less of its limits.
void mark_pareto(std::vector<PlanOption>& options);

}  // namespace slicewise::sim
