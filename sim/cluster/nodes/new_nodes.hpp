#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../run_state.hpp"
#include "node_lives.hpp"
#include "node_rooms.hpp"

namespace slicewise::sim {

// Pools, by their number.
using PoolSet = std::vector<char>;

// Pools that a node for some pods may be of.
struct NodeChoice {
  PoolMask quota = kAnyPool;
  const PoolSet& preferred;
  bool has(std::size_t pool) const { return preferred[pool] != 0 && has_pool(quota, pool); }
};

// Nodes that a provisioner is about to start, with the pods that it puts there in thought.
// Karpenter opens one of any instance type of a NodePool, puts pods of all workloads there as long
// as some type holds them all, and takes the cheapest of these; here a node is of the cheapest that
// holds what it has so far, and is exchanged for another when more come. Source:
// sigs.k8s.io/karpenter, pkg/controllers/provisioning/scheduling, Scheduler.add and NodeClaim.Add,
// and pkg/cloudprovider, InstanceTypes.OrderByPrice.
class NewNodes {
 public:
  NewNodes(RunState& run, NodeLives& nodes);

  // What the provisioner takes the next node of a pool for: the Cluster Autoscaler remembers what
  // the last one was like.
  NodeRooms::Tickets guess_of(std::size_t pool) const;
  // There are none yet; they will be as the provisioner expects, or as they really are.
  void clear(bool as_expected);
  // Puts pods of the workload on them, and opens more. How many are left.
  std::int64_t place(std::size_t workload, const NodeChoice& choice, std::int64_t pods);
  // Whether one may be opened for pods of the workload.
  bool may_open(std::size_t workload, const NodeChoice& choice) const;
  std::int64_t of_pool(std::size_t pool) const { return counts_[pool]; }
  // As if one of the pool were not there.
  void leave_out(std::size_t pool) { --counts_[pool]; }
  // Where the only one is to be; none where there are several, or none.
  std::optional<std::uint32_t> only_place() const;
  // Whether a node pool of Karpenter's, that of this pool, has nodes of spot, too.
  bool may_be_spot(std::size_t pool) const;
  void start(TimePoint asked);

 private:
  struct NewNode {
    std::optional<std::uint32_t> place;
    std::vector<std::pair<std::size_t, std::int64_t>> pods;  // of a workload, so many
    PoolSet pools;                                           // that all of these may be on
  };
  struct Fit {
    std::size_t pool = 0;
    std::int64_t pods = 0;
  };

  NodeRooms::Tickets tickets_of(std::size_t pool) const;
  std::optional<std::size_t> pool_of(const NewNode& node) const;
  bool is_within_limits(std::size_t pool, const NewNode& node) const;
  std::int64_t room(const NewNode& node, std::size_t pool, std::size_t workload) const;
  double waste(const Fit& fit, std::size_t workload) const;
  Fit best_fit(const NewNode& node, std::size_t workload, const NodeChoice& choice,
               std::int64_t pods) const;
  std::int64_t place_on_opened(std::size_t workload, const NodeChoice& choice, std::int64_t pods);
  void fill(NewNode& node, const Fit& fit, std::size_t workload, const NodeChoice& choice);
  void exchange(NewNode& node, std::size_t pool);

  RunState& run_;
  NodeLives& lives_;
  NodeRooms& rooms_;
  bool as_expected_ = true;
  std::vector<NewNode> nodes_;
  std::vector<std::int64_t> counts_;  // by pool
  std::vector<std::size_t> turns_;    // by pool: of its node pool
};

}  // namespace slicewise::sim
