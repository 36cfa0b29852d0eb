#include "node_rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace slicewise::sim {
namespace {

// Bisection steps: 2^-50 of the interval is below what a double resolves here.
constexpr int kBisections = 50;

// What the replicas of services on the node leave of its vCPUs. Services come first: they are few,
// and nothing says how their latency stretches. DaemonSets ask for more than they use. At least a
// tenth is left.
double vcpus_for_batch(const ClusterState& cluster, const Node& node) {
  const Millicores allocatable = cluster.pool(node).node_cpu();
  Millicores left = allocatable;
  for (const DomainId domain : node.domains()) {
    for (const std::uint32_t owner : cluster.domains[index(domain)].owner) {
      if (owner == kNoOwner || cluster.pods[owner].phase != PodPhase::Working) continue;
      if (cluster.pods[owner].domain != domain) continue;  // counted on its first GPU
      const Workload& spec = cluster.model(cluster.pods[owner]).spec;
      if (spec.kind != WorkloadKind::Service) continue;
      left = left - spec.measured->cpu.value_or(Millicores{});
    }
  }
  const Millicores least{allocatable.count / 10};
  return static_cast<double>(std::max(left, least).count) / 1000.0;
}

// Running vGPUs: a container that still loads its model has its slots, too.
int containers_in(const ClusterState& cluster, const Domain& domain) {
  return static_cast<int>(std::ranges::count_if(domain.owner, [&](std::uint32_t owner) {
    return owner != kNoOwner && holds_container(cluster.pods[owner].phase);
  }));
}

}  // namespace

double least_unit_s(const WorkloadModel& model, const Demand& demand) {
  const auto& limit = model.spec.pod.cpu_limit;
  return limit ? to_seconds(demand.cpu) * 1000.0 / static_cast<double>(limit->count) : 0;
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
  for (Share& share : shares_) share.clients.clear();
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    for (const std::uint32_t owner : cluster.domains[index(node.domains()[d])].owner) {
      if (owner == kNoOwner) continue;
      const Pod& pod = cluster.pods[owner];
      const WorkloadModel& model = cluster.model(pod);
      if (pod.phase != PodPhase::Working || !scenarios::runs_batches(model.spec.kind)) continue;
      const Demand& demand = cluster.demand(pod);
      const double all_reduce_s = cluster.all_reduce_s(pod);
      Client client;
      client.pod = owner;
      client.first_rank = pod.domain == node.domains()[d];
      client.host_s = to_seconds(demand.host) * pod.size;
      client.gpu_s = to_seconds(demand.gpu) * pod.size + all_reduce_s;
      client.cpu_s = to_seconds(demand.cpu) * pod.size;
      // Of the workload, not of the pod: equal for pods of all sizes.
      const double gpu_ns = static_cast<double>(demand.gpu.ns) + all_reduce_s * 1e9;
      client.duty = gpu_ns / (gpu_ns + static_cast<double>(demand.host.ns));
      client.free_host_s = client.host_s;
      const double most = cluster.time_limit(pod);
      if (client.duty > most) {
        client.host_s = client.gpu_s / most - client.gpu_s;
        client.duty = most;
        client.held = 1 - client.free_s() / client.alone_s();
      }
      client.turn_use = model.spec.measured->turn_use.value_or(0);
      client.serial = model.host_phase == scenarios::Work::HostPhase::Serial;
      client.law = demand.client;
      client.limit_s = least_unit_s(model, demand) * pod.size;
      if (!client.first_rank) client.cpu_s = 0;  // that of the whole pod is its first rank's
      shares_[d].clients.push_back(client);
    }
  }
}

// Overlapped work goes at the pace of the slower of host and GPU.
double NodeRates::Client::unit_s(double stretch) const {
  return std::max({least_s, free_s() * stretch, alone_s() * slowdown});
}

// How much the clients of each domain slow each other down, whatever the host does.
void NodeRates::find_slowdowns(const ClusterState& cluster, const Node& node) {
  const models::TimeSlice& driver = cluster.pool(node).driver_slice;
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    Share& share = shares_[d];
    if (share.clients.empty()) continue;
    const Domain& domain = cluster.domains[index(node.domains()[d])];
    static_cast<CompanyState&>(share) =
        law_.find_slowdowns(cluster.kind(domain).sharing, driver, std::span(share.clients),
                            [&] { return containers_in(cluster, domain); });
  }
  keep_in_step();
}

