#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "slicewise/sim/plan.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"

namespace slicewise::tools {

// Where the path of a plan starts: the pools of --from, a scenario or an option of a stored plan;
// with
// --max-changes alone those of the planned scenario; empty where nobody asks for a path. Mistakes
// are printed.
tl::expected<std::vector<sim::PoolChoice>, ExitCode> present_pools(const PlanCommand& command,
                                                                   const CommonFlags& flags,
                                                                   const OneVariant& opened);

}  // namespace slicewise::tools
