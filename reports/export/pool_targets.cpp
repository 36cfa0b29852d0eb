#include "pool_targets.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/models/mig.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"

#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

using scenarios::kGpuResource;
using scenarios::MigPartedEntry;
using scenarios::NodePool;

tl::unexpected<Diagnostics> refused_layout(const models::MigRefusal& why,
                                           const SourceLocation& where) {
  return tl::unexpected(Diagnostics{make_diagnostic(why.code, where, why.message, why.help)});
}

// The pool's own config of that name, else mig-manager's, as entries of mig-parted.
Expected<std::vector<MigPartedEntry>> entries_of(const NodePool& pool,
                                                 const models::MigGeometry& geometry) {
  const auto own = pool.mig->configs.find(pool.mig->config.value);
  if (own != pool.mig->configs.end()) return own->second;
  const auto shipped = models::shipped_mig_config(pool.mig->config.value, geometry);
  if (!shipped) return refused_layout(shipped.error(), pool.mig->config.where);
  MigPartedEntry entry;
  entry.mig_enabled = shipped->enabled;
  entry.where = pool.mig->config.where;
  for (const models::MigCount& count : shipped->counts) {
    entry.mig_devices.push_back({{count.profile, entry.where}, count.count});
  }
  return std::vector{entry};
}

class Devices {
 public:
  void add(const std::string& profile, const std::string& resource, int count) {
    if (count == 0) return;
    const auto known =
        std::ranges::find_if(list_, [&](const MigDevices& d) { return d.profile == profile; });
    if (known != list_.end()) {
      known->count += count;
    } else {
      list_.push_back({profile, resource, count});
    }
  }

  std::vector<MigDevices> take() { return std::move(list_); }

 private:
  std::vector<MigDevices> list_;
};

// The devices of one GPU, `times` over; nullopt when they fit.
std::optional<models::MigRefusal> cut(const MigPartedEntry& entry,
                                      const models::MigGeometry& geometry, int times,
                                      Devices& devices) {
  if (!entry.mig_enabled) {
    devices.add("", std::string(kGpuResource), times);
    return std::nullopt;
  }
  std::vector<models::MigCount> counts;
  for (const auto& [profile, count] : entry.mig_devices) counts.push_back({profile.value, count});
  const auto placed = models::place_instances(geometry, counts);
  if (!placed) return placed.error();
  for (const models::MigInstance& instance : *placed) {
    devices.add(instance.profile->name, instance.profile->resource_mixed, times);
  }
  return std::nullopt;
}

}  // namespace

Expected<std::vector<MigDevices>> mig_devices(const NodePool& pool,
                                              const models::InstanceType& instance,
                                              const models::MigGeometry& geometry) {
  const auto entries = entries_of(pool, geometry);
  if (!entries) return tl::unexpected(entries.error());
  Devices devices;
  int left = instance.gpu_count;
  for (const MigPartedEntry& entry : *entries) {
    const int gpus = entry.devices.empty() ? left : static_cast<int>(entry.devices.size());
    left -= gpus;
    if (const auto why = cut(entry, geometry, gpus, devices))
      return refused_layout(*why, entry.where);
  }
  if (left < 0) {
    return refused_layout({Code::MigLayoutImpossible,
                           {},
                           "the config cuts more GPUs than the node has",
                           "each GPU belongs to one entry"},
                          pool.mig->config.where);
  }
  // mig-parted leaves GPUs alone that no entry names.
  devices.add("", std::string(kGpuResource), left);
  std::vector<MigDevices> out = devices.take();
  if (pool.mig->strategy == scenarios::MigStrategy::Single && out.size() > 1) {
    return refused_layout({Code::MigNotUniform,
                           {},
                           "more than one MIG device type present on node",
                           "use mig.strategy: mixed, or one profile for all GPUs"},
                          pool.mig->config.where);
  }
  return out;
}

namespace {

using scenarios::MigStrategy;
using scenarios::PluginSharing;

// Of a node whose layout is known: each kind of device under its name, shared or not.
std::vector<AdvertisedResource> advertised_devices(const PoolTarget& target, MigStrategy strategy) {
  std::vector<AdvertisedResource> out;
  const PluginSharing* sharing = sharing_of(*target.pool);
  for (const MigDevices& devices : target.mig_devices) {
    const std::string device(scenarios::device_name(strategy, devices.resource));
    AdvertisedResource offer{device, devices.count};
    for (std::size_t r = 0; sharing != nullptr && r < sharing->resources.size(); ++r) {
      const scenarios::SharedResource& resource = sharing->resources[r];
      if (resource.name.value != device) continue;
      offer = {advertised_name(*sharing, resource), devices.count * resource.replicas};
    }
    out.push_back(std::move(offer));
  }
  return out;
}

// No devices where the pool has no layout of its own, or the GPU no known geometry.
Expected<std::vector<MigDevices>> devices_of(const NodePool& pool,
                                             const models::InstanceType& instance,
                                             const models::Catalogue& catalogue) {
  const models::MigGeometry* geometry = catalogue.find_mig(instance.gpu_model);
  if (mig_strategy_of(pool) == MigStrategy::None || !pool.mig || geometry == nullptr) {
    return std::vector<MigDevices>();
  }
  return mig_devices(pool, instance, *geometry);
}

// Whether an instance type has a name of EC2's form: "g6e.xlarge", "p6-b200.48xlarge", "c7i.metal".
// What a user's catalogue calls otherwise, another cloud or a rack starts.
bool is_ec2_type(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::array<std::string_view, 5> kSmall = {"nano", "micro", "small", "medium", "large"};
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view family = name.substr(0, dot);
  const std::string_view size = name.substr(dot + 1);
  const bool numbered = family.find_first_of(kDigits) != std::string_view::npos;
  const bool plain =
      family.find_first_not_of("abcdefghijklmnopqrstuvwxyz-0123456789") == std::string_view::npos;
  const std::size_t number = std::min(size.find_first_not_of(kDigits), size.size());
  return numbered && plain &&
         (std::ranges::find(kSmall, size) != kSmall.end() || size.substr(number) == "xlarge" ||
          size.starts_with("metal"));
}

}  // namespace

