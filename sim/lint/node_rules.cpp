#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "slicewise/models/mig.hpp"
#include "slicewise/nearest_name.hpp"

#include "lint_rules.hpp"

// Labels of nodes, and what runs on nodes because of them.
namespace slicewise::sim::lint {
namespace {

using scenarios::ChartValues;
using scenarios::FileSharing;
using scenarios::KeyValue;
using scenarios::NodeGroupFile;

constexpr std::string_view kPresent = "nvidia.com/gpu.present";
constexpr std::string_view kMpsCapable = "nvidia.com/mps.capable";

const ChartValues* chart_of(const LintInput& input, ChartValues::Chart kind) {
  const auto found = std::ranges::find(input.files.charts, kind, &ChartValues::chart);
  return found == input.files.charts.end() ? nullptr : &*found;
}

bool is_mig_layout(const LintInput& input, std::string_view name) {
  if (std::ranges::find(input.files.mig_configs, name, &scenarios::MigConfigFile::name) !=
      input.files.mig_configs.end()) {
    return true;
  }
  return name.starts_with("all-");
}

bool is_plugin_key(const LintInput& input, std::string_view name) {
  return std::ranges::find(input.files.configs, name, &scenarios::PluginConfigFile::key) !=
         input.files.configs.end();
}

void judge_config_label(const LintInput& input, const KeyValue& label) {
  if (is_plugin_key(input, label.value)) return;
  if (is_mig_layout(input, label.value)) {
    return input.tell(Code::NodeLabelWrong, label.where,
                      fmt::format("{} is a MIG layout: {} chooses configs of the device plugin",
                                  label.value.substr(0, 60), kConfigLabel),
                      fmt::format("the label for MIG layouts is {}", kMigLabel));
  }
  std::vector<std::string> keys;
  for (const auto& config : input.files.configs) {
    if (!config.key.empty()) keys.push_back(config.key);
  }
  // Without any named config the one that is meant is in no file at hand.
  if (keys.empty()) return;
  const auto near = nearest_name(label.value, keys);
  input.tell(Code::PluginConfigUnknown, label.where,
             fmt::format("specified config {} does not exist", label.value.substr(0, 60)),
             near ? fmt::format("did you mean {}?", *near)
                  : std::string("add it to the configs, or use one of their keys"));
}

void judge_label_names(const LintInput& input, const NodeGroupFile& group) {
  constexpr std::array<std::string_view, 4> kRead = {kConfigLabel, kMigLabel, kPresent,
                                                     kMpsCapable};
  for (const KeyValue& label : group.labels) {
    if (label.key == kConfigLabel) judge_config_label(input, label);
    if (label.key == kMigLabel && is_plugin_key(input, label.value) &&
        !is_mig_layout(input, label.value)) {
      input.tell(Code::NodeLabelWrong, label.where,
                 fmt::format("{} is a config of the device plugin: {} chooses MIG layouts",
                             label.value.substr(0, 60), kMigLabel),
                 fmt::format("the label for it is {}", kConfigLabel));
    }
    for (const std::string_view read : kRead) {
      const std::size_t distance = label.key.size() > 80 ? 80 : edit_distance(label.key, read);
      if (distance == 0 || distance > 2) continue;
      input.tell(Code::NodeLabelWrong, label.key_where,
                 fmt::format("nothing reads the label {}", label.key),
                 fmt::format("did you mean {}?", read));
    }
  }
}

void judge_types(const LintInput& input, const NodeOffer& offer) {
  for (const auto& type : offer.group->types) {
    if (!scenarios::is_gpu_type(type.value) || input.catalogue.find_instance(type.value) != nullptr)
      continue;
    std::vector<std::string> names;
    for (const auto& known : input.catalogue.instances) names.push_back(known.name);
    const auto near = type.value.size() < 40 ? nearest_name(type.value, names) : std::nullopt;
    input.tell_as(Severity::Warning, Code::InstanceUnknown, type.where,
                  fmt::format("the catalogue has no instance type {}: what its nodes offer is not "
                              "checked",
                              type.value.substr(0, 40)),
                  near ? fmt::format("did you mean {}?", *near) : std::string());
  }
  const bool fractional =
      !offer.types.empty() &&
      std::ranges::all_of(offer.types, [](const auto* type) { return type->gpu_fraction < 1; });
  const bool overlaid = std::ranges::any_of(input.files.overlays, [](const auto& overlay) {
    return std::ranges::any_of(overlay.capacity,
                               [](const auto& c) { return c.resource == kGpuResource; });
  });
  if (fractional && !overlaid && offer.group->kind != NodeGroupFile::Kind::Node) {
    input.tell(Code::GpuCountZero, offer.group->where,
               "EC2 reports 0 GPUs for g6f and gr6f: autoscalers never start them for pods that "
               "ask for nvidia.com/gpu",
               "NodeOverlay with capacity nvidia.com/gpu: \"1\"");
  }
}

bool uses_mps(const NodeOffer& offer) {
  return offer.config != nullptr && offer.config->sharing == FileSharing::Mps;
}

// Whether the chart's DaemonSets find the nodes.
void judge_scheduling(const LintInput& input, const NodeOffer& offer, const ChartValues& chart) {
  const NodeGroupFile& group = *offer.group;
  const KeyValue* present = label_of(group, kPresent);
  const bool labelled = (present != nullptr && present->value == "true") || group.labels_gpus;
  if (!labelled && !chart.discovers && !chart.places &&
      input.version >= scenarios::PluginVersion{0, 15}) {
    input.tell(Code::PluginNotScheduled, group.where,
               "the plugin's DaemonSet does not select these nodes: no nvidia.com/gpu.present",
               "label them nvidia.com/gpu.present: \"true\", or set gfd.enabled=true");
  }
  const KeyValue* capable = label_of(group, kMpsCapable);
  if (uses_mps(offer) && !chart.discovers && (capable == nullptr || capable->value != "true")) {
    input.tell(Code::MpsNotCapable, group.where,
               "the MPS daemon does not select these nodes: error waiting for MPS daemon",
               "set gfd.enabled=true, or label them nvidia.com/mps.capable: \"true\"");
  }
}

// Nodes whose image has a plugin of its own.
void judge_builtin_plugin(const LintInput& input, const NodeOffer& offer,
                          const ChartValues* chart) {
  const NodeGroupFile& group = *offer.group;
  if (!group.is_bottlerocket && !group.is_auto_mode) return;
  const KeyValue* config = label_of(group, kConfigLabel);
  const KeyValue* present = label_of(group, kPresent);
  const auto own =
      std::ranges::find(input.files.configs, config == nullptr ? std::string() : config->value,
                        &scenarios::PluginConfigFile::key);
  if (group.is_bottlerocket && config != nullptr && own != input.files.configs.end() &&
      own->sharing == FileSharing::Mps) {
    input.tell(Code::MpsOnSelinux, config->where,
               "SELinux denies the chart's MPS daemon its files on Bottlerocket",
               "use Bottlerocket's own setting: device-sharing-strategy = \"mps\"");
  }
  if (chart == nullptr || (config == nullptr && present == nullptr)) return;
  input.tell(Code::TwoDevicePlugins, config != nullptr ? config->where : present->where,
             fmt::format("{} brings a device plugin, and this label starts another one",
                         group.is_bottlerocket ? "Bottlerocket" : "EKS Auto Mode"),
             "remove the label; on Bottlerocket use its settings for sharing");
}

}  // namespace

void lint_node_labels(const LintInput& input) {
  const ChartValues* chart = chart_of(input, ChartValues::Chart::DevicePlugin);
  const ChartValues* op = chart_of(input, ChartValues::Chart::GpuOperator);
  const ChartValues* deployed = op != nullptr && op->deploys_plugin ? op : chart;
  for (const NodeGroupFile& group : input.files.groups) judge_label_names(input, group);
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr) continue;
    judge_types(input, offer);
    judge_builtin_plugin(input, offer, deployed);
    const bool own_image = offer.group->is_bottlerocket || offer.group->is_auto_mode;
    if (!own_image && chart != nullptr && chart->deploys_plugin && op == nullptr) {
      judge_scheduling(input, offer, *chart);
    }
    if (offer.group->scales) {
      input.tell(Code::AutoscalerBurst, offer.group->where,
                 "from zero nodes the cluster-autoscaler starts one of these for each pending pod",
                 "keep maxSize low, and tag the group with .../node-template/resources/...");
    }
  }
  const bool has_groups =
      std::ranges::any_of(input.offers, [](const auto& offer) { return offer.group != nullptr; });
  if (chart == nullptr || op != nullptr || has_groups || chart->discovers) return;
  if (!chart->places && chart->deploys_plugin) {
    input.tell_as(Severity::Note, Code::PluginNotScheduled, chart->where,
                  "nodes need the label nvidia.com/gpu.present=true for this chart",
                  "set gfd.enabled=true, or label the node groups");
  }
  for (const auto& config : input.files.configs) {
    if (config.sharing != FileSharing::Mps) continue;
    input.tell_as(Severity::Warning, Code::MpsNotCapable, config.sharing_where,
                  "nodes need the label nvidia.com/mps.capable=true: gfd.enabled is not set",
                  "set gfd.enabled=true, or label the nodes");
  }
}

