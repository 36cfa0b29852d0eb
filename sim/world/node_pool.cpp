#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::NodePool;

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

}  // namespace

bool has_prices(const models::Catalogue& catalogue, const std::string& region) {
  return std::ranges::binary_search(catalogue.prices.regions(), region);
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

int PoolModel::node_slots() const {
  if (most_nodes) return *most_nodes;
  // A node that EC2 takes back is still there when the one in its place starts.
  return spot ? 2 * nodes : nodes;
}

std::int64_t PoolModel::tickets_per_node(std::size_t offer, std::size_t layout) const {
  std::int64_t count = 0;
  for (const NodeLayout::Domain& domain : layouts[layout].domains) {
    for (const Tickets& tickets : kinds[domain.kind].tickets) {
      if (tickets.offer == offer) count += tickets.count;
    }
  }
  return count;
}

std::optional<PoolModel> model_pool(const scenarios::Scenario& scenario, const NodePool& pool,
                                    const models::Catalogue& catalogue, Diagnostics& found) {
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

  PoolModel model;
  model.name = pool.name.value;
  model.instance_type = type->name;
  model.region = scenario.region;
  model.purchase_option = purchase_name(pool.capacity_type);
  model.nodes = pool.nodes;
  model.most_nodes = pool.most_nodes;
  model.gpus_per_node = type->gpu_count;
  model.gpu = gpu;
  model.context_memory = pool.gpu.context_memory.value_or(models::context_memory(*gpu).bytes);
  model.vcpus = type->vcpus;
  model.allocatable_cpu = type->allocatable_cpu;
  model.allocatable_memory = type->allocatable_memory;
  model.max_pods = type->max_pods;
  model.taints = pool.taints;
  if (pool.device_plugin) model.allocation = pool.device_plugin->allocation_policy;
  if (pool.mig) model.change_times = pool.mig->change_times;
  const std::size_t known = found.size();
  const std::vector<CutNode> cuts = cut_nodes(pool, *type, *gpu, catalogue, found);
  const bool cut_failed =
      has_errors({found.begin() + static_cast<std::ptrdiff_t>(known), found.end()});
  if (cut_failed) return std::nullopt;
  model_sharing(pool, *type, cuts, model, found);
  for (std::size_t change = 0; pool.mig && change < pool.mig->changes.size(); ++change) {
    model.layout_changes.push_back({TimePoint{} + pool.mig->changes[change].at, change + 1});
  }
  model.labels = node_labels(scenario, pool, *type, model);
  if (!price) return std::nullopt;
  model.price = *price;
  return model;
}

}  // namespace slicewise::sim
