#include "slicewise/scenarios/gpu_software.hpp"

#include <fmt/format.h>

#include "slicewise/scenarios/cluster_files.hpp"

#include "../fields/node_values.hpp"
#include "../text/kubernetes_names.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

constexpr auto kNodeImageWords = words_of(kNodeImages);

// They stand in scripts: nothing but what Kubernetes takes.
void check_gpu_software(GpuSoftware& software, const Node& map, Reading& reading) {
  const auto hold = [&](std::string_view key, const std::string& name) {
    if (is_name_in_space(name)) return;
    reading.findings.add(Code::NameInvalid, value_place(map, key),
                         fmt::format("\"{}\" is not NAMESPACE/NAME as Kubernetes accepts it", name),
                         "kube-system/nvidia-device-plugin");
  };
  if (!software.operator_config_map.empty()) {
    hold("operatorConfigMap", software.operator_config_map);
  }
  if (!software.plugin_release.empty()) hold("pluginRelease", software.plugin_release);
  for (const std::string& name : software.plugin_daemon_sets) hold("pluginDaemonSets", name);
  const std::string& version = software.plugin_version;
  if (!version.empty() && (!plugin_version(version) || !is_label_name(version))) {
    reading.findings.add(Code::ValueRange, value_place(map, "pluginVersion"),
                         fmt::format("\"{}\" is no version", version), "0.17.1");
  }
  if (software.operator_config_map.empty() || software.gpu_operator) return;
  reading.findings.add(Code::SettingConflict, value_place(map, "operatorConfigMap"),
                       "operatorConfigMap is of the GPU Operator, which is not there",
                       "gpuOperator: true");
}

constexpr Field kGpuSoftwareFields[] = {
    field<&GpuSoftware::image>(
        "nodeImage", "bottlerocket",
        "Image of its GPU nodes. Bottlerocket brings its own device plugin and takes settings; "
        "that of EKS Auto Mode takes none, and shares no GPU.")
        .one_of(kNodeImageWords),
    field<&GpuSoftware::gpu_operator>(
        "gpuOperator", "true",
        "The GPU Operator runs the device plugin, as export --gpu-operator takes it to."),
    field<&GpuSoftware::operator_config_map>(
        "operatorConfigMap", "gpu-operator/plugin-config",
        "The ConfigMap, with its namespace, that the operator's plugin reads and its owner keeps: "
        "a bundle adds its configs to it.")
        .positive(),
    field<&GpuSoftware::plugin_release>(
        "pluginRelease", "kube-system/nvidia-device-plugin",
        "Helm's release of the chart nvidia-device-plugin, with its namespace: exports upgrade it.")
        .positive(),
    field<&GpuSoftware::plugin_version>("pluginVersion", "0.17.1",
                                        "Version of its chart, as export --chart-version.")
        .positive(),
    field<&GpuSoftware::plugin_daemon_sets>(
        "pluginDaemonSets", "[kube-system/nvidia-device-plugin-daemonset]",
        "DaemonSets of the device plugin, with their namespaces, that no release keeps, as eksctl "
        "makes them: apply.sh of a bundle takes them away, rollback.sh brings them back."),
};

}  // namespace

constinit const FieldList kGpuSoftware =
    block<GpuSoftware, &check_gpu_software>(kGpuSoftwareFields);

}  // namespace slicewise::scenarios
