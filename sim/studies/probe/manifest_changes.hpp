#pragma once

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::sim {

// Puts down in the workload's manifest what its pods, which were `before`, select and ask for no
// more: a patch that only leaves it out would keep it.
void note_manifest_changes(const scenarios::PodTemplate& before, scenarios::Workload& workload);

}  // namespace slicewise::sim
