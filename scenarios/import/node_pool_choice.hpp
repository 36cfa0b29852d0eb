#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"

// Which instance types a NodePool lets Karpenter choose, and which ones pods choose by their nodes'
// labels.
namespace slicewise::scenarios {

// What is known of the labels of its nodes.
NodeLabels labels_of(const InstanceGpus& type);

// Of its CPUs; amd64 where nobody says.
std::string_view architecture_of(const InstanceGpus& type);

// Whether nodes of the type have the labels, as far as types decide them.
bool has_labels(const InstanceGpus& type, std::span<const NodeRequirement> required);

// What is known of a type; of one that is not known, a GPU.
InstanceGpus instance_called(const std::string& type, std::span<const InstanceGpus> instances);

// ... and as many GPUs as they say: pods with that label may have fewer.
bool has_count(const InstanceGpus& type, std::span<const NodeRequirement> required);

// What a pod needs of a node.
struct NodeNeed {
  std::int64_t gpus = 1;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};
// As far as the CPU and memory of the type are known.
bool has_room(const InstanceGpus& type, const NodeNeed& need);

// The families that a NodePool names of which none of the types is: "g6".
std::vector<std::string> families_without(std::span<const std::string> types,
                                          const NodeGroupFile& group);

// The type that is asked for by labels of nodes: as it is named, or the cheapest with the labels
// that has what the pod needs, as Karpenter chooses, else the one with the most GPUs. "": the
// labels leave it open, or none has them.
std::string type_asked_for(std::span<const NodeRequirement> required, NodeNeed need,
                           std::span<const InstanceGpus> instances);

struct CapacityChoice {
  std::string type;         // "spot", "reserved"; "" on demand
  bool falls_back = false;  // of spot and on demand Karpenter takes spot while there is any
};
// How Karpenter buys the nodes of a NodePool: in one way, or in each that pods `choose` between.
std::vector<CapacityChoice> capacities_of(const NodeGroupFile& group, bool choose);

// False when Karpenter may start none of the types with GPUs for the NodePool.
bool may_have_gpus(const NodeGroupFile& group, std::span<const InstanceGpus> instances);

// Whether it may start types without GPUs as well, as far as requirements name them.
bool may_lack_gpus(const NodeGroupFile& group);

// The types with GPUs, as they are named, or all sizes of their families.
std::vector<std::string> choice_of(const NodeGroupFile& group,
                                   std::span<const InstanceGpus> instances);

}  // namespace slicewise::scenarios
