#pragma once

#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/measurements.hpp"

// What tools/gpu_probe writes (its probe.schema.json): a GPU as one node has it.
namespace slicewise::models {

// Whether a file says that it is one.
bool is_probe_document(const SourceText& file);

// The catalogue with the turns, the cost of a switch and the memory of a context that were
// measured.
Expected<Catalogue> with_probe(Catalogue catalogue, const SourceText& file);

// The probe's own kernels as workloads "probe/compute", "probe/bandwidth" and "probe/latency":
// alone, under thread percentages, beside each other under MPS, or on the MIG slices that there
// were. A step is what one of them gets done in 10 ms alone.
Expected<std::vector<Measurement>> read_probe(const SourceText& file, const Catalogue& catalogue);

}  // namespace slicewise::models
