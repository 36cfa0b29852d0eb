#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/lookup.hpp"

#include "known_pools.hpp"
#include "option_order.hpp"
#include "plan_sections.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Workloads of which an objective holds by little.
std::vector<std::string> close_to_limits(const OptionFigures& figures) {
  std::vector<std::string> names;
  for (const PlannedObjective& objective : figures.objectives) {
    if (objective.result.ratio() >= kCloseToLimits) names.push_back(objective.workload);
  }
  return names;
}

}  // namespace

void add_further_from_limits(const BlockSearch& search, std::size_t top, Plan& plan) {
  constexpr int kMostTries = 3;
  if (plan.options.empty() || !search.split ||
      separable_groups(search.base).size() > kExactGroups) {
    return;
  }
  // Once for what is no difference, once for what a search takes off to be cheaper.
  const double cap = *plan.options.front().goal + 2 * kSamePrice;
  BlockSearch there = search;
  PlanOption last = plan.options.front();
  for (int n = 0; n < kMostTries && last.figures.worst_ratio >= kCloseToLimits; ++n) {
    const std::vector<std::string> close = close_to_limits(last.figures);
    std::ranges::copy_if(last.pools, std::back_inserter(there.refuted),
                         [&](const PoolChoice& pool) { return has_one_of(pool, close); });
    auto found = cheapest_plan(there, cap);
    if (!found || search.probes.interrupted()) break;
    last = std::move(*found);
    const bool is_known = contains(plan.options, last.pools, &PlanOption::pools);
    if (!is_known) plan.options.push_back(last);
  }
  put_best_first(plan.options);
  if (plan.options.size() > top) plan.options.resize(top);
}

}  // namespace slicewise::sim
