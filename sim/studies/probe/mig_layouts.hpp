#pragma once

#include <string>
#include <vector>

#include "slicewise/models/mig.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/world.hpp"

// Which MIG layouts hold a number of pods on the fewest GPUs, by exact search under the placement
// rules: mig-parted accepts layouts that no GPU can have.
namespace slicewise::sim {

// Pods that all need one profile.
struct ProfileNeed {
  const MigProfile* profile = nullptr;
  int pods = 0;
};

// Instances of one GPU, the same on every GPU of the pool, that hold all pods on the fewest nodes;
// of those with the fewest idle memory slices, of those the first by name. Only profiles that
// somebody needs are used. Empty: no GPU has room for one instance of each. REQUIRES: no profile
// twice, pods > 0, gpus_per_node > 0.
std::vector<MigCount> best_layout(const MigGeometry& geometry,
                                  const std::vector<ProfileNeed>& needs, int gpus_per_node);

// Nodes whose GPUs have that layout and together hold the pods.
int nodes_for(const std::vector<MigCount>& layout, const std::vector<ProfileNeed>& needs,
              int gpus_per_node);

// GPUs of a node that are not all cut alike, so that fewer than `nodes` nodes, all alike, hold the
// pods.
struct MixedLayout {
  std::vector<MigCut> cuts;  // of all GPUs of a node; empty: there is none
  int nodes = 0;
};

// Of all that have up to three cuts with five profiles in all, which have a name, those with the
// fewest nodes, by exact search. REQUIRES: as best_layout.
MixedLayout mixed_layout(const MigGeometry& geometry, const std::vector<ProfileNeed>& needs,
                         int gpus_per_node, int nodes);

// What a pod takes of a GPU's memory, with its CUDA contexts.
Bytes pod_memory(const World& world, const WorkloadModel& workload);

// A layout that was made for workloads.
struct FittedLayout {
  std::vector<MigCount> mig;          // of each GPU but those of other_cuts; empty: no GPU has room
  std::vector<MigCut> other_cuts;     // of the last GPUs of each node
  std::vector<std::string> profiles;  // of the pods of each workload
  int nodes = 0;                      // that hold all pods; 0 without room
};
struct FittedLayouts {
  std::vector<FittedLayout> layouts;
  const WorkloadModel* too_large = nullptr;  // fits no instance: there are no layouts
};

// A profile for each workload out of the smallest that hold its pods, in every combination, and the
// layout for each; where GPUs that are not all cut alike need fewer nodes, those as well. Of many
// workloads those that fit the same profiles get the same one. `exclusive`: the workloads on the
// instance type, unshared.
FittedLayouts fitted_layouts(const MigGeometry& geometry, const World& exclusive,
                             int gpus_per_node);

}  // namespace slicewise::sim
