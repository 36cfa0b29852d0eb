#include "node_groups.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../decimal.hpp"

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
    if (key == "karpenter.sh/capacity-type") wanted.capacity = value;
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

// `key = value` of a TOML text, without quotes; the first, whatever its table.
std::string toml_value(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    rest = rest.substr(0, rest.find('\n'));
    const std::size_t value = rest.find_first_not_of(" \t=\"'");
    if (value == std::string_view::npos || rest.find('=') > value) continue;
    rest = rest.substr(value);
    return std::string(rest.substr(0, rest.find_first_of("\"' \t#\r")));
  }
  return {};
}

// What Bottlerocket's own device plugin is told. It renames unless told otherwise.
struct Bottlerocket {
  std::string sharing;  // time-slicing, mps
  std::string replicas = "2";
  std::string renames;  // "" true
  std::string mig_profile;
};

std::string sharing_of(const Bottlerocket& settings) {
  if (!settings.mig_profile.empty()) {
    return fmt::format("mig: {{strategy: single, config: {}}}",
                       in_quotes("all-" + settings.mig_profile));
  }
  const auto replicas = whole_of(settings.replicas).value_or(0);
  if ((settings.sharing != "time-slicing" && settings.sharing != "mps") || replicas < 2) return {};
  return fmt::format(
      "devicePlugin: {{version: v1, sharing: {{{}: {{{}resources: [{{name: nvidia.com/gpu, "
      "replicas: "
      "{}}}]}}}}}}",
      settings.sharing == "mps" ? "mps" : "timeSlicing",
      settings.renames == "false" ? "" : "renameByDefault: true, ", replicas);
}

Bottlerocket settings_in(std::string_view user_data) {
  Bottlerocket settings;
  settings.sharing = toml_value(user_data, "device-sharing-strategy");
  if (toml_value(user_data, "device-partitioning-strategy") == "mig") {
    const std::size_t table = user_data.find("mig.profile]");
    if (table != std::string_view::npos) {
      settings.mig_profile = toml_value(user_data.substr(table), "gb\"");
    }
  }
  const std::string replicas = toml_value(user_data, "replicas");
  if (!replicas.empty()) settings.replicas = replicas;
  settings.renames = toml_value(user_data, "rename-by-default");
  return settings;
}

Bottlerocket settings_in(const Node* nvidia) {
  Bottlerocket settings;
  settings.sharing = text_below(nvidia, {"device-sharing-strategy"});
  const Node* slices = node_below(nvidia, {settings.sharing});
  const std::string replicas = text_below(slices, {"replicas"});
  if (!replicas.empty()) settings.replicas = replicas;
  settings.renames = text_below(slices, {"rename-by-default"});
  const Node* profiles = node_below(nvidia, {"mig", "profile"});
  if (text_below(nvidia, {"device-partitioning-strategy"}) == "mig" && profiles != nullptr &&
      !profiles->entries.empty() && profiles->entries.front().value != nullptr) {
    settings.mig_profile = profiles->entries.front().value->text;
  }
  return settings;
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
  if (most && *most > 0) {
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
  if (text_below(&node, {"spot"}) == "true") group.pool.capacity_type = "spot";
  take_labels(node.find("labels"), group);
  take_taints(node.find("taints"), group.pool);
  group.pool.sharing = sharing_of(settings_in(
      node_below(&node, {"bottlerocket", "settings", "kubelet-device-plugins", "nvidia"})));
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
      pool.sharing = sharing_of(settings_in(user_data->second));
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
