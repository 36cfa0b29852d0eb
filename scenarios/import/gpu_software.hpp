#pragma once

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/gpu_software.hpp"

#include "import_report.hpp"

namespace slicewise::scenarios {

// What serves the GPUs of the cluster that files are of, with a remark on what an export does about
// it.
GpuSoftware gpu_software_of(const ClusterFiles& cluster, ImportReport& report);

}  // namespace slicewise::scenarios
