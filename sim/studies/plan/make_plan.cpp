#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/sim/plan.hpp"

#include "../compare/candidates.hpp"
#include "block_search.hpp"
#include "headroom.hpp"
#include "nearest.hpp"
#include "plan_sections.hpp"
#include "plan_space.hpp"
#include "pool_split.hpp"
#include "probe_batch.hpp"

namespace slicewise::sim {
namespace {

using scenarios::PlanGoal;
using scenarios::Scenario;

// Pods that people or jobs keep busy have no bill by the month to minimise.
PlanGoal goal_for(const Scenario& scenario, const PlanOptions& options) {
  if (options.goal) return *options.goal;
  if (scenario.goal_where.line > 0) return scenario.goal;
  const bool only_jobs = std::ranges::all_of(scenario.workloads, [](const auto& workload) {
    return workload.count == 0 || workload.kind == scenarios::WorkloadKind::Job;
  });
  return only_jobs ? PlanGoal::CostPerJob : PlanGoal::MonthlyCost;
}

std::vector<std::string> all_workloads(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& workload : scenario.workloads) {
    if (workload.count > 0) names.push_back(workload.name.value);
  }
  return names;
}

// The scenario alone on each instance type: what is wrong with all of them is wrong with it.
std::vector<Expected<World>> worlds_alone(const Scenario& base, const PlanSpace& space,
                                          const models::Catalogue& catalogue) {
  std::vector<Expected<World>> worlds;
  worlds.reserve(space.types.size());
  for (const models::InstanceType* type : space.types) {
    PoolChoice choice;
    choice.instance_type = type->name;
    choice.strategy = type->gpu_fraction < 1 ? Strategy::Vgpu : Strategy::Exclusive;
    choice.workloads = all_workloads(base);
    const std::vector<PoolChoice> pools{choice};
    worlds.push_back(build_world(planned_scenario(base, pools, catalogue), catalogue));
  }
  return worlds;
}

void add_today(const Scenario& base, const BlockSearch& search, ProbeBatch& probes, Plan& plan) {
  PlanProbe probe;
  probe.replications = base.replications;
  PlanAnswer answer = probes.ask_one(probe);
  if (!answer.figures) return;
  const auto goal = goal_of(search.goal, *answer.figures);
  plan.today = PlanOption{{}, std::move(*answer.figures), goal, false};
}

void add_split(const BlockSearch& search, ProbeBatch& probes, std::size_t top, Plan& plan) {
  std::optional<double> cap;
  if (!plan.options.empty()) cap = plan.options.front().goal;
  if (search.space.max_monthly_cost) {
    const double most = to_dollars(*search.space.max_monthly_cost);
    cap = std::min(cap.value_or(most), most);
  }
  SplitResult split = split_pools(search, cap, probes);
  plan.counts.configurations += split.configurations;
  plan.counts.exhaustive += split.exhaustive;
  if (split.pools.empty()) return;
  PlanOption option{std::move(split.pools), std::move(split.figures), split.goal, false};
  const auto at = std::ranges::find_if(plan.options, [&](const PlanOption& other) {
    return !other.goal || *other.goal > *option.goal;
  });
  plan.options.insert(at, std::move(option));
  if (plan.options.size() > top) plan.options.resize(top);
}

void add_headroom(Headroom&& headroom, Plan& plan) {
  plan.interrupted = plan.interrupted || headroom.interrupted;
  plan.headroom = headroom.passed;
  plan.headroom_fails = headroom.failed;
  plan.headroom_binding = std::move(headroom.binding);
}

// What a policy says of headroom can be judged only once it is known: the best option that all
// policies let pass is the answer.
void settle_headroom(const scenarios::ScenarioSet& set, const Scenario& base,
                     const models::Catalogue& catalogue, const PlanOptions& options, Plan& plan) {
  const bool decides = asks_for_headroom(base.policies);
  while (!plan.options.empty() && (decides || options.headroom)) {
    PlanOption& best = plan.options.front();
    Headroom headroom = headroom_of(set, base, catalogue, options.run, best);
    if (decides) judge_with_headroom(base, catalogue, options.run, headroom, best);
    if (best.figures.denied_by.empty()) {
      add_headroom(std::move(headroom), plan);
      return;
    }
    std::string reason = denial_of(best.figures);
    if (headroom.passed)
      reason += fmt::format(": it bears {:.3g} times the load", *headroom.passed);
    plan.rejected.push_back({RejectedChoice::Stage::Simulation, best.pools.front(), std::nullopt,
                             std::move(reason), std::move(best.figures)});
    plan.options.erase(plan.options.begin());
  }
}

void add_provenance(const Scenario& base, const models::Catalogue& catalogue, Plan& plan) {
  const auto world =
      build_world(planned_scenario(base, plan.options.front().pools, catalogue), catalogue);
  if (world) plan.provenance = world->provenance;
}

void rank(BlockResult&& found, Plan& plan) {
  for (BlockOption& option : found.options) {
    plan.options.push_back(
        {{std::move(option.choice)}, std::move(option.figures), option.goal, false});
  }
  plan.rejected = std::move(found.rejected);
  plan.counts.configurations = found.configurations;
  plan.counts.refused = found.refused;
  plan.counts.bounded = found.bounded;
  plan.counts.exhaustive = found.exhaustive;
}

}  // namespace

