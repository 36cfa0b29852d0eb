#include "sensitivity_document.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/sensitivity_report.hpp"

#include "../text/amount_text.hpp"
#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using sim::SensitivityStudy;

json basis_value(const std::optional<scenarios::Provenance>& basis) {
  if (!basis) return "scenario";
  switch (*basis) {
    case scenarios::Provenance::Measured:
      return "measured";
    case scenarios::Provenance::Catalog:
      return "catalog";
    case scenarios::Provenance::Assumed:
      break;
  }
  return "assumed";
}

json outcome_value_of(const sim::OutcomeFigure& figure) {
  return document::present({{"workload", document::text(figure.workload)},
                            {"name", figure.name},
                            {"unit", unit_word(figure.value.unit)},
                            {"value", document::number(figure.value.value)},
                            {"ci95", document::number(figure.ci95)},
                            {"limit", document::number(figure.limit)},
                            {"atLeast", figure.at_least ? json(true) : json(nullptr)},
                            {"pass", figure.limit ? json(figure.pass) : json(nullptr)}});
}

json change_value(const SensitivityStudy& study, std::size_t figure,
                  const sim::OutcomeChange& change) {
  return document::present({{"workload", document::text(study.figures[figure].workload)},
                            {"name", study.figures[figure].name},
                            {"value", document::number(change.value)},
                            {"changeRatio", document::number(change.ratio)},
                            {"ci95Ratio", document::number(change.ci95)}});
}

json flip_value(const sim::ObjectiveFlip& flip) {
  return {{"workload", flip.workload},
          {"name", flip.name},
          {"unit", unit_word(flip.value.unit)},
          {"value", document::number(flip.value.value)},
          {"limit", document::number(flip.limit.value)},
          {"pass", flip.passes}};
}

json variation_value(const SensitivityStudy& study,
                     const std::optional<sim::InputVariation>& variation) {
  if (!variation) return nullptr;
  json out{{"factor", document::number(variation->factor)},
           {"value", document::number(variation->value)}};
  if (!variation->refused.empty()) {
    out["refused"] = variation->refused;
    return out;
  }
  out["changes"] = json::array();
  for (std::size_t f = 0; f < variation->changes.size(); ++f) {
    if (variation->changes[f]) {
      out["changes"].push_back(change_value(study, f, *variation->changes[f]));
    }
  }
  out["flips"] = document::list(variation->flips, flip_value);
  out["pods"] = {{"oomKilled", document::number(variation->pods.oom_kills)},
                 {"failed", document::number(variation->pods.failed)},
                 {"pendingMax", variation->pods.pending_max}};
  return out;
}

json effect_value(const SensitivityStudy& study, const sim::InputEffect& effect) {
  return document::present({{"path", effect.input.path},
                            {"kind", scenarios::word_of(effect.input.kind)},
                            {"unit", unit_word(effect.input.value.unit)},
                            {"value", document::number(effect.input.value.value)},
                            {"basis", basis_value(effect.input.basis)},
                            {"largestChangeRatio", document::number(largest_change(effect))},
                            {"low", variation_value(study, effect.low)},
                            {"high", variation_value(study, effect.high)}});
}

json break_even_value(const SensitivityStudy& study, const sim::BreakEven& even) {
  const sim::VariedInput& input = study.effects[even.effect].input;
  const auto at = [&](const std::optional<double>& factor) {
    return factor ? document::number(*factor * input.value.value) : json(nullptr);
  };
  return document::present({{"path", input.path},
                            {"unit", unit_word(input.value.unit)},
                            {"passesFactor", document::number(even.passes)},
                            {"failsFactor", document::number(even.fails)},
                            {"passes", at(even.passes)},
                            {"fails", at(even.fails)},
                            {"workload", document::text(even.workload)},
                            {"objective", document::text(even.objective)},
                            {"simulations", even.simulations}});
}

json metadata_value(const SensitivityStudy& study) {
  return document::metadata_of(
      study.stamp, study.interrupted,
      {{"simulations", study.simulations}, {"byRatio", document::number(study.by)}});
}

}  // namespace

json sensitivity_document(const SensitivityStudy& study) {
  json effects = json::array();
  for (const sim::InputEffect& effect : study.effects) {
    effects.push_back(effect_value(study, effect));
  }
  json evens = json::array();
  for (const sim::BreakEven& even : study.break_evens) {
    evens.push_back(break_even_value(study, even));
  }
  return document::present({{"apiVersion", kSensitivityApiVersion},
                            {"kind", "Sensitivity"},
                            {"metadata", metadata_value(study)},
                            {"nothingRuns", study.nothing_runs ? json(true) : json(nullptr)},
                            {"figures", document::list(study.figures, outcome_value_of)},
                            {"inputs", std::move(effects)},
                            {"breakEvens", std::move(evens)}});
}

std::string sensitivity_json(const SensitivityStudy& study) {
  return json_text(sensitivity_document(study));
}

std::string sensitivity_yaml(const SensitivityStudy& study) {
  return yaml_text(sensitivity_document(study));
}

}  // namespace slicewise::reports