// NVIDIA's components against each other: plugins, ConfigMaps, DRA, metrics.

namespace {

using scenarios::ConfigMapFile;
using scenarios::NodeRequirement;

void judge_plugins(const LintInput& input) {
  const ChartValues* first = nullptr;
  for (const ChartValues& chart : input.files.charts) {
    if (chart.chart == ChartValues::Chart::Dra || !chart.deploys_plugin) continue;
    if (first != nullptr && first->chart != chart.chart) {
      input.tell(Code::TwoDevicePlugins, chart.where,
                 "the GPU Operator and the device plugin's chart both deploy the plugin",
                 "devicePlugin.enabled: false in the operator's values, or drop the other chart");
    }
    first = &chart;
  }
  if (first != nullptr && input.files.static_plugin) {
    input.tell(Code::TwoDevicePlugins, *input.files.static_plugin,
               "a DaemonSet of the device plugin beside the one that Helm deploys",
               "keep one of the two");
  }
  if (input.files.eksctl_installs) {
    input.tell_as(first != nullptr ? Severity::Warning : Severity::Note, Code::TwoDevicePlugins,
                  *input.files.eksctl_installs,
                  "eksctl installs a static device plugin, without sharing, for these nodes",
                  "eksctl create cluster -f FILE --install-nvidia-plugin=false");
  }
  for (const ChartValues& dra : input.files.charts) {
    if (dra.chart != ChartValues::Chart::Dra || first == nullptr) continue;
    if (dra.places || first->places) continue;
    input.tell(Code::DraWithDevicePlugin, dra.where,
               "the DRA driver and the device plugin hand out the same GPUs",
               "one of the two per node: keep them apart by affinity or nodeSelector");
  }
}

// The ConfigMap that values name, against the ConfigMaps among the files.
void judge_external(const LintInput& input, const ChartValues& chart) {
  const std::string& name = chart.config_map.value;
  if (name.empty()) return;
  const bool created = chart.map_where.has_value();
  if (created) return;
  input.tell(Code::ConfigNotReloaded, chart.config_map.where,
             "a changed ConfigMap restarts nothing",
             "kubectl rollout restart the plugin's DaemonSet after each change");
  if (input.files.config_maps.empty()) return;
  const auto map = std::ranges::find(input.files.config_maps, name, &ConfigMapFile::name);
  if (map == input.files.config_maps.end()) {
    const bool only_mig = std::ranges::all_of(input.files.config_maps, [](const auto& other) {
      return std::ranges::find(other.keys, "config.yaml") != other.keys.end();
    });
    if (only_mig) return;
    return input.tell(
        Code::ConfigMapMissing, chart.config_map.where,
        fmt::format("no ConfigMap here is called {}: the plugin waits for it", name.substr(0, 60)),
        "create it in the namespace of the release");
  }
  if (map->space == "default" && chart.chart == ChartValues::Chart::DevicePlugin) {
    input.tell_as(Severity::Warning, Code::ChartNamespace, map->space_where,
                  "the ConfigMap has to be in the plugin's namespace, and the chart refuses "
                  "the namespace default",
                  "use a namespace of its own for both");
  }
  if (chart.chart == ChartValues::Chart::GpuOperator && !map->space.empty() &&
      map->space != "gpu-operator" && map->space.find("gpu-operator") == std::string::npos &&
      map->space.find("nvidia") == std::string::npos) {
    input.tell(Code::ConfigMapMissing, map->space_where,
               fmt::format("the ConfigMap is in {}, the operator looks in its own namespace",
                           map->space.substr(0, 60)),
               "put it where the operator is installed: gpu-operator");
  }
  const std::string& chosen = chart.default_key.value;
  const bool has_key = std::ranges::find(map->keys, chosen) != map->keys.end();
  if (!chosen.empty() && !has_key) {
    input.tell(
        Code::PluginConfigUnknown, chart.default_key.where,
        fmt::format("the ConfigMap {} has no key {}", name.substr(0, 60), chosen.substr(0, 60)),
        "the init container crashes: specified config does not exist");
  }
  const bool has_default = std::ranges::find(map->keys, "default") != map->keys.end();
  if (chosen.empty() && map->keys.size() > 1 && !has_default && !chart.has_fallback &&
      chart.chart == ChartValues::Chart::DevicePlugin) {
    input.tell(Code::PluginConfigAmbiguous, chart.config_map.where,
               "no config was set, no default was provided, and all fallbacks failed",
               "set config.default to a key of the ConfigMap");
  }
}

void judge_dra(const LintInput& input) {
  const ChartValues* driver = nullptr;
  for (const ChartValues& chart : input.files.charts) {
    if (chart.chart == ChartValues::Chart::Dra) driver = &chart;
  }
  for (const scenarios::DraSharingFile& sharing : input.files.dra) {
    const std::string gate =
        sharing.strategy == "TimeSlicing" ? "TimeSlicingSettings" : "MPSSupport";
    const bool on = driver != nullptr && driver->gates.contains(gate) && driver->gates.at(gate);
    if (!on) {
      input.tell_as(driver == nullptr ? Severity::Note : Severity::Error, Code::DraGateOff,
                    sharing.where,
                    fmt::format("\"{}\" is selected as the GPU sharing strategy, which needs the "
                                "\"{}\" feature gate",
                                sharing.strategy.substr(0, 40), gate),
                    fmt::format("featureGates: {{{}: true}} in the driver's values", gate));
    }
    if (sharing.is_template) {
      input.tell(Code::DraTemplateNotShared, sharing.where,
                 "a template makes a claim for each pod: pods do not share a GPU by it",
                 "one ResourceClaim, named by each pod as resourceClaimName");
    }
  }
}

bool any_offer(const LintInput& input, bool (*holds_for)(const NodeOffer&)) {
  return std::ranges::any_of(input.offers, holds_for);
}

bool shares(const NodeOffer& offer) {
  return offer.config != nullptr && offer.config->sharing != FileSharing::None;
}
bool renames(const NodeOffer& offer) { return shares(offer) && offer.config->renames; }
bool partitions(const NodeOffer& offer) {
  return !offer.layouts.empty() || (offer.group != nullptr && offer.group->bottlerocket_partitions);
}

void judge_metrics(const LintInput& input) {
  const bool sharing = any_offer(input, shares);
  for (const scenarios::DcgmFile& exporter : input.files.exporters) {
    if (sharing && !exporter.attributes_to_all) {
      input.tell(Code::DcgmWholeGpu, exporter.where,
                 "of the pods that share a GPU one is credited with all of its use",
                 "env KUBERNETES_VIRTUAL_GPUS: \"true\", and never sum over pods");
    }
    if (any_offer(input, renames) && !exporter.names_resources) {
      input.tell(Code::DcgmResourceNames, exporter.where,
                 "pods with nvidia.com/gpu.shared have no pod labels on their metrics",
                 "env NVIDIA_RESOURCE_NAMES: nvidia.com/gpu.shared");
    }
  }
  for (const scenarios::MetricUse& use : input.files.metrics) {
    const bool is_utilisation = use.metric == "DCGM_FI_DEV_GPU_UTIL";
    const bool listed =
        std::ranges::find(input.files.counters, use.metric) != input.files.counters.end();
    if (!is_utilisation && !listed) {
      // A list of counters in no file at hand may switch it on.
      input.tell_as(
          input.files.exporters.empty() ? Severity::Warning : Severity::Error,
          Code::MetricNotExported, use.where,
          fmt::format("{} is commented out in the exporter's default counters", use.metric),
          "give the exporter a ConfigMap with its own list");
    }
    if (is_utilisation && any_offer(input, partitions)) {
      input.tell(Code::MetricAbsentOnMig, use.where, "DCGM_FI_DEV_GPU_UTIL does not exist on MIG",
                 "use DCGM_FI_PROF_GR_ENGINE_ACTIVE by GPU_I_ID");
    }
    if (is_utilisation && sharing && use.sums_by_pod) {
      input.tell(Code::DcgmWholeGpu, use.where,
                 "every pod that shares a GPU carries the whole GPU's value: the sum counts it "
                 "several times",
                 "take the maximum by GPU instead");
    }
  }
}

// Labels of GFD that count something else than a reader may think.
void judge_counting_labels(const LintInput& input) {
  if (!any_offer(input, shares)) return;
  constexpr std::array<std::string_view, 3> kCounts = {
      "nvidia.com/gpu.count", "nvidia.com/gpu.replicas", "nvidia.com/gpu.memory"};
  const auto judge = [&](std::string_view key, const SourceLocation& where) {
    if (std::ranges::find(kCounts, key) == kCounts.end()) return;
    input.tell(Code::ReplicasReadAsGpus, where,
               fmt::format("{} describes the physical GPUs, not what a pod gets", key),
               "units of a node = gpu.count x gpu.replicas; gpu.memory is the whole GPU's");
  };
  for (const auto& pod : input.files.pods) {
    for (const KeyValue& wanted : pod.node_selector) judge(wanted.key, wanted.key_where);
    for (const auto& term : pod.affinity) {
      for (const NodeRequirement& requirement : term) judge(requirement.key, requirement.where);
    }
  }
}

}  // namespace

