#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/choice.hpp"

// What serves the GPUs of a cluster that is there. `import k8s` reads it; exports keep it, or take
// its place, so that no node has two device plugins.
namespace slicewise::scenarios {

// The image of the nodes: the NVIDIA variants of Bottlerocket bring a device plugin, and that of
// EKS Auto Mode nobody configures.
enum class NodeImage : std::uint8_t { Al2023, Bottlerocket, AutoMode };
inline constexpr std::array kNodeImages = {Choice{"al2023", NodeImage::Al2023},
                                           Choice{"bottlerocket", NodeImage::Bottlerocket},
                                           Choice{"auto-mode", NodeImage::AutoMode}};

struct GpuSoftware {
  NodeImage image = NodeImage::Al2023;
  bool gpu_operator = false;  // it runs the device plugin
  // Names with their namespaces: "gpu-operator/plugin-config".
  std::string operator_config_map;  // that somebody made for the operator's plugin; "" none
  std::string plugin_release;       // Helm's, of the chart nvidia-device-plugin; "" none
  std::string plugin_version;       // of that chart; "" nobody says
  std::vector<std::string> plugin_daemon_sets;  // of the plugin, that nobody's release keeps
};

// The parts of a name with its namespace.
inline std::string space_part(const std::string& name) { return name.substr(0, name.find('/')); }
inline std::string name_part(const std::string& name) { return name.substr(name.find('/') + 1); }

}  // namespace slicewise::scenarios
