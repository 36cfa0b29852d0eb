#pragma once

#include <span>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Any CSV of jobs, by a map of columns.
Expected<Imported> import_job_table(std::span<const SourceText> files,
                                    const ImportOptions& options);

}  // namespace slicewise::scenarios
