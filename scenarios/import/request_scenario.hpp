#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// A scenario of Services that serve the imported requests or client windows.
std::string request_scenario(const Imported& imported, ImportKind kind,
                             const ImportOptions& options);

}  // namespace slicewise::scenarios
