#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/sim/world.hpp"

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
  return find_or_null(input.files.charts, kind, &ChartValues::chart);
}

bool is_mig_layout(const LintInput& input, std::string_view name) {
  if (contains(input.files.mig_configs, name, &scenarios::MigConfigFile::name)) {
    return true;
  }
  return name.starts_with("all-");
}

bool is_plugin_key(const LintInput& input, std::string_view name) {
  return contains(input.files.configs, name, &scenarios::PluginConfigFile::key);
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
  // As near to these, and NVIDIA's own. Source: NVIDIA/k8s-device-plugin internal/lm.
  constexpr std::array<std::string_view, 2> kOfGfd = {"nvidia.com/mig.capable",
                                                      "nvidia.com/vgpu.present"};
  for (const KeyValue& label : group.labels) {
    if (label.key == kConfigLabel) judge_config_label(input, label);
    if (label.key == kMigLabel && is_plugin_key(input, label.value) &&
        !is_mig_layout(input, label.value)) {
      input.tell(Code::NodeLabelWrong, label.where,
                 fmt::format("{} is a config of the device plugin: {} chooses MIG layouts",
                             label.value.substr(0, 60), kMigLabel),
                 fmt::format("the label for it is {}", kConfigLabel));
    }
    if (contains(kOfGfd, label.key)) continue;
    for (const std::string_view read : kRead) {
      if (label.key == read || label.key.size() > kLongestMisspelling) continue;
      if (edit_distance(label.key, read) > 2) continue;
      input.tell(Code::NodeLabelWrong, label.key_where,
                 fmt::format("nothing reads the label {}", label.key),
                 fmt::format("did you mean {}?", read));
    }
  }
}

void tell_unknown(const LintInput& input, const SourceLocation& where, std::string_view what,
                  const std::string& name, std::string InstanceType::*of_type) {
  std::vector<std::string> names;
  names.reserve(input.catalogue.instances.size());
  for (const InstanceType& known : input.catalogue.instances) {
    names.push_back(known.*of_type);
  }
  const auto near = nearest_name(name, names);
  input.tell_as(Severity::Warning, Code::InstanceUnknown, where,
                fmt::format("the catalogue has no {} {}: what its nodes offer is not checked", what,
                            name.substr(0, 40)),
                near ? fmt::format("did you mean {}?", *near) : std::string());
}

// Types that are named one by one, and families that are not known or of which nothing is left.
void judge_type_names(const LintInput& input, const NodeGroupFile& group) {
  const auto is_retired = [&](const Located<std::string>& name) {
    const InstanceType* type = input.catalogue.find_instance(name.value);
    return type != nullptr && !type->retired_on.empty();
  };
  // A group that may have others starts these.
  const bool never_starts =
      group.kind != NodeGroupFile::Kind::Node && std::ranges::all_of(group.types, is_retired);
  for (const auto& name : group.types) {
    const InstanceType* type = input.catalogue.find_instance(name.value);
    if (is_retired(name)) {
      input.tell_as(never_starts ? Severity::Warning : Severity::Note, Code::InstanceRetired,
                    name.where,
                    fmt::format("{} was retired by AWS on {}: no node of it starts", type->name,
                                type->retired_on),
                    "slicewise get instances lists what there is");
    }
    if (type != nullptr || !scenarios::is_gpu_type(name.value)) continue;
    tell_unknown(input, name.where, "instance type", name.value, &InstanceType::name);
  }
  for (const scenarios::NodeRequirement& requirement : group.requirements) {
    if (requirement.key != scenarios::kFamilyLabel || requirement.op != "In") continue;
    for (const std::string& family : requirement.values) {
      const auto known =
          std::ranges::find(input.catalogue.instances, family, &InstanceType::family);
      if (known == input.catalogue.instances.end() && scenarios::is_gpu_type(family)) {
        tell_unknown(input, requirement.where, "family", family, &InstanceType::family);
      }
      if (known == input.catalogue.instances.end() || known->retired_on.empty()) continue;
      input.tell(Code::InstanceRetired, requirement.where,
                 fmt::format("{} was retired by AWS on {}: no node of it starts", family,
                             known->retired_on),
                 "slicewise get instances lists what there is");
    }
  }
}

void judge_types(const LintInput& input, const NodeOffer& offer) {
  const bool none_counts =
      !offer.types.empty() && std::ranges::none_of(offer.types, [&](const auto* type) {
        return counts_gpus(*type, *offer.group, input.files);
      });
  if (none_counts && offer.group->kind != NodeGroupFile::Kind::Node) {
    input.tell(Code::GpuCountZero, offer.group->where,
               "EC2 reports 0 GPUs for g6f and gr6f: autoscalers never start them for pods that "
               "ask for nvidia.com/gpu",
               "NodeOverlay with capacity nvidia.com/gpu: \"1\"");
  }
}

// Whether Node Feature Discovery labels the nodes.
bool discovers(const ChartValues& chart, const NodeGroupFile& group) {
  return chart.discovers &&
         scenarios::untolerated(group.taints, chart.tolerations.back().list) == nullptr;
}

std::string_view pods_of(ChartValues::Chart chart) {
  if (chart == ChartValues::Chart::Dra) return "the DRA driver";
  return chart == ChartValues::Chart::GpuOperator ? "the GPU Operator" : "the device plugin";
}