// Nobody is held back for longer than he gets ahead of his share: while he waits for others at the
// GPU his share grows. The time that is held sinks to where a unit takes what the limit says.
const ClosedSolution& NodeRates::solve_held(double stretch, const Share& share) {
  constexpr int kRounds = 60;
  constexpr double kNear = 1e-9;
  const ClosedSolution* solution = &solver_.solve(loop_, share.overhead);
  const auto is_held = [](const Client& client) { return client.held > 0; };
  if (share.clients.size() == 1 || std::ranges::none_of(share.clients, is_held)) return *solution;
  for (int round = 0; round < kRounds; ++round) {
    double moved = 0;
    for (std::size_t c = 0; c < share.clients.size(); ++c) {
      const Client& client = share.clients[c];
      if (!is_held(client)) continue;
      const double ahead_s = client.alone_s() - 1 / solution->cycles_per_second[c];
      const double least_s = client.host_least_s(stretch);
      double& host_s = loop_[c].host_seconds;
      const double next_s = std::max(least_s, host_s + ahead_s);
      moved = std::max(moved, std::abs(next_s - host_s) / client.alone_s());
      host_s = next_s;
    }
    if (moved < kNear) break;
    solution = &solver_.solve(loop_, share.overhead);
  }
  return *solution;
}

// Host phase and GPU phase add up.
void NodeRates::rates_of_serial_turns(double stretch, Share& share) {
  loop_.clear();
  for (const Client& client : share.clients) {
    loop_.push_back({std::max(client.host_s, client.host_least_s(stretch)), client.gpu_s});
  }
  const ClosedSolution& solution = solve_held(stretch, share);
  share.switch_share = solution.switch_share;
  for (std::size_t c = 0; c < share.clients.size(); ++c) {
    rate_.push_back(solution.cycles_per_second[c]);
    busy_share_.push_back(solution.cycles_per_second[c] * share.clients[c].gpu_s);
  }
}

void NodeRates::rates_of_turns(double stretch, Share& share) {
  for (const Client& client : share.clients) {
    const double unit_s = client.serial
                              ? client.alone_s() * client.slowdown + (stretch - 1) * client.free_s()
                              : client.unit_s(stretch);
    rate_.push_back(1 / unit_s);
    busy_share_.push_back(client.gpu_s / unit_s);
    share.switch_share += switch_share(share, client.duty, busy_share_.back());
  }
}

void NodeRates::rates_together(double stretch, Share& share) {
  double quiet = 1;  // share of the time in which nobody's kernels run
  double work = 0;
  const std::size_t first = rate_.size();
  for (const Client& client : share.clients) {
    const double unit_s = client.unit_s(stretch);
    rate_.push_back(1 / unit_s);
    quiet *= 1 - kernel_share(client.alone_s(), client.host_s, client.slowdown, unit_s);
    work += client.gpu_s / unit_s;
  }
  for (std::size_t c = 0; c < share.clients.size(); ++c) {
    busy_share_.push_back((1 - quiet) * share.clients[c].gpu_s * rate_[first + c] / work);
  }
}

// Fills rate_, busy_share_ and switch shares for the given stretch of host work; returns the vCPUs
// in use.
double NodeRates::rates(const Node& node, double stretch) {
  double vcpus_used = 0;
  rate_.clear();
  busy_share_.clear();
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    Share& share = shares_[d];
    share.switch_share = 0;
    if (share.clients.empty()) continue;
    const std::size_t first = rate_.size();
    switch (share.company) {
      case Company::SerialTurns:
        rates_of_serial_turns(stretch, share);
        break;
      case Company::Together:
        rates_together(stretch, share);
        break;
      case Company::Turns:
      case Company::Slots:
        rates_of_turns(stretch, share);
        break;
    }
    for (std::size_t c = 0; c < share.clients.size(); ++c) {
      vcpus_used += rate_[first + c] * share.clients[c].cpu_s;
    }
  }
  return vcpus_used;
}

