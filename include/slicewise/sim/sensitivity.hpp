#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/sim/run.hpp"
#include "slicewise/sim/stamp.hpp"

// Figures of any kind, where inputs and results of all kinds stand side by side.
namespace slicewise::sim {

using scenarios::AmountUnit;

// A figure of any kind.
struct Amount {
  double value = 0;
  AmountUnit unit = AmountUnit::Count;
};

// What happens to the results when one input is a little lower or higher than the scenario says:
// the figures of a tornado chart, and how far an input may be off before an objective fails.

Amount amount_of(const scenarios::FigureValue& value);

struct VariedInput {
  scenarios::InputKind kind = scenarios::InputKind::Traffic;
  std::string path;  // "workloads.asr.measured.requestGpuTime"
  Amount value;      // as the scenario or the catalogue has it
  // How well it is known; absent where the scenario decides it, as it does its traffic.
  std::optional<scenarios::Provenance> basis;
};

// A figure of the results, as the scenario has it.
struct OutcomeFigure {
  std::string workload;  // "" of the whole scenario
  // "monthlyUsd", "per1kRequestsInSloUsd", "perJobUsd"; an objective; "latencyP99" or
  // "jobCompletionP95" of a workload without objectives.
  std::string name;
  Amount value;
  std::optional<double> ci95;   // half width
  std::optional<double> limit;  // of an objective: at most, or at least
  bool at_least = false;
  ObjectiveStanding standing = ObjectiveStanding::Holds;
};

struct OutcomeChange {
  double value = 0;            // in the unit of the figure
  double ratio = 0;            // value / the scenario's - 1
  std::optional<double> ci95;  // half width of `ratio`, from the differences run by run
};

// An objective that does not hold where it held in the scenario, or the other way round.
struct ObjectiveFlip {
  std::string workload;
  std::string name;
  Amount value;
  Amount limit;
  ObjectiveStanding standing = ObjectiveStanding::Missed;  // with the input changed
};

// The scenario with one input changed.
struct InputVariation {
  double factor = 1;
  double value = 0;     // of the input, in its unit
  std::string refused;  // why it cannot be simulated at all; "": it was
  std::vector<std::optional<OutcomeChange>> changes;  // one for each figure; absent: no value there
  std::vector<ObjectiveFlip> flips;
  PodCounts pods;
  Verdict verdict;
};

struct InputEffect {
  VariedInput input;
  std::optional<InputVariation> low;   // absent: not reached before the study was stopped, or the
  std::optional<InputVariation> high;  // input cannot go further: a share of one stays at one
};

// How far an input may go before an objective fails, or must go before all pass.
struct BreakEven {
  std::size_t effect = 0;        // into SensitivityStudy::effects
  std::optional<double> passes;  // factor; absent: none of those tried
  std::optional<double> fails;
  std::string workload;   // whose objective fails at `fails`
  std::string objective;  // or the cause where all hold but pods or requests are left behind
  int simulations = 0;    // beyond those of the effects
};

struct SensitivityOptions {
  // Kinds ("traffic") or paths ("workloads.asr.traffic") of inputs. Empty: those of the scenario's
  // block `sensitivity`, else all.
  std::vector<std::string> vary;
  std::optional<double> by;  // share of one; absent: as the scenario says, else 20 %
  int break_evens = 3;       // for so many inputs, those with the most effect on an objective
  RunOptions run;
};

struct SensitivityStudy {
  Stamp stamp;
  double by = 0;
  bool interrupted = false;
  int simulations = 0;  // of all replications each, that of the scenario itself included
  std::vector<OutcomeFigure> figures;
  std::vector<InputEffect> effects;  // the largest first
  std::vector<BreakEven> break_evens;
  PodCounts pods;   // of the scenario itself
  Verdict verdict;  // likewise

  // No pod ever ran: nothing was varied.
  bool nothing_runs() const { return verdict.has(Verdict::Cause::NothingRan); }
};

// The largest change of any figure, up or down, as a share of one. 0 where nothing is known.
double largest_change(const InputEffect& effect);
bool flips_objective(const InputEffect& effect);

// Simulates the scenario, and it again with each input on its own lowered and raised by the same
// share, all with one seed: the differences are what the input does, not noise. Two replications at
// least. Then bisects for the break-evens. Errors: an unknown kind or path, nothing to vary, and
// what is wrong with the scenario. REQUIRES: variant < set.variants.size(), 0 < by < 1.
Expected<SensitivityStudy> find_sensitivity(const scenarios::ScenarioSet& set, std::size_t variant,
                                            const models::Catalogue& catalogue,
                                            const SensitivityOptions& options = {});

// How many inputs it would vary, each up and down: what a study costs. Errors and requirements are
// those of find_sensitivity.
Expected<std::size_t> count_varied_inputs(const scenarios::ScenarioSet& set, std::size_t variant,
                                          const models::Catalogue& catalogue,
                                          const SensitivityOptions& options = {});

}  // namespace slicewise::sim
