#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/reports/export/device_plugin.hpp"

#include "node_settings.hpp"

// How the nodes of an image get the settings of their device plugin.
namespace slicewise::reports {

// With the label that chooses the plugin's config on EKS AL2023, where the chart brings the plugin;
// on Bottlerocket without one, and everything that its settings cannot say as EXPORT_UNFIT.
Expected<std::vector<PoolNodes>> image_nodes(const scenarios::Scenario& scenario,
                                             const models::Catalogue& catalogue,
                                             const ExportOptions& options);

// EXPORT_UNFIT for each setting of the pool that Bottlerocket's device plugin does not have.
Diagnostics check_bottlerocket(const PoolTarget& target);

// settings.kubelet-device-plugins.nvidia as TOML. REQUIRES: check_bottlerocket finds nothing.
std::string bottlerocket_settings(const PoolTarget& target);

// What is below `settings`, as eksctl takes it. REQUIRES: check_bottlerocket finds nothing.
nlohmann::json bottlerocket_values(const PoolTarget& target);

}  // namespace slicewise::reports
