#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/scenario.hpp"

// Inputs of a scenario that a plan varies to see what its answer hangs on.
namespace slicewise::sim {

// "traffic", "workloads.asr.requestGpuTime", ...: those that the scenario has.
std::vector<std::string> flip_inputs(const scenarios::Scenario& scenario);

// The scenario with `factor` times that input; "": as it is.
scenarios::Scenario scaled_input(const scenarios::Scenario& scenario, std::string_view input,
                                 double factor);

}  // namespace slicewise::sim
