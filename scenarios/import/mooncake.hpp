#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Mooncake's requests as JSONL.
Expected<Imported> import_mooncake(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
