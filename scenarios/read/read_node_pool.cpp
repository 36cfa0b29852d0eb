#include <algorithm>

#include <fmt/format.h>

#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, CapacityType> kCapacityTypes[] = {
    {"on-demand", CapacityType::OnDemand},
    {"spot", CapacityType::Spot},
    {"reserved", CapacityType::Reserved},
};
constexpr std::pair<std::string_view, AllocationPolicy> kAllocationPolicies[] = {
    {"distributed", AllocationPolicy::Distributed},
    {"packed", AllocationPolicy::Packed},
};

constexpr std::pair<std::string_view, bool> kSpotFallbacks[] = {{"none", false},
                                                                {"on-demand", true}};

std::vector<Taint> read_taints(const Node& pool) {
  std::vector<Taint> taints;
  const Node* list = blocks(&pool, "taints");
  if (list == nullptr) return taints;
  for (const NodePtr& item : list->items) {
    taints.push_back({text_at(item.get(), "key").value_or(""),
                      text_at(item.get(), "value").value_or(""),
                      text_at(item.get(), "effect").value_or("")});
  }
  return taints;
}

GpuOverrides read_gpu(const Node& pool) {
  const Node* node = block(&pool, "gpu");
  return {duration_at(node, "timeSlice"), duration_at(node, "switchCost"),
          percent_at(node, "coldCache"), bytes_at(node, "contextMemory")};
}

// The plugin's own spelling of a value that slicewise only carries to the export.
std::string as_written(const Node& node) {
  if (node.kind == Node::Kind::List) {
    std::string text = "[";
    for (const NodePtr& item : node.items) {
      if (text.size() > 1) text += ", ";
      text += as_written(*item);
    }
    return text + "]";
  }
  if (!node.quoted) return node.text;
  std::string text = "\"";
  for (const char c : node.text) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void collect_flags(const Node& node, const std::string& path,
                   std::vector<std::pair<std::string, std::string>>& flags) {
  for (const Entry& entry : node.entries) {
    const std::string name = path + "." + entry.key;
    if (name == "flags.migStrategy" || name == "flags.plugin.sharedDevicesAllocationPolicy") {
      continue;
    }
    if (entry.value->kind == Node::Kind::Map) {
      collect_flags(*entry.value, name, flags);
    } else {
      flags.emplace_back(name, as_written(*entry.value));
    }
  }
}

std::string with_prefix(const std::string& name) {
  return name.find('/') == std::string::npos ? "nvidia.com/" + name : name;
}

// The same spelling twice is a NAME_DUPLICATE already; here `gpu` beside `nvidia.com/gpu`.
void check_shared_twice(const std::vector<SharedResource>& resources, Findings& findings) {
  for (std::size_t i = 0; i < resources.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Located<std::string>& first = resources[k].name;
      const Located<std::string>& second = resources[i].name;
      if (first.value != second.value || first.where.length == second.where.length) continue;
      findings.add(Code::NameDuplicate, second.where,
                   fmt::format("{} is shared twice", second.value),
                   "the device plugin adds nvidia.com/ when the prefix is missing",
                   fmt::format("first on line {}", first.where.line));
    }
  }
}

std::vector<SharedResource> read_shared_resources(const Node& mode, Findings& findings) {
  std::vector<SharedResource> resources;
  const Node* list = blocks(&mode, "resources");
  if (list == nullptr) return resources;
  for (const NodePtr& item : list->items) {
    if (text_at(item.get(), "name").value_or("").empty()) continue;
    SharedResource resource;
    resource.name = located_text_at(item.get(), "name");
    resource.name.value = with_prefix(resource.name.value);
    resource.replicas_where = value_place(*item, "replicas");
    if (const auto replicas = integer_at(item.get(), "replicas")) {
      resource.replicas = static_cast<int>(*replicas);
    }
    resources.push_back(std::move(resource));
  }
  check_shared_twice(resources, findings);
  return resources;
}

std::optional<PluginSharing> read_sharing(const Node* sharing, std::string_view mode,
                                          bool fail_by_default, Findings& findings) {
  const Node* node = block(sharing, mode);
  if (node == nullptr) return std::nullopt;
  PluginSharing result;
  result.rename_by_default = boolean_at(node, "renameByDefault").value_or(false);
  result.fail_requests_greater_than_one =
      boolean_at(node, "failRequestsGreaterThanOne").value_or(fail_by_default);
  result.resources = read_shared_resources(*node, findings);
  result.where = key_place(*sharing, mode);
  return result;
}

void check_sharing(const Node& plugin, const Node* sharing, const DevicePlugin& read,
                   bool force_mps, Findings& findings) {
  if (sharing == nullptr) return;
  const Entry* mps = sharing->entry("mps");
  if (mps == nullptr || mps->value->kind == Node::Kind::Null) return;
  if (const Entry* slicing = sharing->entry("timeSlicing")) {
    if (slicing->value->kind != Node::Kind::Null) {
      findings.add(Code::MpsWithTimeSlicing, mps->key_where, "timeSlicing and mps on one node pool",
                   "keep one: the device plugin would take mps and say nothing",
                   fmt::format("timeSlicing is on line {}", slicing->key_where.line));
    }
  }
  if (read.mig_strategy == MigStrategy::Mixed && !force_mps) {
    findings.add(Code::SettingConflict, value_place(*block(&plugin, "flags"), "migStrategy"),
                 "mps with migStrategy mixed: the device plugin stops with \"using "
                 "--mig-strategy=mixed is not supported with MPS\"",
                 "use timeSlicing, leave migStrategy out, or simulate it all the same with `mps: "
                 "{force: true}` on the node pool");
  }
}

