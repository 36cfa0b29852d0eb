#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Configuration for the NVIDIA device plugin, ready to apply. Deterministic: same input, same
// bytes.
namespace slicewise::reports {

// The image of the nodes.
enum class NodeImage : std::uint8_t { Al2023, Bottlerocket };

struct ExportOptions {
  std::string chart_version = "0.20.0";  // of the chart nvidia-device-plugin, 0.14 to 0.20
  std::map<std::string, std::string> node_selector;  // nodes that run the plugin; empty = chart's
  NodeImage image = NodeImage::Al2023;  // of Karpenter's and eksctl's nodes, and of the bundle
  std::string cluster = {};             // "": the placeholder ${CLUSTER_NAME}
  // Of openmetrics: a label, when the run begins (absent: see kMetricsEpoch) and whether
  // dcgm-exporter's names are written as well.
  std::string scenario = {};
  std::optional<std::int64_t> start_unix = {};
  bool dcgm_compat = false;
};

// values.yaml for `helm upgrade -i nvdp nvdp/nvidia-device-plugin -f -`: one named config for each
// distinct plugin config of the node pools. Comments carry the choice of renameByDefault and why,
// the matching pod patch, roll-out and roll-back commands, and the `kubectl describe node` block
// to expect.
//
// Errors: ENUM_UNKNOWN for a chart that is not supported, INSTANCE_UNKNOWN and GPU_UNKNOWN, and
// everything that the plugin or the chart version would refuse or silently ignore, all at once.
Expected<std::string> helm_values(const scenarios::Scenario& scenario,
                                  const models::Catalogue& catalogue, const ExportOptions& options);

// The same as a ConfigMap for a plugin that is installed with config.name. For chart 0.14 it has
// the name, namespace and key of the AWS time-slicing demo (sanjeevrg89/eks-gpu-sharing-demo).
Expected<std::string> config_map(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue, const ExportOptions& options);

}  // namespace slicewise::reports
