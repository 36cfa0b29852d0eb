#include "node_groups.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../kubernetes/bottlerocket_settings.hpp"
#include "../text/decimal.hpp"

namespace slicewise::scenarios {
namespace {

// Smallest instance type with so many GPUs, by karpenter.k8s.aws/instance-gpu-name.
struct GpuType {
  std::string_view gpu;
  std::string_view one;
  std::string_view four;
  std::string_view eight;
};
constexpr std::array kGpuTypes = {
    GpuType{"t4", "g4dn.xlarge", "g4dn.12xlarge", "g4dn.metal"},
    GpuType{"a10g", "g5.xlarge", "g5.12xlarge", "g5.48xlarge"},
    GpuType{"l4", "g6.xlarge", "g6.12xlarge", "g6.48xlarge"},
    GpuType{"l40s", "g6e.xlarge", "g6e.12xlarge", "g6e.48xlarge"},
    GpuType{"v100", "p3.2xlarge", "p3.8xlarge", "p3.16xlarge"},
    GpuType{"a100", "p4d.24xlarge", "p4d.24xlarge", "p4d.24xlarge"},
    GpuType{"h100", "p5.4xlarge", "p5.48xlarge", "p5.48xlarge"},
};

// "g5.2xlarge", "p4d.24xlarge", "gr6.4xlarge", not "m6i.large".
bool has_gpus(std::string_view type) {
  const bool starts = type.starts_with("gr") || type.starts_with("g") || type.starts_with("p");
  const std::size_t digit = type.find_first_of("0123456789");
  return starts && digit != std::string_view::npos && digit <= 2 && (digit == 1 || type[1] == 'r');
}

// What Karpenter may choose from: the first value of each requirement that counts.
struct WantedInstance {
  std::string type;
  std::string family;
  std::string size;
  std::string gpu;
  std::string gpu_count = "1";
  std::string capacity;
  bool falls_back = false;
};

WantedInstance wanted_by(const Node* requirements) {
  WantedInstance wanted;
  if (requirements == nullptr) return wanted;
  for (const NodePtr& item : requirements->items) {
    const Node* values = node_below(item.get(), {"values"});
    if (text_below(item.get(), {"operator"}) != "In" || values == nullptr || values->items.empty())
      continue;
    const std::string& value = values->items.front()->text;
    const std::string key = text_below(item.get(), {"key"});
    if (key == "node.kubernetes.io/instance-type") wanted.type = value;
    if (key == "karpenter.k8s.aws/instance-family") wanted.family = value;
    if (key == "karpenter.k8s.aws/instance-size") wanted.size = value;
    if (key == "karpenter.k8s.aws/instance-gpu-name") wanted.gpu = value;
    if (key == "karpenter.k8s.aws/instance-gpu-count") wanted.gpu_count = value;
    if (key == "karpenter.sh/capacity-type") {
      const auto has = [&](std::string_view type) {
        return std::ranges::any_of(
            values->items, [&](const NodePtr& value_node) { return value_node->text == type; });
      };
      // Of both Karpenter takes spot while there is any.
      wanted.falls_back = has("spot") && has("on-demand");
      wanted.capacity = wanted.falls_back ? "spot" : value;
    }
  }
  return wanted;
}

std::string type_of(const WantedInstance& wanted) {
  if (!wanted.type.empty()) return wanted.type;
  if (!wanted.family.empty()) {
    return fmt::format("{}.{}", wanted.family, wanted.size.empty() ? "xlarge" : wanted.size);
  }
  const auto* known = std::ranges::find(kGpuTypes, wanted.gpu, &GpuType::gpu);
  if (known == kGpuTypes.end()) return {};
  const auto count = whole_of(wanted.gpu_count).value_or(1);
  return std::string(count <= 1 ? known->one : count <= 4 ? known->four : known->eight);
}

// What Bottlerocket's own device plugin is told, as the `sharing` line of a pool. It renames unless
// told otherwise; of its tables only that of the chosen strategy counts.
std::string sharing_of(const std::vector<manifests::BottlerocketSetting>& settings) {
  using manifests::plugin_setting;
  if (plugin_setting(settings, "device-partitioning-strategy") == "mig") {
    for (const manifests::BottlerocketSetting& setting : settings) {
      if (setting.path.find(".mig.profile.") == std::string::npos) continue;
      return fmt::format("mig: {{strategy: single, config: {}}}",
                         in_quotes("all-" + setting.value));
    }
  }
  const std::string strategy = plugin_setting(settings, "device-sharing-strategy");
  if (strategy != "time-slicing" && strategy != "mps") return {};
  const std::string written = plugin_setting(settings, strategy + ".replicas");
  const auto replicas = whole_of(written.empty() ? "2" : written).value_or(0);
  if (replicas < 2) return {};
  const bool renames = plugin_setting(settings, strategy + ".rename-by-default") != "false";
  const bool refuses =
      plugin_setting(settings, strategy + ".fail-requests-greater-than-one") != "false";
  return fmt::format(
      "devicePlugin: {{version: v1, sharing: {{{}: {{{}{}resources: [{{name: nvidia.com/gpu, "
      "replicas: {}}}]}}}}}}",
      strategy == "mps" ? "mps" : "timeSlicing", renames ? "renameByDefault: true, " : "",
      refuses ? "failRequestsGreaterThanOne: true, " : "", replicas);
}

}  // namespace

bool NodeGroups::add(const NodePtr& object, ImportReport& report) {
  const std::string kind = text_below(object.get(), {"kind"});
  if (kind == "NodePool") {
    add_node_pool(*object, report);
  } else if (kind == "EC2NodeClass") {
    user_data_[text_below(object.get(), {"metadata", "name"})] =
        text_below(object.get(), {"spec", "userData"});
  } else if (kind == "NodeOverlay") {
    has_overlay_ = true;
    report.remark(ImportRemark::Kind::Note,
                  "NodeOverlay: what Karpenter believes of a node, not needed here",
                  [&] { return object->where; });
  } else if (kind == "ClusterConfig") {
    add_cluster(*object, report);
  } else {
    return false;
  }
  return true;
}

void NodeGroups::take_labels(const Node* labels, Group& group) {
  if (labels == nullptr || labels->kind != Node::Kind::Map) return;
  for (const Entry& entry : labels->entries) {
    if (entry.value == nullptr || !entry.value->is_scalar()) continue;
    if (entry.key == "nvidia.com/device-plugin.config") group.config_label = entry.value->text;
    if (entry.key == "nvidia.com/mig.config") group.mig_label = entry.value->text;
    group.pool.labels.emplace_back(entry.key, entry.value->text);
  }
}

void NodeGroups::take_taints(const Node* taints, DraftPool& pool) {
  if (taints == nullptr) return;
  for (const NodePtr& taint : taints->items) {
    const std::string key = text_below(taint.get(), {"key"});
    const std::string effect = text_below(taint.get(), {"effect"});
    if (key.empty() || effect.empty()) continue;
    pool.taints.push_back(fmt::format("{{key: {}, value: {}, effect: {}}}", in_quotes(key),
                                      in_quotes(text_below(taint.get(), {"value"})),
                                      in_quotes(effect)));
  }
}

void NodeGroups::add_node_pool(const Node& object, ImportReport& report) {
  Group group;
  group.where = object.where;
  group.pool.name = dns_name(text_below(&object, {"metadata", "name"}), "pool");
  const Node* tmpl = node_below(&object, {"spec", "template"});
  take_labels(node_below(tmpl, {"metadata", "labels"}), group);
  take_taints(node_below(tmpl, {"spec", "taints"}), group.pool);
  group.class_name = text_below(tmpl, {"spec", "nodeClassRef", "name"});
  const auto most = whole_of(text_below(&object, {"spec", "limits", "nodes"}));
  // A NodePool has no minimum; exported ones carry that of their scenario.
  const auto fewest =
      whole_of(text_below(&object, {"metadata", "annotations", "slicewise.dev/nodes-min"}));
  if (most && *most > 0 && fewest && *fewest >= 0) {
    group.pool.nodes = *fewest;
    group.pool.most_nodes = *most;
    group.pool.nodes_are_assumed = false;
    take_disruption(node_below(&object, {"spec", "disruption"}));
  } else if (most && *most > 0) {
    group.pool.nodes = *most;
    group.pool.nodes_are_assumed = false;
    report.remark(ImportRemark::Kind::Note, "limits.nodes of node pools: taken as their nodes",
                  [&] { return object.where; });
  }
  const WantedInstance wanted = wanted_by(node_below(tmpl, {"spec", "requirements"}));
  group.pool.instance_type = type_of(wanted);
  group.pool.type_is_assumed = wanted.type.empty();
  if (wanted.capacity == "spot" || wanted.capacity == "reserved") {
    group.pool.capacity_type = wanted.capacity;
    group.pool.falls_back = wanted.falls_back;
  }
  if (group.pool.instance_type.empty()) {
    group.pool.instance_type = "g5.xlarge";
    report.guessed("node pools that name no instance type: g5.xlarge",
                   [&] { return object.where; });
  } else if (wanted.type.empty()) {
    report.guessed("instance types of node pools, from their requirements",
                   [&] { return object.where; });
  }
  groups_.push_back(std::move(group));
}

void NodeGroups::take_disruption(const Node* disruption) {
  if (!disruption_.empty()) return;
  const std::string policy = text_below(disruption, {"consolidationPolicy"});
  const std::string after = text_below(disruption, {"consolidateAfter"});
  disruption_ = fmt::format("consolidationPolicy: {}",
                            policy == "WhenEmpty" ? policy : "WhenEmptyOrUnderutilized");
  const bool is_time = !after.empty() && after != "Never" &&
                       after.find_first_not_of("0123456789hms") == std::string::npos;
  if (is_time) disruption_ += ", consolidateAfter: " + after;
}

std::string NodeGroups::provisioner() const {
  if (!disruption_.empty()) {
    return fmt::format("{{kind: Karpenter, nodeOverlay: {}, {}}}", has_overlay_, disruption_);
  }
  return autoscales_ ? "{kind: ClusterAutoscaler}" : "";
}

void NodeGroups::add_cluster(const Node& object, ImportReport& report) {
  region_ = text_below(&object, {"metadata", "region"});
  for (const std::string_view list : {"managedNodeGroups", "nodeGroups"}) {
    const Node* groups = object.find(list);
    if (groups == nullptr) continue;
    for (const NodePtr& group : groups->items) add_node_group(*group, report);
  }
}

void NodeGroups::add_node_group(const Node& node, ImportReport& report) {
  Group group;
  group.where = node.where;
  group.pool.name = dns_name(text_below(&node, {"name"}), "group");
  group.pool.instance_type = text_below(&node, {"instanceType"});
  const Node* types = node_below(&node, {"instanceTypes"});
  if (group.pool.instance_type.empty() && types != nullptr && !types->items.empty()) {
    group.pool.instance_type = types->items.front()->text;
  }
  const auto nodes = whole_of(text_below(&node, {"desiredCapacity"}));
  if (nodes && *nodes > 0) {
    group.pool.nodes = *nodes;
    group.pool.nodes_are_assumed = false;
  }
  const auto fewest = whole_of(text_below(&node, {"minSize"}));
  const auto most = whole_of(text_below(&node, {"maxSize"}));
  const Node* tags = node.find("tags");
  const bool scales =
      tags != nullptr && tags->entry("k8s.io/cluster-autoscaler/enabled") != nullptr;
  if (scales && fewest && most && *fewest >= 0 && *fewest < *most) {
    group.pool.nodes = *fewest;
    group.pool.most_nodes = *most;
    group.pool.nodes_are_assumed = false;
    autoscales_ = true;
  }
  if (text_below(&node, {"spot"}) == "true") group.pool.capacity_type = "spot";
  take_labels(node.find("labels"), group);
  take_taints(node.find("taints"), group.pool);
  group.pool.sharing =
      sharing_of(manifests::bottlerocket_settings(node_below(&node, {"bottlerocket", "settings"})));
  if (!has_gpus(group.pool.instance_type)) {
    report.skipped("node groups without GPUs", [&] { return node.where; });
    return;
  }
  groups_.push_back(std::move(group));
}

std::vector<DraftPool> NodeGroups::pools(const PluginConfigs& plugin, ImportReport& report) const {
  std::vector<DraftPool> pools;
  for (const Group& group : groups_) {
    DraftPool pool = group.pool;
    const auto user_data = user_data_.find(group.class_name);
    if (pool.sharing.empty() && user_data != user_data_.end()) {
      Diagnostics found;
      pool.sharing = sharing_of(
          manifests::bottlerocket_settings({group.class_name, user_data->second}, found));
      if (!found.empty() && user_data->second.find("[settings") != std::string::npos) {
        report.skipped(fmt::format("user data of EC2NodeClass {}: not the TOML of Bottlerocket",
                                   group.class_name.substr(0, 60)),
                       [&] { return group.where; });
      }
    }
    if (pool.sharing.empty())
      pool.sharing = plugin.sharing_for(group.config_label, group.mig_label);
    pools.push_back(std::move(pool));
  }
  for (const auto& [name, text] : user_data_) {
    const bool is_used = std::ranges::any_of(
        groups_, [&, &key = name](const Group& group) { return group.class_name == key; });
    if (is_used) continue;
    report.skipped(fmt::format("EC2NodeClass {}: no NodePool here uses it", name.substr(0, 60)),
                   [] { return SourceLocation{}; });
  }
  return pools;
}

}  // namespace slicewise::scenarios
