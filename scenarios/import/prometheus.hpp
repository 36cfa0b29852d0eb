#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Range queries of DCGM exporter and kube-state-metrics.
Expected<Imported> import_prometheus(std::span<const SourceText> files,
                                     const ImportOptions& options);

}  // namespace slicewise::scenarios
