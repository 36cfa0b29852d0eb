#include "node_rates.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

// Bisection steps: 2^-50 of the interval is below what a double resolves here.
constexpr int kBisections = 50;

// Extra GPU time per unit of work while two or more contexts take turns: c/q.
double switch_overhead(const models::Sharing& sharing) {
  return std::visit(models::Overloaded{
                        [](const models::Exclusive&) { return 0.0; },
                        [](const models::TimeSlicing& ts) {
                          return static_cast<double>(ts.slice.switch_cost.ns) /
                                 static_cast<double>(ts.slice.turn.ns);
                        },
                    },
                    sharing);
}

// What the replicas of services on the node leave of its vCPUs. Services come first: they are few,
// and nothing says how their latency stretches. At least a tenth is left.
double vcpus_for_batch(const ClusterState& cluster, const Node& node) {
  const Millicores allocatable = cluster.pool(node).allocatable_cpu;
  Millicores left = allocatable;
  for (const GpuId gpu : node.gpus) {
    for (const std::uint32_t owner : cluster.gpus[index(gpu)].owner) {
      if (owner == kNoOwner || cluster.pods[owner].phase != PodPhase::Working) continue;
      const scenarios::Workload& spec = cluster.model(cluster.pods[owner]).spec;
      if (spec.kind != scenarios::WorkloadKind::Service) continue;
      left = left - spec.measured->cpu.value_or(Millicores{});
    }
  }
  const Millicores least{allocatable.count / 10};
  return static_cast<double>(std::max(left, least).count) / 1000.0;
}

}  // namespace

NodeRates::NodeRates(const World& world) {
  std::size_t most_gpus = 0;
  for (const PoolModel& pool : world.pools) {
    most_gpus = std::max(most_gpus, static_cast<std::size_t>(pool.gpus_per_node));
  }
  clients_.resize(most_gpus);
  switch_share_.resize(most_gpus);
}

void NodeRates::collect(const ClusterState& cluster, const Node& node) {
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    clients_[g].clear();
    for (const std::uint32_t owner : cluster.gpus[index(node.gpus[g])].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = cluster.pods[owner];
      const WorkloadModel& model = cluster.model(pod);
      if (pod.phase != PodPhase::Working || model.spec.kind == scenarios::WorkloadKind::Service) {
        continue;
      }
      const Demand& demand = cluster.demand(pod);
      Client client{owner, to_seconds(demand.host) * pod.size, to_seconds(demand.gpu) * pod.size,
                    to_seconds(demand.cpu) * pod.size};
      if (model.spec.pod.cpu_limit) {
        const double limit = static_cast<double>(model.spec.pod.cpu_limit->count) / 1000.0;
        client.host_s = std::max(client.host_s, client.cpu_s / limit - client.gpu_s);
      }
      clients_[g].push_back(client);
    }
  }
}

// Fills rate_ and switch_share_ for the given stretch of host work; returns the vCPUs in use.
double NodeRates::rates(const ClusterState& cluster, const Node& node, double stretch) {
  const double overhead = switch_overhead(cluster.pool(node).sharing);
  double vcpus_used = 0;
  rate_.clear();
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    switch_share_[g] = 0;
    if (clients_[g].empty()) continue;
    loop_.clear();
    for (const Client& client : clients_[g]) {
      loop_.push_back(
          {client.host_s + (stretch - 1) * (client.host_s + client.gpu_s), client.gpu_s});
    }
    const ClosedSolution& solution = solver_.solve(loop_, overhead);
    switch_share_[g] = solution.switch_share;
    for (std::size_t c = 0; c < clients_[g].size(); ++c) {
      rate_.push_back(solution.cycles_per_second[c]);
      vcpus_used += solution.cycles_per_second[c] * clients_[g][c].cpu_s;
    }
  }
  return vcpus_used;
}

double NodeRates::stretch_that_fits(const ClusterState& cluster, const Node& node, double vcpus) {
  double low = 1;
  double high = 2;
  while (rates(cluster, node, high) > vcpus) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < kBisections; ++step) {
    const double middle = low + (high - low) / 2;
    (rates(cluster, node, middle) > vcpus ? low : high) = middle;
  }
  return high;
}

void NodeRates::solve(ClusterState& cluster, NodeId id) {
  Node& node = cluster.nodes[index(id)];
  collect(cluster, node);
  const auto assign = [&](double Pod::*rate) {
    std::size_t next = 0;
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      for (const Client& client : clients_[g]) cluster.pods[client.pod].*rate = rate_[next++];
    }
  };
  const double vcpus = vcpus_for_batch(cluster, node);
  const double wanted = rates(cluster, node, 1);
  assign(&Pod::unhindered_by_cpu);
  node.host_stretch = 1;
  if (wanted > vcpus) {
    node.host_stretch = stretch_that_fits(cluster, node, vcpus);
    rates(cluster, node, node.host_stretch);
  }
  assign(&Pod::units_per_second);
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    cluster.gpus[index(node.gpus[g])].switch_share = switch_share_[g];
  }
}

}  // namespace slicewise::sim
