#pragma once

#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"

// What `nsys stats --report nvtx_sum --format csv` writes, columns as since Nsight Systems 2022.
namespace slicewise::models {

// A summary by nsys, of whatever: its lines before the table are those of the tool.
bool is_nsys_report(const SourceText& file);

// One process alone: a step is an NVTX range, and takes its mean time. Which one, where there are
// several, is the workload of `context`, and so are GPU and batch. A summary of kernels or calls
// says how long those took and not a step: it is refused.
Expected<std::vector<Measurement>> read_nsys_report(const SourceText& file,
                                                    const Catalogue& catalogue,
                                                    const MeasuredContext& context);

}  // namespace slicewise::models
