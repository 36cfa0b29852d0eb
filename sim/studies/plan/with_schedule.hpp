#pragma once

#include <optional>
#include <vector>

#include "block_search.hpp"

// Scaling down at night: pods that a schedule takes away while the load allows it, on nodes that
// come and go with them.
namespace slicewise::sim {

// The cheapest of the options, as it was simulated with a schedule (KEDA's cron scaler) for each of
// its Services whose load falls every day, and Karpenter's nodes for them. Outside of its window a
// Service has as few pods as bear no more each than in its busiest hour; where that is too few,
// some more. What shares its nodes may need those that stay, and the dearer option be the cheaper.
// nullopt: less or more than whole days are simulated, no load falls, nothing stands, or it saves
// next to nothing of the first.
std::optional<PlanOption> with_schedule(const BlockSearch& search,
                                        const std::vector<PlanOption>& options, ProbeBatch& probes);

}  // namespace slicewise::sim
