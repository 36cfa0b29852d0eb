#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/figure_text.hpp"

#include "../probe/pool_homes.hpp"
#include "../probe/probe.hpp"
#include "node_bounds.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// The pods on whole GPUs of a type where every one of them can start.
struct Home {
  World world;
  std::vector<ServingChoice> serving;  // see PoolChoice::serving
};

std::optional<Home> home_on(const BlockSearch& search, const std::vector<std::string>& workloads,
                            const InstanceType& type, const PlanSpace& space) {
  for (std::vector<ServingChoice>& serving :
       serving_ways(search.base, workloads, type, space.serving)) {
    PoolChoice whole = unshared(type, workloads);
    whole.serving = serving;
    Expected<World> world = world_on_one_node(search, whole);
    if (refusal_of(world) || too_large_for_a_node(*world)) continue;
    return Home{std::move(*world), std::move(serving)};
  }
  return std::nullopt;
}

// Numbers of GPUs by which others than those that pods ask for are looked for.
constexpr int kUsualSplits[] = {1, 2, 4, 8};

// "--tensor-parallel 4", where pods would need so many and nobody asked for it.
std::string flag_for(const BlockSearch& search, const std::vector<ServingChoice>& serving) {
  std::set<int> sizes;
  for (const ServingChoice& choice : serving) {
    if (choice.gpus) sizes.insert(*choice.gpus);
  }
  if (sizes.empty() || !search.space.serving.tensor_parallel.empty()) return "";
  return fmt::format(" --tensor-parallel {}", fmt::join(sizes, ","));
}

// The cheapest of the whole catalogue that is still sold.
std::string type_that_holds(const BlockSearch& search, const std::vector<std::string>& workloads) {
  PlanSpace space = search.space;
  if (space.serving.tensor_parallel.empty()) {
    space.serving.tensor_parallel.assign(std::begin(kUsualSplits), std::end(kUsualSplits));
  }
  const InstanceType* best = nullptr;
  double least = 0;
  Bytes memory;
  std::vector<ServingChoice> serving;
  for (const InstanceType& type : search.catalogue.instances) {
    if (!type.retired_on.empty()) continue;
    auto home = home_on(search, workloads, type, search.space);
    if (!home) home = home_on(search, workloads, type, space);
    if (!home) continue;
    const double monthly = monthly_price(home->world);
    if (best != nullptr && monthly >= least) continue;
    best = &type;
    least = monthly;
    memory = home->world.pools.front().kinds.front().memory;
    serving = std::move(home->serving);
  }
  if (best == nullptr) {
    return fmt::format("no instance type of the catalogue that has a price in {} holds every pod",
                       search.base.region);
  }
  return fmt::format(
      "no instance type that was tried holds every pod; the cheapest that does is {} ({} x {} with "
      "{:.1f} GiB, {} a month): --instances {}{}",
      best->name, best->gpu_count, best->gpu_model, in_gibibytes(memory), whole_dollars(least),
      best->name, flag_for(search, serving));
}

struct OutOfLimits {
  const PoolChoice* choice = nullptr;
  int nodes = 0;
  double monthly = 0;
};

// Of what no closed form rules out but for the limits of the search, the cheapest.
OutOfLimits cheapest_out_of_limits(const BlockSearch& search,
                                   const std::vector<RejectedChoice>& rejected) {
  OutOfLimits best;
  for (const RejectedChoice& other : rejected) {
    if (other.stage != RejectedChoice::Stage::Bound || other.figures) continue;
    const auto world = world_on_one_node(search, other.choice);
    if (!world) continue;
    const NodeBound bound = node_bound(*world);
    if (!bound.refused.empty()) continue;
    const double monthly = bound.least * monthly_price(*world);
    if (best.choice == nullptr || monthly < best.monthly) {
      best = {&other.choice, bound.least, monthly};
    }
  }
  return best;
}

std::string limit_in_the_way(const BlockSearch& search, const OutOfLimits& nearest) {
  PoolChoice choice = *nearest.choice;
  choice.nodes = nearest.nodes;
  std::string out = fmt::format("what could stand takes {} or more, {} a month", describe(choice),
                                whole_dollars(nearest.monthly));
  if (nearest.nodes > search.space.max_nodes) {
    return out + fmt::format(": --max-nodes {}", nearest.nodes);
  }
  if (!search.space.max_monthly_cost) return out;
  return out + fmt::format(": --max-cost {:.0f}", std::ceil(nearest.monthly));
}

// Where only the price is in the way: the cheapest that stands whatever it costs.
std::string beyond_the_price(const BlockSearch& search) {
  if (!search.space.max_monthly_cost) return "";
  PlanSpace space = search.space;
  space.max_monthly_cost.reset();
  BlockSearch there = search_within(search, search.base, space);
  there.so_far = nullptr;
  there.goal = PlanGoal::MonthlyCost;
  std::optional<PlanOption> found = cheapest_plan(there, std::nullopt);
  if (search.vary_pods > 0) {
    auto other = best_with_other_pods(there, found, search.vary_pods);
    if (other) found = std::move(other);
  }
  if (!found || search.probes.interrupted()) return "";
  std::vector<std::string> pools;
  for (const PoolChoice& pool : found->pools) pools.push_back(describe(pool));
  const double monthly = to_dollars(found->figures.monthly);
  return fmt::format("the cheapest that stands is {}, {} a month: --max-cost {:.0f}",
                     fmt::join(pools, " + "), whole_dollars(monthly), std::ceil(monthly));
}

}  // namespace

std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected) {
  if (const auto why = why_homeless(search.base, workloads)) return {why->text()};
  const bool held = std::ranges::any_of(search.space.types, [&](const auto* type) {
    return home_on(search, workloads, *type, search.space).has_value();
  });
  if (!held) return {type_that_holds(search, workloads)};
  if (std::string dearer = beyond_the_price(search); !dearer.empty()) return {dearer};
  const OutOfLimits nearest = cheapest_out_of_limits(search, rejected);
  if (nearest.choice == nullptr) return {};
  return {limit_in_the_way(search, nearest)};
}

}  // namespace slicewise::sim
