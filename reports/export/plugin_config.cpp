#include "plugin_config.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../document/document_text.hpp"
#include "guide.hpp"

namespace slicewise::reports {
namespace {

using scenarios::AllocationPolicy;
using scenarios::DevicePlugin;
using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;

constexpr std::string_view kPolicyPath = "flags.plugin.sharedDevicesAllocationPolicy";

// A mapping in the order of first mention, filled from dotted paths.
struct Mapping {
  std::string key;
  std::string value;  // of a leaf
  std::vector<Mapping> children;
};

void insert(Mapping& into, std::string_view path, std::string_view value) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  auto found =
      std::ranges::find_if(into.children, [&](const Mapping& child) { return child.key == key; });
  if (found == into.children.end()) {
    into.children.push_back({std::string(key), {}, {}});
    found = std::prev(into.children.end());
  }
  if (dot == std::string_view::npos) {
    found->value = value;
  } else {
    insert(*found, path.substr(dot + 1), value);
  }
}

std::string yaml_block(const Mapping& mapping) {
  std::string out;
  for (const Mapping& child : mapping.children) {
    out += child.children.empty() ? fmt::format("{}: {}\n", child.key, child.value)
                                  : child.key + ":\n" + indented(yaml_block(child), 2);
  }
  return out;
}

std::string sharing_block(std::string_view mode, const PluginSharing& sharing) {
  std::string out = fmt::format(
      "sharing:\n  {}:\n    renameByDefault: {}\n    failRequestsGreaterThanOne: {}\n"
      "    resources:\n",
      mode, sharing.rename_by_default, sharing.fail_requests_greater_than_one);
  for (const scenarios::SharedResource& resource : sharing.resources) {
    out += fmt::format("    - name: {}\n      replicas: {}\n", yaml_scalar(resource.name.value),
                       resource.replicas);
  }
  return out;
}

// api/config/v1 of the plugin at the tags v0.14.0 to v0.20.0. The parser is not strict: an older
// plugin reads past a key that it does not know.
struct KeySince {
  std::string_view path;
  int minor;
};
constexpr KeySince kKeysSince[] = {
    {"flags.mpsRoot", 15},
    {"flags.useNodeFeatureAPI", 15},
    {"flags.nvidiaDevRoot", 16},
    {"flags.deviceDiscoveryStrategy", 16},
    {"imex", 17},
    {"flags.gdrcopyEnabled", 18},
    {kPolicyPath, 20},
};

class Checker {
 public:
  Checker(const PoolTarget& target, int chart_minor)
      : pool_(*target.pool),
        gpu_(*target.gpu),
        is_fraction_(target.instance->gpu_fraction < 1),
        chart_minor_(chart_minor) {}

  Diagnostics run() {
    check_whose_plugin();
    check_mps_settings();
    check_mig();
    if (!pool_.device_plugin) return std::move(found_);
    check_keys();
    const DevicePlugin& plugin = *pool_.device_plugin;
    if (plugin.time_slicing && plugin.mps) {
      add(Code::MpsWithTimeSlicing, plugin.mps->where,
          "sharing.timeSlicing and sharing.mps exclude each other", "keep one of them");
    }
    if (plugin.time_slicing) check_resources(*plugin.time_slicing);
    if (plugin.mps) check_mps(*plugin.mps);
    return std::move(found_);
  }

 private:
  void add(Code code, const SourceLocation& where, const std::string& message,
           const std::string& help) {
    found_.push_back(make_diagnostic(code, where, message, help));
  }

  void check_whose_plugin() {
    const auto refuse = [&](const SourceLocation& where, const char* field, const char* who,
                            const char* help) {
      add(Code::ExportUnfit, where,
          fmt::format("node pool \"{}\" is shared by `{}`, {}, not by NVIDIA's device plugin: it "
                      "takes no settings for that",
                      pool_.name.value, field, who),
          help);
    };
    constexpr const char* kPods = "--to pod-patch or kustomize write what the pods ask for";
    if (pool_.virtual_gpu) {
      refuse(pool_.virtual_gpu->where, "virtualGpu", "AWS's own plugin", "use --to aws-vgpu");
    }
    if (pool_.nos) refuse(pool_.nos->where, "nos", "the partitioner of nos", "use --to nos");
    if (pool_.mig && pool_.mig->nos) {
      refuse(pool_.mig->nos->where, "mig.nos", "the partitioner of nos", "use --to nos");
    }
    if (pool_.vgpu && !is_fraction_) {
      refuse(pool_.vgpu->where, "vgpu", "the hypervisor",
             "EC2 sells vGPUs in g6f and gr6f: with their types every kind can be written");
    }
    if (pool_.hami) refuse(pool_.hami->where, "hami", "HAMi's own plugin", "use --to hami");
    if (pool_.kai) refuse(pool_.where, "kai", "KAI scheduler", kPods);
    if (pool_.dra) refuse(pool_.where, "dra", "NVIDIA's DRA driver", "use --to dra or bundle");
  }

