#pragma once

#include <optional>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::sim {

// The busiest minutes of a long scenario, once: what stands in them is worth the whole, and is
// looked at first. nullopt: no minutes stand for the rest, as where jobs run or traffic is
// recorded, or it is not much longer than they are.
std::optional<scenarios::Scenario> busiest_minutes(const scenarios::Scenario& scenario);

}  // namespace slicewise::sim
