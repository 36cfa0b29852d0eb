#include "state.hpp"

#include <algorithm>

#include "slicewise/lookup.hpp"
#include "slicewise/sim/gpu_room.hpp"

#include "../world/admission.hpp"
#include "control/node_scores.hpp"

namespace slicewise::sim {
namespace {

// Pods that open a GPU without holding a ticket for it, and may meet in one domain.
std::uint32_t unscheduled_pods(const World& world, const PoolModel& pool) {
  int pods = 0;
  for (const WorkloadModel& workload : world.workloads) {
    if (!workload.resource && workload.spec.uses_gpu()) pods += workload.spec.count;
  }
  return static_cast<std::uint32_t>(std::min(pods, pool.max_pods));
}

// Pods that hold tickets of a domain at the most.
std::uint32_t most_holders(const PoolModel& pool, std::size_t kind) {
  if (pool.books) return static_cast<std::uint32_t>(pool.books->pods);
  int most = 0;
  for (const std::vector<Tickets>& together : pool.companies(kind)) {
    int holders = 0;
    for (const Tickets& tickets : together) holders += tickets.count;
    most = std::max(most, holders);
  }
  return static_cast<std::uint32_t>(most);
}

MemoryLedger make_ledger(const PoolModel& pool, const DomainKind& kind, std::uint32_t contexts) {
  const Bytes usable = usable_by_processes(kind);
  return MemoryLedger(contexts, usable, pool.context_memory, models::greedy_reserve(*pool.gpu),
                      kind.memory - usable);
}

void make_engine(const PoolModel& pool, const DomainKind& kind, std::uint32_t contexts,
                 Domain& domain) {
  const auto take_turns = [&](const models::TimeSlice& slice) {
    domain.engine.emplace<RoundRobin>(contexts, slice, slice.switch_cost);
  };
  using Policy = models::Vgpu::Policy;
  std::visit(models::Overloaded{
                 [&](const models::Exclusive&) {
                   // Whoever shares an unshared GPU behind the scheduler's back takes turns on it.
                   if (contexts > 1) return take_turns(pool.driver_slice);
                   domain.engine.emplace<Exclusive>(contexts);
                 },
                 [&](const models::TimeSlicing& sharing) { take_turns(sharing.slice); },
                 [&](const models::Mps&) { domain.engine.emplace<Fluid>(contexts); },
                 [&](const models::Vgpu& sharing) {
                   if (sharing.policy == Policy::BestEffort) return take_turns(sharing.slice);
                   domain.engine.emplace<StrictSlots>(contexts, sharing.slice, sharing.policy);
                 },
             },
             kind.sharing);
}

Domain make_domain(const World& world, const PoolModel& pool, NodeId node, std::size_t layout,
                   const NodeLayout::Domain& place) {
  const DomainKind& kind = pool.kinds[place.kind];
  std::vector<int> tickets_free;
  for (const Tickets& tickets : kind.tickets) {
    tickets_free.push_back(place.at_start ? tickets.count : 0);
  }
  std::uint32_t contexts = unscheduled_pods(world, pool) + most_holders(pool, place.kind);
  if (const auto* vgpu = std::get_if<models::Vgpu>(&kind.sharing)) {
    // The slots of an EC2 fraction go round all vGPUs of the host's GPU.
    contexts = std::max(contexts, static_cast<std::uint32_t>(vgpu->per_gpu));
  }
  Domain domain{.node = node,
                .gpu = static_cast<std::uint32_t>(place.gpu),
                .kind = place.kind,
                .layout = layout,
                .tickets_free = std::move(tickets_free),
                .booked = {},
                .memory = make_ledger(pool, kind, contexts),
                .engine = {},
                .owner = std::vector<std::uint32_t>(contexts, kNoOwner)};
  if (pool.exact) make_engine(pool, kind, contexts, domain);
  return domain;
}

}  // namespace

void count_tickets(ClusterState& cluster, Node& node) {
  std::ranges::fill(node.tickets_free, 0);
  for (const DomainId id : node.domains()) {
    const Domain& domain = cluster.domains[index(id)];
    const auto& tickets = cluster.pool(node).kinds[domain.kind].tickets;
    for (std::size_t t = 0; t < tickets.size(); ++t) {
      node.tickets_free[tickets[t].offer] += domain.tickets_free[t];
    }
  }
}

namespace {

void add_node(const World& world, PoolId pool_id, ClusterState& cluster) {
  const PoolModel& pool = world.pools[index(pool_id)];
  const auto id = make_id<NodeId>(cluster.nodes.size());
  Node node;
  node.pool = pool_id;
  node.cpu_free = pool.allocatable_cpu;
  node.memory_free = pool.allocatable_memory;
  node.scored_cpu_free = pool.node_cpu();
  node.scored_memory_free = pool.node_memory();
  for (const scenarios::DaemonSet& daemon : pool.daemon_sets) {
    node.scored_cpu_free = node.scored_cpu_free - scored_cpu(daemon.cpu_request);
    node.scored_memory_free -= scored_memory(daemon.memory_request);
  }
  node.pods_free = pool.max_pods;
  for (std::size_t offer = 0; offer < pool.offers.size(); ++offer) {
    node.tickets_free.push_back(pool.tickets_per_node(offer, 0));
  }
  node.image_ready.assign(world.workloads.size(), kNever);
  node.domains_under.resize(pool.layouts.size());
  for (std::size_t layout = 0; layout < pool.layouts.size(); ++layout) {
    for (const NodeLayout::Domain& place : pool.layouts[layout].domains) {
      node.domains_under[layout].push_back(make_id<DomainId>(cluster.domains.size()));
      cluster.domains.push_back(make_domain(world, pool, id, layout, place));
    }
  }
  if (pool.nos) count_tickets(cluster, node);
  cluster.nodes.push_back(std::move(node));
}

// That a pod of the workload can ever hold: no node gives more than it has.
std::size_t most_tickets(const World& world, const WorkloadModel& workload) {
  std::int64_t most = 1;
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    if (!workload.on_pool[pool].offer) continue;
    most = std::max(most, world.pools[pool].most_tickets_per_node(*workload.on_pool[pool].offer));
  }
  return static_cast<std::size_t>(std::clamp<std::int64_t>(workload.tickets, 1, most));
}

}  // namespace

