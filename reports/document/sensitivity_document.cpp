#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../text/amount_text.hpp"
#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "record_json.hpp"

namespace slicewise::sim {

template <>
struct Spelling<ObjectiveStanding> {
  using O = ObjectiveStanding;
  static constexpr bool kListed = true;
  static constexpr O kAll[] = {O::Holds, O::Undecided, O::Missed};
  static constexpr std::string_view of(O standing) {
    return standing == O::Holds ? "holds" : standing == O::Undecided ? "undecided" : "missed";
  }
};

namespace {

constexpr std::string_view kSensitivityApiVersion = "slicewise.dev/sensitivity.v1alpha1";

// Parts of a study with what they point to.
struct NamedChange {
  OutcomeChange change;
  std::string workload;
  std::string name;
};
struct NamedVariation {
  InputVariation variation;
  std::vector<NamedChange> changes;
};
struct NamedEffectOfInput {
  InputEffect effect;
  std::optional<NamedVariation> low;
  std::optional<NamedVariation> high;
};
struct BreakEvenOfInput {
  BreakEven even;
  VariedInput input;
};

std::optional<NamedVariation> named(const SensitivityStudy& study,
                                    const std::optional<InputVariation>& variation) {
  if (!variation) return std::nullopt;
  NamedVariation out{*variation, {}};
  for (std::size_t f = 0; f < variation->changes.size(); ++f) {
    if (!variation->changes[f]) continue;
    out.changes.push_back(
        {*variation->changes[f], study.figures[f].workload, study.figures[f].name});
  }
  return out;
}

std::vector<NamedEffectOfInput> named_effects(const SensitivityStudy& study) {
  std::vector<NamedEffectOfInput> out;
  for (const InputEffect& effect : study.effects) {
    out.push_back({effect, named(study, effect.low), named(study, effect.high)});
  }
  return out;
}

std::vector<BreakEvenOfInput> break_evens_of_inputs(const SensitivityStudy& study) {
  std::vector<BreakEvenOfInput> out;
  for (const BreakEven& even : study.break_evens) {
    out.push_back({even, study.effects[even.effect].input});
  }
  return out;
}

std::optional<bool> passes_limit(const OutcomeFigure& figure) {
  return figure.limit ? std::optional(figure.standing != ObjectiveStanding::Missed) : std::nullopt;
}

std::optional<ObjectiveStanding> standing_at_limit(const OutcomeFigure& figure) {
  return figure.limit ? std::optional(figure.standing) : std::nullopt;
}

bool holds_now(const ObjectiveFlip& flip) { return flip.standing == ObjectiveStanding::Holds; }

std::string_view kind_of_input(const VariedInput& input) { return scenarios::word_of(input.kind); }

std::string_view basis_of_input(const VariedInput& input) {
  return reports::basis_word(input.basis);
}

double largest_of(const NamedEffectOfInput& effect) { return largest_change(effect.effect); }

bool was_simulated(const NamedVariation& v) { return v.variation.refused.empty(); }

std::optional<std::vector<NamedChange>> changes_of(const NamedVariation& v) {
  return was_simulated(v) ? std::optional(v.changes) : std::nullopt;
}
std::optional<std::vector<ObjectiveFlip>> flips_of(const NamedVariation& v) {
  return was_simulated(v) ? std::optional(v.variation.flips) : std::nullopt;
}
std::optional<PodCounts> pods_of(const NamedVariation& v) {
  return was_simulated(v) ? std::optional(v.variation.pods) : std::nullopt;
}
std::optional<Verdict> verdict_of(const NamedVariation& v) {
  return was_simulated(v) ? std::optional(v.variation.verdict) : std::nullopt;
}

std::optional<double> input_at(const BreakEvenOfInput& b, const std::optional<double>& factor) {
  return factor ? std::optional(*factor * b.input.value.value) : std::nullopt;
}
std::optional<double> input_that_passes(const BreakEvenOfInput& b) {
  return input_at(b, b.even.passes);
}
std::optional<double> input_that_fails(const BreakEvenOfInput& b) {
  return input_at(b, b.even.fails);
}

constexpr std::string_view kOfUnit = "of the values beside it";

const Record& pods_of_variation() {
  static const Record declared = [] {
    const Record& pods = record_of<PodCounts>();
    return Record{"means per run",
                  {pods.like("oomKilled").saying("containers killed for lack of GPU memory"),
                   pods.like("failed").saying("pods that failed"),
                   pods.like("pendingMax").saying("pods Pending at once, at most")}};
  }();
  return declared;
}

const Record& sensitivity_metadata() {
  using S = SensitivityStudy;
  static const Record declared{
      "what produced the study; the same values produce the same bytes",
      {stamp_field<S>("scenario").csv(1, "scenario"), stamp_field<S>("scenarioSha256"),
       stamp_field<S>("variant").csv(2, "variant"),
       stamp_field<S>("seed")
           .saying("seed of the random streams, the same for every simulation")
           .csv(3, "seed"),
       stamp_field<S>("replications").saying("runs of each simulation"),
       field<&S::simulations>("simulations", "how many there were"),
       field<&S::by>("byRatio", "how far inputs were lowered and raised"),
       stamp_field<S>("version"), stamp_field<S>("priceDate"), stamp_field<S>("priceFile"),
       stamp_field<S>("priceFileSha256"), stamp_field<S>("catalogueFiles"),
       stamp_field<S>("catalogueSha256"), stamp_field<S>("allowPending"),
       field<&S::interrupted>("interrupted", "not every input was varied").optional()}};
  return declared;
}

}  // namespace

template <>
const Record& record_of<OutcomeFigure>() {
  using F = OutcomeFigure;
  static const Record declared{
      "a figure of the results",
      {same_figure<&F::workload>(record_of<FigureRange>(), "workload").optional(),
       same_figure<&F::name>(record_of<FigureRange>(), "name"),
       field<&F::value, &Amount::unit>("unit", kOfUnit),
       field<&F::value, &Amount::value>("value", "as the scenario is"),
       field<&F::ci95>("ci95", "half width"),
       field<&F::limit>("limit", "of an objective: at most, or at least"),
       field<&F::at_least>("atLeast", "the limit is a lower one").optional(),
       field<&passes_limit>("pass", "the value is within the limit"),
       field<&standing_at_limit>("standing", "whether it holds with all of its 95 % interval")}};
  return declared;
}

template <>
const Record& record_of<NamedChange>() {
  using N = NamedChange;
  static const Record declared{
      "how a figure changes",
      {field<&N::workload>("workload", "as in figures").optional().csv(11, "workload"),
       field<&N::name>("name", "as in figures").csv(12, "figure"),
       field<&N::change, &OutcomeChange::value>("value", "with the input changed")
           .csv(13, "figureValue"),
       field<&N::change, &OutcomeChange::ratio>("changeRatio", "value / the scenario's - 1")
           .of(Unit::Signed)
           .csv(14, "changeRatio"),
       field<&N::change, &OutcomeChange::ci95>("ci95Ratio",
                                               "half width, of the differences run by run")
           .csv(15, "ci95Ratio")}};
  return declared;
}

template <>
const Record& record_of<ObjectiveFlip>() {
  using F = ObjectiveFlip;
  static const Record declared{"an objective that starts or stops holding",
                               {field<&F::workload>("workload", "workload or pipeline"),
                                field<&F::name>("name", "objective, as in the scenario"),
                                field<&F::value, &Amount::unit>("unit", kOfUnit),
                                field<&F::value, &Amount::value>("value", "with the input changed"),
                                field<&F::limit, &Amount::value>("limit", "at most, or at least"),
                                field<&holds_now>("pass", "it holds now, and did not before"),
                                field<&F::standing>("standing", "with the input changed")}};
  return declared;
}

template <>
const Record& record_of<NamedVariation>() {
  using V = NamedVariation;
  static const Record declared{
      "",
      {field<&V::variation, &InputVariation::factor>("factor", "value / the scenario's"),
       field<&V::variation, &InputVariation::value>("value", "of the input"),
       field<&V::variation, &InputVariation::refused>("refused", "why it cannot be simulated")
           .optional(),
       field<&changes_of>("changes", "of the figures"), field<&flips_of>("flips", "objectives"),
       field<&pods_of>("pods").as(&pods_of_variation), field<&verdict_of>("verdict")}};
  return declared;
}

template <>
const Record& record_of<NamedEffectOfInput>() {
  using N = NamedEffectOfInput;
  using I = VariedInput;
  static const Record declared = [] {
    const auto of_input = [](Field field) {
      field.base = [](const void* at) -> const void* { return &shapes::in<N>(at).effect.input; };
      return field;
    };
    return Record{
        "one input, varied alone",
        {of_input(field<&I::path>("path", "where it stands, as --vary takes it")).csv(4, "path"),
         of_input(field<&kind_of_input>("kind", "as `sensitivity.vary` of a scenario takes it")),
         of_input(field<&I::value, &Amount::unit>("unit", kOfUnit)).csv(6, "unit"),
         of_input(
             field<&I::value, &Amount::value>("value", "as the scenario or the catalogue has it"))
             .csv(7, "scenarioValue"),
         of_input(field<&basis_of_input>(
                      "basis", "how well it is known; scenario: it is decided, not measured"))
             .one_of("measured catalog assumed scenario")
             .csv(5, "basis"),
         field<&largest_of>("largestChangeRatio", "of any figure, at either end"),
         field<&N::low>("low", "the input lowered"), field<&N::high>("high", "the input raised")}};
  }();
  return declared;
}

template <>
const Record& record_of<BreakEvenOfInput>() {
  using B = BreakEvenOfInput;
  static const Record declared{
      "how far an input may go before an objective fails",
      {field<&B::input, &VariedInput::path>("path", "of the input"),
       field<&B::input, &VariedInput::value, &Amount::unit>("unit", kOfUnit),
       field<&B::even, &BreakEven::passes>("passesFactor", "all objectives pass there"),
       field<&B::even, &BreakEven::fails>("failsFactor", "an objective fails there"),
       field<&input_that_passes>("passes", "the input there"),
       field<&input_that_fails>("fails", "the input there"),
       field<&B::even, &BreakEven::workload>("workload", "whose objective fails").optional(),
       field<&B::even, &BreakEven::objective>("objective",
                                              "that fails; where all hold and pods or requests "
                                              "are left behind, the cause as verdicts name it")
           .optional(),
       field<&B::even, &BreakEven::simulations>("simulations", "that the search took")}};
  return declared;
}

template <>
const Record& record_of<SensitivityStudy>() {
  using S = SensitivityStudy;
  static const Record declared{
      "What `slicewise sensitivity -o json` prints. SI units; fields that do not apply are absent. "
      "Keys are added, never renamed.",
      {constant("apiVersion", kSensitivityApiVersion), constant("kind", "Sensitivity"),
       group("metadata", &sensitivity_metadata),
       field<&S::nothing_runs>("nothingRuns", "no pod ever ran").optional(),
       field<&S::verdict>("verdict", "of the scenario as it is"),
       field<&S::figures>("figures", "of the scenario as it is"),
       field<&named_effects>("inputs", "those with most effect first"),
       field<&break_evens_of_inputs>("breakEvens", "of the inputs that move an objective most")}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

using nlohmann::json;

// An item is one input at one end, its entries are the figures that change; the verdict is that of
// the end.
std::string csv_of(const sim::SensitivityStudy& study) {
  const json document = described_json(study);
  DocumentCsv table(sim::record_of<sim::SensitivityStudy>());
  table.add(8, "factor", "/end/factor");
  table.add(9, "value", "/end/value");
  table.add(10, "refused", "/end/refused");
  std::string out = table.header();
  for (json input : document["inputs"]) {
    for (const char* end : {"low", "high"}) {
      if (!input.contains(end)) continue;
      input["end"] = input[end];
      const json of_end = {{"metadata", document["metadata"]},
                           {"verdict", input["end"].value("verdict", json::object())}};
      if (input["end"].contains("refused")) out += table.row(of_end, input, json::object());
      for (const json& change : input["end"].value("changes", json::array())) {
        out += table.row(of_end, input, change);
      }
    }
  }
  return out;
}

}  // namespace slicewise::reports
