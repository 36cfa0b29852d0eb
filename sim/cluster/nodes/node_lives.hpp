#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/cost_ledger.hpp"

#include "../run_state.hpp"
#include "node_rooms.hpp"
#include "usage.hpp"

namespace slicewise::sim {

class PodLife;

// Of a node of the pool, with or without its fallback from spot.
UsdPerHour hourly_price(const PoolModel& pool, bool on_demand);

// The way of a node: launching -> booting -> registered -> ready -> draining, and its bill. Where
// nodes do not come and go they are Ready from the start, and only billed.
class NodeLives {
 public:
  // What there is of a pool.
  struct PoolProgress {
    std::uint32_t first_node = 0;
    int nodes = 0;                         // that start or are there, and do not end
    int billed = 0;                        // those that end with them
    std::optional<TimePoint> interrupted;  // the last time
    bool seen = false;                     // a node with all its resources
    bool accelerator_label = false;        // k8s.amazonaws.com/accelerator
    std::int64_t surplus = 0;              // nodes started without need, not yet removed
  };

  // Karpenter gives up a replacement that takes longer.
  // Source: sigs.k8s.io/karpenter, pkg/controllers/disruption/queue.go, minRetryDuration.
  static constexpr Duration kLongestReplacement = minutes(10);

  NodeLives(RunState& run, Usage& usage, PodLife& pods);

  // What the provisioner puts on nodes in thought: such a place is not free.
  NodeRooms& rooms() { return rooms_; }

  const PoolProgress& pool(std::size_t pool) const { return pools_[pool]; }
  // One where no node is and none was put in thought.
  std::optional<std::uint32_t> free_place(std::size_t pool) const;

  void start(std::uint32_t node, TimePoint asked);
  // One of a spot pool would be its fallback now.
  bool falls_back(std::size_t pool) const;
  // Starts `other` in the place of the node, which takes no more pods; once that has its GPUs, the
  // node goes.
  void replace(std::uint32_t node, std::uint32_t other);
  // Of all nodes, one after the other: the other one is there, or has failed.
  void finish_replacements();
  // The provisioner does without the node.
  void remove(std::uint32_t node);
  // Its life is over: another takes its place where the pool has to have it.
  void expire(std::uint32_t node);
  // More nodes of the pool were started than its pods needed.
  void add_surplus(std::size_t pool, std::int64_t nodes);

  // The timers of a place for a node: its next stage, and EC2 takes it back.
  void on_timer(std::uint32_t node);
  void interrupt(std::uint32_t node);

  // What the node cost from its launch until now, and what its GPUs did meanwhile.
  void bill(std::uint32_t node);

 private:
  bool is_over(const Node& node) const;
  void launch(std::uint32_t node);
  void enroll(std::uint32_t node);
  void offer_gpus(std::uint32_t node);
  void arm_interruption(std::uint32_t node);
  void cordon(std::uint32_t node);
  bool evict_pods(std::uint32_t node);
  void drain(std::uint32_t node);
  void end(std::uint32_t node);
  void keep_least(std::size_t pool);

  RunState& run_;
  Usage& usage_;
  NodeRooms rooms_;
  PodLife& pods_;
  std::vector<PoolProgress> pools_;
  std::vector<std::uint32_t> replaced_;      // nodes that wait for the one in their place
  std::vector<RandomStream> starts_;         // by node; empty when none comes or goes
  std::vector<RandomStream> interruptions_;  // likewise
  std::vector<GpuShareOfTime> shares_;       // scratch of bill
};

}  // namespace slicewise::sim
