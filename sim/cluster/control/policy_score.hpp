#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/placement/placement.hpp"

#include "../state.hpp"

namespace slicewise::sim {

// A policy of `slicewise replay` in the place of kube-scheduler's score. It sees nodes as a replay
// does: what pods hold of CPU, memory and GPUs, a ticket as the part of the GPU that it stands for.
class PolicyScore {
 public:
  PolicyScore(const ClusterState& cluster, NodePolicy policy, std::uint64_t seed);

  // How much the policy wants a pod of the workload there; more is better.
  int of(std::uint32_t node, std::size_t workload) const;
  // Whether any of the best is as good as the first.
  bool is_random() const { return policy_ == NodePolicy::Random; }

  // The pod holds its node and tickets, or gives them back.
  void bound(std::uint32_t pod);
  void released(std::uint32_t pod);

 private:
  ShapeId shape(std::size_t workload, PoolId pool) const;

  const ClusterState& cluster_;
  NodePolicy policy_;
  Placement placement_;
  std::vector<std::optional<AllocationId>> held_;  // by pod
};

}  // namespace slicewise::sim
