#pragma once

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::scenarios {

// When the one who adds and removes nodes decides: what its chart's values, or the environment and
// the command of the pods that it runs in, say of that. The rest stays as it is.
void take_clocks(const ClusterFiles& cluster, Provisioner& provisioner);

}  // namespace slicewise::scenarios
