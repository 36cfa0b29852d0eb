#include "node_rooms.hpp"

#include <algorithm>
#include <string>

namespace slicewise::sim {

NodeRooms::NodeRooms(const ClusterState& cluster)
    : cluster_(cluster), rooms_(cluster.nodes.size()), company_(cluster.company) {
  for (std::size_t p = 0; p < cluster.world->pools.size(); ++p) {
    const PoolModel& pool = cluster.world->pools[p];
    offers_ = std::max(offers_, pool.offers.size());
    PoolModel unseen;  // as far as admits() looks at it
    if (!pool.late_labels.empty()) {
      unseen.labels = pool.labels;
      unseen.taints = pool.taints;
      for (const std::string& label : pool.late_labels) unseen.labels.erase(label);
    }
    for (const WorkloadModel& workload : cluster.world->workloads) {
      const PoolDemand& demand = workload.on_pool[p];
      const bool offered = !workload.resource || demand.offer;
      const bool expected = pool.late_labels.empty() ? demand.schedulable
                                                     : offered && admits(unseen, workload.spec.pod);
      admits_.push_back(static_cast<char>(demand.schedulable));
      expects_.push_back(static_cast<char>(expected));
    }
  }
  tickets_.resize(rooms_.size() * offers_);
  // Karpenter spreads over all domains that its nodes could have. Source: sigs.k8s.io/karpenter,
  // pkg/controllers/provisioning/scheduling, topologygroup.go, domainMinCount.
  const World& world = *cluster.world;
  const bool foresees = world.provisioner.kind == scenarios::Provisioner::Kind::Karpenter;
  for (std::size_t p = 0; foresees && p < world.pools.size(); ++p) {
    if (world.pools[p].most_nodes) company_.foresee(p);
  }
}

std::int64_t NodeRooms::tickets_of(std::size_t pool, std::size_t offer, std::size_t layout,
                                   Tickets tickets) const {
  const PoolModel& model = cluster_.world->pools[pool];
  if (tickets == Tickets::Expected) return model.offers[offer].expected_per_node;
  return model.tickets_per_node(offer, layout);
}

void NodeRooms::open(std::uint32_t n, Tickets tickets) {
  const Node& node = cluster_.nodes[n];
  rooms_[n] = {true, {node.pods_free, node.cpu_free.count, node.memory_free.count, 0}};
  company_.copy(n, cluster_.company);
  for (std::size_t offer = 0; offer < node.tickets_free.size(); ++offer) {
    tickets_[n * offers_ + offer] = tickets == Tickets::Free
                                        ? node.tickets_free[offer]
                                        : tickets_of(index(node.pool), offer, node.layout, tickets);
  }
}

std::int64_t NodeRooms::room(std::uint32_t n, std::size_t w) const {
  const std::size_t pool = index(cluster_.nodes[n].pool);
  const WorkloadModel& workload = cluster_.world->workloads[w];
  if (!rooms_[n].open || admits_[pool * cluster_.world->workloads.size() + w] == 0) return 0;
  PodRoom left = rooms_[n].left;
  if (workload.resource) left.tickets = tickets_[n * offers_ + *workload.on_pool[pool].offer];
  return company_.room(n, w, left.holds(workload));
}

void NodeRooms::change(std::uint32_t n, std::size_t w, std::int64_t pods) {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  company_.count(n, w, -pods);
  PodRoom& left = rooms_[n].left;
  left.pods += pods;
  left.cpu += pods * workload.spec.pod.cpu_request.count;
  left.memory += pods * workload.spec.pod.memory_request.count;
  if (!workload.resource) return;
  const PoolModel& pool = cluster_.pool(cluster_.nodes[n]);
  const std::size_t own = *workload.on_pool[index(cluster_.nodes[n].pool)].offer;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    if (offer == own || (workload.by_claim && pool.has_common_device(own, offer))) {
      tickets_[n * offers_ + offer] += pods * workload.tickets;
    }
  }
}

std::int64_t NodeRooms::take(std::uint32_t n, std::size_t w, std::int64_t pods) {
  const std::int64_t fit = std::min(pods, room(n, w));
  if (fit > 0) change(n, w, -fit);
  return fit;
}

void NodeRooms::give(std::uint32_t n, std::size_t w) { change(n, w, 1); }

std::int64_t NodeRooms::on_empty(std::size_t p, std::size_t w, Tickets tickets) const {
  const PoolModel& pool = cluster_.world->pools[p];
  const WorkloadModel& workload = cluster_.world->workloads[w];
  const std::vector<char>& may = tickets == Tickets::Expected ? expects_ : admits_;
  if (may[p * cluster_.world->workloads.size() + w] == 0) return 0;
  PodRoom empty{pool.max_pods, pool.allocatable_cpu.count, pool.allocatable_memory.count, 0};
  if (workload.resource) empty.tickets = tickets_of(p, *workload.on_pool[p].offer, 0, tickets);
  return company_.on_empty(p, w, empty.holds(workload));
}

}  // namespace slicewise::sim
