#include <algorithm>

#include <fmt/format.h>

#include "../fields/check_scalar.hpp"
#include "node_values.hpp"
#include "read_scenario.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, VgpuSettings::Policy> kVgpuPolicies[] = {
    {"bestEffort", VgpuSettings::Policy::BestEffort},
    {"equalShare", VgpuSettings::Policy::EqualShare},
    {"fixedShare", VgpuSettings::Policy::FixedShare},
};

bool is_set(const Node* parent, std::string_view key) {
  const Node* node = parent == nullptr ? nullptr : parent->find(key);
  return node != nullptr && node->kind != Node::Kind::Null;
}

std::optional<int> small_integer_at(const Node* parent, std::string_view key) {
  const auto value = integer_at(parent, key);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

// What mig-parted itself refuses; one such entry makes its whole file unreadable.
void check_mig_parted(const Node& node, const MigPartedEntry& entry, Findings& findings) {
  const Entry* devices = node.entry("mig-devices");
  const auto enabled = boolean_at(&node, "mig-enabled");
  if (enabled == true && devices == nullptr) {
    findings.add(Code::FieldMissing, node.where,
                 "\"mig-devices\" is missing: mig-parted stops with \"missing required field "
                 "'mig-devices' when 'mig-enabled' is true\"",
                 "add `mig-devices: {\"1g.5gb\": 7}`, or `mig-devices: {}` for no instances");
  }
  if (entry.mig_devices.empty()) return;
  if (enabled == false) {
    findings.add(Code::SettingConflict, devices->key_where,
                 "mig-devices with mig-enabled false: mig-parted stops with \"MIG devices included "
                 "when 'mig-enabled' is false\"",
                 "remove mig-devices, or write `mig-enabled: true`");
  }
  const bool none = std::all_of(entry.mig_devices.begin(), entry.mig_devices.end(),
                                [](const auto& device) { return device.second == 0; });
  if (none) {
    findings.add(Code::ValueRange, devices->key_where,
                 "mig-devices without an instance: mig-parted stops with \"all counts for all "
                 "MigProfiles are 0\"",
                 "raise a count, or write `mig-devices: {}` for no instances");
  }
}

MigPartedEntry read_mig_parted(const Node& node, Findings& findings) {
  MigPartedEntry entry;
  entry.where = node.where;
  entry.mig_enabled = boolean_at(&node, "mig-enabled").value_or(true);
  if (const Node* devices = blocks(&node, "devices")) {
    for (const NodePtr& item : devices->items) {
      if (const auto index = to_integer(item->text)) {
        entry.devices.push_back(static_cast<int>(*index));
      }
    }
  }
  if (const Node* devices = block(&node, "mig-devices")) {
    for (const Entry& device : devices->entries) {
      if (const auto count = small_integer_at(devices, device.key)) {
        entry.mig_devices.push_back({{device.key, device.key_where}, *count});
      }
    }
  }
  check_mig_parted(node, entry, findings);
  return entry;
}

void check_order(const Node& before, const Node& change, Findings& findings) {
  const auto first = duration_at(&before, "at");
  const auto second = duration_at(&change, "at");
  if (!first || !second || *first < *second) return;
  const SourceLocation where = value_place(change, "at");
  findings.add(Code::SettingConflict, where,
               *first == *second ? "two changes of the layout at the same time"
                                 : "changes of the layout that are not in order of time",
               "list the changes by their time, one for each",
               fmt::format("the change before is on line {}", value_place(before, "at").line));
}

std::vector<MigChange> read_changes(const Node& mig, Findings& findings) {
  std::vector<MigChange> changes;
  const Node* list = blocks(&mig, "changes");
  if (list == nullptr) return changes;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const Node& item = *list->items[i];
    changes.push_back(
        {duration_at(&item, "at").value_or(Duration{}), located_text_at(&item, "config")});
    if (i > 0) check_order(*list->items[i - 1], item, findings);
  }
  return changes;
}

MigChangeTimes read_change_times(const Node& mig) {
  const Node* node = block(&mig, "changeTimes");
  MigChangeTimes times;
  times.drain = duration_at(node, "drain").value_or(times.drain);
  times.destroy = duration_at(node, "destroy").value_or(times.destroy);
  times.create = duration_at(node, "create").value_or(times.create);
  times.plugin_restart = duration_at(node, "pluginRestart").value_or(times.plugin_restart);
  return times;
}

std::optional<MigLayout> read_mig(const Node& pool, Findings& findings) {
  const Node* node = block(&pool, "mig");
  if (node == nullptr) return std::nullopt;
  MigLayout layout;
  layout.strategy = word_at(node, "strategy", kMigStrategies).value_or(layout.strategy);
  layout.config = located_text_at(node, "config");
  if (const Node* configs = block(node, "configs")) {
    for (const Entry& config : configs->entries) {
      std::vector<MigPartedEntry>& entries = layout.configs[config.key];
      for (const NodePtr& item : config.value->items) {
        if (item->kind == Node::Kind::Map) entries.push_back(read_mig_parted(*item, findings));
      }
    }
  }
  layout.changes = read_changes(*node, findings);
  layout.change_times = read_change_times(*node);
  return layout;
}

