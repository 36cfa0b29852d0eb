#include "node_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "slicewise/portable_math.hpp"

#include "../../world/admission.hpp"
#include "../../world/pod_company.hpp"

namespace slicewise::sim {
namespace {

constexpr std::int64_t kMostScore = 100;

// What the scores count for a container without a request.
// Source: Kubernetes pkg/scheduler/util/pod_resources.go, DefaultMilliCPURequest and
// DefaultMemoryRequest.
constexpr Millicores kUnrequestedCpu{100};
constexpr Bytes kUnrequestedMemory{200LL * 1024 * 1024};

constexpr int kSpreadWeight = 2;
constexpr int kAffinityWeight = 2;
constexpr int kNodeAffinityWeight = 2;
constexpr int kTaintWeight = 3;

// PodTopologySpread's system defaults, both ScheduleAnyway.
constexpr int kNodeSkew = 3;
constexpr int kZoneSkew = 5;
constexpr std::int64_t kIgnored = -1;

double used_share(std::int64_t used, std::int64_t all) {
  return std::min(1.0, static_cast<double>(used) / static_cast<double>(all));
}

// The closer the shares of CPU and memory in use are to each other.
std::int64_t balance(double cpu, double memory) {
  return static_cast<std::int64_t>((1 - std::abs((cpu - memory) / 2)) * kMostScore);
}

// By how much the pod evens out what of a node is in use: 75 if not at all. A pod without any
// request is not scored.
std::int64_t balance(const PoolModel& pool, const Node& node, const PodTemplate& pod) {
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

std::int64_t disliked(const PoolModel& pool, const PodTemplate& pod) {
  return std::ranges::count_if(pool.taints, [&](const scenarios::Taint& taint) {
    return taint.effect == "PreferNoSchedule" && !scenarios::tolerates_any(pod.tolerations, taint);
  });
}

std::int64_t liked(const PoolModel& pool, const PodTemplate& pod) {
  std::int64_t weight = 0;
  for (const scenarios::PreferredNodes& nodes : pod.preferences.nodes) {
    if (meets(pool.labels, nodes.requirements)) weight += nodes.weight;
  }
  return weight;
}

}  // namespace

Millicores scored_cpu(Millicores request) { return request.count > 0 ? request : kUnrequestedCpu; }

Bytes scored_memory(Bytes request) { return request.count > 0 ? request : kUnrequestedMemory; }

NodeScores::NodeScores(const ClusterState& cluster)
    : cluster_(cluster),
      tallies_(*cluster.world, pools_of_nodes(cluster)),
      spread_(cluster.world->workloads.size()),
      likes_(cluster.world->workloads.size()) {
  const World& world = *cluster.world;
  const bool any_likes = std::ranges::any_of(world.workloads, [](const WorkloadModel& workload) {
    const scenarios::PodPreferences& wants = workload.spec.pod.preferences;
    return !wants.affinity.empty() || !wants.anti_affinity.empty();
  });
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    add_spread(w);
    if (any_likes) add_likes(w);
    add_pools(w);
  }
  raw_.reserve(cluster.nodes.size());
}

void NodeScores::add_pools(std::size_t w) {
  const PodTemplate& pod = cluster_.world->workloads[w].spec.pod;
  bool any = false;
  for (const PoolModel& pool : cluster_.world->pools) {
    appeals_.push_back({disliked(pool, pod), liked(pool, pod)});
    any = any || appeals_.back().taints > 0 || appeals_.back().weight > 0;
  }
  told_apart_.push_back(any);
}

void NodeScores::add_spread(std::size_t w) {
  const World& world = *cluster_.world;
  const Workload& workload = world.workloads[w].spec;
  const auto& own = workload.pod.preferences.spread;
  Spreading& by = spread_[w];
  by.is_own = !own.empty();
  for (const scenarios::TopologySpread& rule : own) {
    if (rule.is_required()) continue;
    const std::vector<char> counted = counted_pools(world, workload.pod, rule);
    by.rules.push_back({tallies_.add(rule.topology_key, counted), rule.max_skew});
    for (std::size_t other = 0; other < world.workloads.size(); ++other) {
      if (!selects(workload, rule, world.workloads[other].spec)) continue;
      tallies_.take(by.rules.back().tally, other, 1);
    }
  }
  const bool has_replica_set =
      workload.kind == WorkloadKind::Deployment || workload.kind == WorkloadKind::Service;
  if (!own.empty() || !has_replica_set) return;
  const std::vector<char> counted = counted_pools(world, workload.pod, {});
  by.rules = {{tallies_.add(scenarios::kHostname, counted), kNodeSkew},
              {tallies_.add(scenarios::kZoneLabel, counted), kZoneSkew}};
  for (const SpreadRule& rule : by.rules) tallies_.take(rule.tally, w, 1);
}

// What the pods of the workload and those that are there think of each other.
void NodeScores::add_likes(std::size_t w) {
  const World& world = *cluster_.world;
  const std::vector<char> everywhere(world.pools.size(), 1);
  const Workload& workload = world.workloads[w].spec;
  std::map<std::string, std::size_t> tally_of;  // by label
  const auto add = [&](const Workload& one, const Workload& other,
                       std::map<std::string, std::int64_t>& weights) {
    const scenarios::PodPreferences& wants = one.pod.preferences;
    for (const auto* terms : {&wants.affinity, &wants.anti_affinity}) {
      const int sign = terms == &wants.affinity ? 1 : -1;
      for (const scenarios::PodAffinityTerm& term : *terms) {
        if (selects(one, term, other))
          weights[term.topology_key] += std::int64_t{sign} * term.weight;
      }
    }
  };
  for (std::size_t v = 0; v < world.workloads.size(); ++v) {
    std::map<std::string, std::int64_t> weights;  // of one of its pods, by label
    add(workload, world.workloads[v].spec, weights);
    add(world.workloads[v].spec, workload, weights);
    for (const auto& [label, weight] : weights) {
      const auto [at, is_new] = tally_of.try_emplace(label);
      if (is_new) likes_[w].push_back(at->second = tallies_.add(label, everywhere));
      tallies_.take(at->second, v, weight);
    }
  }
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
  const PodTemplate& pod = workload.spec.pod;
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
  if (nodes.empty()) return;
  if (!spread_[workload].rules.empty()) spread(nodes, spread_[workload]);
  if (!likes_[workload].empty()) like(nodes, likes_[workload]);
  if (told_apart_[workload]) choose_pools(nodes, workload);
}

bool NodeScores::is_ignored(const Candidate& one, const Spreading& by) const {
  return by.is_own && std::ranges::any_of(by.rules, [&](const SpreadRule& rule) {
           return !tallies_.has_label(rule.tally, one.node);
         });
}

// Those with one of the nodes.
std::size_t NodeScores::domains_of(const std::vector<Candidate>& nodes, const Spreading& by,
                                   std::size_t tally) {
  seen_.assign(tallies_.domains(tally), char{0});
  for (const Candidate& one : nodes) {
    if (!is_ignored(one, by)) seen_[tallies_.domain(tally, one.node)] = 1;
  }
  return static_cast<std::size_t>(std::ranges::count(seen_, char{1}));
}

void NodeScores::spread(std::vector<Candidate>& nodes, const Spreading& by) {
  sums_.assign(nodes.size(), 0);
  for (const SpreadRule& rule : by.rules) {
    const double weight = portable_log(static_cast<double>(domains_of(nodes, by, rule.tally) + 2));
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (!tallies_.has_label(rule.tally, nodes[n].node)) continue;
      // maxSkew - 1 waters differences down.
      sums_[n] += static_cast<double>(tallies_.sum(rule.tally, nodes[n].node)) * weight +
                  (rule.max_skew - 1);
    }
  }
  raw_.clear();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    raw_.push_back(is_ignored(nodes[n], by) ? kIgnored : std::llround(sums_[n]));
    if (raw_.back() == kIgnored) continue;
    least = std::min(least, raw_.back());
    most = std::max(most, raw_.back());
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (raw_[n] == kIgnored) continue;
    const std::int64_t score =
        most == 0 ? kMostScore : kMostScore * (most + least - raw_[n]) / most;
    nodes[n].score += kSpreadWeight * score;
  }
}

