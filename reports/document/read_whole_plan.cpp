#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/reports/studies.hpp"

#include "documents.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::FigureValue;

Diagnostic plan_problem(const SourceText& source, Code code, std::string message,
                        std::string help = {}) {
  return make_diagnostic(code, {source.name, 1, 1, 1}, std::move(message), std::move(help));
}

// Plans did not always say why.
void infer_reason(const json& stored, sim::OptionFigures& figures) {
  if (stored.value("stands", true) || !figures.stands()) return;
  figures.verdict.reasons.push_back({sim::Verdict::Cause::ObjectiveMissed, "", "does not stand",
                                     "the plan is too old to say why it does not stand"});
}

void infer_reason(const json& stored, std::optional<sim::OptionFigures>& figures) {
  if (figures) infer_reason(stored["figures"], *figures);
}

// What is not declared but follows from what is stored.
void infer(const json& document, sim::Plan& plan, StoredFields& fields) {
  for (std::size_t o = 0; o < plan.options.size(); ++o) {
    infer_reason(document["options"][o], plan.options[o].figures);
  }
  if (plan.today) infer_reason(document["today"], plan.today->figures);
  for (std::size_t r = 0; r < plan.rejected.size(); ++r) {
    infer_reason(document["rejected"][r], plan.rejected[r].figures);
  }
  for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
    infer_reason(document["replicasCurve"]["points"][r], plan.replicas[r].figures);
  }
  for (std::size_t f = 0; f < plan.flips.size(); ++f) {
    if (!plan.flips[f].winner) continue;
    infer_reason(document["flips"][f]["winner"], plan.flips[f].winner->figures);
  }
  const json curve = document.value("replicasCurve", json::object());
  if (!curve.contains("knee")) return;
  const auto knee =
      std::ranges::find(plan.replicas, curve["knee"].get<int>(), &sim::ReplicasPoint::replicas);
  if (knee == plan.replicas.end()) return fields.set_odd("knee");
  plan.knee = static_cast<std::size_t>(knee - plan.replicas.begin());
}

double in_its_unit(const FigureValue& value) {
  return std::visit(
      models::Overloaded{[](Duration d) { return to_seconds(d); },
                         [](scenarios::Share s) { return s.of_one; },
                         [](Rate r) { return r.per_second; }, [](double x) { return x; }},
      value);
}

}  // namespace

Expected<sim::Plan> read_whole_plan(const SourceText& source) {
  // It judges the whole document by its schema.
  if (const auto stored = read_plan(source); !stored) return tl::unexpected(stored.error());
  const json document = json::parse(source.text, nullptr, false);
  StoredFields fields;
  auto plan = fields.read<sim::Plan>(document);
  if (fields.odd().empty()) infer(document, plan, fields);
  if (!fields.odd().empty()) {
    return tl::unexpected(Diagnostics{
        plan_problem(source, Code::FieldMissing,
                     fmt::format("\"{}\" is absent or not what it should be", fields.odd()),
                     "make the plan again; `slicewise schema plan` prints its form")});
  }
  return plan;
}

bool has_figures_of(const sim::VariantResult& simulated, const sim::OptionFigures& planned) {
  constexpr double kDigits = 1e-7;  // a document has nine
  const auto same = [](double a, double b) {
    return std::abs(a - b) <= kDigits * std::max(std::abs(a), std::abs(b));
  };
  if (simulated.cost.monthly != planned.monthly) return false;
  std::size_t o = 0;
  for (const sim::WorkloadResult& workload : simulated.workloads) {
    for (const sim::ObjectiveResult& objective : workload.objectives) {
      if (o == planned.objectives.size()) return false;
      const sim::PlannedObjective& other = planned.objectives[o++];
      if (other.workload != workload.name || other.name != objective.name ||
          !same(in_its_unit(objective.value), in_its_unit(other.value))) {
        return false;
      }
    }
  }
  return o == planned.objectives.size();
}

}  // namespace slicewise::reports
