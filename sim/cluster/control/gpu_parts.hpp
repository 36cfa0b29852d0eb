#pragma once

#include <cstdint>
#include <optional>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../state.hpp"

namespace slicewise::sim {

// The parts of GPUs that HAMi's scheduler extender and KAI scheduler have given to pods, and their
// choice among GPUs and nodes. What a node has free of a part is what all of its GPUs together have
// room for. Source: Project-HAMi/HAMi 2.10, pkg/device/nvidia/device.go (Fit),
// pkg/scheduler/policy; NVIDIA/KAI-Scheduler, plugins gpupack, gpusharingorder and nodeplacement.
class GpuParts {
 public:
  explicit GpuParts(ClusterState& cluster) : cluster_(cluster) {}

  // Why pods of the workload find no part on the node; of GPUs with several reasons, that of most.
  // REQUIRES: its pool keeps books.
  std::optional<RejectCause> reject(std::uint32_t node, std::size_t workload) const;

  // The higher, the sooner the node is taken. HAMi sums up which shares of its GPUs' places, cores
  // and memory are given away; KAI prefers a GPU that is shared already, then the fewest free GPUs.
  std::int64_t score(std::uint32_t node, std::size_t workload) const;

  // Gives the pod, whose node is known, its parts. REQUIRES: reject() has no cause.
  void take(Pod& pod);
  void give_back(const Pod& pod);

 private:
  const GpuPart& part_of(const Pod& pod) const;
  DomainId choose(const Node& node, const GpuPart& part) const;
  void count(Node& node);

  ClusterState& cluster_;
};

}  // namespace slicewise::sim