bool may_select(std::vector<KeyValue> selector, const NodeOffer& offer) {
  scenarios::PodFile daemon;
  daemon.node_selector = std::move(selector);
  return lint::may_select(daemon, offer);
}

// Whether the chart's DaemonSets may be on the nodes. Of the device plugin they need not be found
// by Node Feature Discovery; the operator goes by its labels (controllers/state_manager.go).
void judge_tolerations(const LintInput& input, const NodeOffer& offer, const ChartValues& chart) {
  const NodeGroupFile& group = *offer.group;
  const bool is_plugin = chart.chart == ChartValues::Chart::DevicePlugin;
  if (chart.places || !may_select(chart.selector, offer) || (is_plugin && !chart.deploys_plugin))
    return;
  for (const scenarios::TolerationList& one : chart.tolerations) {
    const bool is_of_worker = &one != &chart.tolerations.front();
    if (is_of_worker && (is_plugin || !chart.discovers)) continue;
    const scenarios::Taint* taint = scenarios::untolerated(group.taints, one.list);
    if (taint == nullptr) continue;
    return input.tell(
        Code::TaintNotTolerated, group.where,
        fmt::format("pods of {} do not tolerate {{{}: {}}}: these nodes offer no GPU",
                    pods_of(chart.chart), taint->key.substr(0, 60), taint->value.substr(0, 60)),
        fmt::format("in its Helm values {}, whose list replaces the chart's, needs {{key: {}, "
                    "operator: Exists, effect: {}}}",
                    one.path, taint->key.substr(0, 60), taint->effect.substr(0, 20)));
  }
}

// Whether the chart's DaemonSets find the nodes.
void judge_scheduling(const LintInput& input, const NodeOffer& offer, const ChartValues& chart) {
  const NodeGroupFile& group = *offer.group;
  const KeyValue* present = label_of(group, kPresent);
  const bool labelled = (present != nullptr && present->value == "true") || group.labels_gpus;
  if (!labelled && !discovers(chart, group) && !chart.places &&
      input.version >= scenarios::PluginVersion{0, 15}) {
    input.tell(Code::PluginNotScheduled, group.where,
               "the plugin's DaemonSet does not select these nodes: no nvidia.com/gpu.present",
               chart.discovers
                   ? "label them nvidia.com/gpu.present: \"true\", and let NFD on them: "
                     "nfd.worker.tolerations"
                   : "label them nvidia.com/gpu.present: \"true\", or set gfd.enabled=true");
  }
  const KeyValue* capable = label_of(group, kMpsCapable);
  if (offer.has_mps() && !discovers(chart, group) &&
      (capable == nullptr || capable->value != "true")) {
    input.tell(Code::MpsNotCapable, group.where,
               "the MPS daemon does not select these nodes: error waiting for MPS daemon",
               chart.discovers
                   ? "NFD has to tolerate their taints: nfd.worker.tolerations"
                   : "set gfd.enabled=true, or label them nvidia.com/mps.capable: \"true\"");
  }
}

// Whether the chart's nodeSelector names labels that some of the nodes have.
void judge_selector(const LintInput& input, const ChartValues& chart) {
  if (chart.places || !chart.deploys_plugin || chart.selector.empty()) return;
  const auto has_nodes = [](const NodeOffer& offer) { return offer.group != nullptr; };
  const auto finds_some = [&](const std::vector<KeyValue>& selector) {
    return std::ranges::any_of(input.offers, [&](const NodeOffer& offer) {
      return has_nodes(offer) && may_select(selector, offer);
    });
  };
  if (std::ranges::none_of(input.offers, has_nodes) || finds_some(chart.selector)) return;
  auto unmet = std::ranges::find_if(chart.selector,
                                    [&](const KeyValue& label) { return !finds_some({label}); });
  if (unmet == chart.selector.end()) unmet = chart.selector.begin();  // each is of other nodes
  input.tell_as(
      Severity::Warning, Code::PluginNotScheduled, unmet->key_where,
      fmt::format("no GPU nodes among these files are what nodeSelector asks for ({}={}): "
                  "the plugin is on none of them, and they offer no GPU",
                  unmet->key.substr(0, 60), unmet->value.substr(0, 60)),
      "name a label that the nodes have: Karpenter's are karpenter.k8s.aws/instance-*");
}

// Nodes whose image has a plugin of its own.
void judge_builtin_plugin(const LintInput& input, const NodeOffer& offer,
                          const ChartValues* chart) {
  const NodeGroupFile& group = *offer.group;
  if (!has_own_image(group)) return;
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
  if (chart != nullptr && op == nullptr) judge_selector(input, *chart);
  for (const NodeGroupFile& group : input.files.groups) {
    judge_label_names(input, group);
    judge_type_names(input, group);
  }
  for (const NodeOffer& offer : input.offers) {
    if (offer.group == nullptr) continue;
    judge_types(input, offer);
    judge_builtin_plugin(input, offer, deployed);
    const bool own_image = has_own_image(*offer.group);
    if (!own_image && chart != nullptr && chart->deploys_plugin && op == nullptr) {
      judge_scheduling(input, offer, *chart);
    }
    if (!own_image && offer.group->kind != NodeGroupFile::Kind::Node) {
      for (const ChartValues& values : input.files.charts) {
        judge_tolerations(input, offer, values);
      }
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

}  // namespace slicewise::sim::lint
