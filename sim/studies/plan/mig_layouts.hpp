#pragma once

#include <string>
#include <vector>

#include "slicewise/models/mig.hpp"

// Which MIG layouts hold a number of pods on the fewest GPUs, by exact search under the placement
// rules: mig-parted accepts layouts that no GPU can have.
namespace slicewise::sim {

// Pods that all need one profile.
struct ProfileNeed {
  const models::MigProfile* profile = nullptr;
  int pods = 0;
};

// Instances of one GPU, the same on every GPU of the pool, that hold all pods on the fewest nodes;
// of those with the fewest idle memory slices, of those the first by name. Only profiles that
// somebody needs are used. Empty: no GPU has room for one instance of each. REQUIRES: no profile
// twice, pods > 0, gpus_per_node > 0.
std::vector<models::MigCount> best_layout(const models::MigGeometry& geometry,
                                          const std::vector<ProfileNeed>& needs, int gpus_per_node);

// Nodes whose GPUs have that layout and together hold the pods.
int nodes_for(const std::vector<models::MigCount>& layout, const std::vector<ProfileNeed>& needs,
              int gpus_per_node);

}  // namespace slicewise::sim
