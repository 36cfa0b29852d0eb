#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../control/disruption_budgets.hpp"
#include "../control/scheduler.hpp"
#include "../run_state.hpp"
#include "new_nodes.hpp"
#include "node_lives.hpp"
#include "node_rooms.hpp"

namespace slicewise::sim {

// Karpenter and the Cluster Autoscaler: which nodes start, which are taken away, and which are
// replaced by a cheaper one. Not modelled: several nodes that are replaced by one.
class NodeProvisioner {
 public:
  NodeProvisioner(RunState& run, const Scheduler& scheduler, NodeLives& nodes,
                  const DisruptionBudgets& budgets);

  // After each look of the scheduler: pods are Pending that it could not place.
  void ask_for_nodes();
  // The provisioner's two timers.
  void on_timer();
  void on_removal_timer();

 private:
  struct PodsToMove {
    std::size_t workload = 0;
    PoolMask pools = kAnyPool;  // that their quota is of
    std::int64_t pods = 0;
  };

  void arm_removal();
  void open_rooms(bool as_expected);
  void add_pods_of(const Node& node);
  void list_pods_that_leave();
  std::vector<std::pair<PoolMask, std::int64_t>> pods_to_place(std::size_t workload) const;
  void place_pending(bool as_expected);
  std::int64_t place_anywhere(std::size_t workload, PoolMask pools, std::int64_t pods);
  std::int64_t place_on_nodes(std::size_t workload, const NodeChoice& choice, std::int64_t pods);
  bool fit_on_nodes(std::size_t workload, PoolMask pools, std::int64_t pods);
  void note_kept_off(std::size_t workload, PoolMask pools);
  bool start_nodes();
  bool pods_are_new() const;
  bool is_removable(const Node& node) const;
  bool ask_who_stays();
  bool holds_back(const Node& node) const;
  void open_others(std::uint32_t candidate, bool with_empty);
  bool fits_elsewhere(std::uint32_t candidate);
  bool replace(std::uint32_t candidate);
  void end_expired();
  void consolidate();
  void remove_unneeded();

  RunState& run_;
  const Scheduler& scheduler_;
  NodeRooms& rooms_;
  NodeLives& nodes_;
  const DisruptionBudgets& budgets_;
  NewNodes new_nodes_;
  std::vector<std::size_t> packing_order_;  // workloads, those that ask for most CPU first
  std::vector<PodsToMove> pods_to_move_;    // scratch: of nodes that drain, then of a candidate
  std::vector<std::uint32_t> candidates_;   // for consolidation, scratch
  // By workload: where it looks for room, one set after the other, at last among all.
  std::vector<std::vector<PoolSet>> preferred_;
  bool grows_ = false;                 // it adds nodes to some pool
  std::vector<std::size_t> first_of_;  // by pool: the first of its NodePool
  std::vector<char> stays_;            // by workload: its pods keep their node now
  bool any_stays_ = false;
  std::optional<TimePoint> batch_began_;    // Karpenter's batching window
  TimePoint asked_;                         // since when it is at the decision it now takes
  std::optional<TimePoint> last_scale_up_;  // Cluster Autoscaler
  // Consolidation: the last look, how many nodes each pool had, and when the next one is due.
  TimePoint looked_;
  std::vector<int> nodes_then_;
  TimePoint next_due_;
};

}  // namespace slicewise::sim
