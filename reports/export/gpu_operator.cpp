#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "embedded/head_files.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "mig_parted.hpp"
#include "node_settings.hpp"
#include "plugin_config.hpp"

// Values as in deployments/gpu-operator/values.yaml of github.com/NVIDIA/gpu-operator v26.7.0.
namespace slicewise::reports {
namespace {

using scenarios::MigStrategy;

constexpr std::string_view kOperatorsPlugin = "0.20.0";  // the device plugin that it installs

std::vector<PoolTarget> targets_of(const PluginPlan& plan) {
  std::vector<PoolTarget> out;
  for (const NamedConfig& config : plan.configs) {
    out.insert(out.end(), config.pools.begin(), config.pools.end());
  }
  return out;
}

std::string plugin_values(const PluginPlan& plan) {
  std::string out =
      "devicePlugin:\n  config:\n    create: true\n    name: slicewise-plugin-configs\n";
  out += comment(
      plan.default_key.empty()
          ? "No default: nodes of other pools without the label get an empty config, and share "
            "nothing, as without configs. So do nodes of these pools without it."
          : "Without a default, and on nodes without the label, the operator falls back to an "
            "empty config: nothing is shared, and nothing says so.",
      4);
  out += fmt::format("    default: {}\n    data:\n", yaml_scalar(plan.default_key));
  for (const NamedConfig& config : plan.configs) {
    out += config_comment(config, plan, 6);
    out += indented(fmt::format("{}: |-\n", yaml_scalar(config.key)) + indented(config.yaml, 2), 6);
  }
  if (plan.mps_root.empty()) return out;
  return out + fmt::format("  mps:\n    root: {}\n", yaml_scalar(plan.mps_root));
}

// The operator gives mig.strategy to the plugins as a variable of the environment, which beats
// their config (controllers/object_controls.go, applyMIGConfiguration): it holds for all nodes.
std::string strategy_value(const PluginPlan& plan) {
  std::set<MigStrategy> wanted;
  for (const PoolTarget& target : targets_of(plan)) wanted.insert(mig_strategy_of(*target.pool));
  if (wanted.size() == 1) {
    return fmt::format("mig:\n  strategy: {}\n", mig_strategy_name(*wanted.begin()));
  }
  return "mig:\n" + comment("Empty: each node takes the migStrategy of its own plugin config.", 2) +
         "  strategy: \"\"\n";
}

// A list replaces the one that is there.
std::string lists_to_merge(const std::string& values) {
  if (values.empty()) return {};
  return "\n" + comment("Lists, which would replace those that are there. Add to them by hand:") +
         commented(values);
}

std::string exporter_values(const std::vector<PoolTarget>& targets) {
  std::string out = "dcgmExporter:\n  env:\n";
  out += comment(
      "Names each pod that shares a GPU. Every one of them then carries the figure of the whole "
      "GPU: do not add them up.",
      2);
  out += "  - name: KUBERNETES_VIRTUAL_GPUS\n    value: \"true\"\n";
  std::set<std::string> renamed;
  for (const PoolTarget& target : targets) {
    for (const AdvertisedResource& resource : advertised(target)) {
      if (resource.name.ends_with(".shared")) renamed.insert(resource.name);
    }
  }
  if (renamed.empty()) return out;
  out += comment(
      "Pods with a renamed resource have no pod labels on their metrics without it "
      "(https://github.com/NVIDIA/dcgm-exporter/issues/151).",
      2);
  return out + fmt::format("  - name: NVIDIA_RESOURCE_NAMES\n    value: {}\n",
                           yaml_scalar(fmt::format("{}", fmt::join(renamed, ","))));
}

bool shares(const std::vector<PoolTarget>& targets) {
  return std::ranges::any_of(
      targets, [](const PoolTarget& target) { return sharing_of(*target.pool) != nullptr; });
}

// What metrics of DCGM need, which is in a list of the operator's values.
std::string left_to_merge(std::string_view where) {
  return fmt::format(
      "dcgmExporter.env of the GPU Operator names no pods that share a GPU, and a list in values "
      "replaces the one that is there: add to it by hand what {} has in comments",
      where);
}

}  // namespace

Expected<ExportFiles> render_operator_configs(const scenarios::Scenario& scenario,
                                              const models::Catalogue& catalogue,
                                              const ExportOptions& /*options*/) {
  const Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, kOperatorsPlugin);
  if (!plan) return tl::unexpected(plan.error());
  const std::string& map = scenario.gpu_software.operator_config_map;
  std::string text = comment(fmt::format(
      "Configs of the GPU Operator's device plugin (plugin-config.yaml), written by slicewise: "
      "what they add to ConfigMap {}. What that has stays, and so does the operator's release.",
      map));
  text += comment(fmt::format("Scenario variant {}.", yaml_scalar(scenario.name)));
  text += commented(fmt::format("  {}\n", config_map_patch(map, "plugin-config.yaml")));
  text += label_comment(*plan) + "\ndata:\n";
  for (const NamedConfig& config : plan->configs) {
    text += config_comment(config, *plan, 2);
    text +=
        indented(fmt::format("{}: |-\n", yaml_scalar(config.key)) + indented(config.yaml, 2), 2);
  }
  const std::string exporter = exporter_values(targets_of(*plan));
  text += lists_to_merge(exporter) + "\n" + expected_node_comment(*plan) + "#\n" +
          running_pods_comment();
  ExportFile file{"plugin-config.yaml", std::move(text)};
  if (shares(targets_of(*plan))) file.left_out = left_to_merge(file.path);
  return ExportFiles{std::move(file)};
}

