#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/sampled_inputs.hpp"

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "../../run/shared_tasks.hpp"
#include "../../world/parts.hpp"
#include "../sensitivity/outcomes.hpp"

namespace slicewise::sim {
namespace {

// The profile that a workload names, where some of its figures are known within an interval only.
const models::WorkloadProfile* uncertain_profile(const scenarios::Workload& workload,
                                                 const models::Catalogue& catalogue) {
  if (workload.profile.value.empty()) return nullptr;
  const models::WorkloadProfile* profile = catalogue.find_profile(workload.profile.value);
  return profile == nullptr || profile->uncertainty.empty() ? nullptr : profile;
}

bool is_uncertain(const scenarios::Scenario& scenario, const models::Catalogue& catalogue) {
  return std::ranges::any_of(scenario.workloads, [&](const scenarios::Workload& workload) {
    return uncertain_profile(workload, catalogue) != nullptr;
  });
}

// What the scenario says itself stays; of the rest each profile says what was drawn. What a profile
// bears may be refused at the ends of its intervals.
Expected<World> drawn_world(scenarios::Scenario scenario, const models::Catalogue& catalogue,
                            std::size_t replication) {
  for (scenarios::Workload& workload : scenario.workloads) {
    const models::WorkloadProfile* profile = uncertain_profile(workload, catalogue);
    if (profile == nullptr) continue;
    const models::WorkloadProfile drawn = models::on_whole_gpu(
        drawn_profile(*profile, scenario.seed, static_cast<std::uint32_t>(replication)), catalogue);
    take_profile(drawn, workload);
    take_times(drawn, workload);
  }
  auto world = build_world(scenario, catalogue);
  if (world) return world;
  for (Diagnostic& problem : world.error()) {
    problem.message =
        fmt::format("as replication {} draws its inputs: {}", replication + 1, problem.message);
  }
  return world;
}

// A figure is one replication's: more of them do not make the inputs better known.
std::vector<FigureRange> ranges_of(const Simulated& simulated) {
  std::vector<FigureRange> out;
  const auto runs = static_cast<double>(simulated.singles.size());
  for (const OutcomePlace& place : choose_outcomes(simulated.pooled)) {
    const OutcomeFigure figure = outcome_figure(place, simulated);
    if (!figure.ci95) continue;
    out.push_back({figure.workload, figure.name, figure.value.unit, figure.value.value,
                   *figure.ci95 * std::sqrt(runs + 1)});
  }
  return out;
}

VariantResult merged(const World& world, const std::vector<Replication>& records) {
  Simulated simulated{merge(world, records), {}};
  for (const Replication& record : records) {
    simulated.singles.push_back(merge(world, {&record, 1}));
  }
  simulated.pooled.ranges = ranges_of(simulated);
  return std::move(simulated.pooled);
}

}  // namespace

Expected<Result> run_sampled(const scenarios::ScenarioSet& set, const models::Catalogue& catalogue,
                             const RunOptions& options) {
  const auto worlds = worlds_of(set, catalogue);
  if (!worlds) return tl::unexpected(worlds.error());
  if (std::ranges::none_of(set.variants, [&](const scenarios::Scenario& scenario) {
        return is_uncertain(scenario, catalogue);
      })) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::InputMissing, set.variants.front().where,
        "no workload names a profile whose figures have intervals: there is nothing to draw",
        "`slicewise calibrate --out` writes such profiles from measurements; lay them over the "
        "catalogue with --catalogue")});
  }
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t w = 0; w < worlds->size(); ++w) {
    for (int r = 0; r < (*worlds)[w].replications; ++r) tasks.emplace_back(w, r);
  }
  std::vector<std::optional<Replication>> records;
  try {
    records = results_of<Replication>(tasks.size(), options, [&](std::size_t t) {
      const auto [w, r] = tasks[t];
      Expected<World> world = drawn_world(set.variants[w], catalogue, r);
      if (!world) throw RefusedTask{std::move(world.error())};
      return whole_replication(*world, r, options);
    });
  } catch (RefusedTask& refused) {
    return tl::unexpected(std::move(refused.why));
  }
  std::vector<std::optional<VariantResult>> variants(worlds->size());
  for (std::size_t w = 0; w < worlds->size(); ++w) {
    std::vector<Replication> finished;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].first == w && records[t]) finished.push_back(std::move(*records[t]));
    }
    if (!finished.empty()) variants[w] = merged((*worlds)[w], finished);
  }
  Result result = result_of(set, catalogue, std::move(variants));
  result.sampled_inputs = true;
  return result;
}

}  // namespace slicewise::sim