void check_mig(const Node& pool, const NodePool& read, Findings& findings) {
  const Node* plugin = block(&pool, "devicePlugin");
  const Node* flags = block(plugin, "flags");
  if (!read.mig || flags == nullptr || flags->entry("migStrategy") == nullptr) return;
  if (read.device_plugin->mig_strategy == read.mig->strategy) return;
  findings.add(Code::SettingConflict, value_place(*flags, "migStrategy"),
               "devicePlugin.flags.migStrategy and mig.strategy differ",
               "set both to the same value, or remove this one",
               fmt::format("mig is on line {}", key_place(pool, "mig").line));
}

DevicePlugin read_device_plugin(const Node& node, bool force_mps, Findings& findings) {
  DevicePlugin plugin;
  plugin.where = node.where;
  const Node* flags = block(&node, "flags");
  plugin.mig_strategy = word_at(flags, "migStrategy", kMigStrategies).value_or(plugin.mig_strategy);
  plugin.allocation_policy =
      word_at(block(flags, "plugin"), "sharedDevicesAllocationPolicy", kAllocationPolicies)
          .value_or(plugin.allocation_policy);
  if (flags != nullptr) collect_flags(*flags, "flags", plugin.other_flags);
  if (const Node* imex = block(&node, "imex")) collect_flags(*imex, "imex", plugin.other_flags);
  const Node* sharing = block(&node, "sharing");
  plugin.time_slicing = read_sharing(sharing, "timeSlicing", false, findings);
  plugin.mps = read_sharing(sharing, "mps", true, findings);
  check_sharing(node, sharing, plugin, force_mps, findings);
  return plugin;
}

// One number, or {min, max} for a provisioner.
void read_nodes(const Node& node, NodePool& pool, Findings& findings) {
  pool.nodes_where = value_place(node, "nodes");
  pool.nodes = int_at(&node, "nodes").value_or(pool.nodes);
  const Node* range = block(&node, "nodes");
  if (range == nullptr) return;
  pool.nodes = int_at(range, "min").value_or(0);
  pool.most_nodes = int_at(range, "max").value_or(std::max(1, pool.nodes));
  if (pool.nodes > *pool.most_nodes) {
    findings.add(Code::SettingConflict, value_place(*range, "min"), "min is more than max",
                 "min and max are the fewest and the most nodes");
  }
}

void read_spot(const Node& node, NodePool& pool, Findings& findings) {
  const Node* block_of_spot = block(&node, "spot");
  if (block_of_spot == nullptr) return;
  Spot spot;
  spot.where = key_place(node, "spot");
  if (const auto per_hour = number_at(block_of_spot, "interruptionsPerHour")) {
    spot.interruptions = Rate{*per_hour / 3600};
  }
  spot.notice = duration_at(block_of_spot, "notice").value_or(spot.notice);
  spot.falls_back_to_on_demand = word_at(block_of_spot, "fallback", kSpotFallbacks).value_or(false);
  if (pool.capacity_type != CapacityType::Spot) {
    findings.add(Code::SettingConflict, spot.where, "spot on a pool that is not bought as spot",
                 "add `capacityType: spot`, or remove spot");
    return;
  }
  pool.spot = spot;
}

void check_layout_changes(const NodePool& pool, Findings& findings) {
  if (!pool.mig || pool.mig->changes.empty() || (!pool.most_nodes && !pool.spot)) return;
  findings.add(Code::SettingConflict, pool.mig->config.where,
               "mig.changes on a pool whose nodes come and go",
               "new nodes would start with the first layout: write one number of nodes, without "
               "spot interruptions");
}

}  // namespace

NodePool read_node_pool(const Node& node, Findings& findings) {
  NodePool pool;
  pool.where = node.where;
  pool.name = located_text_at(&node, "name");
  pool.instance_type = located_text_at(&node, "instanceType");
  read_nodes(node, pool, findings);
  pool.capacity_type = word_at(&node, "capacityType", kCapacityTypes).value_or(pool.capacity_type);
  pool.capacity_type_where = value_place(node, "capacityType");
  read_spot(node, pool, findings);
  read_gpu_sharing(node, pool, findings);
  if (const Node* plugin = block(&node, "devicePlugin")) {
    const bool force_mps = pool.mps && pool.mps->force;
    pool.device_plugin = read_device_plugin(*plugin, force_mps, findings);
    pool.device_plugin->where = key_place(node, "devicePlugin");
  }
  pool.taints = read_taints(node);
  pool.labels = labels_at(&node, "labels");
  pool.gpu = read_gpu(node);
  check_mig(node, pool, findings);
  check_layout_changes(pool, findings);
  return pool;
}

}  // namespace slicewise::scenarios
