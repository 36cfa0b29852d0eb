#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/placement/placement.hpp"

#include "fragmentation.hpp"
#include "node_table.hpp"
#include "score_cache.hpp"
#include "scores.hpp"

namespace slicewise::sim {

using Policy = std::variant<AnyFit, LeastAllocated, MostAllocated, BestFit, DotProduct, Clustering,
                            Packing, Fragmentation>;

// How a job with more GPUs than a node has is cut: demands, as numbers into State::demands.
struct SpreadShape {
  struct Whole {
    std::int32_t gpus = 0;
    std::uint32_t demand = 0;
  };
  std::vector<Whole> whole;                               // nodes of each size, largest first
  std::array<std::uint32_t, kMostGpusOfNode + 1> rest{};  // by GPUs
};

struct Placement::State {
  State(NodeTable table, std::vector<NodeDemand> of_shapes, NodePolicy node_policy,
        std::uint64_t seed, std::span<const TypicalJob> typical);

  // Cuts the shapes that no node is large enough for.
  void cut_spread_shapes();
  bool is_spread(ShapeId shape) const { return spread_of_shape[shape] != kNotSpread; }
  // Fills `parts` with where the job now is, or leaves all as it was.
  bool place_spread(ShapeId shape, std::vector<AllocatedPart>& parts);

  // Where the policy wants it.
  std::optional<AllocatedPart> choose(std::size_t demand);
  void take(const NodeDemand& demand, const AllocatedPart& part);
  void give(const NodeDemand& demand, const AllocatedPart& part);

  AllocationId new_allocation(ShapeId shape);

  static constexpr std::uint32_t kNotSpread = 0xFFFFFFFF;

  struct Allocation {
    ShapeId shape = 0;
    std::uint32_t spread = kNotSpread;  // into spread_parts
    AllocatedPart part;                 // when it is on one node
  };

  NodeTable nodes;
  std::vector<NodeDemand> demands;  // of the shapes, then of their parts
  std::vector<SpreadShape> spread_shapes;
  std::vector<std::uint32_t> spread_of_shape;  // into spread_shapes
  Policy policy;
  bool at_random;
  RandomStream random;
  ScoreCache cache;
  std::vector<Allocation> allocations;
  std::vector<AllocationId> free_allocations;
  std::vector<std::vector<AllocatedPart>> spread_parts;
  std::vector<std::uint32_t> free_spread_parts;
};

}  // namespace slicewise::sim
