#include "node_rooms.hpp"

#include <algorithm>

namespace slicewise::sim {

NodeRooms::NodeRooms(const ClusterState& cluster)
    : cluster_(cluster), rooms_(cluster.nodes.size()) {
  for (const PoolModel& pool : cluster.world->pools) {
    offers_ = std::max(offers_, pool.offers.size());
    for (std::size_t w = 0; w < cluster.world->workloads.size(); ++w) {
      const WorkloadModel& workload = cluster.world->workloads[w];
      const auto at = static_cast<std::size_t>(&pool - cluster.world->pools.data());
      const bool offered = !workload.resource || workload.on_pool[at].offer;
      admits_.push_back(static_cast<char>(offered && admits(pool, workload.spec.pod)));
    }
  }
  tickets_.resize(rooms_.size() * offers_);
}

std::int64_t NodeRooms::tickets_of(std::size_t pool, std::size_t offer, std::size_t layout,
                                   Tickets tickets) const {
  const PoolModel& model = cluster_.world->pools[pool];
  if (tickets == Tickets::Expected) return model.offers[offer].expected_per_node;
  return model.tickets_per_node(offer, layout);
}

void NodeRooms::open(std::uint32_t n, Tickets tickets) {
  const Node& node = cluster_.nodes[n];
  rooms_[n] = {true, node.cpu_free.count, node.memory_free.count, node.pods_free};
  for (std::size_t offer = 0; offer < node.tickets_free.size(); ++offer) {
    tickets_[n * offers_ + offer] = tickets == Tickets::Free
                                        ? node.tickets_free[offer]
                                        : tickets_of(index(node.pool), offer, node.layout, tickets);
  }
}

std::int64_t NodeRooms::take(std::uint32_t n, std::size_t w, std::int64_t pods) {
  Room& room = rooms_[n];
  const std::size_t pool = index(cluster_.nodes[n].pool);
  const WorkloadModel& workload = cluster_.world->workloads[w];
  if (!room.open || admits_[pool * cluster_.world->workloads.size() + w] == 0) return 0;
  const std::int64_t cpu = workload.spec.pod.cpu_request.count;
  const std::int64_t memory = workload.spec.pod.memory_request.count;
  std::int64_t fit = std::min(pods, room.pods);
  if (cpu > 0) fit = std::min(fit, room.cpu / cpu);
  if (memory > 0) fit = std::min(fit, room.memory / memory);
  std::int64_t* tickets = nullptr;
  if (workload.resource) {
    tickets = &tickets_[n * offers_ + *workload.on_pool[pool].offer];
    fit = std::min(fit, *tickets / std::max<std::int64_t>(1, workload.tickets));
  }
  if (fit <= 0) return 0;
  room.cpu -= fit * cpu;
  room.memory -= fit * memory;
  room.pods -= fit;
  if (tickets != nullptr) *tickets -= fit * workload.tickets;
  return fit;
}

std::int64_t NodeRooms::on_empty(std::size_t p, std::size_t w, Tickets tickets) const {
  const PoolModel& pool = cluster_.world->pools[p];
  const WorkloadModel& workload = cluster_.world->workloads[w];
  if (admits_[p * cluster_.world->workloads.size() + w] == 0) return 0;
  std::int64_t pods = pool.max_pods;
  const auto limit = [&](std::int64_t all, std::int64_t one) {
    if (one > 0) pods = std::min(pods, all / one);
  };
  if (workload.resource) {
    limit(tickets_of(p, *workload.on_pool[p].offer, 0, tickets), workload.tickets);
  }
  limit(pool.allocatable_cpu.count, workload.spec.pod.cpu_request.count);
  limit(pool.allocatable_memory.count, workload.spec.pod.memory_request.count);
  return pods;
}

}  // namespace slicewise::sim
