#include "node_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "slicewise/portable_math.hpp"

#include "../../world/admission.hpp"

namespace slicewise::sim {
namespace {

constexpr std::int64_t kMostScore = 100;

// What the scores count for a container without a request.
// Source: Kubernetes pkg/scheduler/util/pod_resources.go, DefaultMilliCPURequest and
// DefaultMemoryRequest.
constexpr Millicores kUnrequestedCpu{100};
constexpr Bytes kUnrequestedMemory{200LL * 1024 * 1024};

constexpr int kSpreadWeight = 2;
constexpr int kTaintWeight = 3;

// PodTopologySpread's system defaults, both ScheduleAnyway.
constexpr int kNodeSkew = 3;
constexpr int kZoneSkew = 5;

// maxSkew - 1 waters differences down.
double spread_term(std::int64_t pods, int max_skew, std::size_t places) {
  return static_cast<double>(pods) * portable_log(static_cast<double>(places + 2)) + max_skew - 1;
}

double used_share(std::int64_t used, std::int64_t all) {
  return std::min(1.0, static_cast<double>(used) / static_cast<double>(all));
}

// The closer the shares of CPU and memory in use are to each other.
std::int64_t balance(double cpu, double memory) {
  return static_cast<std::int64_t>((1 - std::abs((cpu - memory) / 2)) * kMostScore);
}

// By how much the pod evens out what of a node is in use: 75 if not at all. A pod without any
// request is not scored.
std::int64_t balance(const PoolModel& pool, const Node& node, const scenarios::PodTemplate& pod) {
  if (pod.cpu_request.count == 0 && pod.memory_request.count == 0) return 0;
  const std::int64_t cpu = pool.node_cpu().count;
  const std::int64_t memory = pool.node_memory().count;
  const std::int64_t cpu_used = cpu - node.cpu_free.count;
  const std::int64_t memory_used = memory - node.memory_free.count;
  if (cpu <= 0 || memory <= 0) return kMostScore / 2 + kMostScore / 4;
  const std::int64_t with = balance(used_share(cpu_used + pod.cpu_request.count, cpu),
                                    used_share(memory_used + pod.memory_request.count, memory));
  const std::int64_t without = balance(used_share(cpu_used, cpu), used_share(memory_used, memory));
  return kMostScore / 2 + (kMostScore / 2 + with - without) / 2;
}

std::int64_t disliked(const PoolModel& pool, const scenarios::PodTemplate& pod) {
  return std::ranges::count_if(pool.taints, [&](const scenarios::Taint& taint) {
    return taint.effect == "PreferNoSchedule" && !scenarios::tolerates_any(pod.tolerations, taint);
  });
}

}  // namespace

Millicores scored_cpu(Millicores request) { return request.count > 0 ? request : kUnrequestedCpu; }

Bytes scored_memory(Bytes request) { return request.count > 0 ? request : kUnrequestedMemory; }

NodeScores::NodeScores(const ClusterState& cluster) : cluster_(cluster) {
  const World& world = *cluster.world;
  std::vector<std::string> zones;
  for (const PoolModel& pool : world.pools) {
    const auto label = pool.labels.find(std::string(scenarios::kZoneLabel));
    const bool first =
        label != pool.labels.end() && std::ranges::find(zones, label->second) == zones.end();
    if (first) zones.push_back(label->second);
  }
  for (const PoolModel& pool : world.pools) {
    const auto label = pool.labels.find(std::string(scenarios::kZoneLabel));
    const auto zone =
        label == pool.labels.end() ? zones.end() : std::ranges::find(zones, label->second);
    zone_of_.push_back(static_cast<std::size_t>(zone - zones.begin()));
  }
  zones_ = zones.size() + 1;
  zone_seen_.resize(zones_);
  std::size_t spread = 0;
  for (const WorkloadModel& workload : world.workloads) {
    const bool replicas = workload.spec.kind == scenarios::WorkloadKind::Deployment ||
                          workload.spec.kind == scenarios::WorkloadKind::Service;
    spread_.push_back(replicas ? spread++ : kNone);
    for (const PoolModel& pool : world.pools) taints_.push_back(disliked(pool, workload.spec.pod));
    const auto own = taints_.end() - static_cast<std::ptrdiff_t>(world.pools.size());
    avoids_.push_back(std::any_of(own, taints_.end(), [](std::int64_t n) { return n > 0; }) ? 1
                                                                                            : 0);
  }
  on_node_.resize(spread * cluster.nodes.size());
  in_zone_.resize(spread * zones_);
  raw_.reserve(cluster.nodes.size());
}

void NodeScores::count(std::uint32_t p, int change) {
  const Pod& pod = cluster_.pods[p];
  const std::size_t place = spread_[index(pod.workload)];
  if (place == kNone) return;
  on_node_[place * cluster_.nodes.size() + index(pod.node)] += change;
  in_zone_[place * zones_ + zone_of_[index(cluster_.nodes[index(pod.node)].pool)]] += change;
}

// Mean of the CPU and memory share that would be free (LeastAllocated) or used (MostAllocated).
// Pods without a request count with the scheduler's default, see scored_cpu and scored_memory.
std::int64_t NodeScores::fit(const Node& node, const WorkloadModel& workload) const {
  const PoolModel& pool = cluster_.pool(node);
  const bool least = cluster_.world->score_policy == scenarios::ScorePolicy::LeastAllocated;
  const auto share = [least](std::int64_t free, std::int64_t allocatable) {
    if (allocatable <= 0) return std::int64_t{0};
    const std::int64_t left = std::max<std::int64_t>(0, free);
    return (least ? left : allocatable - left) * kMostScore / allocatable;
  };
  const scenarios::PodTemplate& pod = workload.spec.pod;
  return (share((node.scored_cpu_free - scored_cpu(pod.cpu_request)).count, pool.node_cpu().count) +
          share((node.scored_memory_free - scored_memory(pod.memory_request)).count,
                pool.node_memory().count)) /
         2;
}

std::int64_t NodeScores::of(const Node& node, std::size_t w) const {
  const WorkloadModel& workload = cluster_.world->workloads[w];
  return fit(node, workload) + balance(cluster_.pool(node), node, workload.spec.pod);
}

void NodeScores::compare(std::vector<Candidate>& nodes, std::size_t workload) {
  if (spreads(workload)) spread(nodes, workload);
  if (avoids_[workload] != 0) avoid_taints(nodes, workload);
}

void NodeScores::spread(std::vector<Candidate>& nodes, std::size_t workload) {
  const std::size_t place = spread_[workload];
  std::ranges::fill(zone_seen_, char{0});
  for (const Candidate& one : nodes) zone_seen_[zone_of_[pool_of(one)]] = 1;
  const auto zones = static_cast<std::size_t>(std::ranges::count(zone_seen_, char{1}));
  raw_.clear();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (const Candidate& one : nodes) {
    const std::size_t zone = zone_of_[pool_of(one)];
    const std::int64_t here = on_node_[place * cluster_.nodes.size() + one.node];
    double sum = spread_term(here, kNodeSkew, nodes.size());
    if (zone + 1 < zones_) sum += spread_term(in_zone_[place * zones_ + zone], kZoneSkew, zones);
    raw_.push_back(std::llround(sum));
    least = std::min(least, raw_.back());
    most = std::max(most, raw_.back());
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].score += kSpreadWeight * (kMostScore * (most + least - raw_[n]) / most);
  }
}

void NodeScores::avoid_taints(std::vector<Candidate>& nodes, std::size_t workload) const {
  const auto taints = [&](const Candidate& one) {
    return taints_[workload * cluster_.world->pools.size() + pool_of(one)];
  };
  std::int64_t most = 0;
  for (const Candidate& one : nodes) most = std::max(most, taints(one));
  if (most == 0) return;  // alike
  for (Candidate& one : nodes)
    one.score += kTaintWeight * (kMostScore - kMostScore * taints(one) / most);
}

}  // namespace slicewise::sim
