#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::NodePool;

constexpr std::string_view kWholeGpu = "nvidia.com/gpu";

models::PurchaseOption purchase_option(scenarios::CapacityType type) {
  switch (type) {
    case scenarios::CapacityType::OnDemand:
      return models::PurchaseOption::OnDemand;
    case scenarios::CapacityType::Spot:
      return models::PurchaseOption::Spot;
    case scenarios::CapacityType::Reserved:
      return models::PurchaseOption::Reserved;
  }
  return models::PurchaseOption::OnDemand;
}

std::string_view purchase_name(scenarios::CapacityType type) {
  switch (type) {
    case scenarios::CapacityType::OnDemand:
      return "on-demand";
    case scenarios::CapacityType::Spot:
      return "spot";
    case scenarios::CapacityType::Reserved:
      return "reserved";
  }
  return "on-demand";
}

const models::InstanceType* find_instance(const NodePool& pool, const models::Catalogue& catalogue,
                                          Diagnostics& found) {
  const auto& wanted = pool.instance_type;
  const models::InstanceType* type = catalogue.find_instance(wanted.value);
  if (type == nullptr) {
    found.push_back(
        unknown_name(Code::InstanceUnknown, wanted,
                     fmt::format("instance type \"{}\" is not in the catalogue", wanted.value),
                     catalogue.instances, "slicewise get instances"));
    return nullptr;
  }
  if (!type->retired_on.empty()) {
    found.push_back(
        make_diagnostic(Code::InstanceRetired, wanted.where,
                        fmt::format("{} was retired by AWS on {}: for replays and comparisons only",
                                    type->name, type->retired_on)));
  }
  return type;
}

std::optional<models::Price> find_price(const scenarios::Scenario& scenario, const NodePool& pool,
                                        const models::Catalogue& catalogue, Diagnostics& found) {
  auto price = catalogue.prices.find(pool.instance_type.value, scenario.region,
                                     purchase_option(pool.capacity_type));
  if (price) {
    if (price->source.derived) {
      found.push_back(make_diagnostic(
          Code::PriceDerived, pool.instance_type.where,
          fmt::format("the price of {} in {} is derived: {}", pool.instance_type.value,
                      scenario.region, price->source.text)));
    }
    return *price;
  }
  for (Diagnostic& problem : price.error()) {
    if (problem.where.line == 0) {
      problem.where =
          problem.code == Code::RegionUnknown ? scenario.region_where : pool.instance_type.where;
    }
    found.push_back(std::move(problem));
  }
  return std::nullopt;
}

// True when the pool asks for MIG and it can be had; simulating it comes later.
void check_mig(const NodePool& pool, const models::GpuModel& gpu,
               const models::Catalogue& catalogue, Diagnostics& found) {
  const bool plugin_wants_mig =
      pool.device_plugin && pool.device_plugin->mig_strategy != scenarios::MigStrategy::None;
  if (!pool.mig && !plugin_wants_mig) return;
  if (pool.mig && pool.mig->strategy == scenarios::MigStrategy::None &&
      pool.mig->config.value.empty()) {
    return;
  }
  const SourceLocation where = pool.mig ? pool.mig->config.where : pool.device_plugin->where;
  if (!gpu.supports_mig) {
    found.push_back(
        make_diagnostic(Code::MigUnsupported, where,
                        fmt::format("{} ({}) has no MIG", gpu.name, pool.instance_type.value),
                        "A100, H100, H200 and B200 have it: p4d, p4de, p5, p5e, p5en, p6-b200; use "
                        "sharing.timeSlicing here"));
    return;
  }
  if (pool.mig && pool.mig->config.value.starts_with("all-")) {
    const std::string profile = pool.mig->config.value.substr(4);
    const models::MigGeometry* geometry = catalogue.find_mig(gpu.name);
    const bool named = profile == "balanced" || profile == "disabled" || profile == "enabled";
    if (geometry != nullptr && !named &&
        std::ranges::none_of(geometry->profiles, [&](const auto& p) {
          return p.name == profile || (p.media_extensions && p.name == profile + "+me");
        })) {
      found.push_back(unknown_name(Code::MigConfigUnknown, {profile, where},
                                   fmt::format("{} has no MIG profile \"{}\"", gpu.name, profile),
                                   geometry->profiles, "slicewise get mig-profiles"));
      return;
    }
  }
  found.push_back(make_diagnostic(Code::StrategyNotModelled, where,
                                  "MIG is read and checked, but not simulated by this version",
                                  "leave `mig` out, or use sharing.timeSlicing"));
}

models::TimeSlice time_slice(const NodePool& pool, const models::GpuModel& gpu) {
  models::TimeSlice slice;
  slice.turn = pool.gpu.time_slice.value_or(gpu.time_slice);
  const double kappa = pool.gpu.cold_cache.value_or(models::kDefaultColdCache);
  slice.switch_cost = pool.gpu.switch_cost.value_or(models::switch_cost(gpu, kappa));
  return slice;
}

// Refuses the sharing blocks that match no device of the pool or are not simulated yet.
void check_sharing(const NodePool& pool, Diagnostics& found) {
  if (!pool.device_plugin) return;
  if (pool.device_plugin->mps) {
    found.push_back(make_diagnostic(Code::StrategyNotModelled, pool.device_plugin->mps->where,
                                    "MPS is read and checked, but not simulated by this version",
                                    "use sharing.timeSlicing, or leave `sharing` out"));
  }
  if (!pool.device_plugin->time_slicing) return;
  for (const scenarios::SharedResource& resource : pool.device_plugin->time_slicing->resources) {
    if (resource.name.value == kWholeGpu) continue;
    found.push_back(make_diagnostic(
        Code::ResourceNameMismatch, resource.name.where,
        fmt::format("\"{}\" matches no device of node pool \"{}\": the plugin would ignore it",
                    resource.name.value, pool.name.value),
        fmt::format("without MIG the devices are called {}", kWholeGpu)));
  }
}