bool uses_mps(const Node& pool) {
  return is_set(block(block(&pool, "devicePlugin"), "sharing"), "mps") ||
         is_set(&pool, "virtualGpu") || is_set(&pool, "nos");
}

std::optional<MpsSettings> read_mps(const Node& pool, Findings& findings) {
  const Node* node = block(&pool, "mps");
  if (node == nullptr) return std::nullopt;
  MpsSettings mps;
  mps.where = key_place(pool, "mps");
  mps.uncapped = boolean_at(node, "uncapped").value_or(mps.uncapped);
  mps.active_threads = percent_at(node, "activeThreads");
  mps.client_limit = small_integer_at(node, "clientLimit");
  mps.server_memory = bytes_at(node, "serverMemory");
  mps.force = boolean_at(node, "force").value_or(mps.force);
  if (mps.uncapped && mps.active_threads) {
    findings.add(Code::SettingConflict, key_place(*node, "activeThreads"),
                 "uncapped and activeThreads are both set",
                 "uncapped is an active thread percentage of 100: keep one",
                 fmt::format("uncapped is on line {}", key_place(*node, "uncapped").line));
  }
  if (!uses_mps(pool)) {
    findings.add(Code::SettingConflict, mps.where, "mps settings on a node pool without MPS",
                 "they would be ignored: set devicePlugin.sharing.mps, virtualGpu or nos, or "
                 "remove them");
  }
  return mps;
}

std::optional<VgpuSettings> read_vgpu(const Node& pool) {
  const Node* node = block(&pool, "vgpu");
  if (node == nullptr) return std::nullopt;
  VgpuSettings vgpu;
  vgpu.where = key_place(pool, "vgpu");
  vgpu.policy = word_at(node, "policy", kVgpuPolicies);
  vgpu.per_gpu = small_integer_at(node, "perGpu");
  vgpu.slice = duration_at(node, "slice");
  return vgpu;
}

std::optional<VirtualGpuPlugin> read_virtual_gpu(const Node& pool) {
  const Node* node = block(&pool, "virtualGpu");
  if (node == nullptr) return std::nullopt;
  VirtualGpuPlugin plugin;
  plugin.where = key_place(pool, "virtualGpu");
  plugin.per_gpu = small_integer_at(node, "perGpu").value_or(plugin.per_gpu);
  return plugin;
}

std::optional<NosPartitioning> read_nos(const Node& pool) {
  const Node* node = block(&pool, "nos");
  if (node == nullptr) return std::nullopt;
  NosPartitioning nos;
  nos.where = key_place(pool, "nos");
  if (const Node* slices = blocks(node, "slices")) {
    for (const NodePtr& item : slices->items) nos.slices.push_back({item->text, item->where});
  }
  return nos;
}

// Ways to divide a GPU that take the place of each other.
class Exclusive {
 public:
  Exclusive(const Node& pool, Findings& findings) : pool_(pool), findings_(findings) {}

  void check() {
    if (const Node* sharing = block(block(&pool_, "devicePlugin"), "sharing");
        is_set(sharing, "timeSlicing") || is_set(sharing, "mps")) {
      refuse("vgpu", "devicePlugin", "devicePlugin.sharing", kUnderThePlugin);
    }
    for (const std::string_view other : {"mig", "virtualGpu", "nos"}) {
      refuse("vgpu", other, other, kUnderThePlugin);
    }
    for (const std::string_view other : {"devicePlugin", "mig", "nos"}) {
      refuse("virtualGpu", other, other,
             "AWS's virtual GPU device plugin takes the place of NVIDIA's and knows no MIG: keep "
             "one of the two");
    }
    for (const std::string_view other : {"devicePlugin", "mig"}) {
      refuse("nos", other, other,
             "nos brings its own device plugin and cuts a node by MPS or by MIG: keep one of the "
             "two");
    }
  }

 private:
  static constexpr std::string_view kUnderThePlugin =
      "with vGPU the hypervisor divides the GPU and each node sees a whole one: keep one of the "
      "two";

  void refuse(std::string_view key, std::string_view other, std::string_view shown,
              std::string_view help) {
    if (!is_set(&pool_, key) || !is_set(&pool_, other)) return;
    findings_.add(Code::SettingConflict, key_place(pool_, key),
                  fmt::format("{} and {} on one node pool", key, shown), std::string(help),
                  fmt::format("{} is on line {}", other, key_place(pool_, other).line));
  }

  const Node& pool_;
  Findings& findings_;
};

}  // namespace

void read_gpu_sharing(const Node& node, NodePool& pool, Findings& findings) {
  pool.mig = read_mig(node, findings);
  pool.mps = read_mps(node, findings);
  pool.vgpu = read_vgpu(node);
  pool.virtual_gpu = read_virtual_gpu(node);
  pool.nos = read_nos(node);
  Exclusive(node, findings).check();
}

}  // namespace slicewise::scenarios