std::string describe(const PoolChoice& choice) {
  std::string text = choice.nodes > 0 ? fmt::format("{} x {}", choice.nodes, choice.instance_type)
                                      : choice.instance_type;
  if (choice.purchase != "on-demand") text += " " + choice.purchase;
  std::vector<std::string> layout;
  for (const models::MigCount& count : choice.mig) {
    layout.push_back(fmt::format("{}x{}", count.count, count.profile));
  }
  switch (choice.strategy) {
    case Strategy::Exclusive:
      return text + ", exclusive";
    case Strategy::TimeSlicing:
      return text + fmt::format(", time-slicing x{}", choice.replicas);
    case Strategy::Mps:
      return text + fmt::format(", MPS x{}", choice.replicas);
    case Strategy::MpsUncapped:
      return text + fmt::format(", MPS x{} uncapped", choice.replicas);
    case Strategy::Mig:
      return text + (layout.empty() ? ", MIG" : fmt::format(", MIG {}", fmt::join(layout, "+")));
    case Strategy::MigTimeSlicing:
      return text +
             fmt::format(", MIG {} time-slicing x{}", fmt::join(layout, "+"), choice.replicas);
    case Strategy::MigMps:
      return text + fmt::format(", MIG {} MPS x{}", fmt::join(layout, "+"), choice.replicas);
    case Strategy::Vgpu:
      return text + ", vGPU";
  }
  return text;
}

Expected<Plan> make_plan(const scenarios::ScenarioSet& set, std::size_t variant,
                         const models::Catalogue& catalogue, const PlanOptions& options) {
  const Scenario& base = set.variants[variant];
  Diagnostics found;
  check_pods(base, "plans are", found);
  auto space = plan_space(base, catalogue, options);
  if (!space) found.insert(found.end(), space.error().begin(), space.error().end());
  if (has_errors(found)) return tl::unexpected(std::move(found));
  if (Diagnostics errors = errors_everywhere(worlds_alone(base, *space, catalogue));
      !errors.empty()) {
    return tl::unexpected(std::move(errors));
  }

  const BlockSearch search{base, catalogue, *space, goal_for(base, options), base.replications};
  ProbeBatch probes(options.probes ? options.probes : probe_threads(base, catalogue, options.run),
                    options.journal);
  Plan plan;
  plan.stamp = stamp_of(set, variant, catalogue);
  plan.goal = search.goal;
  for (const models::InstanceType* type : space->types) plan.instance_types.push_back(type->name);
  plan.purchases = space->purchases;
  rank(search_block(search, all_workloads(base), options.top, std::nullopt, probes), plan);
  const bool split = options.split.value_or(base.planning.split);
  if (split && search.goal == PlanGoal::MonthlyCost && !probes.interrupted()) {
    add_split(search, probes, options.top, plan);
  }
  plan.counts.simulations = probes.simulations();
  if (!probes.interrupted()) settle_headroom(set, base, catalogue, options, plan);
  mark_pareto(plan.options);
  if (!probes.interrupted()) add_today(base, search, probes, plan);
  if (!plan.options.empty() && !probes.interrupted()) {
    ReplicasCurve curve = replicas_curve(search, plan.options.front(), probes);
    plan.replicas = std::move(curve.points);
    plan.knee = curve.knee;
    plan.binding = std::move(curve.binding);
    if (options.flips) plan.flips = find_flips(search, plan.options, probes);
    add_provenance(base, catalogue, plan);
  }
  if (plan.options.empty() && !plan.interrupted && !probes.interrupted()) {
    plan.nearest = nearest_to_standing(search, all_workloads(base), plan.rejected);
  }
  plan.counts.replications = probes.replications();
  plan.interrupted = plan.interrupted || probes.interrupted();
  return plan;
}

}  // namespace slicewise::sim
