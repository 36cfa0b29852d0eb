#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Standard Workload Format 2.2.
Expected<Imported> import_swf(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
