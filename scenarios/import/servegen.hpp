#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// ServeGen's rates of clients by window.
Expected<Imported> import_servegen(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
