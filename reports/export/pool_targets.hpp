#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/scenario.hpp"

// The node pools of a scenario with what the catalogue knows of them.
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

// Points into the scenario and the catalogue it was made from.
struct PoolTarget {
  const scenarios::NodePool* pool;
  const models::InstanceType* instance;
  const models::GpuModel* gpu;
  std::vector<MigDevices> mig_devices;  // empty without MIG and where no layout is given
};

// One extended resource of a node. The count is absent where the MIG layout decides it.
struct AdvertisedResource {
  std::string name;
  std::optional<int> count;
};

// INSTANCE_UNKNOWN, GPU_UNKNOWN, or why the pool cannot have its MIG layout.
Expected<PoolTarget> pool_target(const scenarios::NodePool& pool,
                                 const models::Catalogue& catalogue);

// Of every pool; all problems at once. FIELD_MISSING for a scenario without node pools.
Expected<std::vector<PoolTarget>> pool_targets(const scenarios::Scenario& scenario,
                                               const models::Catalogue& catalogue);

// EXPORT_UNFIT for every pool that EC2 does not start, by its type or the scenario's region: of
// files that start nodes there.
Diagnostics check_ec2(const scenarios::Scenario& scenario);

// The label by which kubectl finds the nodes of a pool, "eks.amazonaws.com/nodegroup=t4"; of nodes
// that are not EC2's one that whoever sets them up gives them.
std::string label_of_nodes(const scenarios::NodePool& pool);

// Whether that is the label of a NodePool of Karpenter's.
bool is_of_node_pool(const scenarios::NodePool& pool);

// timeSlicing or mps, whichever the pool has; nullptr for whole GPUs.
const scenarios::PluginSharing* sharing_of(const scenarios::NodePool& pool);

// What the device plugin, NVIDIA's or another, offers on a node of the pool.
std::vector<AdvertisedResource> advertised(const PoolTarget& target);

}  // namespace slicewise::reports
