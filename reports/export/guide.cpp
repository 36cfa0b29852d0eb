#include "guide.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "node_settings.hpp"
#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

constexpr std::size_t kWidestLine = 100;

std::string with_margin(std::string_view block, std::string_view margin) {
  std::string out;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string line = std::string(margin) + std::string(block.substr(0, end));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return out;
}

}  // namespace

std::string indented(std::string_view block, int spaces) {
  return with_margin(block, std::string(static_cast<std::size_t>(spaces), ' '));
}

std::string commented(std::string_view block) { return with_margin(block, "# "); }

std::string comment(std::string_view paragraph, int indent) {
  const std::string margin = std::string(static_cast<std::size_t>(indent), ' ') + '#';
  std::string out;
  std::string line = margin;
  while (!paragraph.empty()) {
    const std::size_t end = std::min(paragraph.find(' '), paragraph.size());
    if (line.size() + 1 + end > kWidestLine && line != margin) {
      out += line + '\n';
      line = margin;
    }
    line += ' ';
    line += paragraph.substr(0, end);
    paragraph.remove_prefix(std::min(end + 1, paragraph.size()));
  }
  return out + line + '\n';
}

namespace {

using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;

constexpr int kGfdInChart = 15;  // GFD became part of the plugin and got the sharing-strategy label

std::string resource_count(const AdvertisedResource& resource) {
  return resource.count ? std::to_string(*resource.count) : "<MIG devices x replicas>";
}

std::string pool_text(const PoolTarget& target) {
  return fmt::format("{} ({} x {}, {} x {} each)", target.pool->name.value, target.pool->nodes,
                     target.instance->name, target.instance->gpu_count, target.gpu->name);
}

std::string pool_names(const NamedConfig& config) {
  std::string out;
  for (const PoolTarget& target : config.pools) {
    out += (out.empty() ? "" : ", ") + target.pool->name.value;
  }
  return out;
}

std::string node_selector(const NodePool& pool) {
  return "-l eks.amazonaws.com/nodegroup=" + pool.name.value;
}

std::string rename_text(const PluginSharing& sharing, const PoolTarget& target) {
  const AdvertisedResource resource = advertised(target).front();
  if (sharing.rename_by_default) {
    return fmt::format(
        "renameByDefault: true. A node offers {}: {} and nothing under the old name. Pods that ask "
        "for a whole GPU stay Pending here instead of silently sharing one, and Karpenter cannot "
        "take the shares for physical GPUs (it does not know the new name at all: it needs a "
        "NodeOverlay). Choose false when the manifests must keep working unchanged.",
        resource.name, resource_count(resource));
  }
  return fmt::format(
      "renameByDefault: false, the plugin's default. A node offers {0}: {1}, so manifests that ask "
      "for {0}: 1 keep working and get a share. Choose true ({0}.shared) when pods that need a "
      "whole GPU must stay Pending instead of silently sharing one, or when Karpenter provisions "
      "the nodes: it counts {0} as physical GPUs and starts too many.",
      resource.name, resource_count(resource));
}

std::string requests_text(const PluginSharing& sharing, bool mps, int chart_minor) {
  if (mps && !sharing.fail_requests_greater_than_one && chart_minor < 20) {
    return "failRequestsGreaterThanOne: plugins before 0.20 take it as true for MPS.";
  }
  if (sharing.fail_requests_greater_than_one) {
    return "failRequestsGreaterThanOne: true. A container that asks for 2 replicas is refused "
           "(UnexpectedAdmissionError): two replicas never are a bigger share.";
  }
  return "failRequestsGreaterThanOne: false. A container that asks for 2 replicas gets them, and "
         "no "
         "bigger share of the GPU. Choose true to have such pods refused.";
}

std::string product_label(const PoolTarget& target) {
  const std::string& product = target.gpu->kubernetes_product;
  const PluginSharing* sharing = sharing_of(*target.pool);
  const bool suffix = sharing && !sharing->rename_by_default;
  std::string out = product.empty() ? "<product>" : product;
  if (mig_strategy_of(*target.pool) == MigStrategy::Single) {
    const std::string profile =
        target.mig_devices.empty() ? "<profile>" : target.mig_devices.front().profile;
    if (!profile.empty()) out += "-MIG-" + profile;
  }
  return out + (suffix ? "-SHARED" : "");
}

// GPU Feature Discovery counts MIG devices in the place of GPUs under strategy single, and beside
// them under mixed.
std::string mig_label_lines(const PoolTarget& target) {
  const std::vector<MigDevices>& all = target.mig_devices;
  const MigStrategy strategy = mig_strategy_of(*target.pool);
  std::string out = fmt::format("  nvidia.com/mig.strategy={}\n", mig_strategy_name(strategy));
  if (strategy == MigStrategy::Single) {
    const std::string count = all.empty() ? "<MIG devices>" : std::to_string(all.front().count);
    return out + fmt::format("  nvidia.com/gpu.count={}\n  nvidia.com/gpu.product={}\n", count,
                             product_label(target));
  }
  out += fmt::format("  nvidia.com/gpu.count={}\n", target.instance->gpu_count);
  if (all.empty()) return out + "  nvidia.com/mig-<profile>.count=<MIG devices>\n";
  for (const MigDevices& devices : all) {
    if (devices.profile.empty()) continue;
    out += fmt::format("  {}.count={}\n", devices.resource, devices.count);
  }
  return out;
}

std::string label_lines(const PoolTarget& target, int chart_minor) {
  const PluginSharing* sharing = sharing_of(*target.pool);
  if (mig_strategy_of(*target.pool) != MigStrategy::None) return mig_label_lines(target);
  std::string out = fmt::format("  nvidia.com/gpu.count={}\n", target.instance->gpu_count);
  out += fmt::format("  nvidia.com/gpu.product={}\n  nvidia.com/gpu.replicas={}\n",
                     product_label(target), sharing ? sharing->resources.front().replicas : 1);
  if (chart_minor < kGfdInChart) return out;
  const bool mps = sharing && target.pool->device_plugin->mps;
  const char* strategy = mps ? "mps" : "time-slicing";
  return out + fmt::format("  nvidia.com/gpu.sharing-strategy={}\n", sharing ? strategy : "none");
}

// Who makes the layout, since the plugin does not.
std::string layout_comment(const scenarios::MigLayout& mig, int indent) {
  const std::string& name = mig.config.value;
  std::string out = comment(
      fmt::format("MIG layout: the plugin only finds it. mig-manager makes it on nodes labelled "
                  "nvidia.com/mig.config={}.",
                  name),
      indent);
  if (mig.configs.contains(name)) {
    out += comment(fmt::format("{} is a config of your own: mig-manager must have it in the "
                               "ConfigMap that holds its mig-configs.",
                               name),
                   indent);
  }
  for (const scenarios::MigChange& change : mig.changes) {
    out += comment(fmt::format("During the run the scenario changes the layout to {}: drain the "
                               "node and change the label then.",
                               change.config.value),
                   indent);
  }
  return out;
}

std::string resource_lines(const PoolTarget& target) {
  std::string out;
  for (const AdvertisedResource& resource : advertised(target)) {
    out += fmt::format("  {}: {}\n", resource.name, resource_count(resource));
  }
  return out;
}

}  // namespace