  // A file that limits clients which the scenario does not limit would not give its result.
  void check_mps_settings() {
    if (!has_own_threads(pool_)) return;
    add(Code::SettingConflict, pool_.mps->where,
        "the device plugin has no setting for the active thread percentage: it gives each client "
        "100 / replicas %, which is not what was simulated",
        "--to bundle and --to dra give it by NVIDIA's DRA driver; else export without `mps`, and "
        "raise the percentage by hand, with set_default_active_thread_percentage at the MPS "
        "control daemon of each node");
  }

  void check_mig() {
    const MigStrategy strategy = mig_strategy_of(pool_);
    if (strategy != MigStrategy::None && !gpu_.supports_mig) {
      add(Code::MigUnsupported, pool_.mig ? pool_.mig->config.where : pool_.device_plugin->where,
          fmt::format("{} has no MIG", gpu_.name), "leave migStrategy out or choose another GPU");
    }
  }

  void check_keys() {
    const DevicePlugin& plugin = *pool_.device_plugin;
    for (const auto& [path, value] : plugin.other_flags) check_key(path);
    if (plugin.allocation_policy == AllocationPolicy::Packed) check_key(kPolicyPath);
  }

  void check_key(std::string_view path) {
    for (const KeySince& key : kKeysSince) {
      const bool below = path.size() > key.path.size() && path[key.path.size()] == '.';
      if (path.substr(0, key.path.size()) != key.path || !(path == key.path || below)) continue;
      if (chart_minor_ >= key.minor) continue;
      add(Code::SettingConflict, pool_.device_plugin->where,
          fmt::format("device plugin 0.{} ignores {}, known since 0.{}", chart_minor_, path,
                      key.minor),
          fmt::format("leave it out or use chart 0.{} or newer", key.minor));
    }
  }

  void check_resources(const PluginSharing& sharing) {
    if (sharing.resources.empty()) {
      add(Code::FieldMissing, sharing.where, "no resources specified", "name nvidia.com/gpu");
    }
    for (const scenarios::SharedResource& resource : sharing.resources) {
      if (resource.replicas >= 2) continue;
      add(Code::ReplicasTooFew, resource.replicas_where,
          fmt::format("number of replicas must be >= 2, not {}", resource.replicas),
          "for whole GPUs leave `sharing` out");
    }
  }

  void check_mps(const PluginSharing& mps) {
    check_resources(mps);
    if (chart_minor_ < 15) {
      add(Code::SettingConflict, mps.where, "device plugin 0.14 has no MPS, known since 0.15",
          "use chart 0.15 or newer");
    }
    if (mig_strategy_of(pool_) != MigStrategy::None) {
      add(Code::MpsOnMig, mps.where, "the device plugin refuses MPS on MIG devices",
          "use --to dra, whose driver shares MIG devices by MPS (and --to mig-parted for the "
          "layout), "
          "or timeSlicing");
    }
    // cmd/mps-control-daemon/mps/device.go: 48 clients from compute capability 7.5, else 16.
    const int limit =
        gpu_.compute_capability < "7.5" && gpu_.compute_capability.find('.') == 1 ? 16 : 48;
    for (const scenarios::SharedResource& resource : mps.resources) {
      if (resource.replicas <= limit) continue;
      add(Code::MpsTooManyClients, resource.replicas_where,
          fmt::format("maximum allowed replicas exceeded: {} > {} with MPS on {}",
                      resource.replicas, limit, gpu_.name),
          fmt::format("at most {}", limit));
    }
  }

  const NodePool& pool_;
  const models::GpuModel& gpu_;
  bool is_fraction_;  // of a card, whose hypervisor shares it: the plugin finds a whole GPU
  int chart_minor_;
  Diagnostics found_;
};

// Everything that the plugin of this chart (0.<minor>) would refuse at start, or read and ignore.
Diagnostics check_plugin_config(const PoolTarget& target, int chart_minor) {
  return Checker(target, chart_minor).run();
}

// flags.mpsRoot of the pool, "" when it is not given.
std::string mps_root_of(const NodePool& pool) {
  if (!pool.device_plugin) return {};
  for (const auto& [path, value] : pool.device_plugin->other_flags) {
    if (path != "flags.mpsRoot") continue;
    const bool in_quotes = value.size() >= 2 && value.front() == '"';
    return in_quotes ? value.substr(1, value.size() - 2) : value;
  }
  return {};
}

}  // namespace

