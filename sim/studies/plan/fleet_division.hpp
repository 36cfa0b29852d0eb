#pragma once

#include <vector>

#include "fleet_model.hpp"

namespace slicewise::sim {

// Who shares a pool with whom so that the model's pools cost as little as can be found: groups are
// put together as long as that saves most, then moved, swapped and parted one by one. The same
// model gives the same division. Empty: some group runs nowhere.
std::vector<Members> best_division(const FleetModel& model);

}  // namespace slicewise::sim
