#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Alibaba's pod CSV.
Expected<Imported> import_openb(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
