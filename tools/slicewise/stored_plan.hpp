#pragma once

#include <string>

#include "slicewise/models/catalogue.hpp"

#include "scenario_file.hpp"

namespace slicewise::tools {

// A scenario, or the scenario of a plan with the nodes and the sharing of its `candidate`-th option
// (1 is the best), as the only variant. PLAN_STALE when the scenario is not the one that the plan
// was made from, VALUE_RANGE when the plan has no such option.
Expected<ScenarioFile> open_scenario_or_plan(const std::string& path,
                                             const std::vector<std::string>& set, int candidate,
                                             const models::Catalogue& catalogue);

}  // namespace slicewise::tools
