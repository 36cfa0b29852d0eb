#pragma once

#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// Which workloads get a node pool of their own.
namespace slicewise::sim {

struct SplitResult {
  std::vector<PoolChoice> pools;  // two or more; empty: one pool is best
  OptionFigures figures;          // of all pools together
  double goal = 0;
  std::int64_t configurations = 0;
  std::int64_t exhaustive = 0;
};

// The cheapest division of the workloads over pools that costs less than `cap` dollars a month.
// Workloads of one pipeline stay together. Up to four groups every division is tried, closed forms
// permitting; a min-cost flow of pods to configurations gives the first one and, with more groups,
// the only one, which is then improved by moving one group at a time. The pools are simulated
// together in the end.
SplitResult split_pools(const BlockSearch& search, std::optional<double> cap, ProbeBatch& probes);

// Workloads that may be apart from the others, in the order of the scenario.
std::vector<std::vector<std::string>> separable_groups(const scenarios::Scenario& scenario);

}  // namespace slicewise::sim
