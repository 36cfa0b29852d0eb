#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/sim/replay/sharing.hpp"

#include "../world/parts.hpp"

namespace slicewise::sim {
namespace {

using scenarios::SharingWay;

NodePool node_pool(const SharingWay& way, const std::string& instance_type) {
  NodePool pool;
  pool.name.value = instance_type;
  pool.instance_type.value = instance_type;
  const auto replicated = [&] {
    scenarios::PluginSharing sharing;
    scenarios::SharedResource& resource = sharing.resources.emplace_back();
    resource.name.value = std::string(kGpuResource);
    resource.replicas = way.replicas;
    return sharing;
  };
  switch (way.kind) {
    case SharingWay::Kind::Exclusive:
      break;
    case SharingWay::Kind::TimeSlicing:
      pool.device_plugin.emplace().time_slicing = replicated();
      break;
    case SharingWay::Kind::Mps:
      pool.device_plugin.emplace().mps = replicated();
      pool.device_plugin->mps->fail_requests_greater_than_one = true;
      break;
    case SharingWay::Kind::Mig:
      // Instances of several sizes are refused below, with a reason that fits a trace.
      pool.mig.emplace().strategy = MigStrategy::Mixed;
      pool.mig->config.value = way.mig_config;
      break;
  }
  return pool;
}

// Jobs on several kinds of slices would need a trace that says which slice each asks for.
std::optional<Diagnostic> refusal(const SharingWay& way, const PoolModel& pool) {
  const auto refuse = [&](const std::string& why, const std::string& help) {
    return make_diagnostic(Code::StrategyNotModelled, {}, fmt::format("{}: {}", way.text, why),
                           help);
  };
  if (pool.kinds.size() > 1) {
    return refuse(
        "its instances are of different sizes, and the trace does not say who takes which",
        "name a config with instances of one size, such as mig:all-1g.5gb");
  }
  if (way.kind == SharingWay::Kind::Mig && pool.kinds.front().partition.empty()) {
    return refuse("MIG is off with it", "write --sharing exclusive for whole GPUs");
  }
  if (std::holds_alternative<models::Vgpu>(pool.kinds.front().sharing)) {
    return refuse(fmt::format("{} has a part of a GPU", pool.instance_type),
                  "take an instance type with whole GPUs");
  }
  return std::nullopt;
}

int tickets_per_gpu(const PoolModel& pool) {
  const auto domains = static_cast<int>(pool.layouts.front().domains.size());
  return domains / pool.gpus_per_node * pool.kinds.front().tickets.front().count;
}

}  // namespace

std::uint32_t GpuSharing::pool_of(std::string_view instance_type) const {
  const auto pool = std::ranges::find(pools, instance_type, &PoolModel::instance_type);
  return static_cast<std::uint32_t>(pool - pools.begin());
}

Expected<GpuSharing> share_gpus(const SharingWay& way, std::span<const std::string> instance_types,
                                const std::string& region, const Catalogue& catalogue) {
  GpuSharing sharing;
  sharing.name = way.text;
  sharing.catalogue = &catalogue;
  Scenario scenario;
  scenario.region = region;
  Diagnostics found;
  for (const std::string& type : instance_types) {
    const auto known = std::ranges::find(sharing.pools, type, &PoolModel::instance_type);
    if (known != sharing.pools.end()) continue;
    auto pool = model_pool(scenario, node_pool(way, type), catalogue, found);
    if (!pool) continue;
    if (auto refused = refusal(way, *pool)) {
      found.push_back(std::move(*refused));
      continue;
    }
    const int tickets = tickets_per_gpu(*pool);
    if (!sharing.pools.empty() && tickets != sharing.tickets) {
      add_diagnostic(
          found, Code::StrategyNotModelled, {},
          fmt::format("{} makes {} instances of a GPU of {}, and {} of one of {}", way.text,
                      tickets, type, sharing.tickets, sharing.pools.front().instance_type),
          "replay them one after the other");
    }
    sharing.tickets = tickets;
    sharing.pools.push_back(std::move(*pool));
  }
  if (has_errors(found)) return tl::unexpected(std::move(found));
  sharing.notes = std::move(found);
  return sharing;
}

}  // namespace slicewise::sim
