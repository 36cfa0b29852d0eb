#include "slicewise/sim/placement/placement.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "placement_state.hpp"

namespace slicewise::sim {
namespace {

Policy make_policy(NodePolicy policy, const NodeTable& nodes, std::span<const NodeDemand> demands,
                   std::span<const TypicalJob> typical) {
  switch (policy) {
    case NodePolicy::LeastAllocated:
      return LeastAllocated();
    case NodePolicy::MostAllocated:
      return MostAllocated();
    case NodePolicy::BestFit:
      return BestFit(nodes);
    case NodePolicy::DotProduct:
      return DotProduct(nodes);
    case NodePolicy::Clustering:
      return Clustering(nodes);
    case NodePolicy::Packing:
      return Packing();
    case NodePolicy::Fgd:
      return Fragmentation(nodes, demands, typical);
    case NodePolicy::FirstFit:
    case NodePolicy::Random:
      break;
  }
  return AnyFit();
}

std::uint32_t random_gpu(const GpuMilli& gpus, std::int32_t milli, RandomStream& random) {
  std::uint32_t fitting = 0;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (gpus[gpu] >= milli) fitting |= 1U << gpu;
  }
  for (auto skip = random.below(static_cast<std::uint32_t>(std::popcount(fitting))); skip > 0;
       --skip) {
    fitting &= fitting - 1;
  }
  return fitting & (0U - fitting);
}

}  // namespace

std::string_view policy_name(NodePolicy policy) {
  constexpr std::array<std::string_view, 9> kNames = {
      "first-fit", "least-allocated", "most-allocated", "random", "best-fit", "dot-product",
      "fgd",       "clustering",      "packing"};
  return kNames[static_cast<std::size_t>(policy)];
}

Placement::State::State(NodeTable table, std::vector<NodeDemand> of_shapes, NodePolicy node_policy,
                        std::uint64_t seed, std::span<const TypicalJob> typical)
    : nodes(std::move(table)),
      demands(std::move(of_shapes)),
      policy(make_policy(node_policy, nodes, demands, typical)),
      at_random(node_policy == NodePolicy::Random),
      random(seed, 0, 0, Purpose::Placement),
      cache(0, 0) {
  cut_spread_shapes();
  cache = ScoreCache(nodes.size(), demands.size());
}

std::optional<AllocatedPart> Placement::State::choose(std::size_t number) {
  const NodeDemand& demand = demands[number];
  return std::visit(
      [&](const auto& scorer) -> std::optional<AllocatedPart> {
        const ScoreBoard& board = cache.board(number, [&](std::uint32_t node) -> std::uint8_t {
          if (!nodes.fits(node, demand)) return 0;
          return static_cast<std::uint8_t>(1 + scorer.score(nodes, demand, node));
        });
        const auto node = at_random ? board.any(random) : board.best();
        if (!node) return std::nullopt;
        AllocatedPart part{*node, 0};
        if (demand.gpus == 0) return part;
        if constexpr (requires { scorer.gpus(nodes, demand, *node); }) {
          part.gpus = scorer.gpus(nodes, demand, *node);
        } else if (!demand.shares_gpu()) {
          part.gpus = first_whole_gpus(nodes.gpus(*node), demand.gpus);
        } else if (at_random) {
          part.gpus = random_gpu(nodes.gpus(*node), demand.gpu_milli, random);
        } else {
          part.gpus = fullest_gpu(nodes.gpus(*node), demand.gpu_milli);
        }
        return part;
      },
      policy);
}

void Placement::State::take(const NodeDemand& demand, const AllocatedPart& part) {
  nodes.take(part.node, demand, part.gpus);
  if (auto* clustering = std::get_if<Clustering>(&policy)) clustering->taken(part.node, demand);
  if (auto* fgd = std::get_if<Fragmentation>(&policy)) fgd->changed(nodes, part.node);
  cache.node_changed(part.node);
}

void Placement::State::give(const NodeDemand& demand, const AllocatedPart& part) {
  nodes.give(part.node, demand, part.gpus);
  if (auto* clustering = std::get_if<Clustering>(&policy)) clustering->given(part.node, demand);
  if (auto* fgd = std::get_if<Fragmentation>(&policy)) fgd->changed(nodes, part.node);
  cache.node_changed(part.node);
}

AllocationId Placement::State::new_allocation(ShapeId shape) {
  AllocationId id = static_cast<AllocationId>(allocations.size());
  if (free_allocations.empty()) {
    allocations.emplace_back();
  } else {
    id = free_allocations.back();
    free_allocations.pop_back();
  }
  allocations[id].shape = shape;
  allocations[id].spread = kNotSpread;
  return id;
}

