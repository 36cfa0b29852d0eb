#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "../text/findings.hpp"

namespace slicewise::scenarios {

// Stages that are no Service of `scenario`, that stand twice in a pipeline or wait for each other,
// and Services that nobody sends requests to.
void check_pipelines(const Scenario& scenario, Findings& findings);

}  // namespace slicewise::scenarios
