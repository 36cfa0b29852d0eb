#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "../state.hpp"
#include "disruption_budgets.hpp"
#include "nominations.hpp"

namespace slicewise::sim {

// Whose place a pod takes that fits nowhere, as kube-scheduler's DefaultPreemption has it. On each
// node all pods of lower priority are gone in thought; if the pod fits then, they come back one by
// one, those first that a PodDisruptionBudget would not let go, the most important first (higher
// priority, then the older), as long as it still fits: the others are the victims. The node is the
// one with the fewest victims against a budget, whose most important victim has the lowest
// priority, then that with the lowest sum of priorities, the fewest victims, the victim of highest
// priority that started last; then the first. Not as in Kubernetes: all nodes are looked at (there
// 100 or a tenth of them, from a random one on), and of equals the first is taken (there any).
// Source: Kubernetes 1.36, pkg/scheduler/framework/plugins/defaultpreemption and
// pkg/scheduler/framework/preemption.
class VictimChoice {
 public:
  VictimChoice(const ClusterState& cluster, const Nominations& nominated)
      : cluster_(cluster), nominated_(nominated), company_(cluster.company) {}

  // For the pod; nullopt: none makes it fit. Else victims() are on that node.
  std::optional<std::uint32_t> node_for(std::uint32_t pod, const DisruptionBudgets& budgets);
  const std::vector<std::uint32_t>& victims() const { return best_; }

 private:
  // Of a node's victims; the least is taken.
  struct Rank {
    std::int64_t against_budgets = 0;
    int highest = 0;
    std::int64_t sum = 0;
    std::size_t count = 0;
    std::int64_t minus_start_s = 0;

    auto operator<=>(const Rank&) const = default;
  };

  int priority(std::uint32_t pod) const { return cluster_.model(cluster_.pods[pod]).spec.priority; }
  // The most important first.
  std::tuple<std::int64_t, TimePoint, std::uint32_t> importance(std::uint32_t pod) const {
    return {-std::int64_t{priority(pod)}, cluster_.pods[pod].bound, pod};
  }
  void find_lower(std::uint32_t node, int than);
  void put_kept_first();
  bool spare(std::uint32_t node, std::uint32_t pod);
  Rank rank() const;

  const ClusterState& cluster_;
  const Nominations& nominated_;
  PodCompany company_;                                // in thought
  std::vector<std::uint32_t> lower_;                  // on a node, of lower priority
  std::size_t kept_ = 0;                              // of them, the first ones: by a budget
  std::vector<std::optional<std::int64_t>> allowed_;  // by workload; empty: there are no budgets
  std::vector<std::uint32_t> victims_;                // of these
  std::int64_t against_budgets_ = 0;                  // of the victims
  std::vector<std::uint32_t> best_;                   // of the node that was chosen
};

}  // namespace slicewise::sim
