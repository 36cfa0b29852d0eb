#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "bundle_dra.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "plugin_config.hpp"
#include "pod_remarks.hpp"

namespace slicewise::reports {
namespace {

constexpr std::string_view kDemoKey = "any";

bool as_in_demo(const PluginPlan& plan) { return plan.chart_minor == kOldestChartMinor; }

std::string upgrade_command(const Release& release) {
  return fmt::format(
      "  helm upgrade -i {} nvdp/nvidia-device-plugin --version {} \\\n"
      "    -n {} --create-namespace{}",
      release.name, release.chart_version, release.namespace_name,
      release.is_there ? " \\\n    --reset-then-reuse-values" : "");
}

// `check` reads these, and finds no second plugin beside the values.
std::string delete_commands(const scenarios::GpuSoftware& there) {
  std::string out;
  for (const std::string& daemon : there.plugin_daemon_sets) {
    out += commented(fmt::format("  kubectl -n {} delete daemonset {}\n",
                                 scenarios::space_part(daemon), scenarios::name_part(daemon)));
  }
  return out;
}

std::string status_command(const Release& release) {
  return fmt::format("  kubectl -n {} rollout status daemonset/{}\n", release.namespace_name,
                     plugin_daemonset(release));
}

// `key: |-` and the config file below it, for config.map and for ConfigMap data alike.
std::string literal_entry(const NamedConfig& config) {
  return fmt::format("{}: |-\n", yaml_scalar(config.key)) + indented(config.yaml, 2);
}

std::string node_selector_block(const ExportOptions& options) {
  if (options.node_selector.empty()) return {};
  std::string out =
      comment("Only these nodes run the plugin and GPU Feature Discovery.") + "nodeSelector:\n";
  for (const auto& [key, value] : options.node_selector) {
    out += fmt::format("  {}: {}\n", yaml_scalar(key), yaml_scalar(value));
  }
  return out;
}

std::string mps_block(const PluginPlan& plan) {
  if (plan.mps_root.empty()) return {};
  return "mps:\n" +
         comment(
             "Host directory of the MPS pipes and logs; the chart gives it to plugin and daemon.",
             2) +
         fmt::format("  root: {}\n", yaml_scalar(plan.mps_root));
}

std::string helm_title(const scenarios::Scenario& scenario, const PluginPlan& plan,
                       const Release& release) {
  std::string out =
      title_comment(fmt::format("Values of Helm chart nvidia-device-plugin {} (nvdp-values.yaml)",
                                release.chart_version),
                    scenario, plan);
  out +=
      "#\n" + comment("Roll out:") + helm_repo_comment() + delete_commands(scenario.gpu_software);
  out += commented(upgrade_command(release) + (release.is_there ? " --set config.name=" : "") +
                   " -f nvdp-values.yaml\n" + status_command(release));
  return out + label_comment(plan);
}

std::string values_body(const scenarios::Scenario& scenario, const PluginPlan& plan,
                        const ExportOptions& options) {
  std::string out = "config:\n";
  out +=
      comment("For nodes without the label nvidia.com/device-plugin.config; a key of the map.", 2);
  out += fmt::format("  default: {}\n  map:\n", yaml_scalar(plan.default_key));
  for (const NamedConfig& config : plan.configs) {
    out += config_comment(config, plan, 4) + indented(literal_entry(config), 4);
  }
  out += "gfd:\n" + gfd_comment(plan) + "  enabled: true\n";
  return out + mps_block(plan) + node_selector_block(options) +
         toleration_values(scenario, scenarios::ChartValues::Chart::DevicePlugin);
}

std::string aftermath(const scenarios::Scenario& scenario, const PluginPlan& plan,
                      const Release& release) {
  std::string out = "\n" + expected_node_comment(plan) + "#\n" + running_pods_comment() + "#\n" +
                    rollback_comment(release, plan);
  const std::string patches = pod_patch_comment(scenario);
  return patches.empty() ? out : out + "#\n" + patches;
}

// The demo's file has the one key "any".
void use_demo_key(PluginPlan& plan) {
  if (!as_in_demo(plan) || plan.configs.size() != 1) return;
  plan.configs.front().key = kDemoKey;
  plan.default_key = kDemoKey;
}

// --set takes a dot for a path: dots inside a key are escaped.
std::string set_argument(const std::string& path, const std::string& value) {
  return fmt::format(" \\\n    --set-string '{}={}'", path, value);
}

std::string escaped_dots(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '.') out += '\\';
    out += c;
  }
  return out;
}

