#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// What the scores count for a pod: a container without a request counts with a default.
Millicores scored_cpu(Millicores request);
Bytes scored_memory(Bytes request);

// How well a node suits a pod, as the default profile of kube-scheduler adds it up:
// NodeResourcesFit (weight 1, LeastAllocated or MostAllocated) and NodeResourcesBalancedAllocation
// (1), which look at one node by itself; PodTopologySpread's system defaults (2) and
// TaintToleration (3), which are normalised over the nodes that a pod fits on. The others give all
// nodes the same here: there is no affinity, and images are not looked at.
// Source: Kubernetes 1.36, pkg/scheduler/framework/plugins and apis/config/v1/default_plugins.go.
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
  bool compares(std::size_t workload) const { return spreads(workload) || avoids_[workload] != 0; }
  // Adds that, for the nodes that a pod fits on. Not for recorded jobs and where all nodes are
  // alike in it: O(nodes).
  void compare(std::vector<Candidate>& nodes, std::size_t workload);

  void bound(std::uint32_t pod) { count(pod, 1); }
  void released(std::uint32_t pod) { count(pod, -1); }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  // What has a ReplicaSet; kube-scheduler finds no selector for the pods of Jobs.
  bool spreads(std::size_t workload) const { return spread_[workload] != kNone; }
  std::int64_t fit(const Node& node, const WorkloadModel& workload) const;
  void spread(std::vector<Candidate>& nodes, std::size_t workload);
  void avoid_taints(std::vector<Candidate>& nodes, std::size_t workload) const;
  void count(std::uint32_t pod, int change);
  std::size_t pool_of(const Candidate& one) const { return index(cluster_.nodes[one.node].pool); }

  const ClusterState& cluster_;
  std::vector<std::size_t> zone_of_;   // by pool; the last: it has no label
  std::size_t zones_ = 1;              // with the last
  std::vector<std::size_t> spread_;    // by workload: its place in the counts
  std::vector<std::int64_t> on_node_;  // pods, by that place and node
  std::vector<std::int64_t> in_zone_;  // likewise, by zone
  std::vector<std::int64_t> taints_;   // PreferNoSchedule, not tolerated, by workload and pool
  std::vector<char> avoids_;           // by workload: some are
  std::vector<std::int64_t> raw_;      // scratch, by candidate
  std::vector<char> zone_seen_;        // likewise, by zone
};

}  // namespace slicewise::sim
