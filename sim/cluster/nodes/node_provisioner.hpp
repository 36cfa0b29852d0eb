#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../control/disruption_budgets.hpp"
#include "../control/scheduler.hpp"
#include "../run_state.hpp"
#include "node_disruption.hpp"
#include "node_lives.hpp"
#include "node_rooms.hpp"
#include "pod_packing.hpp"

namespace slicewise::sim {

// Karpenter and the Cluster Autoscaler: when they look, and which nodes start.
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
  void arm_removal();
  void open_rooms(bool as_expected);
  void place_pending(bool as_expected);
  void note_kept_off(std::size_t workload, PoolMask pools);
  bool start_nodes();
  bool pods_are_new() const;

  RunState& run_;
  const Scheduler& scheduler_;
  NodeRooms& rooms_;
  NodeLives& nodes_;
  PodPacking packing_;
  NodeDisruption disruption_;
  bool grows_ = false;                      // it adds nodes to some pool
  std::vector<std::int64_t> needed_;        // by pool, scratch
  std::optional<TimePoint> batch_began_;    // Karpenter's batching window
  TimePoint asked_;                         // since when it is at the decision it now takes
  std::optional<TimePoint> last_scale_up_;  // Cluster Autoscaler
};

}  // namespace slicewise::sim