void lint_gpu_software(const LintInput& input) {
  judge_plugins(input);
  for (const ChartValues& chart : input.files.charts) judge_external(input, chart);
  judge_dra(input);
  judge_metrics(input);
  judge_counting_labels(input);
}

// What Karpenter believes of the nodes that it starts.
// Source: github.com/kubernetes-sigs/karpenter pkg/cloudprovider/types.go (ApplyCapacityOverlay):
// an overlay's capacity replaces the instance type's.

namespace {

using scenarios::NodeOverlayFile;
using scenarios::ResourceAmount;

constexpr std::string_view kTypeLabel = "node.kubernetes.io/instance-type";
constexpr std::string_view kCountLabel = "karpenter.k8s.aws/instance-gpu-count";

bool is_gpu_name(std::string_view resource) { return resource.starts_with("nvidia.com/"); }

// What the requirements of an overlay say about the GPUs of its nodes.
struct PinnedGpus {
  bool is_pinned = false;              // to one number, as far as the catalogue knows
  std::optional<std::int64_t> number;  // absent where it does not know
};

PinnedGpus pinned_gpus(const LintInput& input, const NodeOverlayFile& overlay) {
  for (const NodeRequirement& requirement : overlay.requirements) {
    if (requirement.op != "In" || requirement.values.empty()) continue;
    if (requirement.key == kCountLabel && requirement.values.size() == 1) {
      const std::string& text = requirement.values.front();
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return {true, text[0] - '0'};
      if (text == "16") return {true, 16};
    }
    if (requirement.key != kTypeLabel) continue;
    std::set<std::int64_t> counts;
    bool all_known = true;
    for (const std::string& name : requirement.values) {
      const auto* type = input.catalogue.find_instance(name);
      all_known = all_known && type != nullptr;
      if (type != nullptr) counts.insert(type->gpu_count);
    }
    // A type that is not in the catalogue may have any number.
    if (!all_known) return {counts.size() < 2, std::nullopt};
    if (counts.size() == 1) return {true, *counts.begin()};
  }
  return {};
}

// Whether Karpenter applies the overlay to any of the types that the pool may start.
bool is_for_pool(const NodeOverlayFile& overlay, const NodeOffer& offer) {
  const NodeGroupFile& pool = *offer.group;
  std::vector<const NodeRequirement*> of_types;
  for (const NodeRequirement& requirement : overlay.requirements) {
    if (requirement.key != "karpenter.sh/nodepool") {
      of_types.push_back(&requirement);
    } else if (requirement.op == "In" &&
               std::ranges::find(requirement.values, pool.name) == requirement.values.end()) {
      return false;
    }
  }
  // Of types that the catalogue does not have only the name is known.
  const auto names_it = [&](const auto& type) {
    return std::ranges::all_of(of_types, [&](const NodeRequirement* requirement) {
      return requirement->key != kTypeLabel || requirement->op != "In" ||
             std::ranges::find(requirement->values, type.value) != requirement->values.end();
    });
  };
  const bool all_known = !offer.types.empty() && offer.types.size() >= pool.types.size();
  if (!all_known) return pool.types.empty() || std::ranges::any_of(pool.types, names_it);
  return std::ranges::any_of(offer.types, [&](const models::InstanceType* type) {
    return std::ranges::all_of(
        of_types, [&](const NodeRequirement* requirement) { return fulfils(*type, *requirement); });
  });
}

const ResourceAmount* capacity_of(const LintInput& input, const NodeOffer& offer,
                                  std::string_view resource, const NodeOverlayFile** overlay) {
  for (const NodeOverlayFile& candidate : input.files.overlays) {
    if (!is_for_pool(candidate, offer)) continue;
    for (const ResourceAmount& amount : candidate.capacity) {
      if (amount.resource != resource) continue;
      *overlay = &candidate;
      return &amount;
    }
  }
  return nullptr;
}

void judge_overlay(const LintInput& input, const NodeOverlayFile& overlay) {
  const bool of_gpus = std::ranges::any_of(overlay.capacity, [](const ResourceAmount& amount) {
    return is_gpu_name(amount.resource) && amount.amount > 0;
  });
  if (!of_gpus || pinned_gpus(input, overlay).is_pinned) return;
  input.tell(Code::OverlayNotPinned, overlay.where,
             "the capacity is absolute, and the requirements match types with other GPU counts",
             fmt::format("add {{key: {}, operator: In, values: [\"1\"]}}", kCountLabel));
}

// What the pool's nodes offer against what Karpenter takes them to offer.
void judge_knowledge(const LintInput& input, const NodeOffer& offer,
                     const OfferedResource& resource) {
  const NodeGroupFile& pool = *offer.group;
  const NodeOverlayFile* overlay = nullptr;
  const ResourceAmount* told = capacity_of(input, offer, resource.name, &overlay);
  if (told == nullptr && resource.name != kGpuResource) {
    input.tell(Code::NodesNeverLaunched, pool.where,
               fmt::format("Karpenter knows no instance type with {}: it starts nothing for pods "
                           "that ask for it",
                           resource.name.substr(0, 60)),
               "add a NodeOverlay with this capacity, or keep the name nvidia.com/gpu");
  } else if (told == nullptr && resource.replicas > 1) {
    input.tell(
        Code::KarpenterOverprovisions, pool.where,
        fmt::format("Karpenter counts GPUs, not their {} replicas: one GPU for each pending "
                    "pod",
                    resource.replicas),
        fmt::format("NodeOverlay with capacity nvidia.com/gpu: GPUs x {}", resource.replicas));
  } else if (told != nullptr) {
    const auto gpus = pinned_gpus(input, *overlay).number;
    const bool plain = resource.name == kGpuResource || resource.name == "nvidia.com/gpu.shared";
    if (!gpus || !plain || !offer.layouts.empty() || offer.group->bottlerocket_partitions) return;
    const std::int64_t right = *gpus * resource.replicas;
    if (told->amount == right) return;
    input.tell(Code::KarpenterOverprovisions, told->where,
               fmt::format("the overlay says {}, the nodes will offer {} ({} GPUs x {} replicas)",
                           told->amount, right, *gpus, resource.replicas),
               fmt::format("{}: \"{}\"", resource.name, right));
  }
}

void judge_limits(const LintInput& input, const NodeOffer& offer) {
  for (const ResourceAmount& limit : offer.group->limits) {
    if (!is_gpu_name(limit.resource)) continue;
    const NodeOverlayFile* overlay = nullptr;
    const ResourceAmount* told = capacity_of(input, offer, limit.resource, &overlay);
    std::int64_t one = told == nullptr ? 0 : told->amount;
    if (told == nullptr && limit.resource == kGpuResource && !offer.types.empty()) {
      one = offer.types.front()->gpu_count;
      for (const auto* type : offer.types) one = std::min<std::int64_t>(one, type->gpu_count);
    }
    if (one <= 0 || limit.amount >= one) continue;
    input.tell(Code::NodePoolLimitUnits, limit.where,
               fmt::format("the limit is below one node, which counts as {} {}", one,
                           limit.resource.substr(0, 60)),
               "limits count advertised units: GPUs x replicas with a NodeOverlay");
  }
}

bool is_wanted(const LintInput& input, std::string_view resource) {
  return std::ranges::any_of(input.files.pods, [&](const auto& pod) {
    return std::ranges::any_of(pod.containers, [&](const auto& container) {
      return std::ranges::find(container.amounts, resource, &ResourceAmount::resource) !=
             container.amounts.end();
    });
  });
}

}  // namespace

void lint_karpenter(const LintInput& input) {
  for (const NodeOverlayFile& overlay : input.files.overlays) judge_overlay(input, overlay);
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr || offer.group->kind != NodeGroupFile::Kind::NodePool) continue;
    judge_limits(input, offer);
    if (!offer.is_known()) continue;
    // Pods decide which of several names matters; without pods every name does.
    const bool any_pods = !input.files.pods.empty();
    for (const OfferedResource& resource : offer.resources) {
      if (!any_pods || is_wanted(input, resource.name)) judge_knowledge(input, offer, resource);
    }
  }
}

}  // namespace slicewise::sim::lint
