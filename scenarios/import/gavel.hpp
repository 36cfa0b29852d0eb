#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Traces of the Gavel simulator (7 or 10 fields a line, which need the throughputs of
// simulation_throughputs.json as one of the files) and of Shockwave (12 fields with a duration).
Expected<Imported> import_gavel(std::span<const SourceText> files, const ImportOptions& options);

}  // namespace slicewise::scenarios