std::int64_t PodRoom::holds(const WorkloadModel& workload) const {
  std::int64_t most = pods;
  const auto limit = [&](std::int64_t all, std::int64_t one) {
    if (one > 0) most = std::min(most, all / one);
  };
  limit(cpu, workload.spec.pod.cpu_request.count);
  limit(memory, workload.spec.pod.memory_request.count);
  if (workload.resource) limit(tickets, std::max<std::int64_t>(1, workload.tickets));
  return std::max<std::int64_t>(0, most);
}

GpuMask ClusterState::gpus_of(const Pod& pod) const {
  GpuMask set = 0;
  for_each_rank(pod, [&](DomainId domain, std::uint32_t) {
    set |= GpuMask{1} << domains[index(domain)].gpu;
  });
  return set;
}

const Tickets* ClusterState::tickets(const Domain& domain, const WorkloadModel& workload) const {
  const auto offer = workload.on_pool[index(nodes[index(domain.node)].pool)].offer;
  if (!offer) return nullptr;
  const auto& held = kind(domain).tickets;
  return find_or_null(held, *offer, &Tickets::offer);
}

double ClusterState::time_limit(const Pod& pod) const {
  const auto& books = pool(nodes[index(pod.node)]).books;
  if (!books || pod.domain == kNoDomain) return 1;
  const Domain& domain = domains[index(pod.domain)];
  const Tickets* const held = tickets(domain, model(pod));
  if (held == nullptr || held->time_limit == 1) return 1;
  const auto is_working_neighbour = [&](std::uint32_t other) {
    return other != kNoOwner && &pods[other] != &pod && pods[other].phase == PodPhase::Working;
  };
  const bool limits =
      books->limits_alone || std::ranges::any_of(domain.owner, is_working_neighbour);
  return limits ? held->time_limit : 1;
}

std::vector<std::size_t> pools_of_nodes(const ClusterState& cluster) {
  std::vector<std::size_t> pools;
  for (const Node& node : cluster.nodes) pools.push_back(index(node.pool));
  return pools;
}

ClusterState make_cluster(const World& world) {
  ClusterState cluster;
  cluster.world = &world;
  for (std::size_t pool = 0; pool < world.pools.size(); ++pool) {
    for (int n = 0; n < world.pools[pool].node_slots(); ++n) {
      add_node(world, make_id<PoolId>(pool), cluster);
    }
  }
  cluster.company = PodCompany(world, pools_of_nodes(cluster));
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    for (int n = 0; n < world.workloads[w].spec.count; ++n) {
      Pod pod;
      pod.workload = make_id<WorkloadId>(w);
      pod.tickets.reserve(most_tickets(world, world.workloads[w]));
      pod.ranks.reserve(static_cast<std::size_t>(most_gpus(world.workloads[w]) - 1));
      cluster.pods.push_back(std::move(pod));
    }
  }
  return cluster;
}

}  // namespace slicewise::sim
