#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Manifests, device-plugin values and NodePools.
Expected<Imported> import_k8s(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
