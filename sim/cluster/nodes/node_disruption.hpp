#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../control/disruption_budgets.hpp"
#include "../run_state.hpp"
#include "node_lives.hpp"
#include "node_rooms.hpp"
#include "pod_packing.hpp"

namespace slicewise::sim {

// Which nodes go: Karpenter's consolidation and expiry, the Cluster Autoscaler's scale-down. Not
// modelled: several nodes that are replaced by one.
class NodeDisruption {
 public:
  // Karpenter looks for nodes to remove this often.
  // Source: sigs.k8s.io/karpenter, pkg/controllers/disruption, pollingPeriod.
  static constexpr Duration kPollingPeriod = seconds(10);

  NodeDisruption(RunState& run, NodeLives& nodes, const DisruptionBudgets& budgets,
                 PodPacking& packing);

  // Karpenter: nodes whose life is over are drained, whatever runs there.
  void end_expired();
  // Karpenter removes all empty nodes, and of the others the one with the fewest pods that fit on
  // nodes that are there, or on these and a cheaper new one.
  void consolidate();
  // The Cluster Autoscaler removes all nodes that were empty for long enough, and one whose pods
  // fit elsewhere. Shortly after it started some it only looks how long nodes are unneeded.
  void remove_unneeded(std::optional<TimePoint> last_scale_up);

 private:
  TimePoint due_at(const Node& node) const;
  bool may_go(std::uint32_t node);
  bool is_as_before();
  bool is_removable(const Node& node) const;
  bool ask_who_stays();
  bool holds_back(const Node& node) const;
  void list_candidates();
  void open_others(std::uint32_t candidate, bool with_empty);
  bool fits_elsewhere(std::uint32_t candidate);
  UsdPerHour price_in(std::size_t pool) const;
  bool is_cheaper_somewhere(UsdPerHour now) const;
  bool replace(std::uint32_t candidate);

  RunState& run_;
  NodeRooms& rooms_;
  NodeLives& nodes_;
  const DisruptionBudgets& budgets_;
  PodPacking& packing_;
  std::vector<std::size_t> first_of_;      // by pool: the first of its NodePool
  std::vector<std::uint32_t> candidates_;  // scratch
  std::vector<PodsToMove> its_;            // scratch: pods of a candidate
  bool expires_ = false;                   // nodes of some pool have a life
  std::vector<char> keeps_;                // by workload: its pods say that they keep their node
  std::vector<char> stays_;                // ... or keep it now, by a budget
  bool any_stays_ = false;
  // Consolidation: the last look, how many nodes each pool had, whether that has changed, and when
  // the next one is due.
  TimePoint looked_;
  std::vector<int> nodes_then_;
  bool nodes_changed_ = false;
  TimePoint next_due_;
};

}  // namespace slicewise::sim
