#pragma once

#include <optional>

#include "block_search.hpp"

// Scaling down at night: pods that a schedule takes away while the load allows it, on nodes that
// come and go with them.
namespace slicewise::sim {

// The best option with a schedule (KEDA's cron scaler) for each of its Services whose load falls
// every day, and Karpenter's nodes for them: as it was simulated. Outside of its window a Service
// has as few pods as bear no more each than in its busiest hour; where that is too few, some more.
// nullopt: less or more than whole days are simulated, no load falls, nothing stands, or it saves
// next to nothing.
std::optional<PlanOption> with_schedule(const BlockSearch& search, const PlanOption& best,
                                        ProbeBatch& probes);

}  // namespace slicewise::sim
