#pragma once

#include <string>
#include <vector>

#include "slicewise/exit_code.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::tools {

// "before, after": the variants of a file, for messages.
std::string variant_names(const scenarios::ScenarioSet& set);

// Keeps the variants that are named, in the order of the file; no names keep all. A name that the
// file does not have is a usage error, printed with the nearest one.
ExitCode keep_variants(scenarios::ScenarioSet& set, const std::vector<std::string>& names);

}  // namespace slicewise::tools
