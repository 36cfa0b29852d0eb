#pragma once

#include <span>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "scenario_draft.hpp"

namespace slicewise::scenarios {

// Node groups and NodePools that the nodes of these pools are of, in their order; pools that no
// file has are left out.
std::vector<NodeGroup> node_groups(std::span<const DraftPool> pools);

}  // namespace slicewise::scenarios
