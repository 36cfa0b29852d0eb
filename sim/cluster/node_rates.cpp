#include "node_rates.hpp"

#include <algorithm>

namespace slicewise::sim {
namespace {

// Bisection steps: 2^-50 of the interval is below what a double resolves here.
constexpr int kBisections = 50;

// Extra GPU time per unit of work while two or more contexts take turns: c/q.
double overhead_of(const models::TimeSlice& slice) {
  return static_cast<double>(slice.switch_cost.ns) / static_cast<double>(slice.turn.ns);
}

// What the replicas of services on the node leave of its vCPUs. Services come first: they are few,
// and nothing says how their latency stretches. At least a tenth is left.
double vcpus_for_batch(const ClusterState& cluster, const Node& node) {
  const Millicores allocatable = cluster.pool(node).allocatable_cpu;
  Millicores left = allocatable;
  for (const DomainId domain : node.domains()) {
    for (const std::uint32_t owner : cluster.domains[index(domain)].owner) {
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

// Of a unit, beside others that take turns with it.
double NodeRates::Client::slowdown(double duties, double overhead) const {
  if (!serial) return models::overlapped_slowdown(duty(), duties, overhead);
  return models::slowdown(duty(), duties * (1 + overhead), 1);
}

NodeRates::NodeRates(const World& world) {
  std::size_t most_domains = 0;
  for (const PoolModel& pool : world.pools) {
    for (const NodeLayout& layout : pool.layouts) {
      most_domains = std::max(most_domains, layout.domains.size());
    }
  }
  shares_.resize(most_domains);
}

void NodeRates::collect(const ClusterState& cluster, const Node& node) {
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    shares_[d].clients.clear();
    for (const std::uint32_t owner : cluster.domains[index(node.domains()[d])].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = cluster.pods[owner];
      const WorkloadModel& model = cluster.model(pod);
      if (pod.phase != PodPhase::Working || model.spec.kind == scenarios::WorkloadKind::Service) {
        continue;
      }
      const Demand& demand = cluster.demand(pod);
      Client client;
      client.pod = owner;
      client.host_s = to_seconds(demand.host) * pod.size;
      client.gpu_s = to_seconds(demand.gpu) * pod.size;
      client.cpu_s = to_seconds(demand.cpu) * pod.size;
      client.serial = model.host_phase == scenarios::Work::HostPhase::Serial;
      client.law = demand.client;
      if (model.spec.pod.cpu_limit) {
        const double limit = static_cast<double>(model.spec.pod.cpu_limit->count) / 1000.0;
        client.least_s = client.cpu_s / limit;
      }
      shares_[d].clients.push_back(client);
    }
  }
}

// Host phase and GPU phase add up. A CPU limit lengthens the host phase.
void NodeRates::take_turns_serially(double overhead, double stretch, Share& share) {
  loop_.clear();
  for (const Client& client : share.clients) {
    const double host_s = std::max(client.host_s, client.least_s - client.gpu_s);
    loop_.push_back({host_s + (stretch - 1) * (host_s + client.gpu_s), client.gpu_s});
  }
  const ClosedSolution& solution = solver_.solve(loop_, overhead);
  share.switch_share = solution.switch_share;
  for (std::size_t c = 0; c < share.clients.size(); ++c) {
    rate_.push_back(solution.cycles_per_second[c]);
    busy_share_.push_back(solution.cycles_per_second[c] * share.clients[c].gpu_s);
  }
}

void NodeRates::take_turns(double overhead, double stretch, Share& share) {
  const auto& clients = share.clients;
  if (std::ranges::all_of(clients, &Client::serial)) {
    return take_turns_serially(overhead, stretch, share);
  }
  double duties = 0;
  for (const Client& client : clients) duties += client.duty();
  for (const Client& client : clients) {
    const double slowdown = clients.size() == 1 ? 1 : client.slowdown(duties, overhead);
    const double unit_s = std::max(client.least_s, client.alone_s() * std::max(stretch, slowdown));
    rate_.push_back(1 / unit_s);
    busy_share_.push_back(client.gpu_s / unit_s);
    // A turn ends in a switch when somebody else waits: always once the GPU is full, else about
    // as often as others want it.
    const double demand = duties * (1 + overhead);
    const double others = demand - client.duty() * (1 + overhead);
    const double waiting = std::min(1.0, std::max(demand * demand, others));
    if (clients.size() > 1) share.switch_share += busy_share_.back() * overhead * waiting;
  }
}

void NodeRates::run_together(double stretch, Share& share) {
  laws_.clear();
  for (const Client& client : share.clients) laws_.push_back(client.law);
  speeds_.resize(laws_.size());
  models::shared_speeds(laws_, speeds_);
  double quiet = 1;  // share of the time in which nobody's kernels run
  double work = 0;
  const std::size_t first = rate_.size();
  for (std::size_t c = 0; c < share.clients.size(); ++c) {
    const Client& client = share.clients[c];
    const double alone_s = client.alone_s();
    const double unit_s = std::max(client.least_s, alone_s * std::max(stretch, 1 / speeds_[c]));
    rate_.push_back(1 / unit_s);
    // What neighbours cost makes kernels longer, not the rest of the unit.
    quiet *= 1 - std::min(1.0, (alone_s / speeds_[c] - client.host_s) / unit_s);
    work += client.gpu_s / unit_s;
  }
  for (std::size_t c = 0; c < share.clients.size(); ++c) {
    busy_share_.push_back((1 - quiet) * share.clients[c].gpu_s * rate_[first + c] / work);
  }
}

void NodeRates::run_in_slots(double slots, double overhead, double stretch, Share& share) {
  for (const Client& client : share.clients) {
    const double slowdown = client.slowdown(client.duty() * slots, overhead);
    const double unit_s = std::max(client.least_s, client.alone_s() * std::max(stretch, slowdown));
    rate_.push_back(1 / unit_s);
    busy_share_.push_back(client.gpu_s / unit_s);
    share.switch_share += busy_share_.back() * overhead;
  }
}

void NodeRates::rates_in(const ClusterState& cluster, const Domain& domain, double stretch,
                         Share& share) {
  const auto turns = [&](const models::TimeSlice& slice) {
    take_turns(overhead_of(slice), stretch, share);
  };
  using Policy = models::Vgpu::Policy;
  const models::TimeSlice& driver = cluster.pool(cluster.nodes[index(domain.node)]).driver_slice;
  std::visit(models::Overloaded{
                 [&](const models::Exclusive&) { turns(driver); },
                 [&](const models::TimeSlicing& sharing) { turns(sharing.slice); },
                 [&](const models::Mps&) { run_together(stretch, share); },
                 [&](const models::Vgpu& sharing) {
                   if (sharing.policy == Policy::BestEffort) return turns(sharing.slice);
                   const double slots = sharing.policy == Policy::FixedShare
                                            ? sharing.per_gpu
                                            : static_cast<double>(domain.working);
                   const double overhead = slots > 1 ? overhead_of(sharing.slice) : 0;
                   run_in_slots(slots, overhead, stretch, share);
                 },
             },
             cluster.kind(domain).sharing);
}

// Fills rate_, busy_share_ and switch shares for the given stretch of host work; returns the vCPUs
// in use.
double NodeRates::rates(const ClusterState& cluster, const Node& node, double stretch) {
  double vcpus_used = 0;
  rate_.clear();
  busy_share_.clear();
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    Share& share = shares_[d];
    share.switch_share = 0;
    if (share.clients.empty()) continue;
    const std::size_t first = rate_.size();
    rates_in(cluster, cluster.domains[index(node.domains()[d])], stretch, share);
    for (std::size_t c = 0; c < share.clients.size(); ++c) {
      vcpus_used += rate_[first + c] * share.clients[c].cpu_s;
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
  const auto assign = [&](double Pod::*figure, const std::vector<double>& values) {
    std::size_t next = 0;
    for (std::size_t d = 0; d < node.domains().size(); ++d) {
      for (const Client& client : shares_[d].clients) {
        cluster.pods[client.pod].*figure = values[next++];
      }
    }
  };
  const double vcpus = vcpus_for_batch(cluster, node);
  const double wanted = rates(cluster, node, 1);
  assign(&Pod::unhindered_by_cpu, rate_);
  node.host_stretch = 1;
  if (wanted > vcpus) {
    node.host_stretch = stretch_that_fits(cluster, node, vcpus);
    rates(cluster, node, node.host_stretch);
  }
  assign(&Pod::units_per_second, rate_);
  assign(&Pod::busy_share, busy_share_);
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    cluster.domains[index(node.domains()[d])].switch_share = shares_[d].switch_share;
  }
}

}  // namespace slicewise::sim