// The sharing.timeSlicing entry for whole GPUs, nullptr when there is none.
const scenarios::SharedResource* time_sliced_gpus(const NodePool& pool) {
  if (!pool.device_plugin || !pool.device_plugin->time_slicing) return nullptr;
  const auto& resources = pool.device_plugin->time_slicing->resources;
  const auto entry = std::ranges::find_if(
      resources, [](const auto& resource) { return resource.name.value == kWholeGpu; });
  return entry == resources.end() ? nullptr : &*entry;
}

models::Sharing sharing_of(const NodePool& pool, const models::GpuModel& gpu) {
  const scenarios::SharedResource* entry = time_sliced_gpus(pool);
  if (entry == nullptr) return models::Exclusive{};
  return models::TimeSlicing{entry->replicas, time_slice(pool, gpu)};
}

// The labels that a GPU node of EKS carries without anybody's doing, whoever provisions it, and
// those of GPU Feature Discovery. The scenario's own labels win.
std::map<std::string, std::string> node_labels(const scenarios::Scenario& scenario,
                                               const NodePool& pool,
                                               const models::InstanceType& type,
                                               const models::GpuModel& gpu) {
  const bool spot = pool.capacity_type == scenarios::CapacityType::Spot;
  const scenarios::SharedResource* shared = time_sliced_gpus(pool);
  std::map<std::string, std::string> labels = pool.labels;
  labels.merge(std::map<std::string, std::string>{
      {"kubernetes.io/arch", "amd64"},
      {"kubernetes.io/os", "linux"},
      {"node.kubernetes.io/instance-type", type.name},
      {"topology.kubernetes.io/region", scenario.region},
      {"karpenter.sh/nodepool", pool.name.value},
      {"karpenter.sh/capacity-type", std::string(purchase_name(pool.capacity_type))},
      {"eks.amazonaws.com/nodegroup", pool.name.value},
      {"eks.amazonaws.com/capacityType", spot ? "SPOT" : "ON_DEMAND"},
      {"nvidia.com/gpu.present", "true"},
      {"nvidia.com/gpu.count", std::to_string(type.gpu_count)},
      {"nvidia.com/gpu.replicas", std::to_string(shared == nullptr ? 1 : shared->replicas)},
      {"nvidia.com/gpu.sharing-strategy", shared == nullptr ? "none" : "time-slicing"}});
  if (!gpu.kubernetes_product.empty()) {
    const bool renamed = shared != nullptr && pool.device_plugin->time_slicing->rename_by_default;
    labels.try_emplace("nvidia.com/gpu.product",
                       gpu.kubernetes_product + (shared != nullptr && !renamed ? "-SHARED" : ""));
  }
  return labels;
}

}  // namespace

bool has_prices(const models::Catalogue& catalogue, const std::string& region) {
  return std::ranges::binary_search(catalogue.prices.regions(), region);
}

ResourceOffer plugin_offer(const NodePool& pool) {
  const scenarios::SharedResource* entry = time_sliced_gpus(pool);
  if (entry == nullptr) return {std::string(kWholeGpu), 1, false, false};
  const scenarios::PluginSharing& sharing = *pool.device_plugin->time_slicing;
  return {std::string(kWholeGpu) + (sharing.rename_by_default ? ".shared" : ""), entry->replicas,
          true, sharing.fail_requests_greater_than_one};
}

std::optional<PoolModel> model_pool(const scenarios::Scenario& scenario, const NodePool& pool,
                                    const models::Catalogue& catalogue, Diagnostics& found) {
  check_sharing(pool, found);
  const models::InstanceType* type = find_instance(pool, catalogue, found);
  if (type == nullptr) return std::nullopt;
  const std::optional<models::Price> price = find_price(scenario, pool, catalogue, found);
  const models::GpuModel* gpu = catalogue.find_gpu(type->gpu_model);
  if (gpu == nullptr) {
    found.push_back(
        make_diagnostic(Code::GpuUnknown, pool.instance_type.where,
                        fmt::format("the catalogue has no figures for {}, the GPU of {}",
                                    type->gpu_model, type->name)));
    return std::nullopt;
  }
  check_mig(pool, *gpu, catalogue, found);

  PoolModel model;
  model.name = pool.name.value;
  model.instance_type = type->name;
  model.region = scenario.region;
  model.purchase_option = purchase_name(pool.capacity_type);
  model.nodes = pool.nodes;
  model.gpus_per_node = type->gpu_count;
  model.gpu = gpu;
  model.gpu_memory = type->gpu_fraction < 1 ? type->gpu_memory : usable_memory(*gpu);
  model.context_memory = pool.gpu.context_memory.value_or(models::context_memory(*gpu).bytes);
  model.vcpus = type->vcpus;
  model.allocatable_cpu = type->allocatable_cpu;
  model.allocatable_memory = type->allocatable_memory;
  model.max_pods = type->max_pods;
  model.taints = pool.taints;
  model.labels = node_labels(scenario, pool, *type, *gpu);
  if (pool.device_plugin) model.allocation = pool.device_plugin->allocation_policy;
  model.sharing = sharing_of(pool, *gpu);
  model.offer = plugin_offer(pool);
  if (!price) return std::nullopt;
  model.price = *price;
  return model;
}

}  // namespace slicewise::sim
