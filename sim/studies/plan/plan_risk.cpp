#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "slicewise/sim/result_record.hpp"

#include "../probe/probe.hpp"
#include "../probe/simulations.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

constexpr int kRuns = 20;

using scenarios::FigureValue;

// Of what is sorted, nearest rank: of 20 values 95 % is the 19th.
template <class T>
const T& percentile(const std::vector<T>& sorted, int percent) {
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

bool misses(const PlannedObjective& objective) {
  return !objective.pass || (objective.lost && objective.lost->share > objective.lost->most);
}

bool holds(const OptionFigures& figures) {
  return !figures.verdict.loses_pods() && !figures.verdict.has(Verdict::Cause::Overloaded) &&
         std::ranges::none_of(figures.objectives, misses);
}

// Beyond so many requests in all runs the rest of the plan has to do.
constexpr double kRequestsWorth = 1e7;

double requests_of(const World& world) {
  double rate = 0;
  for (const WorkloadModel& workload : world.workloads) {
    if (workload.spec.traffic) rate += workload.spec.traffic->mean.per_second;
  }
  return rate * to_seconds(world.duration.value_or(Duration{})) * world.replications;
}

// The figures of each run of each option; empty: too dear, or it was interrupted.
std::vector<std::vector<OptionFigures>> runs_of(const scenarios::Scenario& base,
                                                const models::Catalogue& catalogue,
                                                const RunOptions& run,
                                                const std::vector<PlanOption>& options) {
  std::vector<World> worlds;
  double requests = 0;
  constexpr std::size_t kBoth = 2;
  for (std::size_t o = 0; o < std::min(kBoth, options.size()); ++o) {
    PlanProbe probe;
    probe.pools = options[o].pools;
    probe.replications = kRuns;
    probe.fresh = true;
    Expected<World> world = probe_world(base, probe, catalogue);
    if (!world) return {};
    worlds.push_back(std::move(*world));
    requests += requests_of(worlds.back());
  }
  if (requests > kRequestsWorth) return {};
  RunOptions quiet = run;
  quiet.progress = nullptr;
  Simulations simulations(quiet);
  std::vector<std::vector<OptionFigures>> figures;
  for (const std::optional<Simulated>& simulated : simulations.run(worlds)) {
    if (!simulated) return {};
    std::vector<OptionFigures>& of = figures.emplace_back();
    for (const VariantResult& single : simulated->singles) of.push_back(figures_of(single));
  }
  return figures;
}

ObjectiveRisk risk_of_objective(const std::vector<OptionFigures>& runs, std::size_t o) {
  const PlannedObjective& objective = runs.front().objectives[o];
  ObjectiveRisk risk{objective.workload, objective.name, objective.limit, {}, {}, 0};
  std::vector<FigureValue> values;
  for (const OptionFigures& each : runs) {
    values.push_back(each.objectives[o].value);
    risk.missed += misses(each.objectives[o]) ? 1 : 0;
  }
  const double sign = objective.at_least ? -1 : 1;
  std::ranges::stable_sort(values, {},
                           [sign](const FigureValue& value) { return sign * in_its_unit(value); });
  risk.median = percentile(values, 50);
  risk.p95 = percentile(values, 95);
  return risk;
}

}  // namespace

std::optional<PlanRisk> risk_of(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                                const RunOptions& run, const std::vector<PlanOption>& options) {
  const std::vector<std::vector<OptionFigures>> runs = runs_of(base, catalogue, run, options);
  if (runs.empty()) return std::nullopt;
  const std::vector<OptionFigures>& best = runs.front();
  PlanRisk risk;
  risk.runs = kRuns;
  std::vector<Usd> monthly;
  for (const OptionFigures& each : best) {
    monthly.push_back(each.monthly);
    risk.missed += holds(each) ? 0 : 1;
  }
  std::ranges::sort(monthly);
  risk.monthly_p5 = percentile(monthly, 5);
  risk.monthly_median = percentile(monthly, 50);
  risk.monthly_p95 = percentile(monthly, 95);
  for (std::size_t o = 0; o < best.front().objectives.size(); ++o) {
    risk.objectives.push_back(risk_of_objective(best, o));
  }
  if (runs.size() < 2) return risk;
  risk.second_cheaper = risk.second_instead = 0;
  for (std::size_t n = 0; n < best.size(); ++n) {
    const OptionFigures& second = runs.back()[n];
    if (!holds(second)) continue;
    *risk.second_cheaper += second.monthly < best[n].monthly ? 1 : 0;
    *risk.second_instead += holds(best[n]) ? 0 : 1;
  }
  return risk;
}

}  // namespace slicewise::sim
