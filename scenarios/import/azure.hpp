#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Azure's requests as CSV.
Expected<Imported> import_azure(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