Placement::Placement(std::span<const NodeShape> nodes, std::span<const JobShape> shapes,
                     NodePolicy policy, std::uint64_t seed, std::span<const TypicalJob> typical) {
  NodeTable table(nodes);
  std::vector<NodeDemand> demands;
  demands.reserve(shapes.size());
  for (const JobShape& shape : shapes) demands.push_back(table.demand(shape));
  state_ = std::make_unique<State>(std::move(table), std::move(demands), policy, seed, typical);
}

Placement::~Placement() = default;
Placement::Placement(Placement&&) noexcept = default;
Placement& Placement::operator=(Placement&&) noexcept = default;

std::optional<AllocationId> Placement::place(ShapeId shape) {
  State& state = *state_;
  if (!state.is_spread(shape)) {
    const auto part = state.choose(shape);
    if (!part) return std::nullopt;
    state.take(state.demands[shape], *part);
    const AllocationId id = state.new_allocation(shape);
    state.allocations[id].part = *part;
    return id;
  }
  if (state.free_spread_parts.empty()) {
    state.free_spread_parts.push_back(static_cast<std::uint32_t>(state.spread_parts.size()));
    state.spread_parts.emplace_back();
  }
  const std::uint32_t spread = state.free_spread_parts.back();
  if (!state.place_spread(shape, state.spread_parts[spread])) return std::nullopt;
  state.free_spread_parts.pop_back();
  const AllocationId id = state.new_allocation(shape);
  state.allocations[id].spread = spread;
  return id;
}

std::optional<AllocationId> Placement::place_again(ShapeId shape,
                                                   std::span<const AllocatedPart> parts) {
  State& state = *state_;
  const bool spread = state.is_spread(shape);
  const auto demand_of = [&](const AllocatedPart& part) {
    return spread ? NodeTable::part(state.demands[shape], std::popcount(part.gpus))
                  : state.demands[shape];
  };
  for (const AllocatedPart& part : parts) {
    const NodeDemand demand = demand_of(part);
    if (!state.nodes.fits(part.node, demand)) return std::nullopt;
    const GpuMilli& free = state.nodes.gpus(part.node);
    for (std::uint32_t left = part.gpus; left != 0; left &= left - 1) {
      const auto gpu = static_cast<std::size_t>(std::countr_zero(left));
      if (free[gpu] < demand.gpu_milli) return std::nullopt;
    }
  }
  for (const AllocatedPart& part : parts) state.take(demand_of(part), part);
  const AllocationId id = state.new_allocation(shape);
  if (!spread) {
    state.allocations[id].part = parts.front();
    return id;
  }
  if (state.free_spread_parts.empty()) {
    state.free_spread_parts.push_back(static_cast<std::uint32_t>(state.spread_parts.size()));
    state.spread_parts.emplace_back();
  }
  state.allocations[id].spread = state.free_spread_parts.back();
  state.free_spread_parts.pop_back();
  state.spread_parts[state.allocations[id].spread].assign(parts.begin(), parts.end());
  return id;
}

void Placement::release(AllocationId id) {
  State& state = *state_;
  const State::Allocation& allocation = state.allocations[id];
  const NodeDemand& demand = state.demands[allocation.shape];
  if (allocation.spread == State::kNotSpread) {
    state.give(demand, allocation.part);
  } else {
    for (const AllocatedPart& part : state.spread_parts[allocation.spread]) {
      state.give(NodeTable::part(demand, std::popcount(part.gpus)), part);
    }
    state.free_spread_parts.push_back(allocation.spread);
  }
  state.free_allocations.push_back(id);
}

bool Placement::fits_empty(ShapeId shape) const {
  State empty(state_->nodes.emptied(), {state_->demands[shape]}, NodePolicy::FirstFit, 0, {});
  std::vector<AllocatedPart> parts;
  return empty.is_spread(0) ? empty.place_spread(0, parts) : empty.choose(0).has_value();
}

std::span<const AllocatedPart> Placement::parts(AllocationId id) const {
  const State::Allocation& allocation = state_->allocations[id];
  if (allocation.spread == State::kNotSpread) return {&allocation.part, 1};
  return state_->spread_parts[allocation.spread];
}

FreeResources Placement::free() const { return state_->nodes.all_free(); }

std::int64_t Placement::total_gpu_milli() const { return state_->nodes.all_capacity().gpu_milli; }

}  // namespace slicewise::sim
