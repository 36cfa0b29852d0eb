#include "policy_score.hpp"

#include <algorithm>
#include <bit>

namespace slicewise::sim {
namespace {

// What a pod of the workload holds of a node of the pool.
JobShape shape_on(const PoolModel& pool, const PoolDemand& demand, const WorkloadModel& workload) {
  JobShape shape;
  shape.cpu = workload.spec.pod.cpu_request;
  shape.memory = workload.spec.pod.memory_request;
  if (!demand.offer) return shape;
  shape.gpus = demand.shares_several ? 1 : demand.gpus;
  if (shape.gpus > 1) return shape;
  constexpr double kWhole = 1'000;
  for (const DomainKind& kind : pool.kinds) {
    const auto tickets = std::ranges::find(kind.tickets, *demand.offer, &Tickets::offer);
    if (tickets == kind.tickets.end()) continue;
    const double share = kind.time_share * static_cast<double>(workload.tickets) / tickets->count;
    shape.gpu_milli = std::clamp(static_cast<int>(kWhole * share), 1, 1'000);
    break;
  }
  return shape;
}

// By workload, then pool.
std::vector<JobShape> shapes_of(const World& world) {
  std::vector<JobShape> shapes;
  for (const WorkloadModel& workload : world.workloads) {
    for (std::size_t p = 0; p < world.pools.size(); ++p) {
      shapes.push_back(shape_on(world.pools[p], workload.on_pool[p], workload));
    }
  }
  return shapes;
}

Placement placement_of(const ClusterState& cluster, NodePolicy policy, std::uint64_t seed) {
  const World& world = *cluster.world;
  std::vector<NodeShape> nodes;
  for (const Node& node : cluster.nodes) {
    const PoolModel& pool = cluster.pool(node);
    NodeShape& shape = nodes.emplace_back();
    shape.cpu = pool.allocatable_cpu;
    shape.memory = pool.allocatable_memory;
    shape.gpus = pool.gpus_per_node;
  }
  const std::vector<JobShape> shapes = shapes_of(world);
  std::vector<std::int64_t> jobs(shapes.size());
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    const auto& on_pool = world.workloads[w].on_pool;
    const auto first = std::ranges::find(on_pool, true, &PoolDemand::schedulable);
    if (first == on_pool.end()) continue;
    jobs[w * world.pools.size() + static_cast<std::size_t>(first - on_pool.begin())] =
        world.workloads[w].spec.count;
  }
  return {nodes, shapes, policy, seed, typical_jobs(shapes, jobs)};
}

}  // namespace

PolicyScore::PolicyScore(const ClusterState& cluster, NodePolicy policy, std::uint64_t seed)
    : cluster_(cluster),
      policy_(policy),
      placement_(placement_of(cluster, policy, seed)),
      held_(cluster.pods.size()) {}

ShapeId PolicyScore::shape(std::size_t workload, PoolId pool) const {
  return static_cast<ShapeId>(workload * cluster_.world->pools.size() + index(pool));
}

int PolicyScore::of(std::uint32_t node, std::size_t workload) const {
  constexpr int kLast = -1;
  return placement_.score(shape(workload, cluster_.nodes[node].pool), node).value_or(kLast);
}

void PolicyScore::bound(std::uint32_t pod_index) {
  const Pod& pod = cluster_.pods[pod_index];
  AllocatedPart part{static_cast<std::uint32_t>(index(pod.node)), 0};
  for (const DomainId id : pod.tickets) part.gpus |= 1U << cluster_.domains[index(id)].gpu;
  const PoolId pool = cluster_.nodes[index(pod.node)].pool;
  // No job of a replay has parts of several GPUs: tickets that do are counted on the first of them.
  const PoolDemand& demand = cluster_.model(pod).on_pool[index(pool)];
  const bool parts_of_gpus = demand.gpus == 1 || demand.shares_several;
  if (parts_of_gpus && part.gpus != 0) part.gpus = 1U << std::countr_zero(part.gpus);
  held_[pod_index] = placement_.place_again(shape(index(pod.workload), pool), {&part, 1});
}

void PolicyScore::released(std::uint32_t pod) {
  if (held_[pod]) placement_.release(*held_[pod]);
  held_[pod].reset();
}

}  // namespace slicewise::sim
