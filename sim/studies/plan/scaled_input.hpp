#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/scenario.hpp"

// Inputs of a scenario that a plan varies to see what its answer hangs on.
namespace slicewise::sim {

// Of everything that sends requests.
inline constexpr std::string_view kTraffic = "traffic";

// "traffic", "workloads.asr.requestGpuTime", ...: those that the scenario has. What is recorded in
// one trace is one.
std::vector<std::string> flip_inputs(const scenarios::Scenario& scenario);

// measured.smActive of all workloads without it: what it is, not how many times.
inline constexpr std::string_view kSmActive = "smActive";

// Nobody says how much of a GPU the workload fills, so that its time on another one is a range.
bool lacks_sm_active(const scenarios::Workload& workload);

// The scenario with `factor` times that input; "": as it is.
scenarios::Scenario scaled_input(const scenarios::Scenario& scenario, std::string_view input,
                                 double factor);

}  // namespace slicewise::sim
