#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Answers of range queries of DCGM exporter and kube-state-metrics, in any order and any number of
// files.
Expected<Imported> import_prometheus(std::span<const SourceText> files,
                                     const ImportOptions& options);

}  // namespace slicewise::scenarios
