#include "guide.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/printable.hpp"

#include "../document/document_text.hpp"
#include "../text/text_table.hpp"
#include "embedded/guide_files.hpp"
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

std::string head(std::string_view text,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::istringstream lines(filled(text, values));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool is_plain = line.empty() || line.starts_with(' ');
    out += is_plain ? commented(line + '\n') : line.starts_with('#') ? line + '\n' : comment(line);
  }
  return out;
}

void put_on_top(ExportFiles& files, std::string_view origin) {
  if (origin.empty() || files.size() != 1) return;
  std::string& text = files.front().text;
  const bool takes_comments = text.starts_with('#') || text.starts_with("apiVersion");
  if (takes_comments) text.insert(0, comment(printable(origin)));
}

namespace {

using scenarios::MigStrategy;
using scenarios::PluginSharing;

constexpr int kGfdInChart = 15;  // GFD became part of the plugin and got the sharing-strategy label

// A section of guide.md as one line.
std::string guide_text(
    std::string_view section,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values = {}) {
  const std::string_view all = guide_files::guide_md();
  const std::string heading = fmt::format("\n## {}\n\n", section);
  std::string_view text = all.substr(all.find(heading) + heading.size());
  text = text.substr(0, text.find("\n\n"));
  std::string out = filled(text.substr(0, text.find_last_not_of('\n') + 1), values);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

std::string resource_count(const AdvertisedResource& resource) {
  return resource.count ? std::to_string(*resource.count) : "<MIG devices x replicas>";
}

std::string pool_text(const PoolTarget& target) {
  const scenarios::NodePool& pool = *target.pool;
  std::string nodes = std::to_string(pool.nodes);
  if (pool.most_nodes) nodes += fmt::format(" to {}", *pool.most_nodes);
  return fmt::format("{} ({} x {}, {} x {} each)", pool.name.value, nodes, target.instance->name,
                     target.instance->gpu_count, target.gpu->name);
}

std::string pool_names(const NamedConfig& config) {
  std::string out;
  for (const PoolTarget& target : config.pools) add_name(out, target.pool->name.value);
  return out;
}

std::string node_selector(const scenarios::NodePool& pool) { return "-l " + label_of_nodes(pool); }

std::string rename_text(const PluginSharing& sharing, const PoolTarget& target) {
  const AdvertisedResource resource = advertised(target).front();
  return guide_text(sharing.rename_by_default ? "renamed" : "not renamed",
                    {{"resource", resource.name}, {"count", resource_count(resource)}});
}

std::string requests_text(const PluginSharing& sharing, bool mps, int chart_minor) {
  if (sharing.fail_requests_greater_than_one) return guide_text("large requests fail");
  const bool before_0_20 = mps && chart_minor < 20;
  return guide_text(before_0_20 ? "requests of MPS before 0.20" : "large requests pass");
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
  const auto about = [&](std::string_view section, const std::string& name) {
    return comment(guide_text(section, {{"name", name}}), indent);
  };
  const std::string& name = mig.config.value;
  std::string out = about("MIG layout", name);
  if (mig.configs.contains(name)) out += about("own MIG layout", name);
  for (const scenarios::MigChange& change : mig.changes) {
    out += about("MIG change", change.config.value);
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

ExportOptions export_options(const scenarios::Scenario& scenario) {
  const scenarios::GpuSoftware& there = scenario.gpu_software;
  ExportOptions options;
  options.image = there.image;
  options.by_operator = there.gpu_operator;
  const auto version = scenarios::plugin_version(there.plugin_version);
  // An older release is upgraded to one that has named configs.
  if (version && *version >= scenarios::PluginVersion{0, kOldestChartMinor}) {
    options.chart_version = there.plugin_version;
  }
  return options;
}

Release plugin_release(const PluginPlan& plan, const ExportOptions& options) {
  const bool as_in_demo = plan.chart_minor == kOldestChartMinor;
  if (const std::string& there = plan.there->plugin_release; !there.empty()) {
    return {scenarios::name_part(there), scenarios::space_part(there), options.chart_version, true};
  }
  return {"nvdp", as_in_demo ? "kube-system" : "nvidia-device-plugin", options.chart_version};
}

std::string expected_node_text(const PoolTarget& target, std::optional<int> chart_minor) {
  const std::string resources = resource_lines(target);
  const std::string labels = chart_minor ? "Labels:\n" + label_lines(target, *chart_minor) : "";
  return fmt::format("Node pool {}\n{}Capacity:\n{}Allocatable:\n{}", target.pool->name.value,
                     labels, resources, resources);
}

std::string plugin_daemonset(const Release& release) {
  constexpr std::string_view kChart = "nvidia-device-plugin";
  return release.name.find(kChart) == std::string::npos ? fmt::format("{}-{}", release.name, kChart)
                                                        : release.name;
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
  return out + "#\n" + comment(guide_text("nodes"));
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
  const std::string mps = plan.mps_root.empty() ? "" : " " + guide_text("MPS daemon");
  return comment(guide_text("GPU Feature Discovery", {{"mps", mps}}), 2);
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
  return comment(guide_text("node labels", {{"label", kConfigLabel}})) + commented(commands);
}

std::string running_pods_comment() { return comment(guide_text("running pods")); }

std::string rollback_comment(const Release& release, const PluginPlan& plan) {
  std::string out = comment(guide_text("roll back"));
  std::string commands = fmt::format("  helm rollback {0} -n {1}\n  helm uninstall {0} -n {1}\n",
                                     release.name, release.namespace_name);
  if (plan.configs.size() > 1) {
    commands += fmt::format("  kubectl label nodes -l {0} {0}-\n", kConfigLabel);
  }
  return out + commented(commands);
}

std::string expected_node_comment(const PluginPlan& plan) {
  std::string out = comment(guide_text("expected of a node"));
  for (const NamedConfig& config : plan.configs) {
    for (const PoolTarget& target : config.pools) {
      out += "#\n" + commented(expected_node_text(target, plan.chart_minor));
      const PluginSharing* sharing = sharing_of(*target.pool);
      if (sharing && sharing->rename_by_default) {
        out += comment(guide_text("old name"));
      }
    }
  }
  return out;
}

std::string pod_patch_comment(const scenarios::Scenario& scenario) {
  return scenario.workloads.empty() ? "" : comment(guide_text("pods"));
}

}  // namespace slicewise::reports