Release plugin_release(const PluginPlan& plan, const ExportOptions& options) {
  const bool as_in_demo = plan.chart_minor == kOldestChartMinor;
  return {"nvdp", as_in_demo ? "kube-system" : "nvidia-device-plugin", options.chart_version};
}

std::string expected_node_text(const PoolTarget& target, int chart_minor) {
  const std::string resources = resource_lines(target);
  return fmt::format("Node pool {}\nLabels:\n{}Capacity:\n{}Allocatable:\n{}",
                     target.pool->name.value, label_lines(target, chart_minor), resources,
                     resources);
}

std::string plugin_daemonset(const Release& release) {
  return release.name + "-nvidia-device-plugin";
}

std::string title_comment(std::string_view what, const scenarios::Scenario& scenario,
                          const PluginPlan& plan) {
  std::string out = comment(fmt::format("{}, written by slicewise", what));
  out += comment(fmt::format("Scenario variant {}. Node pools:", yaml_scalar(scenario.name)));
  for (const NamedConfig& config : plan.configs) {
    for (const PoolTarget& target : config.pools) {
      out += comment(fmt::format("  {} -> config {}", pool_text(target), config.key));
    }
  }
  return out + "#\n" +
         comment(
             "For nodes on which you install the device plugin yourself (EKS AL2023, Ubuntu). Not "
             "for Bottlerocket NVIDIA variants or EKS Auto Mode, which bring their own, and not "
             "beside the DaemonSet that eksctl installs unless --install-nvidia-plugin=false: one "
             "plugin per node.");
}

