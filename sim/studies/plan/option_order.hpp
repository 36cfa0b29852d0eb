#pragma once

#include <vector>

#include "slicewise/scenarios/studies.hpp"

#include "block_search.hpp"

// Which of several options that stand comes first.
namespace slicewise::sim {

// An option that uses up so much of a limit is close to it.
inline constexpr double kCloseToLimits = 0.85;

// Best first: by the goal, then by the bill. Of what costs the same, what is close to its limits
// comes last; before that what leaves Jobs of the fewest workloads unfinished, then what gets most
// done of the work that has no objective, and of what gets as much done within a tenth what is
// furthest from its limits, at last what has fewer pools.
void put_best_first(std::vector<PlanOption>& options);

// By the price of what was done, what gets less Jobs done than another option comes after all that
// do not, as in a comparison: the price does not count the others. By other goals it stays where it
// is, as its Jobs may be done in a longer run.
void put_unfinished_last(PlanGoal goal, std::vector<PlanOption>& options);

// Whether `a` comes before `b`, whichever is first.
bool is_better(const PlanOption& a, const PlanOption& b);

// No other option that gets as much done is both cheaper and uses less of its limits.
void mark_pareto(std::vector<PlanOption>& options);

}  // namespace slicewise::sim
