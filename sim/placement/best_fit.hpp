#pragma once

#include <algorithm>
#include <cstdint>

#include "node_table.hpp"

namespace slicewise::sim {

// 100 less what would be left over: the mean of CPU and GPUs, each as a percentage of the most that
// any node has. kube-scheduler spreads the scores over 0..100 afterwards, which keeps their order.
// Source: Weng et al. (ATC'23), artefact, best_fit_score.go.
class BestFit {
 public:
  explicit BestFit(const NodeTable& nodes)
      : cpu_(std::max<std::int64_t>(1, nodes.most_cpu())),
        gpu_(std::max<std::int64_t>(1, std::int64_t{nodes.most_gpus()} * kWholeGpu)) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    const NodeFree& free = nodes.free(node);
    const std::int64_t left =
        (free.cpu - demand.cpu) * gpu_ + (free.gpu_milli - demand.total_milli()) * cpu_;
    const std::int64_t all = 2 * cpu_ * gpu_;
    return static_cast<std::uint8_t>(100 * (all - left) / all);
  }

 private:
  std::int64_t cpu_;
  std::int64_t gpu_;
};

}  // namespace slicewise::sim
