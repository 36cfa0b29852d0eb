#include "gpu_software.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "../text/kubernetes_names.hpp"

namespace slicewise::scenarios {
namespace {

// The ConfigMap that exports make for the operator's plugin.
constexpr std::string_view kExportedMap = "slicewise-plugin-configs";

const ChartValues* operator_of(const ClusterFiles& cluster) {
  return find_if_or_null(cluster.charts, [](const ChartValues& chart) {
    return chart.chart == ChartValues::Chart::GpuOperator && chart.deploys_plugin;
  });
}

// Where the operator runs, by what of it is there.
std::string operator_space(const ClusterFiles& cluster, const std::string& map) {
  const auto file = std::ranges::find(cluster.config_maps, map, &ConfigMapFile::name);
  if (file != cluster.config_maps.end() && !file->space.empty()) return file->space;
  const auto daemon =
      std::ranges::find(cluster.plugin_daemons, true, &PluginDaemonFile::is_of_operator);
  return daemon == cluster.plugin_daemons.end() ? "gpu-operator" : space_part(daemon->name);
}

NodeImage image_of(const NodeGroupFile& group) {
  if (group.maker == NodeMaker::AutoMode) return NodeImage::AutoMode;
  return group.is_bottlerocket ? NodeImage::Bottlerocket : NodeImage::Al2023;
}

// Of nodes that are there, else of those that would be.
std::set<NodeImage> images_of(const ClusterFiles& cluster) {
  std::set<NodeImage> live;
  std::set<NodeImage> all;
  for (const NodeGroupFile& group : cluster.groups) {
    const bool has_gpus =
        std::ranges::any_of(group.types, [](const auto& type) { return is_gpu_type(type.value); });
    // A NodePool may leave the type to other requirements.
    const bool may_have =
        has_gpus || (group.kind == NodeGroupFile::Kind::NodePool && group.types.empty());
    if (may_have) all.insert(image_of(group));
    if (has_gpus && group.kind == NodeGroupFile::Kind::Node) live.insert(image_of(group));
  }
  return live.empty() ? all : live;
}

}  // namespace

GpuSoftware gpu_software_of(const ClusterFiles& cluster, ImportReport& report) {
  GpuSoftware software;
  const std::set<NodeImage> images = images_of(cluster);
  if (images.size() == 1) software.image = *images.begin();
  if (images.size() > 1) {
    report.noted(
        "nodes of Bottlerocket or EKS Auto Mode beside others: these bring a device plugin, and "
        "exports are for the others: keep the plugin's chart off them (export --node-selector)");
  }
  // Nothing of a chart is for nodes that bring the plugin.
  if (software.image != NodeImage::Al2023) return software;
  if (const ChartValues* const chart = operator_of(cluster)) {
    software.gpu_operator = true;
    const std::string& map = chart->config_map.value;
    const std::string there = fmt::format("{}/{}", operator_space(cluster, map), map);
    if (!chart->map_where && map != kExportedMap && is_name_in_space(there)) {
      software.operator_config_map = there;
      report.noted(fmt::format(
          "ConfigMap {} of the GPU Operator's device plugin: a bundle adds its configs to it",
          software.operator_config_map.substr(0, 120)));
    }
  }
  for (const PluginDaemonFile& daemon : cluster.plugin_daemons) {
    if (daemon.is_of_operator || !is_name_in_space(daemon.name)) continue;
    const bool is_usual = daemon.release == "nvidia-device-plugin/nvdp";
    if (is_usual && daemon.chart_version.empty()) continue;
    if (!daemon.release.empty()) {
      if (!is_name_in_space(daemon.release)) continue;
      software.plugin_release = daemon.release;
      const std::string& version = daemon.chart_version;
      if (plugin_version(version) && is_label_name(version)) software.plugin_version = version;
      continue;
    }
    software.plugin_daemon_sets.push_back(daemon.name);
    report.noted(
        fmt::format("DaemonSet {} runs the device plugin, without sharing: apply.sh of a bundle "
                    "takes it away before it installs another, and rollback.sh brings it back",
                    daemon.name.substr(0, 120)),
        daemon.where);
  }
  return software;
}

}  // namespace slicewise::scenarios