MigStrategy mig_strategy_of(const NodePool& pool) {
  if (pool.mig) return pool.mig->strategy;
  return pool.device_plugin ? pool.device_plugin->mig_strategy : MigStrategy::None;
}

bool has_own_threads(const NodePool& pool) {
  const bool by_mps = pool.device_plugin && pool.device_plugin->mps;
  return by_mps && pool.mps && (pool.mps->uncapped || pool.mps->active_threads);
}

std::string mig_strategy_name(MigStrategy strategy) {
  switch (strategy) {
    case MigStrategy::None:
      return "none";
    case MigStrategy::Single:
      return "single";
    case MigStrategy::Mixed:
      return "mixed";
  }
  return {};
}

std::string plugin_config_yaml(const NodePool& pool) {
  Mapping config;
  insert(config, "version", "v1");
  insert(config, "flags.migStrategy", mig_strategy_name(mig_strategy_of(pool)));
  if (!pool.device_plugin) return yaml_block(config);
  const DevicePlugin& plugin = *pool.device_plugin;
  for (const auto& [path, value] : plugin.other_flags) insert(config, path, value);
  if (plugin.allocation_policy == AllocationPolicy::Packed) insert(config, kPolicyPath, "packed");
  std::string out = yaml_block(config);
  if (plugin.time_slicing) out += sharing_block("timeSlicing", *plugin.time_slicing);
  if (plugin.mps) out += sharing_block("mps", *plugin.mps);
  return out;
}

namespace {

constexpr std::string_view kExclusive = "exclusive";
constexpr std::string_view kDefaultMpsRoot = "/run/nvidia/mps";
constexpr int kLargeRequestsUnderMps = 20;  // the first plugin that lets them through
constexpr std::size_t kPoolPartOfKey = 40;  // a label value holds 63 characters

// Takes one number off the front of "20.0"; nullopt when there is none.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_dot(std::string_view& text) {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

// The minor of 0.<minor>.<patch>, nullopt for anything else.
std::optional<int> chart_minor(std::string_view version) {
  const std::optional<int> major = take_number(version);
  if (major != 0 || !take_dot(version)) return std::nullopt;
  const std::optional<int> minor = take_number(version);
  if (!minor || !take_dot(version) || !take_number(version) || !version.empty()) {
    return std::nullopt;
  }
  if (*minor < kOldestChartMinor || *minor > kNewestChartMinor) return std::nullopt;
  return minor;
}

Diagnostic unknown_chart(std::string_view version) {
  return make_diagnostic(
      Code::EnumUnknown, {},
      fmt::format("chart version \"{}\" of nvidia-device-plugin is not supported", version),
      "supported: 0.20.x, 0.15.x to 0.19.x, 0.14.x, in full, as in 0.20.0 or 0.14.5");
}

// Beside configs of somebody else's they are not to be taken for what is there.
std::string key_of(const NodePool& pool, const scenarios::GpuSoftware& there) {
  const std::string own = there.operator_config_map.empty() ? "" : "slicewise-";
  const PluginSharing* sharing = sharing_of(pool);
  const MigStrategy mig = mig_strategy_of(pool);
  const bool other_flags = pool.device_plugin && !pool.device_plugin->other_flags.empty();
  if (!sharing && mig == MigStrategy::None && !other_flags)
    return fmt::format("{}{}", own, kExclusive);
  std::string key = (own + pool.name.value).substr(0, kPoolPartOfKey);
  if (mig != MigStrategy::None) key += "-mig-" + mig_strategy_name(mig);
  if (!sharing) return mig == MigStrategy::None ? fmt::format("{}-{}", key, kExclusive) : key;
  const bool mps = pool.device_plugin->mps.has_value();
  return fmt::format("{}-{}{}", key, mps ? "mps" : "timeslicing",
                     sharing->resources.front().replicas);
}

class Planner {
 public:
  Planner(const scenarios::GpuSoftware& there, const models::Catalogue& catalogue, int minor)
      : catalogue_(catalogue) {
    plan_.chart_minor = minor;
    plan_.there = &there;
  }

  void add(const NodePool& pool) {
    Expected<PoolTarget> target = pool_target(pool, catalogue_);
    if (!target) {
      std::move(target.error().begin(), target.error().end(), std::back_inserter(found_));
      return;
    }
    Diagnostics refused = check_plugin_config(*target, plan_.chart_minor);
    if (!refused.empty()) {
      std::move(refused.begin(), refused.end(), std::back_inserter(found_));
      return;
    }
    add_config(*target);
    add_mps_root(pool);
  }