double NodeRates::stretch_that_fits(const Node& node, double vcpus) {
  const bool overlapped = std::ranges::all_of(shares_, [](const Share& share) {
    return share.company == Company::Together ||
           std::ranges::none_of(share.clients, &Client::serial);
  });
  if (overlapped) return stretch_of_overlapped(vcpus);
  double low = 1;
  double high = 2;
  while (rates(node, high) > vcpus) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < kBisections; ++step) {
    const double middle = low + (high - low) / 2;
    (rates(node, middle) > vcpus ? low : high) = middle;
  }
  return high;
}

// vCPUs in use are a + b/stretch, with a of the clients that something else holds up and b of those
// that the host does. Each round adds clients to b, so there are as many rounds as clients at most.
double NodeRates::stretch_of_overlapped(double vcpus) const {
  double stretch = 1;
  while (true) {
    double held_up = 0;
    double paced = 0;
    double next = std::numeric_limits<double>::infinity();  // stretch that paces one more client
    for (const Share& share : shares_) {
      for (const Client& client : share.clients) {
        const double slowest_s = client.unit_s(1);
        if (slowest_s > client.free_s() * stretch) {
          held_up += client.cpu_s / slowest_s;
          next = std::min(next, slowest_s / client.free_s());
        } else {
          paced += client.cpu_s / client.free_s();
        }
      }
    }
    const double wanted = vcpus > held_up ? paced / (vcpus - held_up) : next;
    if (vcpus > held_up && wanted <= next) return std::max(stretch, wanted);
    stretch = next;
  }
}

// A pod with several GPUs goes at the pace of the slowest of them.
void NodeRates::keep_in_step() {
  for (Share& share : shares_) {
    for (Client& client : share.clients) {
      if (client.first_rank) continue;
      for (Share& other : shares_) {
        for (Client& rank : other.clients) {
          if (rank.pod != client.pod) continue;
          rank.slowdown = client.slowdown = std::max(rank.slowdown, client.slowdown);
        }
      }
    }
  }
}

// The neighbours of one that reached its CPU limit have the GPU meanwhile. Side by side a unit is
// one piece, and the rest of its time goes by after it.
void NodeRates::Client::limit_cpu(Company company) {
  if (company == Company::Together) {
    least_s = limit_s;
    if (limit_s > alone_s()) held = 1 - alone_s() / limit_s;
    return;
  }
  const double limited_s = limit_s - gpu_s;
  if (serial) free_host_s = std::max(free_host_s, limited_s);
  if (limited_s > host_s) {
    host_s = limited_s;
    duty = gpu_s / limit_s;
  }
  held = 1 - free_s() / alone_s();
}

// From here on CPU limits hold; whether there are any.
bool NodeRates::put_cpu_limits() {
  bool any = false;
  for (Share& share : shares_) {
    for (Client& client : share.clients) {
      client.limit_cpu(share.company);
      any = any || client.limit_s > 0;
    }
  }
  return any;
}

void NodeRates::solve(const ClusterState& cluster, NodeId id, Paces& paces) {
  const Node& node = cluster.nodes[index(id)];
  collect(cluster, node);
  const auto assign = [&](double PodPace::*figure, const std::vector<double>& values) {
    std::size_t next = 0;
    for (std::size_t d = 0; d < node.domains().size(); ++d) {
      for (const Client& client : shares_[d].clients) {
        double& of_pod = paces.pods[client.pod].*figure;
        of_pod = client.first_rank ? values[next] : std::min(of_pod, values[next]);
        ++next;
      }
    }
  };
  const double vcpus = vcpus_for_batch(cluster, node);
  find_slowdowns(cluster, node);
  double wanted = rates(node, 1);
  assign(&PodPace::unhindered_by_cpu, rate_);
  if (put_cpu_limits()) {
    find_slowdowns(cluster, node);
    wanted = rates(node, 1);
  }
  double& stretch = paces.host_stretch[index(id)];
  stretch = 1;
  if (wanted > vcpus) {
    stretch = stretch_that_fits(node, vcpus);
    rates(node, stretch);
  }
  assign(&PodPace::units_per_second, rate_);
  assign(&PodPace::busy_share, busy_share_);
  for (std::size_t d = 0; d < node.domains().size(); ++d) {
    paces.switch_share[index(node.domains()[d])] = shares_[d].switch_share;
  }
}

}  // namespace slicewise::sim
