#pragma once

#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"

#include "import_report.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// Pods without a GPU that a cluster has on nodes with one: they take CPU and memory there, and keep
// the nodes. Those of one controller are a workload; pods that go with each node are none.
std::vector<DraftWorkload> pods_without_gpu(const ClusterFiles& cluster, ImportReport& report);

}  // namespace slicewise::scenarios