  // cmd/nvidia-device-plugin before 0.20 sets failRequestsGreaterThanOne under MPS itself.
  void check_requests(const scenarios::Workload& workload) {
    if (plan_.chart_minor >= kLargeRequestsUnderMps) return;
    for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
      if (request.count > 1 && is_let_through(request.name.value)) {
        found_.push_back(make_diagnostic(
            Code::SettingConflict, request.count_where,
            fmt::format(
                "device plugin 0.{} takes failRequestsGreaterThanOne as true under MPS, and "
                "refuses the pods of \"{}\", which ask for {}",
                plan_.chart_minor, workload.name.value, request.count),
            fmt::format("use chart 0.{} or newer, or ask for 1", kLargeRequestsUnderMps)));
      }
    }
  }

  Expected<PluginPlan> finish() {
    if (!found_.empty()) return tl::unexpected(std::move(found_));
    plan_.default_key = default_config().key;
    return std::move(plan_);
  }

 private:
  // A node without a label must not share silently, so one of whole GPUs where there is one.
  const NamedConfig& default_config() const {
    const auto shares_nothing = [](const NamedConfig& config) {
      return sharing_of(*config.pools.front().pool) == nullptr;
    };
    const auto exclusive = [](const NamedConfig& config) { return config.key == kExclusive; };
    auto found = std::ranges::find_if(plan_.configs, exclusive);
    if (found == plan_.configs.end()) {
      found = std::ranges::find_if(plan_.configs, shares_nothing);
    }
    return found == plan_.configs.end() ? plan_.configs.front() : *found;
  }

  // By an MPS that was simulated to give a pod several shares.
  bool is_let_through(const std::string& resource) const {
    for (const NamedConfig& config : plan_.configs) {
      const NodePool& pool = *config.pools.front().pool;
      if (!pool.device_plugin || !pool.device_plugin->mps) continue;
      const PluginSharing& mps = *pool.device_plugin->mps;
      for (const scenarios::SharedResource& shared : mps.resources) {
        const bool is_it = mps.advertised(shared.name.value) == resource;
        if (is_it && !mps.fail_requests_greater_than_one) return true;
      }
    }
    return false;
  }

  bool key_taken(const std::string& key) const {
    return std::ranges::any_of(plan_.configs,
                               [&](const NamedConfig& config) { return config.key == key; });
  }

  void add_config(const PoolTarget& target) {
    std::string text = plugin_config_yaml(*target.pool);
    for (NamedConfig& config : plan_.configs) {
      if (config.yaml != text) continue;
      config.pools.push_back(target);
      return;
    }
    const std::string first = key_of(*target.pool, *plan_.there);
    std::string key = first;
    for (int n = 2; key_taken(key); ++n) key = fmt::format("{}-{}", first, n);
    plan_.configs.push_back({std::move(key), std::move(text), {target}});
  }

  // The chart sets MPS_ROOT from its value mps.root, which beats flags.mpsRoot of the file.
  void add_mps_root(const NodePool& pool) {
    if (!pool.device_plugin || !pool.device_plugin->mps) return;
    std::string root = mps_root_of(pool);
    if (root.empty()) root = kDefaultMpsRoot;
    if (!plan_.mps_root.empty() && plan_.mps_root != root) {
      found_.push_back(make_diagnostic(
          Code::SettingConflict, pool.device_plugin->mps->where,
          fmt::format("two values of flags.mpsRoot: {} and {}", plan_.mps_root, root),
          "the chart has one mps.root for all nodes"));
    }
    plan_.mps_root = std::move(root);
  }

  const models::Catalogue& catalogue_;
  PluginPlan plan_;
  Diagnostics found_;
};

}  // namespace

Expected<PluginPlan> plan_plugin(const scenarios::Scenario& scenario,
                                 const models::Catalogue& catalogue,
                                 std::string_view chart_version) {
  const std::optional<int> minor = chart_minor(chart_version);
  if (!minor) return tl::unexpected(Diagnostics{unknown_chart(chart_version)});
  if (scenario.node_pools.empty()) {
    return failure(Code::FieldMissing, scenario.where, "no node pool to write a config for");
  }
  Planner planner(scenario.gpu_software, catalogue, *minor);
  for (const NodePool& pool : scenario.node_pools) planner.add(pool);
  for (const scenarios::Workload& workload : scenario.workloads) planner.check_requests(workload);
  return planner.finish();
}

}  // namespace slicewise::reports
