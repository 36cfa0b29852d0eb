#include "installer.hpp"

#include <algorithm>

#include "slicewise/filled_text.hpp"

#include "chart_releases.hpp"
#include "embedded/script_files.hpp"
#include "guide.hpp"
#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

constexpr std::string_view kNvidiaCharts = "https://helm.ngc.nvidia.com/nvidia";

}  // namespace

bool keeps_release(const Installer& plugin) { return !plugin.values.empty() && !plugin.is_there; }

std::string operator_check(bool is_there) {
  std::string out = filled(
      script_files::check_operator_sh(),
      {{"name", kOperatorChart}, {"namespace", kOperatorChart}, {"version", kOperatorVersion}});
  if (is_there) out += script_files::require_operator_sh();
  return out;
}

std::string operator_release() {
  return filled(script_files::upgrade_operator_sh(),
                {{"repository", "nvidia"}, {"url", kNvidiaCharts}, {"chart", kOperatorChart}});
}

std::string_view operator_rollback() { return script_files::rollback_operator_sh(); }

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
            std::string(kNvidiaCharts),
            std::string(kOperatorChart),
            std::string(kOperatorVersion),
            "gpu-operator",
            "gpu-operator",
            "",
            options.by_operator};
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
