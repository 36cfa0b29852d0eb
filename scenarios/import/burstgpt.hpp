#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// BurstGPT's requests as CSV.
Expected<Imported> import_burstgpt(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
