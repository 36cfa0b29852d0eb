#pragma once

#include <algorithm>
#include <cstdint>

#include "node_table.hpp"

namespace slicewise::sim {

// 100 x (1 - half the dot product of what is asked for and what is free), CPU and GPUs as shares of
// the most that any node has: the less is free of what the job needs most, the better.
// Source: Grandl et al., "Multi-resource packing for cluster schedulers" (Tetris), SIGCOMM'14, in
// the form of Weng et al. (ATC'23), artefact, dot_product_score.go with GPUs merged.
class DotProduct {
 public:
  explicit DotProduct(const NodeTable& nodes)
      : cpu_(static_cast<double>(std::max<std::int64_t>(1, nodes.most_cpu()))),
        gpu_(static_cast<double>(std::max(1, nodes.most_gpus() * kWholeGpu))) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    const NodeFree& free = nodes.free(node);
    const double cpu =
        static_cast<double>(free.cpu) / cpu_ * (static_cast<double>(demand.cpu) / cpu_);
    const double gpu = static_cast<double>(free.gpu_milli) / gpu_ *
                       (static_cast<double>(demand.total_milli()) / gpu_);
    return static_cast<std::uint8_t>(100 * (1 - (cpu + gpu) / 2));
  }

 private:
  double cpu_;
  double gpu_;
};

}  // namespace slicewise::sim
