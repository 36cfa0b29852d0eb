#pragma once

#include <string>
#include <vector>

#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "draft_sharing.hpp"

namespace slicewise::scenarios {

// Writes out a layout of the cluster's own that only its name is known of, by what a node of the
// type offers: the fewest of mig-manager's own layouts that add up to it, each on some of its GPUs.
// False: none do, and nothing is written.
bool write_out_layout(const std::vector<ResourceAmount>& allocatable, const std::string& type,
                      const ImportOptions& options, DraftMig& mig);

}  // namespace slicewise::scenarios
