#include <algorithm>

#include <fmt/format.h>

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// Figures of the domain that stands at `position` in the records.
GpuResult gpu_result(const DomainKind& kind, std::span<const Replication> replications,
                     std::size_t position) {
  GpuResult gpu;
  const auto mean = [&](auto time_of) {
    return mean_over(replications, [&](const Replication& r) {
      return ratio(time_of(r.domains[position].time), r.length);
    });
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
void add_gpus(const PoolModel& pool, const std::string& node,
              std::span<const Replication> replications, std::size_t& position,
              VariantResult& result) {
  for (const NodeLayout& layout : pool.layouts) {
    std::vector<int> instances(static_cast<std::size_t>(pool.gpus_per_node), 0);
    for (const NodeLayout::Domain& domain : layout.domains) {
      GpuResult gpu = gpu_result(pool.kinds[domain.kind], replications, position++);
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
    for (int node = 0; node < pool.nodes; ++node, ++n) {
      const std::string name = fmt::format("{}-{}", pool.name, node + 1);
      result.nodes.push_back({name, pool.name, mean_over(replications, [&](const Replication& r) {
                                return ratio(r.nodes[n].cpu_time, r.length) / pool.vcpus;
                              })});
      add_gpus(pool, name, replications, position, result);
    }
  }
}

}  // namespace slicewise::sim
