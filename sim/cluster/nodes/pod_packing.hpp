#pragma once

#include <cstdint>
#include <vector>

#include "../control/scheduler.hpp"
#include "../run_state.hpp"
#include "new_nodes.hpp"
#include "node_lives.hpp"
#include "node_rooms.hpp"

namespace slicewise::sim {

// Pods of a workload that need room.
struct PodsToMove {
  std::size_t workload = 0;
  PoolMask pools = kAnyPool;  // that their quota is of
  std::int64_t pods = 0;
};

// Which nodes pods would go to, as Karpenter and the Cluster Autoscaler reckon it before they start
// or remove one: onto those whose NodeRooms are open, and onto NewNodes. Pods of one workload are
// alike: a node takes as many as fit at once.
class PodPacking {
 public:
  PodPacking(RunState& run, const Scheduler& scheduler, NodeLives& nodes);

  NewNodes& new_nodes() { return new_nodes_; }
  const NewNodes& new_nodes() const { return new_nodes_; }
  // Workloads, those whose pods ask for most CPU first.
  const std::vector<std::size_t>& order() const { return order_; }

  // No new nodes yet; they will be as is expected, or as they really are (NewNodes::clear).
  void begin(bool as_expected);
  // Those of the workload that are Pending, and that are on nodes that drain.
  std::vector<PodsToMove> to_place(std::size_t workload) const;
  // On nodes that are there or on new ones; how many are left.
  std::int64_t place_anywhere(const PodsToMove& some);
  // As many as go onto nodes that are there, whatever they prefer.
  void place_on_nodes(const PodsToMove& some);
  // Whether all of them go onto nodes that have room. Karpenter starts one that they prefer before
  // it puts them onto one that they do not.
  bool fit_on_nodes(PodsToMove some);

 private:
  std::int64_t place_on(const NodeChoice& choice, std::size_t workload, std::int64_t pods);

  RunState& run_;
  const Scheduler& scheduler_;
  NodeRooms& rooms_;
  NewNodes new_nodes_;
  std::vector<std::size_t> order_;
  std::vector<PodsToMove> leaving_;  // from nodes that drain
  // By workload: where it looks for room, one set after the other, at last among all.
  std::vector<std::vector<PoolSet>> preferred_;
};

// Adds the node's pods to those of their kind.
void add_pods_of(const ClusterState& cluster, const Node& node, std::vector<PodsToMove>& pods);

}  // namespace slicewise::sim
