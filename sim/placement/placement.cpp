#include "slicewise/sim/placement/placement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>

#include "slicewise/scenarios/placements.hpp"
#include "slicewise/sim/kernel/random.hpp"

#include "fragmentation.hpp"
#include "node_table.hpp"
#include "score_cache.hpp"
#include "scores.hpp"
#include "sharing_aware.hpp"

namespace slicewise::sim {

using Policy = std::variant<AnyFit, LeastAllocated, MostAllocated, BestFit, DotProduct, Clustering,
                            Packing, Fragmentation, SharingAware>;

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
        std::uint64_t seed, std::span<const TypicalJob> typical, GpuOrder order,
        const GuestTable* guests);

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
  GpuOrder gpu_order;
  RandomStream random;
  ScoreCache cache;
  std::vector<Allocation> allocations;
  std::vector<AllocationId> free_allocations;
  std::vector<std::vector<AllocatedPart>> spread_parts;
  std::vector<std::uint32_t> free_spread_parts;
};

namespace {

Policy make_policy(NodePolicy policy, const NodeTable& nodes, std::span<const NodeDemand> demands,
                   std::span<const TypicalJob> typical, const GuestTable* guests) {
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
    case NodePolicy::MemoryBinpack:
    case NodePolicy::UtilizationBinpack:
    case NodePolicy::GavelPacking:
    case NodePolicy::LucidPacking:
    case NodePolicy::LeastInterference:
      return SharingAware(policy, *guests, nodes.size());
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

constexpr const auto& kPolicyNames = scenarios::kPlacementWords;
static_assert(kPolicyNames.size() == static_cast<std::size_t>(NodePolicy::LeastInterference) + 1);
static_assert(NodePolicy::MemoryBinpack ==
              static_cast<NodePolicy>(kPolicyNames.size() - scenarios::kSharingPlacements));

}  // namespace

std::string_view policy_name(NodePolicy policy) {
  return kPolicyNames[static_cast<std::size_t>(policy)];
}

std::optional<NodePolicy> node_policy_named(std::string_view name) {
  const auto* const found = std::ranges::find(kPolicyNames, name);
  if (found == kPolicyNames.end()) return std::nullopt;
  return static_cast<NodePolicy>(found - kPolicyNames.begin());
}

Placement::State::State(NodeTable table, std::vector<NodeDemand> of_shapes, NodePolicy node_policy,
                        std::uint64_t seed, std::span<const TypicalJob> typical, GpuOrder order,
                        const GuestTable* guests)
    : nodes(std::move(table)),
      demands(std::move(of_shapes)),
      policy(make_policy(node_policy, nodes, demands, typical, guests)),
      at_random(node_policy == NodePolicy::Random),
      gpu_order(order),
      random(seed, 0, 0, Purpose::Placement),
      cache(0, 0) {
  cut_spread_shapes();
  cache = ScoreCache(nodes.size(), demands.size());
}

std::optional<AllocatedPart> Placement::State::choose(std::size_t number) {
  const NodeDemand& demand = demands[number];
  return std::visit(
      [&](auto& scorer) -> std::optional<AllocatedPart> {
        const ScoreBoard& board = cache.board(number, [&](std::uint32_t node) -> std::uint8_t {
          if (!nodes.fits(node, demand)) return 0;
          if constexpr (requires { scorer.rating(nodes, demand, node); }) {
            return scorer.rating(nodes, demand, node);
          } else {
            return static_cast<std::uint8_t>(1 + scorer.score(nodes, demand, node));
          }
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
        } else if (gpu_order == GpuOrder::Emptiest) {
          part.gpus = emptiest_gpu(nodes.gpus(*node));
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
  if (auto* sharing = std::get_if<SharingAware>(&policy)) sharing->taken(demand, part);
  cache.node_changed(part.node);
}

void Placement::State::give(const NodeDemand& demand, const AllocatedPart& part) {
  nodes.give(part.node, demand, part.gpus);
  if (auto* clustering = std::get_if<Clustering>(&policy)) clustering->given(part.node, demand);
  if (auto* fgd = std::get_if<Fragmentation>(&policy)) fgd->changed(nodes, part.node);
  if (auto* sharing = std::get_if<SharingAware>(&policy)) sharing->given(demand, part);
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
                     NodePolicy policy, std::uint64_t seed, std::span<const TypicalJob> typical,
                     GpuOrder gpu_order, const GuestTable* guests) {
  NodeTable table(nodes);
  std::vector<NodeDemand> demands;
  demands.reserve(shapes.size());
  for (const JobShape& shape : shapes) demands.push_back(table.demand(shape));
  state_ = std::make_unique<State>(std::move(table), std::move(demands), policy, seed, typical,
                                   gpu_order, guests);
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
                                                   std::span<const AllocatedPart> parts,
                                                   bool by_rule) {
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
    auto* sharing = std::get_if<SharingAware>(&state.policy);
    if (sharing != nullptr && !sharing->admits(demand, part, by_rule)) return std::nullopt;
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
  State empty(state_->nodes.emptied(), {state_->demands[shape]}, NodePolicy::FirstFit, 0, {},
              GpuOrder::Fullest, nullptr);
  std::vector<AllocatedPart> parts;
  return empty.is_spread(0) ? empty.place_spread(0, parts) : empty.choose(0).has_value();
}

std::optional<int> Placement::score(ShapeId shape, std::uint32_t node) const {
  const NodeDemand& demand = state_->demands[shape];
  if (!state_->nodes.fits(node, demand)) return std::nullopt;
  return std::visit(
      [&](auto& scorer) -> int {
        if constexpr (requires { scorer.rating(state_->nodes, demand, node); }) {
          return scorer.rating(state_->nodes, demand, node);
        } else {
          return scorer.score(state_->nodes, demand, node);
        }
      },
      state_->policy);
}

std::span<const AllocatedPart> Placement::parts(AllocationId id) const {
  const State::Allocation& allocation = state_->allocations[id];
  if (allocation.spread == State::kNotSpread) return {&allocation.part, 1};
  return state_->spread_parts[allocation.spread];
}

FreeResources Placement::free() const { return state_->nodes.all_free(); }

std::int64_t Placement::total_gpu_milli() const { return state_->nodes.all_capacity().gpu_milli; }

namespace {

// What makes jobs one kind for fragmentation: not their memory.
auto kind(const JobShape& shape) {
  return std::tie(shape.cpu, shape.gpu_milli, shape.gpus, shape.gpu_models);
}

}  // namespace

bool ShapeTable::Before::operator()(const JobShape& a, const JobShape& b) const {
  const auto all = [](const JobShape& shape) {
    return std::tie(shape.gpus, shape.gpu_milli, shape.cpu, shape.memory, shape.gpu_models);
  };
  return all(a) < all(b);
}

ShapeId ShapeTable::add(const JobShape& shape) {
  const auto [place, is_new] = numbers_.try_emplace(shape, static_cast<ShapeId>(shapes_.size()));
  if (is_new) {
    shapes_.push_back(shape);
    counts_.push_back(0);
  }
  ++counts_[place->second];
  return place->second;
}

std::vector<TypicalJob> typical_jobs(std::span<const JobShape> shapes,
                                     std::span<const std::int64_t> counts) {
  struct Kind {
    ShapeId shape = 0;
    std::int64_t jobs = 0;
  };
  std::vector<ShapeId> by_kind(shapes.size());
  std::iota(by_kind.begin(), by_kind.end(), ShapeId{0});
  std::ranges::sort(by_kind, [&](ShapeId a, ShapeId b) {
    const auto kind_a = kind(shapes[a]);
    const auto kind_b = kind(shapes[b]);
    return kind_a != kind_b ? kind_a > kind_b : a < b;
  });
  std::vector<Kind> kinds;
  std::int64_t all = 0;
  for (const ShapeId shape : by_kind) {
    if (kinds.empty() || kind(shapes[kinds.back().shape]) != kind(shapes[shape])) {
      kinds.push_back({shape, 0});
    }
    kinds.back().jobs += counts[shape];
    all += counts[shape];
  }
  // The order of kinds breaks ties, as in the authors' code.
  std::ranges::stable_sort(kinds, std::greater(), &Kind::jobs);
  std::int64_t covered = 0;
  std::size_t taken = 0;
  while (taken < std::min(kinds.size(), kMostTypicalJobs) && covered * 100 < all * 95) {
    covered += kinds[taken++].jobs;
  }
  std::vector<TypicalJob> typical;
  for (std::size_t n = 0; n < taken; ++n) {
    typical.push_back(
        {kinds[n].shape, static_cast<double>(kinds[n].jobs) / static_cast<double>(covered)});
  }
  return typical;
}

// Jobs with more GPUs than a node has: whole nodes, and a part of one for the rest.

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