void NodeScores::like(std::vector<Candidate>& nodes, const std::vector<std::size_t>& tallies) {
  raw_.clear();
  for (const Candidate& one : nodes) {
    std::int64_t sum = 0;
    for (const std::size_t tally : tallies) {
      if (tallies_.has_label(tally, one.node)) sum += tallies_.sum(tally, one.node);
    }
    raw_.push_back(sum);
  }
  const auto [least, most] = std::ranges::minmax(raw_);
  if (least == most) return;  // alike
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const double share = static_cast<double>(raw_[n] - least) / static_cast<double>(most - least);
    nodes[n].score += kAffinityWeight * static_cast<std::int64_t>(kMostScore * share);
  }
}

// By taints, fewer are better, and by node affinity. Where all nodes are alike in one, it adds
// nothing that tells them apart.
void NodeScores::choose_pools(std::vector<Candidate>& nodes, std::size_t workload) const {
  const PoolAppeal* const appeals = &appeals_[workload * cluster_.world->pools.size()];
  const auto appeal_of = [&](const Candidate& one) -> const PoolAppeal& {
    return appeals[index(cluster_.nodes[one.node].pool)];
  };
  PoolAppeal most;
  for (const Candidate& one : nodes) {
    most.taints = std::max(most.taints, appeal_of(one).taints);
    most.weight = std::max(most.weight, appeal_of(one).weight);
  }
  for (Candidate& one : nodes) {
    const PoolAppeal& appeal = appeal_of(one);
    if (most.taints > 0) {
      one.score += kTaintWeight * (kMostScore - kMostScore * appeal.taints / most.taints);
    }
    if (most.weight > 0) {
      one.score += kNodeAffinityWeight * (kMostScore * appeal.weight / most.weight);
    }
  }
}

}  // namespace slicewise::sim
