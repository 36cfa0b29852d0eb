#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "plugin_config.hpp"

// What the nodes of a pool are told by whoever starts them: Karpenter or a node group.
namespace slicewise::reports {

using scenarios::kConfigLabel;
using scenarios::kMigLabel;
inline constexpr std::string_view kGpuPresentLabel = "nvidia.com/gpu.present";

// One node pool and the named config of the device plugin that its nodes take.
struct PoolNodes {
  PoolTarget target;
  std::string config;  // "" where the image brings its own plugin
};

// In the order of the scenario.
std::vector<PoolNodes> nodes_of(const PluginPlan& plan, const scenarios::Scenario& scenario);

// The scenario's labels, and those by which device plugin and mig-manager know what to do.
// kGpuPresentLabel lets the plugin's DaemonSet on the node without Node Feature Discovery.
std::map<std::string, std::string> node_labels(const PoolNodes& nodes);

// Labels of the scenario that only Kubernetes, AWS or Karpenter may set.
bool is_reserved_label(std::string_view key);
// A comment for each that the pool has and that the file does not say in its own way.
std::string reserved_labels(const scenarios::NodePool& pool,
                            std::string_view who_sets_them = "Kubernetes or AWS",
                            std::string_view said = {});
// The zone of all nodes of the pool, by its label; nullptr: any.
const std::string* zone_of(const scenarios::NodePool& pool);

// [{key, value, effect}] of the scenario; empty for none.
nlohmann::json taints_of(std::span<const scenarios::Taint> taints);

inline constexpr int kImageVolumeGib = 200;  // Assumed: of the disk that images are pulled to

// What the Cluster Autoscaler reads of an Auto Scaling group.
nlohmann::json autoscaler_tags(const PoolNodes& nodes, const std::string& cluster,
                               bool tells_resources);

// "nvidia-a10g": the Cluster Autoscaler waits for the GPUs of nodes with this label.
std::string accelerator_of(const PoolTarget& target);

// EXPORT_UNFIT where a count of the node's resources is not known without a MIG layout.
Diagnostics unknown_counts(const std::vector<PoolNodes>& nodes);

// How the nodes of an image get the settings of their device plugin.

// With the label that chooses the plugin's config on EKS AL2023, where the chart brings the plugin;
// on Bottlerocket without one, and everything that its settings cannot say as EXPORT_UNFIT.
Expected<std::vector<PoolNodes>> image_nodes(const scenarios::Scenario& scenario,
                                             const models::Catalogue& catalogue,
                                             const ExportOptions& options);

// EXPORT_UNFIT where nodes of EKS Auto Mode are not what the pool asks for.
Diagnostics check_auto_mode(const PoolTarget& target);
// ... for whoever makes node groups.
tl::unexpected<Diagnostics> no_groups_of_auto_mode(const scenarios::Scenario& scenario);
// Why they are not; "": they are.
std::string off_auto_mode(const scenarios::NodePool& pool);

// EXPORT_UNFIT for each setting of the pool that Bottlerocket's device plugin does not have.
Diagnostics check_bottlerocket(const PoolTarget& target);

// settings.kubelet-device-plugins.nvidia as TOML. REQUIRES: check_bottlerocket finds nothing.
std::string bottlerocket_settings(const PoolTarget& target);

// What is below `settings`, as eksctl takes it. REQUIRES: check_bottlerocket finds nothing.
nlohmann::json bottlerocket_values(const PoolTarget& target);

// What pods tolerate of the taints that the nodes of a scenario have.

// [{key, operator, value, effect}].
nlohmann::json toleration_list(std::span<const scenarios::Toleration> tolerations);

// `tolerations`, and what they lack to be on all nodes of the pool.
std::vector<scenarios::Toleration> tolerating(std::vector<scenarios::Toleration> tolerations,
                                              const scenarios::NodePool& pool);

// Helm values by which NVIDIA's pods are on all nodes of the scenario, as a block of YAML and as
// flags of `helm upgrade`; "" where what the chart has by itself will do.
std::string toleration_values(const scenarios::Scenario& scenario,
                              scenarios::ChartValues::Chart chart);
std::string toleration_flags(const scenarios::Scenario& scenario,
                             scenarios::ChartValues::Chart chart);

}  // namespace slicewise::reports
