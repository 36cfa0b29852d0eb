#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

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

// Beyond so many requests in all runs the rest of the plan has to do.
constexpr double kRequestsWorth = 1e7;

bool misses(const ObjectiveResult& objective) {
  return standing_of(objective) == ObjectiveStanding::Missed;
}

double requests_of(const World& world) {
  double rate = 0;
  for (const WorkloadModel& workload : world.workloads) {
    if (workload.spec.traffic) rate += workload.spec.traffic->mean.per_second;
  }
  return rate * to_seconds(world.duration.value_or(Duration{})) * world.replications;
}

// With random numbers that neither a search has seen (PlanProbe::draw 0), nor its second look (1),
// nor the confirmation (2). Empty: some of them cannot be simulated.
std::vector<World> worlds_of(const Scenario& base, const Catalogue& catalogue,
                             std::span<const PlanOption> options) {
  constexpr int kDraw = 3;
  std::vector<World> worlds;
  for (const PlanOption& option : options) {
    Expected<World> world =
        probe_world(base, {.pools = option.pools, .replications = kRuns, .draw = kDraw}, catalogue);
    if (!world) return {};
    worlds.push_back(std::move(*world));
  }
  return worlds;
}

// Each run of each option as a world of its own, with inputs that were drawn for it; the same for
// all options. Errors: what was drawn cannot be.
Expected<std::vector<World>> drawn_worlds(const Scenario& base, const Catalogue& catalogue,
                                          std::span<const PlanOption> options,
                                          const std::vector<World>& worlds,
                                          std::deque<Catalogue>& models) {
  std::vector<World> drawn;
  for (std::size_t o = 0; o < worlds.size(); ++o) {
    const Scenario planned = planned_scenario(base, options[o].pools, catalogue);
    for (int run = 0; run < kRuns; ++run) {
      auto of_run = with_drawn_models(planned, catalogue, static_cast<std::uint32_t>(run));
      if (of_run) models.push_back(std::move(*of_run));
      Expected<World> world = drawn_world(planned, worlds[o], of_run ? models.back() : catalogue,
                                          static_cast<std::size_t>(run));
      if (!world) return tl::unexpected(std::move(world.error()));
      world->replications = 1;
      world->seed = worlds[o].seed + static_cast<std::uint64_t>(run);
      drawn.push_back(std::move(*world));
    }
  }
  return drawn;
}

// The figures of each run of each option; empty: somebody interrupted it. `worlds`: of an option
// all its runs, or one world each.
std::vector<std::vector<OptionFigures>> runs_of(const std::vector<World>& worlds,
                                                const RunOptions& run) {
  RunOptions quiet = run;
  quiet.progress = nullptr;
  Simulations simulations(quiet);
  std::vector<std::vector<OptionFigures>> figures(1);
  for (const std::optional<Simulated>& simulated : simulations.run(worlds)) {
    if (!simulated) return {};
    if (figures.back().size() == kRuns) figures.emplace_back();
    for (const VariantResult& single : simulated->singles) {
      figures.back().push_back(figures_of(single));
    }
  }
  return figures;
}

ObjectiveRisk risk_of_objective(const std::vector<OptionFigures>& runs, std::size_t o) {
  const ObjectiveResult& objective = runs.front().objectives[o].result;
  ObjectiveRisk risk{
      runs.front().objectives[o].workload, objective.name, objective.limit, {}, {}, 0};
  std::vector<FigureValue> values;
  for (const OptionFigures& each : runs) {
    values.push_back(each.objectives[o].result.value);
    risk.missed += misses(each.objectives[o].result) ? 1 : 0;
  }
  const double sign = objective.at_least ? -1 : 1;
  std::ranges::stable_sort(values, {},
                           [sign](const FigureValue& value) { return sign * in_its_unit(value); });
  risk.median = percentile(values, 50);
  risk.p95 = percentile(values, 95);
  return risk;
}

PlanRisk risk_in(const std::vector<std::vector<OptionFigures>>& runs) {
  const std::vector<OptionFigures>& best = runs.front();
  PlanRisk risk;
  risk.runs = kRuns;
  std::vector<Usd> monthly;
  for (const OptionFigures& each : best) {
    monthly.push_back(each.monthly);
    risk.missed += each.verdict.fails() ? 1 : 0;
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
    if (second.verdict.fails()) continue;
    *risk.second_cheaper += second.monthly < best[n].monthly ? 1 : 0;
    *risk.second_instead += best[n].verdict.fails() ? 1 : 0;
  }
  return risk;
}

}  // namespace

void add_risk(const Scenario& base, const Catalogue& catalogue, const PlanOptions& options,
              Plan& plan) {
  constexpr std::size_t kBoth = 2;
  const auto ranked = std::span(plan.options).first(std::min(kBoth, plan.options.size()));
  std::vector<PlanOption> both(ranked.begin(), ranked.end());
  for (PlanOption& option : both) {
    option.pools = left_after(options.survive, std::move(option.pools));
  }
  std::vector<World> worlds = worlds_of(base, catalogue, both);
  const auto note = [&](Code code, std::string text) {
    add_note(plan.notes, code, base.where, std::move(text));
  };
  const double requests =
      std::accumulate(worlds.begin(), worlds.end(), 0.0,
                      [](double sum, const World& world) { return sum + requests_of(world); });
  if (requests > kRequestsWorth) {
    return note(Code::RunTooLarge,
                fmt::format("what chance does to the best option was not looked for: {} runs of "
                            "the best two would answer {:.3g} million requests, more than {:.3g} "
                            "million; a shorter duration takes fewer",
                            kRuns, requests / 1e6, kRequestsWorth / 1e6));
  }
  bool is_drawn = false;
  std::deque<Catalogue> models;  // outlive the worlds
  if (options.sampled_inputs && !worlds.empty()) {
    const auto has_any = [&](const World& world) {
      return has_uncertain_inputs(base, world, catalogue);
    };
    if (std::ranges::none_of(worlds, has_any)) {
      note(Code::InputMissing, std::string(kNothingToDraw));
    } else if (auto drawn = drawn_worlds(base, catalogue, both, worlds, models)) {
      worlds = std::move(*drawn);
      is_drawn = true;
    } else {
      note(drawn.error().front().code, drawn.error().front().message);
    }
  }
  std::vector<std::vector<OptionFigures>> runs = runs_of(worlds, options.run);
  if (runs.empty() || worlds.empty()) {
    plan.interrupted = plan.interrupted || !worlds.empty();
  } else {
    for (std::size_t o = 0; o < runs.size() && options.survive != Outage::None; ++o) {
      for (OptionFigures& each : runs[o]) each.monthly = both[o].figures.monthly;  // of all nodes
    }
    plan.risk = risk_in(runs);
    plan.risk->sampled_inputs = is_drawn;
  }
}

}  // namespace slicewise::sim
