#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "slicewise/portable_math.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "../../cluster/entity_streams.hpp"
#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "../../run/shared_tasks.hpp"
#include "../../world/parts.hpp"
#include "../sensitivity/outcomes.hpp"

namespace slicewise::sim {
namespace {

// The profile that a workload names, where some of its figures are known within an interval only.
const WorkloadProfile* uncertain_profile(const Workload& workload, const Catalogue& catalogue) {
  if (workload.profile.value.empty()) return nullptr;
  const WorkloadProfile* profile = catalogue.find_profile(workload.profile.value);
  return profile == nullptr || profile->uncertainty.empty() ? nullptr : profile;
}

const models::LlmModel* uncertain_model(const Workload& workload, const Catalogue& catalogue) {
  if (!workload.llm || workload.llm->model.value.empty()) return nullptr;
  const models::LlmModel* model = catalogue.find_llm_model(workload.llm->model.value);
  return model == nullptr || model->uncertainty.empty() ? nullptr : model;
}

bool is_bounded(const WorkloadModel& model, const World& world) {
  return lacks_busy(model, world) || lacks_capacity(model, world);
}

bool has_bounds_only(const World& world) {
  return std::ranges::any_of(world.workloads, [&](const WorkloadModel& model) {
    return is_bounded(model, world) || lacks_kernels(model, world) || lacks_norm(model, world);
  });
}

}  // namespace

bool has_uncertain_inputs(const Scenario& scenario, const World& world,
                          const Catalogue& catalogue) {
  const auto has_intervals = [&](const Workload& workload) {
    return uncertain_profile(workload, catalogue) != nullptr ||
           uncertain_model(workload, catalogue) != nullptr;
  };
  return std::ranges::any_of(scenario.workloads, has_intervals) || has_bounds_only(world);
}

namespace {

// Figures that are known by their bounds only: from the one to the other over the replications.
void spread_bounds(std::size_t replication, const WorkloadModel& model, const World& world,
                   scenarios::Measured& m) {
  const int others = world.replications - 1;
  const double part = others > 0 ? static_cast<double>(replication) / others : 0.5;
  const bool in_batches = scenarios::runs_batches(model.spec.kind);
  const scenarios::CapacityRange capacity = scenarios::capacity_range(m, in_batches);
  if (lacks_busy(model, world)) {
    const scenarios::BusyRange range = scenarios::busy_range(m);
    m.gpu_busy = range.least + (range.most - range.least) * part;
    m.gpu_util.reset();
  }
  if (lacks_capacity(model, world)) {
    m.capacity_share = capacity.least + (capacity.most - capacity.least) * part;
  }
}

// Between 1 and `ratio`, any factor as likely as another; each workload has its own.
double drawn_factor(double ratio, const Workload& workload, const char* figure, std::uint64_t seed,
                    std::size_t replication) {
  RandomStream random(seed, static_cast<std::uint32_t>(replication),
                      entity_of(workload.name.value + figure), Purpose::Input);
  return portable_exp(random.uniform() * portable_log(ratio));
}

// Each its own, as it is the ratio of two that counts.
Duration drawn_kernel(const Workload& workload, std::uint64_t seed, std::size_t replication) {
  const scenarios::KernelRange range = scenarios::kernel_range(workload);
  const double ratio = to_seconds(range.most) / to_seconds(range.least);
  return from_seconds(to_seconds(range.least) *
                      drawn_factor(ratio, workload, ".kernelTime", seed, replication));
}

// The best p of a source or client lies anywhere from 1 on:
// models/MODELS.md, "One process on a part of a GPU".
constexpr double kMostNorm = 6;

}  // namespace

std::optional<Catalogue> with_drawn_models(const Scenario& scenario, const Catalogue& catalogue,
                                           std::uint32_t replication) {
  std::optional<Catalogue> drawn;
  for (const Workload& workload : scenario.workloads) {
    const models::LlmModel* model = uncertain_model(workload, catalogue);
    if (model == nullptr) continue;
    if (!drawn) drawn = catalogue;
    const auto place = static_cast<std::size_t>(model - catalogue.llm_models.data());
    drawn->llm_models[place] = drawn_model(*model, scenario.seed, replication);
  }
  return drawn;
}

Expected<World> drawn_world(Scenario scenario, const World& world, const Catalogue& models,
                            std::size_t replication) {
  for (std::size_t w = 0; w < scenario.workloads.size(); ++w) {
    Workload& workload = scenario.workloads[w];
    const WorkloadModel& model = world.workloads[w];
    if (const WorkloadProfile* profile = uncertain_profile(workload, models)) {
      const WorkloadProfile drawn = profile_for(
          workload, drawn_profile(*profile, scenario.seed, static_cast<std::uint32_t>(replication)),
          models);
      auto batches = measured_batches(workload, *profile, models);
      take_profile(drawn, workload);
      take_times(drawn, workload);
      workload.measured->batches = std::move(batches);
    } else if (is_bounded(model, world) || lacks_kernels(model, world) ||
               lacks_norm(model, world)) {
      workload.measured = model.spec.measured;
    }
    if (is_bounded(model, world)) spread_bounds(replication, model, world, *workload.measured);
    if (lacks_kernels(model, world)) {
      workload.measured->kernel_time = drawn_kernel(workload, scenario.seed, replication);
    }
    if (lacks_norm(model, world) && !workload.measured->norm_p) {
      workload.measured->norm_p =
          drawn_factor(kMostNorm, workload, ".normP", scenario.seed, replication);
    }
  }
  auto drawn = build_world(scenario, models);
  if (drawn) return drawn;
  for (Diagnostic& problem : drawn.error()) {
    problem.message =
        fmt::format("as replication {} draws its inputs: {}", replication + 1, problem.message);
  }
  return drawn;
}

namespace {

struct Ends {
  double least = 0;
  double most = 0;
};

// Where one more value lies, 95 %, around their mean: of logarithms, as what is never below 0
// scatters by factors; nullopt where there are too few.
std::optional<Ends> next_value(std::vector<double> singles) {
  const bool positive = std::ranges::all_of(singles, [](double v) { return v > 0; });
  if (positive) std::ranges::transform(singles, singles.begin(), portable_log);
  const auto of_mean = half_width_95(singles);
  if (!of_mean) return std::nullopt;
  const auto count = static_cast<double>(singles.size());
  const double width = *of_mean * std::sqrt(count + 1);
  const double mean = std::accumulate(singles.begin(), singles.end(), 0.0) / count;
  if (!positive) return Ends{std::max(0.0, mean - width), mean + width};
  return Ends{portable_exp(mean - width), portable_exp(mean + width)};
}

// A figure is one replication's: more of them do not make the inputs better known. Replications
// that go from one bound to the other show all that may come of it.
std::vector<FigureRange> ranges_of(const Simulated& simulated, const World& world) {
  std::vector<FigureRange> out;
  const bool bounds = has_bounds_only(world);
  for (const OutcomePlace& place : choose_outcomes(simulated.pooled)) {
    const OutcomeFigure figure = outcome_figure(place, simulated);
    const std::vector<double> singles = single_values(place, simulated);
    if (singles.size() < simulated.singles.size()) continue;
    const auto ends = next_value(singles);
    if (!ends) continue;
    FigureRange range{figure.workload,    figure.name, figure.value.unit,
                      figure.value.value, ends->least, ends->most};
    if (bounds) {
      const auto [least, most] = std::ranges::minmax(singles);
      range.value = (least + most) / 2;
      range.least = least;
      range.most = most;
    }
    out.push_back(std::move(range));
  }
  return out;
}

VariantResult merged(const World& world, const std::vector<Replication>& records) {
  Simulated simulated{merge(world, records), {}};
  for (const Replication& record : records) {
    simulated.singles.push_back(merge(world, {&record, 1}));
  }
  simulated.pooled.ranges = ranges_of(simulated, world);
  return std::move(simulated.pooled);
}

}  // namespace

Expected<std::vector<std::optional<VariantResult>>> simulate_drawn(
    std::span<const Scenario> scenarios, std::span<const World* const> worlds,
    const Catalogue& catalogue, const RunOptions& options) {
  bool uncertain = false;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    uncertain = uncertain || has_uncertain_inputs(scenarios[w], *worlds[w], catalogue);
  }
  if (!uncertain && !worlds.empty()) {
    return tl::unexpected(Diagnostics{
        make_diagnostic(Code::InputMissing, scenarios.front().where, std::string(kNothingToDraw),
                        "`slicewise calibrate --out` writes both from measurements; lay them over "
                        "the catalogue with --catalogue")});
  }
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    for (int r = 0; r < worlds[w]->replications; ++r) tasks.emplace_back(w, r);
  }
  std::vector<std::optional<Replication>> records;
  try {
    records = results_of<Replication>(tasks.size(), options, [&](std::size_t t) {
      const auto [w, r] = tasks[t];
      const Scenario& variant = scenarios[w];
      const auto models = with_drawn_models(variant, catalogue, static_cast<std::uint32_t>(r));
      Expected<World> world = drawn_world(variant, *worlds[w], models ? *models : catalogue,
                                          static_cast<std::size_t>(r));
      if (!world) throw RefusedTask{std::move(world.error())};
      return whole_replication(*world, r, options);
    });
  } catch (RefusedTask& refused) {
    return tl::unexpected(std::move(refused.why));
  }
  std::vector<std::optional<VariantResult>> results(worlds.size());
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    std::vector<Replication> finished;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].first == w && records[t]) finished.push_back(std::move(*records[t]));
    }
    if (!finished.empty()) results[w] = merged(*worlds[w], finished);
  }
  return results;
}

Expected<Result> run_sampled(const ScenarioSet& set, const Catalogue& catalogue,
                             const RunOptions& options) {
  const auto worlds = worlds_of(set, catalogue, UnknownInputs::Drawn);
  if (!worlds) return tl::unexpected(worlds.error());
  std::vector<const World*> each;
  for (const World& world : *worlds) each.push_back(&world);
  auto variants = simulate_drawn(set.variants, each, catalogue, options);
  if (!variants) return tl::unexpected(std::move(variants.error()));
  Result result = result_of(set, catalogue, std::move(*variants));
  result.sampled_inputs = true;
  return result;
}

}  // namespace slicewise::sim
