#pragma once

#include <functional>
#include <vector>

#include "fleet_model.hpp"

namespace slicewise::sim {

// Who shares a pool with whom so that the model's pools cost as little as can be found: groups are
// put together as long as that saves most, then moved, swapped and parted one by one. The same
// model gives the same division. Empty: some group runs nowhere.
std::vector<Members> best_division(const FleetModel& model);

// What a pool costs as far as it is known, of which the model thinks so much.
using KnownPrice = std::function<double(const Members& members, double thought)>;

// Some pools at a time are taken apart and put together anew as long as that may save: the cheapest
// that is found from `division` on, or that. `nth`: another try may find another.
std::vector<Members> better_division(const FleetModel& model, const std::vector<Members>& division,
                                     const KnownPrice& known, int nth);

}  // namespace slicewise::sim