Expected<PoolTarget> pool_target(const NodePool& pool, const models::Catalogue& catalogue) {
  const models::InstanceType* instance = catalogue.find_instance(pool.instance_type.value);
  if (!instance) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::InstanceUnknown, pool.instance_type.where,
        fmt::format("instance type \"{}\" is not in the catalogue", pool.instance_type.value),
        "slicewise get instances lists them")});
  }
  const models::GpuModel* gpu = catalogue.find_gpu(instance->gpu_model);
  if (!gpu) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::GpuUnknown, pool.instance_type.where,
        fmt::format("GPU model \"{}\" is not in the catalogue", instance->gpu_model))});
  }
  Expected<std::vector<MigDevices>> devices = devices_of(pool, *instance, catalogue);
  if (!devices) return tl::unexpected(std::move(devices.error()));
  return PoolTarget{&pool, instance, gpu, std::move(*devices)};
}

Expected<std::vector<PoolTarget>> pool_targets(const scenarios::Scenario& scenario,
                                               const models::Catalogue& catalogue) {
  std::vector<PoolTarget> targets;
  Diagnostics found;
  if (scenario.node_pools.empty()) {
    found.push_back(
        make_diagnostic(Code::FieldMissing, scenario.where, "no node pool to write a config for"));
  }
  for (const NodePool& pool : scenario.node_pools) {
    Expected<PoolTarget> target = pool_target(pool, catalogue);
    if (target) {
      targets.push_back(std::move(*target));
    } else {
      found.insert(found.end(), target.error().begin(), target.error().end());
    }
  }
  if (!found.empty()) return tl::unexpected(std::move(found));
  return targets;
}

namespace {

// "us-east-1", "us-gov-west-1".
bool is_aws_region(std::string_view name) {
  return std::ranges::count(name, '-') >= 2 && name.back() >= '0' && name.back() <= '9';
}

}  // namespace

Diagnostics check_ec2(const scenarios::Scenario& scenario) {
  Diagnostics found;
  for (const NodePool& pool : scenario.node_pools) {
    const std::string& type = pool.instance_type.value;
    if (is_ec2_type(type) && is_aws_region(scenario.region)) continue;
    found.push_back(make_diagnostic(
        Code::ExportUnfit, pool.instance_type.where,
        fmt::format("EC2 starts no {} in {}: nothing of AWS's makes the nodes of pool \"{}\"", type,
                    scenario.region, pool.name.value),
        fmt::format(
            "helm-values, configmap, gpu-operator, mig-parted, dra, kustomize and pod-patch "
            "hold for nodes of any origin that carry {}",
            label_of_nodes(pool))));
  }
  return found;
}

std::string label_of_nodes(const NodePool& pool) {
  const auto by_karpenter = pool.labels.find(std::string(scenarios::kNodePoolLabel));
  if (by_karpenter != pool.labels.end()) {
    return fmt::format("{}={}", scenarios::kNodePoolLabel, by_karpenter->second);
  }
  const bool ec2 = is_ec2_type(pool.instance_type.value);
  return fmt::format("{}={}", ec2 ? scenarios::kManagedGroupLabel : scenarios::kPoolLabel,
                     pool.name.value);
}

const PluginSharing* sharing_of(const NodePool& pool) {
  if (!pool.device_plugin) return nullptr;
  if (pool.device_plugin->mps) return &*pool.device_plugin->mps;
  return pool.device_plugin->time_slicing ? &*pool.device_plugin->time_slicing : nullptr;
}

std::string advertised_name(const PluginSharing& sharing,
                            const scenarios::SharedResource& resource) {
  constexpr std::string_view kPrefix = "nvidia.com/";
  const std::string& name = resource.name.value;
  return scenarios::advertised_name(name.starts_with(kPrefix) ? name : std::string(kPrefix) + name,
                                    sharing.rename_by_default);
}

std::vector<AdvertisedResource> advertised(const PoolTarget& target) {
  if (target.pool->dra) return {};  // the driver publishes ResourceSlices
  const int gpus = target.instance->gpu_count;
  const MigStrategy mig = mig_strategy_of(*target.pool);
  if (!target.mig_devices.empty() && mig != MigStrategy::None)
    return advertised_devices(target, mig);
  std::vector<AdvertisedResource> out;
  if (const PluginSharing* sharing = sharing_of(*target.pool)) {
    for (const scenarios::SharedResource& resource : sharing->resources) {
      std::optional<int> count;
      if (mig == MigStrategy::None) count = gpus * resource.replicas;
      out.push_back({advertised_name(*sharing, resource), count});
    }
    return out;
  }
  if (mig == MigStrategy::None) return {{std::string(kGpuResource), gpus}};
  return {{std::string(mig == MigStrategy::Single ? kGpuResource : "nvidia.com/mig-<profile>"),
           std::nullopt}};
}

}  // namespace slicewise::reports
