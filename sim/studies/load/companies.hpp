#pragma once

#include <cstddef>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Scenarios with some of their workloads only.
namespace slicewise::sim {

// The scenario as all companies have it: only workloads that have pods, stages of pipelines with
// the pipelines' requests as their own, one engine for all. What is lost by that is noted.
scenarios::Scenario taken_apart(const scenarios::Scenario& scenario, Diagnostics& notes);

// Those workloads of `base` alone. Without a Job among them it lasts for `length`, unless the
// scenario says how long.
scenarios::Scenario with_only(const scenarios::Scenario& base,
                              const std::vector<std::size_t>& workloads, Duration length);

}  // namespace slicewise::sim
