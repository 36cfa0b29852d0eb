#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "node_table.hpp"

namespace slicewise::sim {

// Fragmentation gradient descent. The fragments of a node are the free GPU thousandths that a
// typical job cannot use, in the mean over the typical jobs: all of them where it asks for no GPU
// or cannot be hosted (CPU, GPUs, model), else those of the GPUs that have less left than it asks
// for of each. A node scores 100 / (1 + exp(growth of its fragments / 1000)), cut to an integer.
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC'23; artefact, fgd_score.go, frag.go.
//
// A job that asks for d of each of its GPUs, and is hosted, can use every GPU that has d left. So
// what is usable adds up over the GPUs of a node, and the weight of a GPU depends on what it has
// left, on the CPU left and on the model: tables. All in integers: the order of a sum cannot
// matter.
class Fragmentation {
 public:
  // `demands` by ShapeId.
  Fragmentation(const NodeTable& nodes, std::span<const NodeDemand> demands,
                std::span<const TypicalJob> typical);

  std::uint8_t score(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const;

  // The GPUs that give the score. Of equals the first.
  std::uint32_t gpus(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const;

  void changed(const NodeTable& nodes, std::uint32_t node);

 private:
  using Weight = std::int64_t;  // in units of 1 / total_

  // Weights at one GPU model and one amount of CPU left.
  struct Row {
    const Weight* one;  // of jobs that ask for (a share of) one GPU, by step of what it has left
    const Weight* several;  // of jobs that ask for 2..n whole GPUs, by n
  };
  Row row(std::uint32_t model, std::int64_t cpu) const;
  Weight of_gpu(const Row& row, std::int32_t milli) const {
    return milli * row.one[step_of_milli_[static_cast<std::size_t>(milli)]];
  }
  static Weight of_whole(const Row& row, std::int32_t whole) {
    return std::int64_t{kWholeGpu} * whole * row.several[whole];
  }
  Weight usable(const NodeTable& nodes, std::uint32_t node, const Row& row) const;
  // What the gain is when a share comes from this GPU, less the usable amount of the whole node.
  Weight gain_of_share(const Row& row, std::int32_t milli, std::int32_t share,
                       std::int32_t whole) const;
  // How much less of the node is fragments once it holds the job.
  Weight gain(const NodeTable& nodes, const NodeDemand& demand, std::uint32_t node) const;
  std::uint8_t percent(Weight gain) const;

  Weight total_ = 0;
  std::array<std::uint16_t, kWholeGpu + 1> step_of_milli_{};
  std::vector<std::int64_t> cpu_steps_;   // ascending
  std::size_t one_size_ = 0;              // of a row's first part
  std::vector<Weight> rows_;              // [model][step of CPU][one_size_ + several]
  std::array<Weight, 100> least_gain_{};  // of each score
  std::vector<Weight> usable_;            // by node
};

}  // namespace slicewise::sim
