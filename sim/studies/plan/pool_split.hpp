#pragma once

#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// Which workloads get a node pool of their own.
namespace slicewise::sim {

struct SplitResult {
  std::optional<PlanOption> option;     // nullopt: nothing is known that costs less than the cap
  std::optional<double> least_monthly;  // no fleet costs less
  std::vector<std::string> missed;      // workloads that miss something in every pool of their own
  std::int64_t configurations = 0;
  std::int64_t exhaustive = 0;
};

// Up to so many groups of workloads can be divided in so few ways (15) that all are tried.
inline constexpr std::size_t kExactGroups = 4;

// The cheapest division of the workloads over pools that costs less than `cap` dollars a month.
// Workloads of one pipeline stay together. Up to kExactGroups every division into two pools or more
// is tried, closed forms permitting. Of more groups a model of the fleet says which division to
// try; what simulations find corrects the model, until it has no better one. The pools are
// simulated together in the end.
SplitResult split_pools(const BlockSearch& search, std::optional<double> cap);

// One pool for all workloads, or several, where that costs less than `cap`; nullopt: nothing does.
// Of many groups one pool for all is not tried.
std::optional<PlanOption> cheapest_plan(const BlockSearch& search, std::optional<double> cap);

// Workloads that may be apart from the others, in the order of the scenario.
std::vector<std::vector<std::string>> separable_groups(const Scenario& scenario);

}  // namespace slicewise::sim
