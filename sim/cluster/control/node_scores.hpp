#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../world/domain_tallies.hpp"
#include "../state.hpp"

namespace slicewise::sim {

// What the scores count for a pod: a container without a request counts with a default.
Millicores scored_cpu(Millicores request);
Bytes scored_memory(Bytes request);

// How well a node suits a pod, as the default profile of kube-scheduler adds it up:
// NodeResourcesFit (weight 1, LeastAllocated or MostAllocated) and NodeResourcesBalancedAllocation
// (1), which look at one node by itself; PodTopologySpread (2), InterPodAffinity (2), NodeAffinity
// (2) and TaintToleration (3), which are normalised over the nodes that a pod fits on. The others
// give all nodes the same here: images are not looked at.
// Source: Kubernetes 1.36, pkg/scheduler/framework/plugins: podtopologyspread/scoring.go,
// interpodaffinity/scoring.go and nodeaffinity/node_affinity.go, PreScore, Score and NormalizeScore
// of each; apis/config/v1/default_plugins.go.
class NodeScores {
 public:
  struct Candidate {
    std::uint32_t node = 0;
    std::int64_t score = 0;
  };

  explicit NodeScores(const ClusterState& cluster);

  // By the node alone.
  std::int64_t of(const Node& node, std::size_t workload) const;
  // Whether it also hangs on the other nodes.
  bool compares(std::size_t workload) const {
    return !spread_[workload].rules.empty() || !likes_[workload].empty() || told_apart_[workload];
  }
  // Adds that, for the nodes that a pod fits on. Not for recorded jobs and where all nodes are
  // alike in it: O(nodes).
  void compare(std::vector<Candidate>& nodes, std::size_t workload);

  void bound(std::uint32_t pod) { count(pod, 1); }
  void released(std::uint32_t pod) { count(pod, -1); }

 private:
  struct SpreadRule {
    std::size_t tally = 0;
    int max_skew = 1;
  };
  // The pods' own rules want all their labels of a node; without them there are kube-scheduler's,
  // for what has a ReplicaSet: it finds no selector for the pods of Jobs.
  struct Spreading {
    std::vector<SpreadRule> rules;
    bool is_own = false;
  };

  // Of the nodes of a pool to pods.
  struct PoolAppeal {
    std::int64_t taints = 0;  // PreferNoSchedule, not tolerated
    std::int64_t weight = 0;  // of the preferences that they meet
  };

  void count(std::uint32_t pod, std::int64_t pods) {
    const Pod& one = cluster_.pods[pod];
    tallies_.count(index(one.node), index(one.workload), pods);
  }
  void add_spread(std::size_t workload);
  void add_likes(std::size_t workload);
  void add_pools(std::size_t workload);
  std::int64_t fit(const Node& node, const WorkloadModel& workload) const;
  // Whether the rules say nothing of the node.
  bool is_ignored(const Candidate& one, const Spreading& by) const;
  std::size_t domains_of(const std::vector<Candidate>& nodes, const Spreading& by,
                         std::size_t tally);
  void spread(std::vector<Candidate>& nodes, const Spreading& by);
  void like(std::vector<Candidate>& nodes, const std::vector<std::size_t>& tallies);
  void choose_pools(std::vector<Candidate>& nodes, std::size_t workload) const;

  const ClusterState& cluster_;
  DomainTallies tallies_;
  std::vector<Spreading> spread_;                // by workload
  std::vector<std::vector<std::size_t>> likes_;  // tallies, by workload
  std::vector<PoolAppeal> appeals_;              // by workload, then by pool
  std::vector<bool> told_apart_;                 // by workload: pools by their appeal
  std::vector<std::int64_t> raw_;                // scratch, by candidate
  std::vector<double> sums_;                     // likewise
  std::vector<char> seen_;                       // likewise, by domain
};

}  // namespace slicewise::sim