std::string install_command(const scenarios::Scenario& scenario, const PluginPlan& plan,
                            const ExportOptions& options, const std::string& map_name) {
  const Release release = plugin_release(plan, options);
  std::string out = upgrade_command(release) + set_argument("config.name", map_name) +
                    set_argument("config.default", plan.default_key) +
                    " \\\n    --set gfd.enabled=true";
  if (!plan.mps_root.empty()) out += set_argument("mps.root", plan.mps_root);
  for (const auto& [key, value] : options.node_selector) {
    out += set_argument("nodeSelector." + escaped_dots(key), value);
  }
  return out + toleration_flags(scenario, scenarios::ChartValues::Chart::DevicePlugin) + "\n";
}

std::string config_map_title(const scenarios::Scenario& scenario, const PluginPlan& plan,
                             const ExportOptions& options, const std::string& map_name) {
  const Release release = plugin_release(plan, options);
  std::string out = title_comment(
      fmt::format("Configuration of the NVIDIA device plugin for chart {} with config.name "
                  "(nvdp-configs.yaml)",
                  release.chart_version),
      scenario, plan);
  const std::string gfd = as_in_demo(plan) ? release.name + "-gpu-feature-discovery"
                                           : plugin_daemonset(release) + "-gpu-feature-discovery";
  out += "#\n" + comment("Roll out, in the namespace of the release:") + helm_repo_comment();
  std::string commands;
  if (!as_in_demo(plan)) {
    commands += fmt::format("  kubectl create namespace {}\n", release.namespace_name);
  }
  commands += "  kubectl apply -f nvdp-configs.yaml\n" +
              install_command(scenario, plan, options, map_name) + status_command(release);
  out += commented(commands) + label_comment(plan);
  out += comment("A changed ConfigMap restarts nothing. After a later kubectl apply:");
  return out + commented(fmt::format("  kubectl -n {} rollout restart daemonset/{} daemonset/{}\n",
                                     release.namespace_name, plugin_daemonset(release), gfd));
}

}  // namespace

Expected<std::string> helm_values(const scenarios::Scenario& scenario,
                                  const models::Catalogue& catalogue,
                                  const ExportOptions& options) {
  const Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, options.chart_version);
  if (!plan) return tl::unexpected(plan.error());
  const Release release = plugin_release(*plan, options);
  return helm_title(scenario, *plan, release) + "\n" + values_body(scenario, *plan, options) +
         aftermath(scenario, *plan, release);
}

Expected<std::string> config_map(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue, const ExportOptions& options) {
  Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, options.chart_version);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  use_demo_key(*plan);
  const Release release = plugin_release(*plan, options);
  const std::string name = as_in_demo(*plan) ? "nvidia-device-plugin" : "nvidia-plugin-configs";
  std::string out = config_map_title(scenario, *plan, options, name) + "\n";
  out += fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n  namespace: {}\ndata:\n", name,
      release.namespace_name);
  for (const NamedConfig& config : plan->configs) {
    out += config_comment(config, *plan, 2) + indented(literal_entry(config), 2);
  }
  return out + aftermath(scenario, *plan, release);
}

namespace {

Expected<ExportFiles> one_file(const char* path, Expected<std::string> text) {
  if (!text) return tl::unexpected(std::move(text.error()));
  return ExportFiles{{path, std::move(*text)}};
}

}  // namespace

Expected<ExportFiles> render_helm_values(const scenarios::Scenario& scenario,
                                         const models::Catalogue& catalogue,
                                         const ExportOptions& options) {
  return one_file("nvdp-values.yaml", helm_values(scenario, catalogue, options));
}

Expected<ExportFiles> render_config_map(const scenarios::Scenario& scenario,
                                        const models::Catalogue& catalogue,
                                        const ExportOptions& options) {
  return one_file("nvdp-configs.yaml", config_map(scenario, catalogue, options));
}

Expected<ExportFiles> render_pod_patch(const scenarios::Scenario& scenario,
                                       const models::Catalogue& catalogue,
                                       const ExportOptions& /*options*/) {
  const Expected<scenarios::Scenario> claimed = as_claimed(scenario, catalogue);
  if (!claimed) return tl::unexpected(claimed.error());
  ExportFile file{"pod-patches.yaml", pod_patches(*claimed)};
  for (const scenarios::Workload& workload : claimed->workloads) {
    if (file.left_out.empty()) file.left_out = never_admitted(*claimed, workload);
  }
  return ExportFiles{std::move(file)};
}

Expected<ExportFiles> render_scenario(const scenarios::Scenario& /*scenario*/,
                                      const models::Catalogue& /*catalogue*/,
                                      const ExportOptions& options) {
  if (options.scenario_text.empty()) {
    return failure(Code::ExportUnfit, {},
                   "there is no scenario file of which this would be a part");
  }
  return one_file("scenario.yaml", options.scenario_text);
}

}  // namespace slicewise::reports
