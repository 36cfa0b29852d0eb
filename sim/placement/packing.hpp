#pragma once

#include <algorithm>
#include <cstdint>

#include "node_table.hpp"

namespace slicewise::sim {

// GPUs that are shared already come first, then free GPUs of nodes in use, then idle nodes.
// Source: Weng et al., "MLaaS in the wild", NSDI'22, in the form of Weng et al. (ATC'23), artefact,
// gpu_packing_score.go.
struct Packing {
  static std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) {
    if (demand.gpus == 0) return 0;
    const NodeFree& free = nodes.free(node);
    if (free.whole_gpus == free.gpus) {
      return static_cast<std::uint8_t>(std::max(kIdleNode - free.gpus, int{free.gpus}));
    }
    if (!demand.shares_gpu()) {
      return static_cast<std::uint8_t>(std::max(kFreeGpu - demand.gpus, kIdleNode));
    }
    std::int32_t least = kWholeGpu;
    for (const std::int16_t milli : nodes.gpus(node)) {
      if (milli >= demand.gpu_milli) least = std::min(least, std::int32_t{milli});
    }
    if (least == kWholeGpu) return kFreeGpu - 1;
    return static_cast<std::uint8_t>(100 - least * 100 / kWholeGpu / 10);
  }

 private:
  static constexpr int kIdleNode = 100 / 3;
  static constexpr int kFreeGpu = 100 / 2;
};

}  // namespace slicewise::sim
