#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "../state.hpp"

namespace slicewise::sim {

// What decides between jobs where pods are stopped for others: of a `priority` queue when it was
// submitted, else the time that `units` of it take alone on its GPUs, or that times its GPUs. What
// is no Job goes first.
Int128 work_left(const ClusterState& cluster, std::uint32_t pod, double units);

// The Pending pods where pods are stopped for others, of each workload in the order in which they
// go. Who has least left is at the end, where it is taken from without a move of the others.
// Allocates once.
class RankedPods {
 public:
  struct Rank {
    Int128 left = 0;
    TimePoint submitted;
    std::uint32_t row = 0;  // of the trace
    std::uint32_t pod = 0;

    auto operator<=>(const Rank&) const = default;
  };

  explicit RankedPods(const ClusterState& cluster);

  void add(std::uint32_t pod);
  // REQUIRES: it was added.
  void remove(std::uint32_t pod);
  // Of a pod that was added: less goes before more.
  Rank rank(std::uint32_t pod) const {
    return {left_[pod], cluster_.pods[pod].submitted, row_of(cluster_, pod), pod};
  }
  // Who goes first is last.
  std::span<const std::uint32_t> of(std::size_t workload) const { return of_workload_[workload]; }

 private:
  std::vector<std::uint32_t>::iterator place_of(std::uint32_t pod);

  const ClusterState& cluster_;
  std::vector<Int128> left_;  // by pod
  std::vector<std::vector<std::uint32_t>> of_workload_;
};

}  // namespace slicewise::sim
