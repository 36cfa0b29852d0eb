#include "slicewise/sim/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../run/replications.hpp"
#include "../probe/inputs.hpp"
#include "break_evens.hpp"
#include "outcomes.hpp"

namespace slicewise::sim {
namespace {

// An interval needs two.
constexpr int kFewestToCompare = 2;

std::vector<std::string> words_to_vary(const Scenario& scenario,
                                       const SensitivityOptions& options) {
  if (!options.vary.empty() || !scenario.sensitivity) return options.vary;
  std::vector<std::string> words;
  for (const scenarios::InputKind kind : scenario.sensitivity->vary) {
    words.emplace_back(scenarios::word_of(kind));
  }
  return words;
}

double share_to_vary_by(const Scenario& scenario, const SensitivityOptions& options) {
  const scenarios::Sensitivity usual;
  return options.by.value_or(scenario.sensitivity ? scenario.sensitivity->by : usual.by);
}

Diagnostic nothing_to_vary(const Scenario& scenario) {
  return make_diagnostic(Code::InputMissing, scenario.where,
                         fmt::format("\"{}\" has no input that could be varied", scenario.name));
}

// One end of each input, down and then up, with its world or why there is none.
struct VariedEnd {
  std::size_t place = 0;
  InputVariation variation;
};

// `worlds` gets those of the ends that can be simulated, in order.
std::vector<VariedEnd> varied_ends_of(const SensitivitySubject& subject, double by,
                                      std::vector<World>& worlds) {
  std::vector<VariedEnd> ends;
  for (std::size_t p = 0; p < subject.places.size(); ++p) {
    const InputPlace& place = subject.places[p];
    for (const double factor : {1 - by, 1 + by}) {
      VariedEnd end;
      end.place = p;
      end.variation.factor = factor;
      end.variation.value = value_at(subject.base, place, factor);
      if (end.variation.value == place.input.value.value) continue;  // a whole of a share, one user
      Expected<World> world = world_at(subject.base, *subject.catalogue, place, factor);
      if (world) {
        worlds.push_back(std::move(*world));
      } else {
        end.variation.refused = world.error().front().message;
      }
      ends.push_back(std::move(end));
    }
  }
  return ends;
}

void fill_variation(const SensitivitySubject& subject, const std::vector<OutcomePlace>& outcomes,
                    const Simulated& changed, InputVariation& variation) {
  for (const OutcomePlace& outcome : outcomes) {
    variation.changes.push_back(outcome_change(outcome, subject.as_is, changed));
  }
  variation.flips = objective_flips(subject.as_is.pooled, changed.pooled);
  variation.pods = changed.pooled.pods;
  variation.verdict = changed.pooled.verdict;
}

// Simulates both ends of all inputs. What was not finished is left out.
void vary_all(SensitivitySubject& subject, const std::vector<OutcomePlace>& outcomes,
              Simulations& simulations, SensitivityStudy& study) {
  std::vector<World> worlds;
  std::vector<VariedEnd> ends = varied_ends_of(subject, study.by, worlds);
  std::vector<std::optional<Simulated>> results = simulations.run(worlds);
  for (const InputPlace& place : subject.places) {
    study.effects.push_back({place.input, std::nullopt, std::nullopt});
  }
  std::size_t next = 0;
  for (VariedEnd& end : ends) {
    if (end.variation.refused.empty()) {
      std::optional<Simulated>& result = results[next++];
      if (!result) continue;
      fill_variation(subject, outcomes, *result, end.variation);
      subject.varied.push_back({end.place, end.variation.factor, std::move(result)});
    }
    InputEffect& effect = study.effects[end.place];
    (end.variation.factor < 1 ? effect.low : effect.high) = std::move(end.variation);
  }
}

// Inputs that flip an objective first, then by the largest change; those that do nothing keep the
// order of the scenario.
void sort_effects(SensitivityStudy& study) {
  std::vector<std::size_t> order(study.effects.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  const auto rank = [&](std::size_t n) {
    const InputEffect& effect = study.effects[n];
    return std::pair(!flips_objective(effect), -largest_change(effect));
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::vector<InputEffect> sorted;
  sorted.reserve(order.size());
  for (const std::size_t n : order) sorted.push_back(std::move(study.effects[n]));
  study.effects = std::move(sorted);
  for (BreakEven& even : study.break_evens) {
    even.effect = static_cast<std::size_t>(std::ranges::find(order, even.effect) - order.begin());
  }
}

Expected<SensitivitySubject> subject_of(const ScenarioSet& set, std::size_t variant,
                                        const Catalogue& catalogue,
                                        const SensitivityOptions& options) {
  SensitivitySubject subject;
  subject.base = set.variants[variant];
  subject.base.replications = std::max(kFewestToCompare, subject.base.replications);
  subject.catalogue = &catalogue;
  Expected<World> world = build_world(subject.base, catalogue);
  if (!world) return tl::unexpected(std::move(world.error()));
  subject.world = std::move(*world);
  auto places = choose_inputs(subject.base, subject.world, words_to_vary(subject.base, options));
  if (!places) return tl::unexpected(std::move(places.error()));
  if (places->empty()) return tl::unexpected(Diagnostics{nothing_to_vary(subject.base)});
  subject.places = std::move(*places);
  return subject;
}

}  // namespace

double largest_change(const InputEffect& effect) {
  double largest = 0;
  for (const auto& end : {effect.low, effect.high}) {
    if (!end) continue;
    for (const auto& change : end->changes) {
      if (change) largest = std::max(largest, std::abs(change->ratio));
    }
  }
  return largest;
}

bool flips_objective(const InputEffect& effect) {
  return (effect.low && !effect.low->flips.empty()) || (effect.high && !effect.high->flips.empty());
}

Expected<SensitivityStudy> find_sensitivity(const ScenarioSet& set, std::size_t variant,
                                            const Catalogue& catalogue,
                                            const SensitivityOptions& options) {
  auto chosen = subject_of(set, variant, catalogue, options);
  if (!chosen) return tl::unexpected(std::move(chosen.error()));
  SensitivitySubject subject = std::move(*chosen);
  SensitivityStudy study;
  study.stamp = stamp_of(set, variant, catalogue);
  study.stamp.replications = subject.base.replications;
  study.by = share_to_vary_by(subject.base, options);
  Simulations simulations(options.run);
  auto as_is = simulations.run(std::span(&subject.world, 1));
  study.interrupted = !as_is.front();
  if (study.interrupted) return study;
  subject.as_is = std::move(*as_is.front());
  study.pods = subject.as_is.pooled.pods;
  study.verdict = subject.as_is.pooled.verdict;
  study.simulations = simulations.worlds_done();
  if (study.nothing_runs()) return study;
  const std::vector<OutcomePlace> outcomes = choose_outcomes(subject.as_is.pooled);
  for (const OutcomePlace& outcome : outcomes) {
    study.figures.push_back(outcome_figure(outcome, subject.as_is));
  }
  vary_all(subject, outcomes, simulations, study);
  if (!is_interrupted(options.run) && has_objectives(subject.as_is.pooled)) {
    study.break_evens = find_break_evens(subject, options.break_evens, simulations);
  }
  study.interrupted = is_interrupted(options.run);
  study.simulations = simulations.worlds_done();
  sort_effects(study);
  return study;
}

Expected<std::size_t> count_varied_inputs(const ScenarioSet& set, std::size_t variant,
                                          const Catalogue& catalogue,
                                          const SensitivityOptions& options) {
  const auto subject = subject_of(set, variant, catalogue, options);
  if (!subject) return tl::unexpected(subject.error());
  return subject->places.size();
}

}  // namespace slicewise::sim