std::string config_comment(const NamedConfig& config, const PluginPlan& plan, int indent) {
  const bool is_default = config.key == plan.default_key;
  std::string out = comment(
      fmt::format("{}: node pool {}{}", config.key, pool_names(config),
                  is_default ? "; also every node without a label"
                             : fmt::format("; needs the label {}={}", kConfigLabel, config.key)),
      indent);
  const PoolTarget& target = config.pools.front();
  if (target.pool->mig) out += layout_comment(*target.pool->mig, indent);
  const PluginSharing* sharing = sharing_of(*target.pool);
  if (!sharing) return out + comment("Not shared: one pod per device.", indent);
  out += comment(rename_text(*sharing, target), indent);
  return out + comment(requests_text(*sharing, target.pool->device_plugin->mps.has_value(),
                                     plan.chart_minor),
                       indent);
}

std::string gfd_comment(const PluginPlan& plan) {
  std::string why =
      "GPU Feature Discovery writes the labels nvidia.com/gpu.replicas and gpu.product, "
      "where a node says that its GPUs are shared. It brings Node Feature Discovery, whose "
      "label pci-10de.present the DaemonSets need to be scheduled (or label the nodes "
      "nvidia.com/gpu.present=true).";
  if (!plan.mps_root.empty()) {
    why += " It also sets nvidia.com/mps.capable=true, without which no MPS daemon starts.";
  }
  return comment(why, 2);
}

std::string helm_repo_comment() {
  return commented(
      "  helm repo add nvdp https://nvidia.github.io/k8s-device-plugin\n"
      "  helm repo update nvdp\n");
}

std::string label_comment(const PluginPlan& plan) {
  std::string commands;
  for (const NamedConfig& config : plan.configs) {
    if (config.key == plan.default_key) continue;
    for (const PoolTarget& target : config.pools) {
      commands += fmt::format("  kubectl label nodes {} {}={} --overwrite\n",
                              node_selector(*target.pool), kConfigLabel, config.key);
    }
  }
  if (commands.empty()) return {};
  return comment(fmt::format(
             "A node takes the config that its label {} names, else the default. These commands "
             "expect managed node groups named like the pools; nodes that join later need the "
             "label from their node group or Karpenter NodePool template:",
             kConfigLabel)) +
         commented(commands);
}

std::string running_pods_comment() {
  return comment(
      "Running pods: the plugin restarts and they keep their GPU. The plugin does not count them "
      "against the new replicas, so new pods may join them on that GPU, and pods that hold a "
      "resource under an old name run on until they end. Drain the node first where that matters.");
}

std::string rollback_comment(const Release& release, const PluginPlan& plan) {
  std::string out =
      comment("Roll back, to the revision before or, after a first install, to none:");
  std::string commands = fmt::format("  helm rollback {0} -n {1}\n  helm uninstall {0} -n {1}\n",
                                     release.name, release.namespace_name);
  if (plan.configs.size() > 1) {
    commands += fmt::format("  kubectl label nodes -l {0} {0}-\n", kConfigLabel);
  }
  return out + commented(commands);
}

std::string expected_node_comment(const PluginPlan& plan) {
  std::string out = comment("Expected of `kubectl describe node`, once the plugin has registered:");
  for (const NamedConfig& config : plan.configs) {
    for (const PoolTarget& target : config.pools) {
      out += "#\n" + commented(expected_node_text(target, plan.chart_minor));
      const PluginSharing* sharing = sharing_of(*target.pool);
      if (sharing && sharing->rename_by_default) {
        out += comment(
            "The old name is absent, or 0 on a node that offered it before: never both at once.");
      }
    }
  }
  return out;
}

std::string pod_patch_comment(const scenarios::Scenario& scenario) {
  if (scenario.workloads.empty()) return {};
  return comment("The matching pods (strategic merge patches, also: --to pod-patch):") + "#\n" +
         commented(pod_patches(scenario));
}

}  // namespace slicewise::reports
