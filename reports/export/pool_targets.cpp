#include "pool_targets.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/sim/mig_cut.hpp"

#include "plugin_config.hpp"

namespace slicewise::reports {
namespace {

using scenarios::kGpuResource;
using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PluginSharing;

// Of a node whose layout is known: each kind of device under its name, shared or not.
std::vector<AdvertisedResource> advertised_devices(const PoolTarget& target, MigStrategy strategy) {
  std::vector<AdvertisedResource> out;
  const PluginSharing* sharing = sharing_of(*target.pool);
  for (const MigDevices& devices : target.mig_devices) {
    const std::string device(scenarios::device_name(strategy, devices.resource));
    const scenarios::SharedResource* shared = sharing ? sharing->find(device) : nullptr;
    out.push_back(shared == nullptr ? AdvertisedResource{device, devices.count}
                                    : AdvertisedResource{sharing->advertised(device),
                                                         devices.count * shared->replicas});
  }
  return out;
}

constexpr std::string_view kVirtualGpuResource = "k8s.amazonaws.com/vgpu";

std::vector<AdvertisedResource> memory_slices(const scenarios::NosPartitioning& nos, int gpus) {
  std::vector<AdvertisedResource> out;
  for (const Located<std::string>& slice : nos.slices) {
    const std::string name = fmt::format("{}-{}", kGpuResource, slice.value);
    const auto known = std::ranges::find(out, name, &AdvertisedResource::name);
    if (known == out.end()) {
      out.push_back({name, gpus});
    } else {
      *known->count += gpus;
    }
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

Expected<std::vector<MigDevices>> mig_devices(const NodePool& pool,
                                              const models::InstanceType& instance,
                                              const models::MigGeometry& geometry) {
  Diagnostics found;
  const auto node = sim::cut_node(pool, instance, geometry, pool.mig->config, found);
  if (!node) return tl::unexpected(std::move(found));
  std::vector<MigDevices> devices;
  for (const sim::CutGpu& gpu : node->gpus) {
    for (const sim::CutGpu::Instance& cut : gpu.instances) {
      const models::MigProfile* const profile = cut.profile;
      const std::string name = profile == nullptr ? "" : profile->name;
      const auto known = std::ranges::find(devices, name, &MigDevices::profile);
      if (known != devices.end()) {
        ++known->count;
        continue;
      }
      devices.push_back(
          {name, profile == nullptr ? std::string(kGpuResource) : profile->resource_mixed, 1});
    }
  }
  if (pool.mig->strategy == scenarios::MigStrategy::Single && devices.size() > 1) {
    return tl::unexpected(
        Diagnostics{make_diagnostic(Code::MigNotUniform, pool.mig->config.where,
                                    "more than one MIG device type present on node",
                                    "use mig.strategy: mixed, or one profile for all GPUs")});
  }
  return devices;
}

Expected<PoolTarget> pool_target(const NodePool& pool, const models::Catalogue& catalogue) {
  const models::InstanceType* instance = catalogue.find_instance(pool.instance_type.value);
  if (!instance) {
    return failure(
        Code::InstanceUnknown, pool.instance_type.where,
        fmt::format("instance type \"{}\" is not in the catalogue", pool.instance_type.value),
        "slicewise get instances lists them");
  }
  const models::GpuModel* gpu = catalogue.find_gpu(instance->gpu_model);
  if (!gpu) {
    return failure(Code::GpuUnknown, pool.instance_type.where,
                   fmt::format("GPU model \"{}\" is not in the catalogue", instance->gpu_model));
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

bool is_of_node_pool(const NodePool& pool) {
  return pool.labels.contains(std::string(scenarios::kNodePoolLabel));
}

const PluginSharing* sharing_of(const NodePool& pool) {
  if (!pool.device_plugin) return nullptr;
  if (pool.device_plugin->mps) return &*pool.device_plugin->mps;
  return pool.device_plugin->time_slicing ? &*pool.device_plugin->time_slicing : nullptr;
}

std::vector<AdvertisedResource> advertised(const PoolTarget& target) {
  if (target.pool->dra) return {};  // the driver publishes ResourceSlices
  const int gpus = target.instance->gpu_count;
  if (target.pool->hami) {
    return {{std::string(kGpuResource), gpus * target.pool->hami->split_count}};
  }
  if (target.pool->virtual_gpu) {
    return {{std::string(kVirtualGpuResource), gpus * target.pool->virtual_gpu->per_gpu}};
  }
  if (target.pool->nos) return memory_slices(*target.pool->nos, gpus);
  const MigStrategy mig = mig_strategy_of(*target.pool);
  if (!target.mig_devices.empty() && mig != MigStrategy::None)
    return advertised_devices(target, mig);
  std::vector<AdvertisedResource> out;
  if (const PluginSharing* sharing = sharing_of(*target.pool)) {
    for (const scenarios::SharedResource& resource : sharing->resources) {
      std::optional<int> count;
      if (mig == MigStrategy::None) count = gpus * resource.replicas;
      out.push_back({sharing->advertised(resource.name.value), count});
    }
    return out;
  }
  if (mig == MigStrategy::None) return {{std::string(kGpuResource), gpus}};
  return {{std::string(mig == MigStrategy::Single ? kGpuResource : "nvidia.com/mig-<profile>"),
           std::nullopt}};
}

}  // namespace slicewise::reports
