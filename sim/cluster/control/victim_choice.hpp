#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "../state.hpp"
#include "nominations.hpp"

namespace slicewise::sim {

// Whose place a pod takes that fits nowhere, as kube-scheduler's DefaultPreemption has it. On each
// node all pods of lower priority are gone in thought; if the pod fits then, they come back one by
// one, the most important first (higher priority, then the older), as long as it still fits: the
// others are the victims. The node is the one whose most important victim has the lowest priority,
// then that with the lowest sum of priorities, the fewest victims, the victim of highest priority
// that started last; then the first. Not as in Kubernetes: there are no PodDisruptionBudgets, all
// nodes are looked at (there 100 or a tenth of them, from a random one on), and of equals the first
// is taken (there any).
// Source: Kubernetes 1.36, pkg/scheduler/framework/plugins/defaultpreemption and
// pkg/scheduler/framework/preemption.
class VictimChoice {
 public:
  VictimChoice(const ClusterState& cluster, const Nominations& nominated)
      : cluster_(cluster), nominated_(nominated), company_(cluster.anti_affinity) {}

  // For the pod; nullopt: none makes it fit. Else victims() are on that node.
  std::optional<std::uint32_t> node_for(std::uint32_t pod);
  const std::vector<std::uint32_t>& victims() const { return best_; }

 private:
  // Of a node's victims; the least is taken.
  struct Rank {
    int highest = 0;
    std::int64_t sum = 0;
    std::size_t count = 0;
    std::int64_t minus_start_s = 0;

    auto operator<=>(const Rank&) const = default;
  };

  int priority(std::uint32_t pod) const { return cluster_.model(cluster_.pods[pod]).spec.priority; }
  void find_lower(std::uint32_t node, int than);
  bool spare(std::uint32_t node, std::uint32_t pod);
  Rank rank() const;

  const ClusterState& cluster_;
  const Nominations& nominated_;
  AntiAffinity company_;                // in thought
  std::vector<std::uint32_t> lower_;    // on a node, of lower priority
  std::vector<std::uint32_t> victims_;  // of these
  std::vector<std::uint32_t> best_;     // of the node that was chosen
};

}  // namespace slicewise::sim
