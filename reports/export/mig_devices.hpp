#pragma once

#include <string>
#include <vector>

#include "slicewise/models/instance_type.hpp"
#include "slicewise/models/mig_geometry.hpp"
#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::reports {

// The devices of one kind on one node with MIG.
struct MigDevices {
  std::string profile;   // "1g.5gb", "" = whole GPUs
  std::string resource;  // of one, under strategy mixed: "nvidia.com/mig-1g.5gb"
  int count = 0;
};

// What the node has under the layout of its pool, or why it cannot have it: an unknown config, a
// layout that does not fit the GPU, several profiles under strategy single. REQUIRES: pool.mig.
Expected<std::vector<MigDevices>> mig_devices(const scenarios::NodePool& pool,
                                              const models::InstanceType& instance,
                                              const models::MigGeometry& geometry);

}  // namespace slicewise::reports
