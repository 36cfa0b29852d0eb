#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

#include "scenario_draft.hpp"

// What ResourceSlices of NVIDIA's DRA driver say of the nodes that are there.
namespace slicewise::scenarios {

// Of each GPU its devices by profile, "" the whole GPU. Empty: no slice is of the node.
using SliceGpus = std::vector<std::map<std::string, std::int64_t>>;
SliceGpus gpus_in_slices(const ClusterFiles& cluster, const std::string& node);

// Whether the driver makes MIG devices of the node's GPUs for claims: its devices take counters of
// their GPUs, so that one excludes others.
bool makes_mig(const ClusterFiles& cluster, const std::string& node);

// Gives the pool the layout of MIG and the number of GPUs that the slices of its nodes have.
void take_slices(const SliceGpus& gpus, const ImportOptions& options, DraftPool& pool);

}  // namespace slicewise::scenarios
