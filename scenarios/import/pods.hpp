#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// kubectl get pods -A -o json.
Expected<Imported> import_pods(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
