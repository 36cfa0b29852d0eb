#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/comparison.hpp"

namespace slicewise::sim {

// What the strategy leaves open between pods that the scenario's isolation rule keeps apart, half a
// sentence; nullopt when it isolates enough, or only one side is among the workloads.
std::optional<std::string> isolation_gap(const scenarios::Scenario& scenario,
                                         const std::vector<std::string>& workloads,
                                         Strategy strategy);

}  // namespace slicewise::sim
