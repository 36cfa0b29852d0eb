#include <algorithm>

#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "merge.hpp"

namespace slicewise::sim {
namespace {

// Time that nodes of the pool ran, all of them together.
double node_seconds(const World& world, std::size_t pool, const Replication& replication) {
  std::size_t first = 0;
  for (std::size_t p = 0; p < pool; ++p) {
    first += static_cast<std::size_t>(world.pools[p].node_slots());
  }
  double sum = 0;
  for (int n = 0; n < world.pools[pool].node_slots(); ++n) {
    sum += to_seconds(replication.nodes[first + static_cast<std::size_t>(n)].up);
  }
  return sum;
}

}  // namespace

std::optional<NodeDynamics> node_dynamics(const World& world, std::size_t p,
                                          std::span<const Replication> replications) {
  const PoolModel& pool = world.pools[p];
  if (!pool.changes_nodes()) return std::nullopt;
  constexpr double kHour = 3600;
  NodeDynamics dynamics;
  dynamics.provisioner = scenarios::provisioner_name(world.provisioner.kind);
  if (pool.most_nodes) {
    dynamics.least = pool.nodes;
    dynamics.most = pool.most_nodes;
  } else {
    dynamics.provisioner =
        scenarios::provisioner_name(scenarios::Provisioner::Kind::ManagedNodeGroup);
  }
  const auto mean = [&](std::int64_t PoolRecord::*count) {
    return mean_over(replications, [&](const Replication& r) { return r.pools[p].*count; });
  };
  dynamics.launches = mean(&PoolRecord::launches);
  dynamics.surplus = mean(&PoolRecord::surplus);
  dynamics.removed = mean(&PoolRecord::removed);
  dynamics.interruptions = mean(&PoolRecord::interruptions);
  dynamics.on_demand_nodes = mean(&PoolRecord::on_demand);
  dynamics.thrash_node_hours =
      mean_over(replications, [&](const Replication& r) { return to_seconds(r.pools[p].thrash); }) /
      kHour;
  dynamics.node_hours =
      mean_over(replications, [&](const Replication& r) { return node_seconds(world, p, r); }) /
      kHour;
  dynamics.mean_nodes = mean_over(replications, [&](const Replication& r) {
    return node_seconds(world, p, r) / std::max(1e-9, to_seconds(r.length));
  });
  for (const Replication& r : replications) {
    dynamics.max_nodes = std::max(dynamics.max_nodes, r.pools[p].most);
  }
  return dynamics;
}

std::optional<NodeStartUpFigures> node_start_up(std::span<const Replication> replications) {
  NodeStartUpFigures figures;
  std::int64_t pods = 0;
  std::vector<std::vector<Duration>> totals;
  for (const Replication& r : replications) {
    pods += r.start_up.pods;
    totals.push_back(r.start_up.total);
  }
  const auto total = summarize(totals);
  if (pods == 0 || !total) return std::nullopt;
  const auto mean = [&](Duration StartUpRecord::*stage) {
    Int128 sum_ns = 0;
    for (const Replication& r : replications) sum_ns += (r.start_up.*stage).ns;
    return nanoseconds(static_cast<std::int64_t>(sum_ns / pods));
  };
  figures.pods = static_cast<double>(pods) / static_cast<double>(replications.size());
  figures.decision = mean(&StartUpRecord::decision);
  figures.launch = mean(&StartUpRecord::launch);
  figures.ready = mean(&StartUpRecord::ready);
  figures.gpu_allocatable = mean(&StartUpRecord::gpu_allocatable);
  figures.scheduling = mean(&StartUpRecord::scheduling);
  figures.image_pull = mean(&StartUpRecord::image_pull);
  figures.model_load = mean(&StartUpRecord::model_load);
  figures.total = *total;
  return figures;
}

}  // namespace slicewise::sim
