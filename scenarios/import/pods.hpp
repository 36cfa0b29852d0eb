#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// kubectl get pods -A -o json; nodes and events, in the same file or others, fill in what the pods
// do not say.
Expected<Imported> import_pods(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
