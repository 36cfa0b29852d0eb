#pragma once

#include <optional>
#include <string>
#include <vector>

#include "block_search.hpp"

// From the present pools to cheaper ones, one step after the other.
namespace slicewise::sim {

// The steps to the cheapest pools of which no more than `most` change in all, each pool once, what
// saves most for each pool that changes first (cheapest_exchanges). Where there are too many ways
// to look at, or numbers of pods vary, the steps that save most one after the other: a pool is
// planned anew, two become one, workloads move, or what belongs together becomes as the best option
// has it. After each step all pools are simulated together. Where the present pools miss something,
// what mends it comes first, whatever it costs. REQUIRES: the goal is the monthly cost, each
// workload with pods is in one of the pools.
PlanPath path_from(const BlockSearch& search, std::vector<PoolChoice> now,
                   const std::optional<PlanOption>& best, std::optional<int> most);

// Simulates what requests each step costs where all its pods restart at once, and one by one.
void add_disruption(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                    const RunOptions& run, PlanPath& path);

// What happens to pods and nodes where the pools of `from` become those of `to`; savings not set.
PathStep step_between(const scenarios::Scenario& base, std::vector<PoolChoice> from,
                      std::vector<PoolChoice> to);

// Pods of the workload that do not go on then.
int pods_restarted(const scenarios::Scenario& base, const std::vector<PoolChoice>& from,
                   const std::vector<PoolChoice>& to, const std::string& name);

}  // namespace slicewise::sim
