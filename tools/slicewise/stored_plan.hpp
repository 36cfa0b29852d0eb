#pragma once

#include <tl/expected.hpp>

#include "slicewise/exit_code.hpp"
#include "slicewise/models/catalogue.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"

namespace slicewise::tools {

// The scenario that is exported. Where the file is a plan: the plan's scenario with the nodes and
// the sharing of its `candidate`-th option, as the only variant; it is looked for beside the plan,
// then in the working directory. Says what is wrong: no such file, a plan that cannot be read, that
// has no such option or was made from another scenario (PLAN_STALE), and flags that a plan or a
// scenario does not take.
tl::expected<ScenarioFile, ExitCode> open_scenario_or_plan(const ExportCommand& command,
                                                           const models::Catalogue& catalogue,
                                                           const CommonFlags& flags);

}  // namespace slicewise::tools
