#pragma once

#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"

// What `nsys stats --format csv` writes, one table or several, columns as since Nsight Systems
// 2022.
namespace slicewise::models {

// A summary by nsys, of whatever: its lines before the table are those of the tool.
bool is_nsys_report(const SourceText& file);

// One process alone: a step is an NVTX range (nvtx_sum), and takes its mean time. Which one, where
// there are several, is the workload of `context`, and so are GPU and batch. Kernels are as long as
// the mean of the whole run (cuda_gpu_kern_sum). A summary of kernels or calls without ranges says
// how long those took and not a step: it is refused.
Expected<std::vector<Measurement>> read_nsys_report(const SourceText& file,
                                                    const Catalogue& catalogue,
                                                    const MeasuredContext& context);

}  // namespace slicewise::models
