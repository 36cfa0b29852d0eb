#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

// What the nodes of each group offer to pods, as far as the files say.
namespace slicewise::sim::lint {

using scenarios::kGpuResource;

using scenarios::kConfigLabel;
using scenarios::kMigLabel;

struct OfferedResource {
  std::string name;
  std::int64_t replicas = 1;  // of each device; above 1 it is shared
  std::int64_t devices = 0;   // on the largest node; 0 unknown
};

// A MIG layout that a node label chooses, for one GPU model.
struct ChosenLayout {
  const models::MigGeometry* geometry = nullptr;
  std::vector<std::pair<std::string, std::int64_t>> counts;  // by profile, on each GPU
  bool is_partial = false;                                   // some GPUs stay whole
};

struct NodeOffer {
  const scenarios::NodeGroupFile* group = nullptr;  // nullptr: nodes that no file describes
  std::vector<const models::InstanceType*> types;   // it may have; empty: unknown
  std::vector<scenarios::NodeLabels> labels;        // what is known of them, of each type
  const scenarios::PluginConfigFile* config = nullptr;
  bool config_is_known = false;  // a null config then means: no sharing
  std::string strategy;          // "" unknown
  const scenarios::KeyValue* mig_label = nullptr;
  std::vector<ChosenLayout> layouts;
  std::vector<OfferedResource> resources;
  bool may_have_mig = false;  // partitions that the files do not describe
  // What DaemonSets ask for on each of its nodes.
  std::int64_t daemon_cpu_milli = 0;
  std::int64_t daemon_memory_bytes = 0;
  bool is_known() const { return config_is_known; }
  bool has_mps() const;  // as the files say: nodes that share by themselves may as well
  bool offers(std::string_view resource) const;
  const OfferedResource* find(std::string_view resource) const;
};

// Whether Karpenter may take the type for all of the requirements; labels that are not known here
// do not stand in the way.
bool fulfils(const models::InstanceType& type,
             std::span<const scenarios::NodeRequirement> requirements);

// Whether the requirement says something of GPUs, or of what types with GPUs are called.
bool names_gpus(const scenarios::NodeRequirement& requirement);

// Whether autoscalers know its GPUs: of a part of one EC2 says 0, unless a NodeOverlay says more.
bool counts_gpus(const models::InstanceType& type, const scenarios::NodeGroupFile& group,
                 const scenarios::ClusterFiles& files);

// Whether Karpenter starts its nodes when pods need them.
inline bool is_node_pool_that_grows(const NodeOffer& offer) {
  return offer.group != nullptr && offer.group->kind == scenarios::NodeGroupFile::Kind::NodePool &&
         !offer.group->nodes;
}

// Whether the image of the nodes brings a device plugin.
inline bool has_own_image(const scenarios::NodeGroupFile& group) {
  return group.is_bottlerocket || group.maker == scenarios::NodeMaker::AutoMode;
}

// "0x20B010DE" of mig-parted's device-filter; nullptr for boards that the catalogue does not have.
const models::MigGeometry* geometry_of_filter(const models::Catalogue& catalogue,
                                              std::string_view filter);

std::vector<NodeOffer> node_offers(const scenarios::ClusterFiles& files,
                                   const models::Catalogue& catalogue);

// Which nodes the scheduler may give a pod, by the files. The first taint of the group that keeps
// the pod off; nullptr when it may run there.
const scenarios::Taint* untolerated(const scenarios::PodFile& pod,
                                    const scenarios::NodeGroupFile& group);

// Whether nodes of a group, of one of its types, may have such a label.
bool meets(const NodeOffer& offer, const scenarios::NodeRequirement& requirement);

// ... and all that the pod requires of nodes by its affinity.
bool meets_affinity(const scenarios::PodFile& pod, const NodeOffer& offer);

// ... and by its selector.
bool may_select(const scenarios::PodFile& pod, const NodeOffer& offer);

// Whether a group of which no file says that it has GPUs, or that it has none, may be meant.
bool may_be_among_others(const scenarios::PodFile& pod, const scenarios::ClusterFiles& files,
                         const models::Catalogue& catalogue, std::span<const NodeOffer> offers);

// Whether the pod names a group whose nodes have no GPUs.
bool selects_nodes_without_gpus(const scenarios::PodFile& pod, const scenarios::ClusterFiles& files,
                                const models::Catalogue& catalogue);

// ... and no taint keeps the pod off.
bool may_run_on(const scenarios::PodFile& pod, const NodeOffer& offer);

}  // namespace slicewise::sim::lint
