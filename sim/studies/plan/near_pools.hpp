#pragma once

#include <vector>

#include "known_pools.hpp"

namespace slicewise::sim {

// Pools that might stand at what others cost which the linear program of known pools takes, and
// would be worth more: those with a group more, or with one in the place of another. What is known
// of others and closed forms allow that. As many as there are groups, those first that the model
// expects to stand, and of those what gains most.
std::vector<KnownPools::Question> near_pools(const KnownColumns& known, const KnownPools& pools,
                                             const FleetModel& model);

}  // namespace slicewise::sim
