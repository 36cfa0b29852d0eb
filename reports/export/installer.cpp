#include "installer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "bundle_parts.hpp"
#include "embedded/script_files.hpp"
#include "guide.hpp"
#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

constexpr std::string_view kNvidiaCharts = "https://helm.ngc.nvidia.com/nvidia";

std::string find_operator() {
  return filled(
      script_files::check_operator_sh(),
      {{"name", kOperatorChart}, {"namespace", kOperatorChart}, {"version", kOperatorVersion}});
}

std::string fetch(std::string_view repository, std::string_view url, std::string_view chart,
                  std::string_view version) {
  return filled(script_files::fetch_chart_sh(),
                {{"repository", repository}, {"url", url}, {"chart", chart}, {"version", version}});
}

}  // namespace

std::string changed_operator_check(std::string_view other_nodes, bool cuts) {
  std::string out = find_operator() + std::string(script_files::require_operator_sh());
  if (cuts) out += filled(script_files::check_cut_nodes_sh(), {{"pools", other_nodes}});
  return out;
}

std::string new_operator_check(std::string_view help) {
  return find_operator() + filled(script_files::refuse_operator_sh(), {{"help", help}});
}

bool keeps_release(const Installer& plugin) { return !plugin.values.empty() && !plugin.is_there; }

std::string operator_fetch() {
  return fetch("nvidia", kNvidiaCharts, kOperatorChart, "\"${keep[@]:0:2}\"");
}

std::string operator_release() {
  return filled(script_files::upgrade_operator_sh(),
                {{"chart", fmt::format("nvidia/{}", kOperatorChart)}});
}

std::string chart_fetch(const Installer& plugin) {
  if (!plugin.config_map.empty()) return {};
  if (plugin.chart == kOperatorChart) return operator_fetch();
  return fetch(plugin.repository, plugin.url, plugin.chart,
               fmt::format("--version {}", shell_word(plugin.version)));
}

std::string release_check(const Installer& plugin) {
  return filled(script_files::check_release_sh(),
                {{"name", plugin.release}, {"namespace", plugin.namespace_name}});
}

std::string chart_memory(std::string_view release, std::string_view name_space) {
  return filled(script_files::remember_release_sh(),
                {{"name", release}, {"namespace", name_space}});
}

std::string chart_rollback(std::string_view release, std::string_view name_space) {
  return filled(script_files::rollback_chart_sh(), {{"name", release}, {"namespace", name_space}});
}

std::string config_map_check(const Installer& plugin) {
  return filled(script_files::check_config_map_sh(),
                {{"name", scenarios::name_part(plugin.config_map)}});
}

std::string config_map_patch(const std::string& config_map, std::string_view file) {
  return fmt::format("kubectl -n {} patch configmap {} --type merge --patch-file {}",
                     scenarios::space_part(config_map), scenarios::name_part(config_map), file);
}

std::string config_map_rollback(const Installer& plugin, std::string_view configs) {
  return filled(script_files::take_keys_sh(),
                {{"configs", configs},
                 {"label", scenarios::kConfigLabel},
                 {"namespace", scenarios::space_part(plugin.config_map)},
                 {"name", scenarios::name_part(plugin.config_map)}});
}

std::string plugin_check(const Installer& plugin, const scenarios::GpuSoftware& there) {
  std::string known = plugin.chart == kOperatorChart
                          ? "\"$operators\"/nvidia-device-plugin-daemonset"
                          : fmt::format("{}/{}", plugin.namespace_name, plugin.daemonset);
  for (const std::string& daemon : there.plugin_daemon_sets) known += " | " + daemon;
  return filled(script_files::check_plugins_sh(), {{"known", known}});
}

std::string plugin_removal(const scenarios::GpuSoftware& there) {
  if (there.plugin_daemon_sets.empty()) return {};
  return filled(script_files::remove_plugins_sh(),
                {{"daemons", fmt::format("{}", fmt::join(there.plugin_daemon_sets, " "))}});
}

std::string plugin_removal_end(const scenarios::GpuSoftware& there) {
  return there.plugin_daemon_sets.empty() ? std::string() : "trap - ERR\n";
}

std::string plugin_return(const scenarios::GpuSoftware& there) {
  return there.plugin_daemon_sets.empty() ? std::string()
                                          : std::string(script_files::put_back_plugins_sh());
}

std::string_view applied_check() { return script_files::check_applied_sh(); }

std::string_view operator_rollback_check() { return script_files::check_rollback_sh(); }

std::string_view operator_rollback() { return script_files::rollback_operator_sh(); }

bool has_mig(const scenarios::Scenario& scenario) {
  return std::ranges::any_of(scenario.node_pools,
                             [](const auto& pool) { return pool.mig.has_value(); });
}

bool needs_operator(const scenarios::Scenario& scenario, const ExportOptions& options) {
  return options.by_operator || has_mig(scenario);
}

bool extends_configs(const scenarios::Scenario& scenario, const ExportOptions& options) {
  return options.by_operator && !scenario.gpu_software.operator_config_map.empty() &&
         !has_mig(scenario);
}

Installer installer_of(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                       const ExportOptions& options) {
  if (options.image != NodeImage::Al2023) return {};
  if (extends_configs(scenario, options)) {
    Installer plugin;
    plugin.values = "plugin-config.yaml";
    plugin.chart = kOperatorChart;
    plugin.config_map = scenario.gpu_software.operator_config_map;
    plugin.namespace_name = scenarios::space_part(plugin.config_map);
    plugin.is_there = true;
    return plugin;
  }
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
  Installer plugin = {"nvdp-values.yaml",
                      "nvdp",
                      "https://nvidia.github.io/k8s-device-plugin",
                      "nvidia-device-plugin",
                      release.chart_version,
                      release.name,
                      release.namespace_name,
                      plugin_daemonset(release)};
  plugin.keeps_values = release.is_there;
  return plugin;
}

}  // namespace slicewise::reports
