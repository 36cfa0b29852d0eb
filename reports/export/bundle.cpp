#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "aws_vgpu.hpp"
#include "bundle_dra.hpp"
#include "bundle_parts.hpp"
#include "embedded/guide_files.hpp"
#include "embedded/script_files.hpp"
#include "guide.hpp"
#include "installer.hpp"
#include "node_settings.hpp"
#include "pod_objects.hpp"
#include "provisioner_values.hpp"
#include "rollouts.hpp"

namespace slicewise::reports {
namespace {

// What the scripts and the check list of a bundle say.
struct Bundle {
  const scenarios::Scenario* scenario = nullptr;
  const ExportOptions* options = nullptr;
  std::vector<PoolNodes> nodes;
  Installer plugin;
  bool has_mig = false;
};

using scenarios::Scenario;

bool makes_groups(const Scenario& scenario, const ExportOptions& options) {
  // Those of Capacity Blocks eksctl does not make.
  const bool has_any = std::ranges::any_of(scenario.node_pools, [](const auto& pool) {
    return pool.capacity_type != scenarios::CapacityType::CapacityBlock;
  });
  return has_any && options.image != NodeImage::AutoMode &&
         scenario.provisioner.kind != scenarios::Provisioner::Kind::Karpenter;
}

std::string selector_of(const PoolNodes& nodes) { return label_of_nodes(*nodes.target.pool); }

std::vector<PoolTarget> targets_of(const std::vector<PoolNodes>& nodes) {
  std::vector<PoolTarget> out;
  out.reserve(nodes.size());
  for (const PoolNodes& one : nodes) out.push_back(one.target);
  return out;
}

// Node classes of EKS Auto Mode are not of the files.
bool asks_for_cluster(const ExportOptions& options) {
  return options.cluster.empty() && options.image != NodeImage::AutoMode;
}

// Before anything is done, where somebody is to fill the name in.
std::string argument_lines(const Bundle& bundle) {
  std::string out(script_files::arguments_sh());
  if (asks_for_cluster(*bundle.options)) {
    out += "[[ $karpenter == no ]] || : \"${CLUSTER_NAME:?set it to the name of the cluster}\"\n";
  }
  return out;
}

// Prints the objects of karpenter.yaml.
std::string object_printer(const Bundle& bundle) {
  return asks_for_cluster(*bundle.options)
             ? "sed \"s/\\${CLUSTER_NAME}/$CLUSTER_NAME/g\" karpenter.yaml"
             : "cat karpenter.yaml";
}

std::string helm_lines(const Installer& plugin) {
  return fmt::format(
      "{0}helm upgrade -i {1} {2}/{3} --version {4} -n {5} --create-namespace -f {6} "
      "${{kept[@]+\"${{kept[@]}}\"}}\n",
      chart_memory(plugin.release, plugin.namespace_name), plugin.release, plugin.repository,
      plugin.chart, shell_word(plugin.version), plugin.namespace_name, plugin.values);
}

bool is_operator(const Installer& plugin) { return plugin.chart == kOperatorChart; }

// After the labels: without them the DaemonSet has no pod to wait for.
std::string wait_line(const Bundle& bundle) {
  if (bundle.plugin.daemonset.empty()) return {};
  return fmt::format("kubectl -n {} rollout status daemonset/{} --timeout=10m\n",
                     bundle.plugin.namespace_name, bundle.plugin.daemonset);
}

// MIG layouts are not among them: their nodes are drained first, by hand, one by one.
std::string label_lines_of(const Bundle& bundle) {
  std::string out(script_files::remember_labels_sh());
  std::map<std::string, std::set<std::string>> configs;
  for (const PoolNodes& nodes : bundle.nodes) configs[selector_of(nodes)].insert(nodes.config);
  for (const PoolNodes& nodes : bundle.nodes) {
    const auto of_selector = configs.find(selector_of(nodes));
    if (of_selector == configs.end()) continue;  // its nodes have it
    const std::string selector = shell_word(selector_of(nodes));
    if (of_selector->second.size() > 1) {
      out += fmt::format("remember_labels {} {}\n", selector, kConfigLabel);
      out += fmt::format("echo {} >&2\n",
                         shell_word(fmt::format("by hand: nodes with {} differ; label each {}={}",
                                                selector_of(nodes), kConfigLabel,
                                                fmt::join(of_selector->second, " or "))));
      configs.erase(of_selector);
      continue;
    }
    configs.erase(of_selector);
    std::string keys = fmt::format("{} {}", kGpuPresentLabel, kConfigLabel);
    std::string labels = shell_word(fmt::format("{}=true", kGpuPresentLabel));
    labels += " " + shell_word(fmt::format("{}={}", kConfigLabel, nodes.config));
    const auto& own = nodes.target.pool->labels;
    if (const auto label = own.find(scenarios::kPoolLabel); label != own.end()) {
      keys += fmt::format(" {}", scenarios::kPoolLabel);
      labels += " " + shell_word(fmt::format("{}={}", scenarios::kPoolLabel, label->second));
    }
    out += fmt::format("remember_labels {0} {1}\nkubectl label nodes -l {0} {2} --overwrite\n",
                       selector, keys, labels);
  }
  return out;
}

// The rest of a label selector.
std::string other_nodes(const Bundle& bundle) {
  std::map<std::string, std::set<std::string>> pools;  // by label
  for (const PoolNodes& nodes : bundle.nodes) {
    const std::string label = selector_of(nodes);
    const std::size_t sign = label.find('=');
    pools[label.substr(0, sign)].insert(label.substr(sign + 1));
  }
  std::string out;
  for (const auto& [key, names] : pools) {
    out += fmt::format(",{} notin ({})", key, fmt::join(names, ","));
  }
  return out;
}

// The configs that the plugin has before apply.sh, in words of a shell, and where values have them.
struct PresentConfigs {
  std::string maps;
  std::string namespace_name;
  std::string path;
};

PresentConfigs present_configs(const Installer& plugin) {
  if (is_operator(plugin)) {
    return {"slicewise-plugin-configs", "\"$operators\"", "devicePlugin.config.data"};
  }
  return {fmt::format("$(kubectl -n {} get daemonset {} --ignore-not-found -o "
                      "jsonpath='{{.spec.template.spec.volumes[*].configMap.name}}')",
                      plugin.namespace_name, plugin.daemonset),
          plugin.namespace_name, "config.map"};
}

// Nodes of other pools without a config keep what they have.
std::string default_checks(const Installer& plugin, std::string_view configs) {
  if (is_operator(plugin)) {
    return filled(script_files::refuse_default_sh(), {{"values", plugin.values}});
  }
  return filled(script_files::keep_default_sh(), {{"configs", configs},
                                                  {"namespace", plugin.namespace_name},
                                                  {"daemonset", plugin.daemonset}});
}

std::set<std::string> configs_of(const Bundle& bundle) {
  std::set<std::string> configs;
  for (const PoolNodes& nodes : bundle.nodes) configs.insert(nodes.config);
  return configs;
}

// Nodes of these pools get another label.
std::string config_checks(const Bundle& bundle) {
  if (bundle.plugin.values.empty()) return {};
  // What it has stays, for all nodes.
  if (!bundle.plugin.config_map.empty()) return config_map_check(bundle.plugin);
  const std::string own = fmt::format("{}", fmt::join(configs_of(bundle), ","));
  const PresentConfigs present = present_configs(bundle.plugin);
  std::string checks =
      filled(script_files::check_configs_sh(), {{"label", kConfigLabel},
                                                {"configs", own},
                                                {"pools", other_nodes(bundle)},
                                                {"default", default_checks(bundle.plugin, own)},
                                                {"maps", present.maps},
                                                {"namespace", present.namespace_name},
                                                {"path", present.path},
                                                {"values", bundle.plugin.values}});
  checks += plugin_check(bundle.plugin, bundle.scenario->gpu_software);
  if (!is_operator(bundle.plugin)) return checks + release_check(bundle.plugin);
  return (bundle.plugin.is_there
              ? changed_operator_check(other_nodes(bundle), bundle.has_mig)
              : new_operator_check("export again with --gpu-operator, whose values leave "
                                   "what other nodes have")) +
         checks;
}

// With --karpenter those keep their nodes that have a type of karpenter.yaml's.
std::string node_pool_check(const Bundle& bundle) {
  std::set<std::string> names;
  std::set<std::string> types;
  for (const PoolNodes& nodes : bundle.nodes) {
    names.insert(nodes.target.pool->name.value);
    types.insert(nodes.target.instance->name);
  }
  return filled(script_files::check_node_pools_sh(),
                {{"objects", object_printer(bundle)},
                 {"gpus", bundle.options->image == NodeImage::AutoMode
                              ? "eks.amazonaws.com/instance-gpu-count"
                              : "karpenter.k8s.aws/instance-gpu-count"},
                 {"names", fmt::format("{}", fmt::join(names, ","))},
                 {"types", fmt::format("{}", fmt::join(types, ","))}});
}

// Without --karpenter the nodes have to be there, or their NodePools.
std::string missing_node_checks(const Bundle& bundle) {
  std::string help = "$0 --karpenter makes the NodePools";
  if (bundle.options->cluster.empty()) help = "CLUSTER_NAME=... " + help;
  if (makes_groups(*bundle.scenario, *bundle.options)) help += ", eksctl.yaml the node groups";
  const std::string checks = node_checks(*bundle.scenario, bundle.nodes, help);
  return checks.empty()
             ? checks
             : fmt::format("if [[ $karpenter == no ]]; then\n{}fi\n", indented(checks, 2));
}

std::string release_rollback(const Bundle& bundle) {
  std::string calls;
  for (const PoolNodes& nodes : bundle.nodes) {
    calls += fmt::format(
        "  take_config {}\n",
        shell_word(fmt::format("{},{}={}", selector_of(nodes), kConfigLabel, nodes.config)));
  }
  const std::string since =
      filled(script_files::take_configs_sh(), {{"label", kConfigLabel}, {"calls", calls}});
  const std::string labels = filled(script_files::put_back_labels_sh(), {{"since", since}});
  std::string release;
  if (!bundle.plugin.config_map.empty()) {
    release =
        config_map_rollback(bundle.plugin, fmt::format("{}", fmt::join(configs_of(bundle), " ")));
  } else if (is_operator(bundle.plugin)) {
    release = std::string(operator_rollback());
  } else {
    release = chart_rollback(bundle.plugin.release, bundle.plugin.namespace_name);
  }
  release += plugin_return(bundle.scenario->gpu_software);
  return filled(script_files::rollback_release_sh(), {{"labels", labels}, {"release", release}});
}

std::string plugin_lines(const Installer& plugin) {
  if (!plugin.config_map.empty()) {
    return config_map_patch(plugin.config_map, plugin.values) + "\n";
  }
  return is_operator(plugin) ? operator_release() : helm_lines(plugin);
}

std::string apply_script(const Bundle& bundle) {
  std::string release;
  if (!bundle.plugin.values.empty()) {
    const scenarios::GpuSoftware& there = bundle.scenario->gpu_software;
    release = "\n" + chart_fetch(bundle.plugin) + plugin_removal(there) +
              plugin_lines(bundle.plugin) + plugin_removal_end(there) + label_lines_of(bundle) +
              wait_line(bundle);
  }
  if (is_by_aws_vgpu(*bundle.scenario)) {
    release =
        fmt::format("\n{}kubectl apply -f {}\n", script_files::remember_labels_sh(), kAwsVgpuFile);
    for (const PoolNodes& nodes : bundle.nodes) {
      release +=
          fmt::format("remember_labels {0} {1}\nkubectl label nodes -l {0} {1}=vgpu --overwrite\n",
                      shell_word(selector_of(nodes)), scenarios::kAcceleratorLabel);
    }
    release += wait_line(bundle);
  }
  std::string karpenter(script_files::apply_karpenter_sh());
  if (bundle.has_mig) {
    karpenter += "echo 'MIG layouts: drain and label each node as mig-config.yaml says' >&2\n";
  }
  return filled(
      script_files::apply_sh(),
      {{"title", script_title(*bundle.scenario, *bundle.options, "Puts in place")},
       {"arguments", argument_lines(bundle)},
       {"makers", makes_groups(*bundle.scenario, *bundle.options) ? " (eksctl.yaml)" : ""},
       {"check", script_files::check_files_sh()},
       {"types", type_checks(targets_of(bundle.nodes)) + node_pool_check(bundle) +
                     missing_node_checks(bundle) + config_checks(bundle)},
       {"release", release},
       {"karpenter", karpenter},
       {"patches", patch_lines(*bundle.scenario)},
       {"objects", object_lines(*bundle.scenario, "apply")},
       {"pods", pod_steps(*bundle.scenario, !bundle.has_mig)}});
}

std::string release_rollback_of(const Bundle& bundle) {
  if (is_by_aws_vgpu(*bundle.scenario)) {
    return fmt::format("kubectl delete --ignore-not-found -f {}\n", kAwsVgpuFile) +
           filled(script_files::put_back_labels_sh(), {{"since", ""}});
  }
  return bundle.plugin.values.empty() ? std::string() : release_rollback(bundle);
}

std::string rollback_script(const Bundle& bundle) {
  std::string arguments = argument_lines(bundle);
  const bool has_release = is_operator(bundle.plugin) && bundle.plugin.config_map.empty();
  arguments += has_release ? operator_rollback_check() : applied_check();
  return filled(script_files::rollback_sh(),
                {{"title", script_title(*bundle.scenario, *bundle.options, "Takes back")},
                 {"arguments", arguments},
                 {"deployments", undo_lines(*bundle.scenario)},
                 {"objects", object_lines(*bundle.scenario, "delete --ignore-not-found")},
                 {"karpenter",
                  filled(script_files::undo_karpenter_sh(), {{"objects", object_printer(bundle)}})},
                 {"release", release_rollback_of(bundle)}});
}

// The count of each resource as a column of `kubectl get nodes -o custom-columns`.
std::string resource_columns(const Bundle& bundle) {
  std::vector<std::string> names;
  std::string out;
  for (const PoolNodes& nodes : bundle.nodes) {
    for (const AdvertisedResource& resource : advertised(nodes.target)) {
      if (std::ranges::find(names, resource.name) != names.end()) continue;
      std::string path = names.emplace_back(resource.name);
      for (std::size_t at = 0; (at = path.find('.', at)) != std::string::npos; at += 2) {
        path.insert(at, "\\");
      }
      out += fmt::format(",{}:'.status.allocatable.{}'",
                         resource.name.substr(resource.name.find('/') + 1), path);
    }
  }
  return out;
}

// `nvidia-smi` of a node of each pool: MPS of the device plugin takes GPUs by themselves
// (k8s-device-plugin cmd/mps-control-daemon/mps/daemon.go), and what has no MIG says so.
std::string smi_lines(const Bundle& bundle) {
  std::string out;
  for (const PoolNodes& nodes : bundle.nodes) {
    const PoolTarget& target = nodes.target;
    const bool mps = target.pool->device_plugin && target.pool->device_plugin->mps;
    const int gpus = target.instance->gpu_count;
    int whole = target.mig_devices.empty() ? gpus : 0;
    for (const MigDevices& devices : target.mig_devices) {
      if (devices.profile.empty()) whole += devices.count;
    }
    out += fmt::format("\n    {}\n", target.pool->name.value);
    for (const auto& [count, mig] :
         {std::pair(gpus - whole, "Enabled"),
          std::pair(whole, target.gpu->supports_mig ? "Disabled" : "[N/A]")}) {
      if (count == 0) continue;
      out += fmt::format("      {} x {}, {}\n", count, mps ? "Exclusive_Process" : "Default", mig);
    }
    for (const MigDevices& devices : target.mig_devices) {
      if (devices.profile.empty()) continue;
      out +=
          fmt::format("      and in nvidia-smi -L: {} x MIG {}\n", devices.count, devices.profile);
    }
  }
  return out;
}

// The operator makes a DaemonSet of that name.
std::string smi_guide(const Bundle& bundle) {
  if (bundle.plugin.values.empty()) return {};
  const std::string& own = bundle.plugin.daemonset;
  return filled(guide_files::verify_smi_md(),
                {{"namespace", bundle.plugin.namespace_name},
                 {"daemonset", own.empty() ? "nvidia-device-plugin-daemonset" : own},
                 {"lines", smi_lines(bundle)}});
}

std::string verify_guide(const Bundle& bundle) {
  std::string plugin;
  if (!bundle.plugin.daemonset.empty()) {
    plugin = filled(guide_files::verify_plugin_md(), {{"namespace", bundle.plugin.namespace_name},
                                                      {"daemonset", bundle.plugin.daemonset}});
  }
  // Of an image that brings the plugin nobody installs GPU Feature Discovery.
  const auto minor = bundle.plugin.values.empty() ? std::nullopt : std::optional(kNewestChartMinor);
  std::string nodes;
  for (const PoolNodes& pool : bundle.nodes) {
    nodes += "\n" + indented(expected_node_text(pool.target, minor), 4);
  }
  return filled(guide_files::verify_md(),
                {{"variant", yaml_scalar(bundle.scenario->name)},
                 {"origin", origin_of(*bundle.options)},
                 {"plugin", plugin},
                 {"nodes", nodes},
                 {"smi", smi_guide(bundle)},
                 {"columns", resource_columns(bundle)},
                 {"pods", pod_lines(*bundle.scenario)},
                 {"rollouts", rollout_remarks(*bundle.scenario, bundle.nodes)}});
}

// Takes the files of another kind in, or its problems.
void add_kind(RenderExport* render, const Scenario& scenario, const models::Catalogue& catalogue,
              const ExportOptions& options, ExportFiles& files, Diagnostics& found) {
  Expected<ExportFiles> made = render(scenario, catalogue, options);
  if (made) {
    std::move(made->begin(), made->end(), std::back_inserter(files));
    return;
  }
  for (const Diagnostic& problem : made.error()) {
    if (!holds(found, problem)) found.push_back(problem);
  }
}

}  // namespace

Expected<ExportFiles> render_bundle(const Scenario& given, const models::Catalogue& catalogue,
                                    const ExportOptions& options) {
  if (needs_dra(given)) return render_dra_bundle(given, catalogue, options);
  const Scenario scenario = without_empty_jobs(given);
  ExportFiles files;
  Diagnostics found;
  Bundle bundle;
  bundle.scenario = &scenario;
  bundle.options = &options;
  bundle.has_mig = has_mig(scenario);
  if (options.image == NodeImage::Al2023) {
    RenderExport* const plugin = is_by_aws_vgpu(scenario)             ? render_aws_vgpu
                                 : extends_configs(scenario, options) ? render_operator_configs
                                 : needs_operator(scenario, options)  ? render_gpu_operator
                                                                      : render_helm_values;
    add_kind(plugin, scenario, catalogue, options, files, found);
    if (bundle.has_mig) add_kind(render_mig_parted, scenario, catalogue, options, files, found);
  } else if (options.image == NodeImage::Bottlerocket) {
    add_kind(render_bottlerocket, scenario, catalogue, options, files, found);
  }
  // Node groups are made by one of them.
  add_kind(render_karpenter, scenario, catalogue, options, files, found);
  if (makes_groups(scenario, options)) {
    add_kind(render_eksctl, scenario, catalogue, options, files, found);
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  bundle.nodes = *image_nodes(scenario, catalogue, options);
  if (is_by_aws_vgpu(scenario)) {
    std::erase_if(files, [](const ExportFile& file) { return file.path == "pods.yaml"; });
    bundle.plugin.namespace_name = "kube-system";
    bundle.plugin.daemonset = kAwsVgpuDaemon;
  } else {
    bundle.plugin = installer_of(scenario, catalogue, options);
  }
  std::ranges::move(provisioner_values(scenario.provisioner), std::back_inserter(files));
  add_pods(scenario, "pods/", files);
  files.push_back({"apply.sh", apply_script(bundle), true});
  files.push_back({"rollback.sh", rollback_script(bundle), true});
  files.push_back({"VERIFY.md", verify_guide(bundle)});
  files.push_back({"SHA256SUMS", checksums(files)});
  return files;
}

}  // namespace slicewise::reports
