#include "state.hpp"

namespace slicewise::sim {
namespace {

Gpu make_gpu(const PoolModel& pool, NodeId node, std::uint32_t position) {
  const int tickets = pool.offer.per_gpu;
  const auto contexts = static_cast<std::uint32_t>(tickets);
  Gpu gpu{.node = node,
          .index = position,
          .tickets = tickets,
          .memory = MemoryLedger(contexts, pool.gpu_memory, pool.context_memory,
                                 models::greedy_reserve(*pool.gpu)),
          .engine = {},
          .owner = std::vector<std::uint32_t>(contexts, kNoOwner)};
  if (!pool.exact) return gpu;
  std::visit(models::Overloaded{
                 [&](const models::Exclusive&) { gpu.engine.emplace<Exclusive>(contexts); },
                 [&](const models::TimeSlicing& sharing) {
                   gpu.engine.emplace<RoundRobin>(contexts, sharing.slice,
                                                  sharing.slice.switch_cost);
                 },
             },
             pool.sharing);
  return gpu;
}

void add_node(const World& world, PoolId pool_id, ClusterState& cluster) {
  const PoolModel& pool = world.pools[index(pool_id)];
  const auto id = make_id<NodeId>(cluster.nodes.size());
  Node node;
  node.pool = pool_id;
  node.cpu_free = pool.allocatable_cpu;
  node.memory_free = pool.allocatable_memory;
  node.scored_cpu_free = node.cpu_free;
  node.scored_memory_free = node.memory_free;
  node.pods_free = pool.max_pods;
  node.tickets_free = std::int64_t{pool.gpus_per_node} * pool.offer.per_gpu;
  node.image_ready.assign(world.workloads.size(), kNever);
  for (int position = 0; position < pool.gpus_per_node; ++position) {
    node.gpus.push_back(make_id<GpuId>(cluster.gpus.size()));
    cluster.gpus.push_back(make_gpu(pool, id, static_cast<std::uint32_t>(position)));
  }
  cluster.nodes.push_back(std::move(node));
}

}  // namespace

ClusterState make_cluster(const World& world) {
  ClusterState cluster;
  cluster.world = &world;
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    for (int n = 0; n < world.pools[pool].nodes; ++n) {
      add_node(world, make_id<PoolId>(pool), cluster);
    }
  }
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    for (int n = 0; n < world.workloads[w].spec.count; ++n) {
      Pod pod;
      pod.workload = make_id<WorkloadId>(w);
      pod.tickets.reserve(static_cast<std::size_t>(world.workloads[w].tickets));
      cluster.pods.push_back(std::move(pod));
    }
  }
  return cluster;
}

}  // namespace slicewise::sim