Expected<ExportFiles> render_gpu_operator(const scenarios::Scenario& scenario,
                                          const models::Catalogue& catalogue,
                                          const ExportOptions& options) {
  Expected<PluginPlan> plan = plan_plugin(scenario, catalogue, kOperatorsPlugin);
  if (!plan) return tl::unexpected(plan.error());
  const std::vector<PoolTarget> targets = targets_of(*plan);
  const auto mig = mig_parted_file(targets, catalogue);
  if (!mig) return tl::unexpected(mig.error());
  const bool is_there = options.by_operator;
  if (is_there) plan->default_key.clear();
  // Of an operator that is there what is not named stays.
  std::string text =
      head(is_there ? head_files::operator_overlay_txt() : head_files::gpu_operator_txt(),
           {{"version", kOperatorVersion},
            {"variant", yaml_scalar(scenario.name)},
            {"labels", label_comment(*plan)}});
  if (*mig) text += "#\n" + mig_runbook_comment(targets, (*mig)->needs_reset);
  text += "\n";
  if (!is_there) {
    text += comment("Both are in the EKS AL2023 NVIDIA image.") +
            "driver:\n  enabled: false\ntoolkit:\n  enabled: false\n";
  }
  text += plugin_values(*plan);
  if (!is_there || *mig) text += strategy_value(*plan) + mig_manager_values(*mig);
  const std::string exporter = exporter_values(targets);
  text += is_there
              ? lists_to_merge(exporter)
              : exporter + toleration_values(scenario, scenarios::ChartValues::Chart::GpuOperator);
  ExportFile file{"gpu-operator-values.yaml",
                  text + "\n" + expected_node_comment(*plan) + "#\n" + running_pods_comment()};
  if (const std::string& there = scenario.gpu_software.plugin_release;
      !is_there && !there.empty()) {
    file.left_out = fmt::format(
        "apply.sh stops before it changes anything: the GPU Operator, which MIG needs, brings the "
        "device plugin, and release {} has one: helm uninstall {} -n {} first",
        there, scenarios::name_part(there), scenarios::space_part(there));
  }
  if (is_there && shares(targets)) file.left_out = left_to_merge(file.path);
  if (is_there && *mig && !scenario.gpu_software.operator_config_map.empty()) {
    file.left_out = fmt::format(
        "apply.sh stops before it changes anything: the GPU Operator's device plugin reads "
        "ConfigMap {}, and layouts of MIG are in the operator's values: add the configs and the "
        "layouts of gpu-operator-values.yaml to both by hand",
        scenario.gpu_software.operator_config_map);
  }
  return ExportFiles{std::move(file)};
}

}  // namespace slicewise::reports
