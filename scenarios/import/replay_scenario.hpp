#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// A `kind: Replay` that runs an imported trace of jobs.
std::string replay_scenario(const Imported& imported, ImportKind kind,
                            const ImportOptions& options);

}  // namespace slicewise::scenarios
