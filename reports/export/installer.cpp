#include "installer.hpp"

#include <algorithm>

#include "chart_releases.hpp"
#include "guide.hpp"
#include "plugin_config.hpp"

namespace slicewise::reports {

bool has_mig(const scenarios::Scenario& scenario) {
  return std::ranges::any_of(scenario.node_pools,
                             [](const auto& pool) { return pool.mig.has_value(); });
}

bool needs_operator(const scenarios::Scenario& scenario, const ExportOptions& options) {
  return options.by_operator || has_mig(scenario);
}

Installer installer_of(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                       const ExportOptions& options) {
  if (options.image == NodeImage::Bottlerocket) return {};
  if (needs_operator(scenario, options)) {
    return {"gpu-operator-values.yaml",
            "nvidia",
            "https://helm.ngc.nvidia.com/nvidia",
            std::string(kOperatorChart),
            std::string(kOperatorVersion),
            "gpu-operator",
            "gpu-operator",
            ""};
  }
  const auto plan = plan_plugin(scenario, catalogue, options.chart_version);
  if (!plan) return {};
  const Release release = plugin_release(*plan, options);
  return {"nvdp-values.yaml",
          "nvdp",
          "https://nvidia.github.io/k8s-device-plugin",
          "nvidia-device-plugin",
          release.chart_version,
          release.name,
          release.namespace_name,
          plugin_daemonset(release)};
}

}  // namespace slicewise::reports
