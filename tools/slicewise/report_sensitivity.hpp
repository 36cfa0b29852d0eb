#pragma once

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/result.hpp"

#include "commands.hpp"
#include "report_input.hpp"

namespace slicewise::tools {

// Varies the inputs of the option that leads, where the scenario asks for it with its block
// `sensitivity` or the simulations are few enough for a page; else says which command does it.
// `result` is that of `option`.
void study_sensitivity(const scenarios::Scenario& option, const scenarios::ScenarioSet& set,
                       const sim::VariantResult& result, const ReportCommand& command,
                       ReportInput& input);

}  // namespace slicewise::tools
