#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "guide.hpp"
#include "node_settings.hpp"
#include "plugin_config.hpp"

// Keys of settings.kubelet-device-plugins.nvidia:
// https://bottlerocket.dev/en/os/1.54.x/api/settings/kubelet-device-plugins/
namespace slicewise::reports {
namespace {

using scenarios::DevicePlugin;
using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;

// The name under mig.profile, and the profiles that it takes.
struct BottlerocketGpu {
  std::string_view gpu;
  std::string_view key;
  std::array<std::string_view, 5> profiles;
};
constexpr std::array kBottlerocketGpus = {
    BottlerocketGpu{
        "A100-SXM4-40GB", "a100.40gb", {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "7g.40gb"}},
    BottlerocketGpu{
        "A100-SXM4-80GB", "a100.80gb", {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb"}},
    BottlerocketGpu{
        "H100-SXM5-80GB", "h100.80gb", {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb"}},
    BottlerocketGpu{
        "H200-SXM-141GB", "h200.141gb", {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "7g.141gb"}},
    BottlerocketGpu{"B200", "b200.180gb", {"1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "7g.180gb"}},
};

struct BottlerocketFlag {
  std::string_view path;  // in the device plugin's own file
  std::string_view key;
};
constexpr std::array kBottlerocketFlags = {
    BottlerocketFlag{"flags.plugin.passDeviceSpecs", "pass-device-specs"},
    BottlerocketFlag{"flags.plugin.deviceIDStrategy", "device-id-strategy"},
    BottlerocketFlag{"flags.plugin.deviceListStrategy", "device-list-strategy"},
};

const BottlerocketFlag* known_flag(std::string_view path) {
  const auto* found = std::ranges::find(kBottlerocketFlags, path, &BottlerocketFlag::path);
  return found == kBottlerocketFlags.end() ? nullptr : found;
}

const BottlerocketGpu* known_gpu(const PoolTarget& target) {
  const auto* found = std::ranges::find(kBottlerocketGpus, target.gpu->name, &BottlerocketGpu::gpu);
  return found == kBottlerocketGpus.end() ? nullptr : found;
}

class BottlerocketChecker {
 public:
  explicit BottlerocketChecker(const PoolTarget& target) : target_(target), pool_(*target.pool) {}

  Diagnostics run() {
    check_other_plugins();
    if (pool_.device_plugin) check_plugin(*pool_.device_plugin);
    if (pool_.mig) {
      check_layout(*pool_.mig);
    } else if (mig_strategy_of(pool_) != MigStrategy::None) {
      unfit(pool_.where, "the layout of the MIG devices is not given", "add mig.config");
    }
    return std::move(found_);
  }

 private:
  void unfit(const SourceLocation& where, const std::string& what, const std::string& help) {
    found_.push_back(make_diagnostic(
        Code::ExportUnfit, where,
        fmt::format("Bottlerocket cannot say it for node pool \"{}\": {}", pool_.name.value, what),
        help));
  }

  void check_other_plugins() {
    const std::string help = "export a variant in which devicePlugin or mig shares the GPUs";
    if (pool_.virtual_gpu) unfit(pool_.virtual_gpu->where, "virtualGpu is another plugin", help);
    if (pool_.nos) unfit(pool_.nos->where, "nos is another plugin", help);
    if (pool_.mig && pool_.mig->nos) unfit(pool_.mig->nos->where, "nos cuts its GPUs", help);
    if (pool_.hami) unfit(pool_.hami->where, "HAMi is another plugin", help);
    if (pool_.kai) unfit(pool_.where, "KAI scheduler shares the GPUs", help);
    if (pool_.dra) unfit(pool_.where, "it brings the device plugin, not the DRA driver", help);
    if (pool_.mps && (pool_.mps->uncapped || pool_.mps->active_threads)) {
      unfit(pool_.mps->where, "no setting for the active thread percentage",
            "export without `mps`");
    }
  }

  void check_plugin(const DevicePlugin& plugin) {
    if (plugin.time_slicing && plugin.mps) {
      unfit(plugin.mps->where, "device-sharing-strategy is one of time-slicing and mps",
            "keep one of them");
    }
    if (plugin.allocation_policy == scenarios::AllocationPolicy::Packed) {
      unfit(plugin.where, "no setting for sharedDevicesAllocationPolicy",
            "use distributed, or AL2023 nodes");
    }
    for (const auto& [path, value] : plugin.other_flags) {
      if (known_flag(path) != nullptr) continue;
      unfit(plugin.where, "no setting for " + path, "leave it out, or use AL2023 nodes");
    }
    for (const std::optional<PluginSharing>* mode : {&plugin.time_slicing, &plugin.mps}) {
      if (*mode) check_sharing(**mode);
    }
  }

  void check_sharing(const PluginSharing& sharing) {
    if (mig_strategy_of(pool_) != MigStrategy::None) {
      unfit(sharing.where, "sharing inside MIG devices (error MpsMigConflict with mps)",
            "share or partition, or use AL2023 nodes");
    }
    for (const scenarios::SharedResource& resource : sharing.resources) {
      if (resource.name.value == scenarios::kGpuResource || resource.name.value == "gpu") continue;
      unfit(resource.name.where, fmt::format("replicas of {}", resource.name.value),
            "only whole GPUs (nvidia.com/gpu) have a setting");
    }
  }

  void check_layout(const scenarios::MigLayout& mig) {
    const BottlerocketGpu* gpu = known_gpu(target_);
    const std::string help = "use AL2023 nodes with mig-manager (--to gpu-operator)";
    if (!mig.changes.empty()) {
      unfit(mig.config.where, "another layout during the run: settings are applied at boot", help);
    }
    if (mig.strategy == MigStrategy::Mixed) {
      unfit(mig.config.where,
            "mig.strategy mixed; the nodes offer nvidia.com/gpu "
            "(https://github.com/bottlerocket-os/bottlerocket/issues/4483)",
            help);
    }
    if (target_.mig_devices.size() != 1) {
      unfit(mig.config.where, fmt::format("layout {}: one profile for all GPUs", mig.config.value),
            help);
    } else if (gpu == nullptr) {
      unfit(mig.config.where, fmt::format("no profiles are known for {}", target_.gpu->name), help);
    } else {
      check_profile(mig, *gpu);
    }
  }

  void check_profile(const scenarios::MigLayout& mig, const BottlerocketGpu& gpu) {
    const std::string& profile = target_.mig_devices.front().profile;
    if (std::ranges::find(gpu.profiles, profile) != gpu.profiles.end()) return;
    unfit(mig.config.where, fmt::format("mig.profile.\"{}\" takes no {}", gpu.key, profile),
          "a profile without +me, or AL2023 nodes");
  }

  const PoolTarget& target_;
  const NodePool& pool_;
  Diagnostics found_;
};

// A value below settings.kubelet-device-plugins.nvidia.
struct PluginSetting {
  std::string table;  // "time-slicing"; "" the plugin's own
  std::string key;
  nlohmann::json value;
};

void add_flags(const DevicePlugin& plugin, std::vector<PluginSetting>& settings) {
  for (const auto& [path, value] : plugin.other_flags) {
    const BottlerocketFlag* flag = known_flag(path);
    if (flag == nullptr) continue;
    nlohmann::json typed = nlohmann::json::parse(value, nullptr, false);
    if (!typed.is_boolean() && !typed.is_string()) typed = value;
    settings.push_back({"", std::string(flag->key), std::move(typed)});
  }
}

std::vector<PluginSetting> plugin_settings(const PoolTarget& target) {
  const NodePool& pool = *target.pool;
  std::vector<PluginSetting> settings;
  if (pool.device_plugin) add_flags(*pool.device_plugin, settings);
  if (pool.mig) {
    settings.push_back({"", "device-partitioning-strategy", "mig"});
    settings.push_back(
        {"mig.profile", std::string(known_gpu(target)->key), target.mig_devices.front().profile});
    return settings;
  }
  const PluginSharing* sharing = sharing_of(pool);
  if (sharing == nullptr) {
    settings.push_back({"", "device-sharing-strategy", "none"});
    return settings;
  }
  const bool mps = pool.device_plugin->mps.has_value();
  const std::string strategy = mps ? "mps" : "time-slicing";
  settings.push_back({"", "device-sharing-strategy", strategy});
  settings.push_back({strategy, "replicas", sharing->resources.front().replicas});
  settings.push_back({strategy, "rename-by-default", sharing->rename_by_default});
  if (!mps) {
    settings.push_back(
        {strategy, "fail-requests-greater-than-one", sharing->fail_requests_greater_than_one});
  }
  return settings;
}

}  // namespace

Diagnostics check_bottlerocket(const PoolTarget& target) {
  return BottlerocketChecker(target).run();
}

std::string bottlerocket_settings(const PoolTarget& target) {
  constexpr std::string_view kTable = "settings.kubelet-device-plugins.nvidia";
  std::string out = fmt::format("[{}]\n", kTable);
  std::string table;
  for (const PluginSetting& setting : plugin_settings(target)) {
    if (setting.table != table) out += fmt::format("[{}.{}]\n", kTable, setting.table);
    table = setting.table;
    const bool has_dot = setting.key.find('.') != std::string::npos;
    out += fmt::format("{} = {}\n", has_dot ? "\"" + setting.key + "\"" : setting.key,
                       setting.value.dump());
  }
  return out;
}

nlohmann::json bottlerocket_values(const PoolTarget& target) {
  nlohmann::json nvidia = nlohmann::json::object();
  for (const PluginSetting& setting : plugin_settings(target)) {
    nlohmann::json* at = &nvidia;
    for (std::string_view rest = setting.table; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find('.'));
      at = &(*at)[std::string(part)];
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    (*at)[setting.key] = setting.value;
  }
  return {{"kubelet-device-plugins", {{"nvidia", std::move(nvidia)}}}};
}

Expected<ExportFiles> render_bottlerocket(const scenarios::Scenario& scenario,
                                          const models::Catalogue& catalogue,
                                          const ExportOptions& options) {
  ExportOptions bottlerocket = options;
  bottlerocket.image = NodeImage::Bottlerocket;
  const Expected<std::vector<PoolNodes>> nodes = image_nodes(scenario, catalogue, bottlerocket);
  if (!nodes) return tl::unexpected(nodes.error());
  ExportFiles files;
  for (const PoolNodes& one : *nodes) {
    const std::string settings = bottlerocket_settings(one.target);
    std::string text = comment(fmt::format(
        "User data of Bottlerocket nodes of pool {}, written by slicewise. The image brings the "
        "device plugin: install no other.",
        one.target.pool->name.value));
    if (one.target.pool->mig) {
      text += comment("MIG needs OS 1.34 or newer; it is set up at boot, an A100 boots once more.");
    } else if (one.target.pool->device_plugin && one.target.pool->device_plugin->mps) {
      text += comment(
          "MPS needs OS 1.54 or newer; there is no setting for failRequestsGreaterThanOne.");
    } else {
      text += comment("Time-slicing needs OS 1.25 or newer.");
    }
    files.push_back({fmt::format("bottlerocket-{}.toml", one.target.pool->name.value),
                     std::move(text) + settings});
  }
  return files;
}

}  // namespace slicewise::reports
