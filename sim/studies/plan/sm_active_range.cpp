#include <algorithm>
#include <utility>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "../probe/scaled_input.hpp"
#include "plan_sections.hpp"
#include "pod_counts.hpp"
#include "pool_split.hpp"
#include "pools_anew.hpp"

namespace slicewise::sim {
namespace {

// Kernels that fill less of a GPU than this take as long on any.
constexpr double kLowest = 0.01;
constexpr int kBisections = 6;

// Those that do not give it, where a type in the search has another GPU than they were measured on.
std::vector<std::string> workloads_in_doubt(const BlockSearch& search) {
  std::vector<std::string> names;
  for (const InstanceType* type : search.space.types) {
    const auto world = world_on_one_node(search, unshared(*type, workloads_with_pods(search.base)));
    if (!world) continue;
    for (const WorkloadModel& workload : world->workloads) {
      const bool carried = std::ranges::any_of(
          workload.on_pool, [](const PoolDemand& demand) { return demand.gpu_scale != 1; });
      if (!carried || !lacks_sm_active(workload.spec)) continue;
      if (!contains(names, workload.name)) names.push_back(workload.name);
    }
  }
  return names;
}

class RangeSearch {
 public:
  RangeSearch(const BlockSearch& search, const PlanOption& best) : search_(search), best_(best) {}

  // The best of all where it is `at`, if that is not the best option.
  std::optional<PlanOption> rival(double at) {
    const std::optional<PlanOption> own = standing(best_.pools, at);
    const BlockSearch there = search_.with_input(kSmActive, at);
    std::optional<double> cap;
    if (own && search_.goal == PlanGoal::MonthlyCost) {
      constexpr double kLess = 1 - 1e-9;  // what costs as much beats nothing
      cap = kLess * *own->goal;
    }
    std::optional<PlanOption> found;
    if (search_.split && separable_groups(search_.base).size() > kExactGroups) {
      found = planned_anew(search_, best_, std::string(kSmActive), at, cap);
      if (found && own && *own->goal <= *found->goal) return std::nullopt;
      return found;
    }
    BlockResult one = search_block(there, workloads_with_pods(search_.base), 1, cap, Depth::Ranked);
    if (!one.options.empty()) found = std::move(one.options.front());
    if (search_.split) {
      auto several = split_pools(there, found ? found->goal : cap).option;
      if (several) found = std::move(several);
    }
    if (found && own && *own->goal <= *found->goal) found.reset();
    auto other = cheaper_with_other_pods(there, found ? found : own);
    return other ? other : found;
  }

  bool holds(double at, const std::optional<PlanOption>& rival) {
    const auto own = standing(best_.pools, at);
    if (!own) return false;
    const auto other = rival ? standing(rival->pools, at) : std::nullopt;
    return !other || *own->goal <= *other->goal;
  }

  std::optional<PlanOption> standing(const std::vector<PoolChoice>& pools, double at) {
    const PlanProbe probe = search_.with_input(kSmActive, at).about(pools);
    PlanAnswer answer = search_.probes.ask_one(probe);
    if (!answer.figures || answer.partial || !answer.figures->stands()) return std::nullopt;
    const auto goal = goal_of(search_.goal, *answer.figures);
    if (!goal || !stands_again(search_, probe, *answer.figures)) return std::nullopt;
    return PlanOption{pools, std::move(*answer.figures), goal, false};
  }

 private:
  const BlockSearch& search_;
  const PlanOption& best_;
};

}  // namespace

std::optional<SmActiveRange> find_sm_active_range(const BlockSearch& search,
                                                  const std::vector<PlanOption>& options) {
  SmActiveRange range;
  range.workloads = workloads_in_doubt(search);
  if (range.workloads.empty() || options.empty()) return std::nullopt;
  RangeSearch there(search, options.front());
  std::optional<PlanOption> rival = there.rival(kLowest);
  range.holds_from = kLowest;
  if (there.holds(kLowest, rival) || search.probes.interrupted()) return range;
  double turns = kLowest;
  double holds = 1;
  for (int step = 0; step < kBisections; ++step) {
    const double middle = (turns + holds) / 2;
    (there.holds(middle, rival) ? holds : turns) = middle;
  }
  range.holds_from = holds;
  range.turns_at = turns;
  if (rival) range.then = there.standing(rival->pools, turns);
  if (!range.then) range.then = there.rival(turns);
  if (search.probes.interrupted()) return std::nullopt;
  return range;
}

}  // namespace slicewise::sim
