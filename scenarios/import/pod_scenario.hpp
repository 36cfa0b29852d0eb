#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// A scenario of workloads made from imported pods.
std::string pod_scenario(const Imported& imported, ImportKind kind, const ImportOptions& options);

}  // namespace slicewise::scenarios
