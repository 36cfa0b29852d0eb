#include <algorithm>
#include <bit>
#include <functional>

#include "placement_state.hpp"

// Jobs with more GPUs than a node has: whole nodes, and a part of one for the rest.
namespace slicewise::sim {

void Placement::State::cut_spread_shapes() {
  std::vector<std::int32_t> largest(nodes.models());  // node of each GPU model
  std::vector<std::int32_t> sizes;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const NodeFree& all = nodes.capacity(node);
    largest[all.model] = std::max(largest[all.model], std::int32_t{all.gpus});
    if (all.gpus > 0) sizes.push_back(all.gpus);
  }
  std::ranges::sort(sizes, std::greater());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());

  const auto add_part = [&](const NodeDemand& whole, std::int32_t gpus, bool whole_node) {
    NodeDemand part = NodeTable::part(whole, gpus);
    part.whole_node = whole_node;
    demands.push_back(part);
    return static_cast<std::uint32_t>(demands.size() - 1);
  };
  const std::size_t shapes = demands.size();
  spread_of_shape.assign(shapes, kNotSpread);
  for (std::size_t shape = 0; shape < shapes; ++shape) {
    const NodeDemand demand = demands[shape];
    std::int32_t most = 0;
    for (std::uint32_t model = 0; model < nodes.models(); ++model) {
      if (nodes.allows(demand, model)) most = std::max(most, largest[model]);
    }
    if (most == 0 || demand.gpus <= most) continue;
    spread_of_shape[shape] = static_cast<std::uint32_t>(spread_shapes.size());
    SpreadShape& spread = spread_shapes.emplace_back();
    for (const std::int32_t size : sizes) {
      if (size <= most) spread.whole.push_back({size, add_part(demand, size, true)});
    }
    for (std::int32_t gpus = 1; gpus <= most; ++gpus) {
      spread.rest[static_cast<std::size_t>(gpus)] = add_part(demand, gpus, false);
    }
  }
}

bool Placement::State::place_spread(ShapeId shape, std::vector<AllocatedPart>& parts) {
  const SpreadShape& spread = spread_shapes[spread_of_shape[shape]];
  std::int32_t missing = demands[shape].gpus;
  parts.clear();
  const auto put = [&](std::uint32_t demand) {
    const auto part = choose(demand);
    if (!part) return false;
    take(demands[demand], *part);
    parts.push_back(*part);
    missing -= demands[demand].gpus;
    return true;
  };
  if (nodes.all_free().whole_gpus < missing) return false;
  for (const SpreadShape::Whole& whole : spread.whole) {
    while (missing >= whole.gpus && put(whole.demand)) {
    }
    if (missing == 0) return true;
    // One part of a node rather than several smaller nodes.
    if (missing <= spread.whole.front().gpus && put(spread.rest[static_cast<std::size_t>(missing)]))
      return true;
  }
  for (const AllocatedPart& part : parts) {
    give(NodeTable::part(demands[shape], std::popcount(part.gpus)), part);
  }
  return false;
}

}  // namespace slicewise::sim
