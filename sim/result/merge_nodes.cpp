#include <algorithm>

#include <fmt/format.h>

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// A place for a node, and the records of it.
struct NodePlace {
  std::span<const Replication> replications;
  std::size_t node = 0;
  bool comes_and_goes = false;

  // Part of the run; where nodes come and go, of the time that one was there.
  template <class Get>
  double share_of_time(Get time_of) const {
    if (!comes_and_goes) {
      return mean_over(replications,
                       [&](const Replication& r) { return ratio(time_of(r), r.length); });
    }
    const double up =
        mean_over(replications, [&](const Replication& r) { return to_seconds(r.nodes[node].up); });
    if (up <= 0) return 0;
    return mean_over(replications, [&](const Replication& r) { return to_seconds(time_of(r)); }) /
           up;
  }
};

// Figures of the domain that stands at `position` in the records.
GpuResult gpu_result(const DomainKind& kind, const NodePlace& place, std::size_t position) {
  const std::span<const Replication> replications = place.replications;
  GpuResult gpu;
  const auto mean = [&](auto time_of) {
    return place.share_of_time(
        [&](const Replication& r) { return time_of(r.domains[position].time); });
  };
  gpu.partition = kind.partition;
  gpu.gpu_share = kind.time_share;
  gpu.memory_total = kind.memory;
  gpu.time_busy_ratio = mean([](const DomainTime& t) { return t.busy(); });
  gpu.context_switch_ratio = mean([](const DomainTime& t) { return t.switching; });
  if (std::ranges::all_of(
          replications, [&](const Replication& r) { return r.domains[position].time.sm_known; })) {
    gpu.sm_active_ratio = mean([](const DomainTime& t) { return t.sm_active; });
  }
  for (const Replication& r : replications) {
    gpu.memory_peak = std::max(gpu.memory_peak, r.domains[position].memory_peak);
  }
  return gpu;
}

// One row for each domain of the node, under every layout that it has in the run.
void add_gpus(const PoolModel& pool, const std::string& node, const NodePlace& place,
              std::size_t position, VariantResult& result) {
  for (const NodeLayout& layout : pool.layouts) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const NodeLayout::Domain& domain : layout.domains) {
      GpuResult gpu = gpu_result(pool.kinds[domain.kind], place, position++);
      gpu.node = node;
      gpu.index = domain.gpu;
      gpu.model = pool.gpu->name;
      gpu.instance = instances[static_cast<std::size_t>(domain.gpu)]++;
      result.gpus.push_back(std::move(gpu));
    }
  }
}

}  // namespace

void add_nodes(const World& world, std::span<const Replication> replications,
               VariantResult& result) {
  std::size_t position = 0;
  std::size_t n = 0;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.node_slots(); ++node, ++n) {
      const NodePlace place{replications, n, pool.changes_nodes()};
      const bool used =
          !place.comes_and_goes || std::ranges::any_of(replications, [&](const Replication& r) {
            return r.nodes[n].up > Duration{};
          });
      if (used) {
        const std::string name = fmt::format("{}-{}", pool.name, node + 1);
        const double cpu =
            place.share_of_time([&](const Replication& r) { return r.nodes[n].cpu_time; });
        result.nodes.push_back({name, pool.name, cpu / pool.vcpus});
        add_gpus(pool, name, place, position, result);
      }
      for (const NodeLayout& layout : pool.layouts) position += layout.domains.size();
    }
  }
}

double gpu_busy_ratio(const VariantResult& result) {
  double busy = 0;
  double gpus = 0;
  for (const GpuResult& gpu : result.gpus) busy += gpu.time_busy_ratio * gpu.gpu_share;
  for (const NodePoolResult& pool : result.node_pools) gpus += pool.nodes * pool.gpus_per_node;
  return gpus == 0 ? 0 : busy / gpus;
}

}  // namespace slicewise::sim
