#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// The lines of sacct -P.
Expected<Imported> import_sacct(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
