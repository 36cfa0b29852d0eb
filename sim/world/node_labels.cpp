#include "parts.hpp"

namespace slicewise::sim {
namespace {

// What GPU Feature Discovery says of how the node's devices are shared.
struct SharingLabels {
  std::string strategy = "none";
  int replicas = 1;
  bool renamed = false;
  bool mps = false;
};

SharingLabels sharing_labels(const scenarios::NodePool& pool, const PoolModel& model) {
  SharingLabels labels;
  for (const ResourceOffer& offer : model.offers) {
    std::string device = offer.name;
    if (device.ends_with(".shared"))
      device.resize(device.size() - std::string_view(".shared").size());
    const auto entry = plugin_entry(pool, device);
    if (!entry) continue;
    labels.strategy = entry->mps ? "mps" : "time-slicing";
    labels.replicas = entry->resource->replicas;
    labels.renamed = entry->sharing->rename_by_default;
    labels.mps = entry->mps;
  }
  return labels;
}

// The MIG profile of a node whose strategy is `single`, "" otherwise.
std::string single_profile(const scenarios::NodePool& pool, const PoolModel& model) {
  const bool single = pool.mig && pool.mig->strategy == scenarios::MigStrategy::Single;
  return single && !model.kinds.empty() ? model.kinds.front().partition : "";
}

}  // namespace

std::map<std::string, std::string> node_labels(const scenarios::Scenario& scenario,
                                               const scenarios::NodePool& pool,
                                               const models::InstanceType& type,
                                               const PoolModel& model) {
  const bool spot = pool.capacity_type == scenarios::CapacityType::Spot;
  const SharingLabels sharing = sharing_labels(pool, model);
  std::map<std::string, std::string> labels = pool.labels;
  labels.merge(std::map<std::string, std::string>{
      {"kubernetes.io/arch", "amd64"},
      {"kubernetes.io/os", "linux"},
      {"node.kubernetes.io/instance-type", type.name},
      {"topology.kubernetes.io/region", scenario.region},
      {"karpenter.sh/nodepool", pool.name.value},
      {"karpenter.sh/capacity-type", std::string(purchase_name(pool.capacity_type))},
      {"eks.amazonaws.com/nodegroup", pool.name.value},
      {"eks.amazonaws.com/capacityType", spot ? "SPOT" : "ON_DEMAND"},
      {"nvidia.com/gpu.present", "true"},
      {"nvidia.com/gpu.count", std::to_string(type.gpu_count)},
      {"nvidia.com/gpu.replicas", std::to_string(sharing.replicas)},
      {"nvidia.com/gpu.sharing-strategy", sharing.strategy},
      {"nvidia.com/mig.capable", model.gpu->supports_mig ? "true" : "false"},
      {"nvidia.com/mps.capable", sharing.mps ? "true" : "false"}});
  if (pool.mig) labels.try_emplace("nvidia.com/mig.config", pool.mig->config.value);
  if (pool.virtual_gpu) labels.try_emplace("k8s.amazonaws.com/accelerator", "vgpu");
  if (pool.nos) labels.try_emplace("nos.nebuly.com/gpu-partitioning", "mps");
  if (!model.gpu->kubernetes_product.empty()) {
    std::string product = model.gpu->kubernetes_product;
    const std::string profile = single_profile(pool, model);
    if (!profile.empty()) product += "-MIG-" + profile;
    if (sharing.strategy != "none" && !sharing.renamed) product += "-SHARED";
    labels.try_emplace("nvidia.com/gpu.product", product);
  }
  return labels;
}

}  // namespace slicewise::sim
