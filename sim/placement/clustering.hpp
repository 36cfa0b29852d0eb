#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node_table.hpp"

namespace slicewise::sim {

// Jobs that ask for as many GPUs stay together: best is a node that holds only such jobs, then one
// that holds some, then an idle one; among equals the one with the least left.
// Source: Xiao et al., "Gandiva", OSDI'18, in the form of Weng et al. (ATC'23), artefact,
// gpu_clustering_score.go.
class Clustering {
 public:
  explicit Clustering(const NodeTable& nodes)
      : gpu_(std::max(1, nodes.most_gpus() * kWholeGpu)), residents_(nodes.size()) {}

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const {
    if (demand.gpus == 0) return 0;
    const Residents& residents = residents_[node];
    int quarter = 0;
    if (residents.kinds == 0) {
      quarter = 1;
    } else if ((residents.kinds & (1U << kind(demand))) != 0) {
      quarter = std::has_single_bit(residents.kinds) ? 3 : 2;
    }
    const int used = 25 * (gpu_ - nodes.free(node).gpu_milli) / gpu_;
    return static_cast<std::uint8_t>(25 * quarter + used);
  }

  void taken(std::uint32_t node, const NodeDemand& demand) {
    if (demand.gpus == 0) return;
    ++residents_[node].count[kind(demand)];
    residents_[node].kinds |= 1U << kind(demand);
  }

  void given(std::uint32_t node, const NodeDemand& demand) {
    if (demand.gpus == 0) return;
    if (--residents_[node].count[kind(demand)] == 0)
      residents_[node].kinds &= ~(1U << kind(demand));
  }

 private:
  struct Residents {
    std::uint32_t kinds = 0;  // bit mask of those with a count
    std::array<std::uint16_t, kMostGpusOfNode + 1> count{};
  };

  // 0 for a share of a GPU, else the number of GPUs.
  static std::size_t kind(const NodeDemand& demand) {
    return demand.shares_gpu() ? 0 : static_cast<std::size_t>(demand.gpus);
  }

  std::int32_t gpu_;
  std::vector<Residents> residents_;
};

}  // namespace slicewise::sim
