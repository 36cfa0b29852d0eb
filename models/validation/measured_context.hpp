#pragma once

#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"

namespace slicewise::models {

// The GPU that flags name for a file that names none; nullptr, with a problem, where they do not or
// the catalogue does not know it.
const GpuModel* gpu_of(const MeasuredContext& context, const Catalogue& catalogue,
                       const std::string& file, Diagnostics& problems);

}  // namespace slicewise::models
