#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/sharing.hpp"
#include "slicewise/reports/plan_report.hpp"

#include "../screens/plan_screen.hpp"
#include "stored_fields.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::FigureValue;

Diagnostic plan_problem(const SourceText& source, Code code, std::string message,
                        std::string help = {}) {
  return make_diagnostic(code, {source.name, 1, 1, 1}, std::move(message), std::move(help));
}

std::optional<Code> stored_code(std::string_view name) {
  const auto known = std::ranges::find(kCodes, name, &CodeInfo::name);
  return known == kCodes.end() ? std::nullopt : std::optional(known->code);
}

sim::PoolChoice stored_pool(const json& pool, StoredFields& fields) {
  sim::PoolChoice choice;
  choice.instance_type = fields.text(pool, "instanceType");
  choice.purchase = fields.text(pool, "purchaseOption");
  const std::string strategy = fields.text(pool, "strategy");
  const auto known = std::ranges::find(sim::kStrategies, strategy, sim::strategy_name);
  if (known == sim::kStrategies.end()) {
    fields.set_odd("strategy");
  } else {
    choice.strategy = *known;
  }
  choice.replicas = fields.whole(pool, "replicas");
  for (const json& count : fields.list(pool, "mig", false)) {
    choice.mig.push_back({fields.text(count, "profile"), fields.whole(count, "count")});
  }
  choice.workloads = fields.texts(pool, "workloads");
  choice.mig_profiles = fields.texts(pool, "migProfiles");
  choice.nodes = fields.whole(pool, "nodes");
  return choice;
}

// In the unit that the objective has.
FigureValue stored_figure(const json& objective, const char* key, StoredFields& fields) {
  const std::string unit = fields.text(objective, "unit");
  if (unit == "seconds") return fields.time(objective, key).value_or(Duration{});
  const double value = fields.number(objective, key).value_or(0);
  if (unit == "ratio") return scenarios::Share{value};
  if (unit == "perSecond") return Rate{value};
  if (unit != "number") fields.set_odd("unit");
  return value;
}

sim::PlannedObjective stored_objective(const json& objective, StoredFields& fields) {
  sim::PlannedObjective out;
  out.workload = fields.text(objective, "workload");
  out.name = fields.text(objective, "name");
  out.limit = stored_figure(objective, "limit", fields);
  out.value = stored_figure(objective, "value", fields);
  if (objective.is_object() && objective.contains("ci95")) {
    out.ci95 = stored_figure(objective, "ci95", fields);
  }
  out.at_least = fields.truth(objective, "atLeast");
  out.pass = fields.truth(objective, "pass");
  return out;
}

sim::OptionFigures stored_figures(const json& object, StoredFields& fields) {
  sim::OptionFigures figures;
  figures.replications = fields.whole(object, "replications");
  figures.monthly = *fields.dollars(object, "monthlyUsd", true);
  figures.total = *fields.dollars(object, "totalUsd", true);
  figures.per_1k_in_slo = fields.dollars(object, "per1kRequestsInSloUsd");
  figures.per_job = fields.dollars(object, "perJobUsd");
  for (const json& objective : fields.list(object, "objectives")) {
    figures.objectives.push_back(stored_objective(objective, fields));
  }
  figures.worst_ratio = fields.number(object, "worstRatio").value_or(0);
  figures.latency_p99 = fields.time(object, "latencyP99Seconds");
  figures.gpu_busy = fields.number(object, "gpuBusyRatio").value_or(0);
  figures.failed = fields.number(object, "failedPods").value_or(0);
  figures.oom_kills = fields.number(object, "oomKills").value_or(0);
  figures.running_max = fields.count(object, "runningMax");
  figures.pending_max = fields.count(object, "pendingMax");
  figures.denied_by = fields.texts(object, "deniedBy");
  figures.warned_by = fields.texts(object, "warnedBy");
  // Of what makes an option stand, only this is not a figure of its own.
  const bool stands = fields.truth(object, "stands");
  figures.loses_pods =
      !stands && figures.running_max > 0 && figures.meets_objectives() && figures.denied_by.empty();
  return figures;
}

std::optional<sim::OptionFigures> figures_in(const json& object, StoredFields& fields) {
  if (!object.is_object() || !object.contains("figures")) return std::nullopt;
  return stored_figures(fields.object(object, "figures"), fields);
}

sim::PlanOption stored_option(const json& object, StoredFields& fields) {
  sim::PlanOption option;
  for (const json& pool : fields.list(object, "pools")) {
    option.pools.push_back(stored_pool(pool, fields));
  }
  option.figures = stored_figures(object, fields);
  option.goal = fields.number(object, "goal");
  option.pareto = fields.truth(object, "pareto");
  return option;
}

sim::RejectedChoice stored_rejection(const json& object, StoredFields& fields) {
  using RefusedAt = sim::RejectedChoice::Stage;
  sim::RejectedChoice rejected;
  const std::string stage = fields.text(object, "stage");
  for (const RefusedAt known : {RefusedAt::Feasibility, RefusedAt::Bound, RefusedAt::Simulation}) {
    if (stage == stage_word(known)) rejected.stage = known;
  }
  rejected.choice = stored_pool(fields.object(object, "pool"), fields);
  rejected.code = stored_code(fields.text(object, "code", false));
  rejected.reason = fields.text(object, "reason");
  rejected.figures = figures_in(object, fields);
  return rejected;
}

void read_curve(const json& document, sim::Plan& plan, StoredFields& fields) {
  const json& curve = fields.object(document, "replicasCurve");
  for (const json& object : fields.list(curve, "points", false)) {
    plan.replicas.push_back({fields.whole(object, "replicas"), fields.whole(object, "nodes"),
                             figures_in(object, fields), fields.text(object, "refused", false)});
  }
  plan.binding = fields.text(curve, "binding", false);
  if (!curve.contains("knee")) return;
  const auto knee =
      std::ranges::find(plan.replicas, fields.whole(curve, "knee"), &sim::ReplicasPoint::replicas);
  if (knee == plan.replicas.end()) return fields.set_odd("knee");
  plan.knee = static_cast<std::size_t>(knee - plan.replicas.begin());
}

void read_headroom(const json& document, sim::Plan& plan, StoredFields& fields) {
  const json& headroom = fields.object(document, "headroom");
  plan.headroom = fields.number(headroom, "passedFactor");
  plan.headroom_fails = fields.number(headroom, "failedFactor");
  plan.headroom_binding = fields.text(headroom, "binding", false);
}

sim::Flip stored_flip(const json& object, StoredFields& fields) {
  sim::Flip flip;
  flip.input = fields.text(object, "input");
  flip.factor = fields.number(object, "factor", true).value_or(1);
  flip.holds_at = fields.number(object, "holdsAt", true).value_or(1);
  flip.misses = fields.truth(object, "missesObjective");
  if (object.is_object() && object.contains("winner")) {
    flip.winner = stored_option(fields.object(object, "winner"), fields);
  }
  return flip;
}

void read_metadata(const json& document, sim::Plan& plan, StoredFields& fields) {
  const json& about = fields.object(document, "metadata");
  plan.stamp = fields.stamp(about);
  if (plan.stamp.variant.empty()) fields.set_odd("variant");
  const std::string goal = fields.text(about, "goal");
  using scenarios::PlanGoal;
  for (const PlanGoal known : {PlanGoal::MonthlyCost, PlanGoal::CostPer1kInSlo,
                               PlanGoal::CostPerJob, PlanGoal::LatencyP99}) {
    if (goal == scenarios::goal_name(known)) plan.goal = known;
  }
  plan.instance_types = fields.texts(about, "instanceTypes");
  plan.purchases = fields.texts(about, "purchaseOptions");
  plan.interrupted = fields.truth(about, "interrupted");
}

void read_counts(const json& document, sim::Plan& plan, StoredFields& fields) {
  const json& counts = fields.object(document, "counts");
  plan.counts.configurations = fields.count(counts, "configurations", false);
  plan.counts.refused = fields.count(counts, "refused", false);
  plan.counts.bounded = fields.count(counts, "bounded", false);
  plan.counts.simulations = fields.count(counts, "simulations", false);
  plan.counts.exhaustive = fields.count(counts, "exhaustive", false);
  plan.counts.replications = fields.count(counts, "replications", false);
  const json& inputs = fields.object(document, "inputs");
  plan.provenance.measured = static_cast<int>(fields.count(inputs, "measured", false));
  plan.provenance.catalog = static_cast<int>(fields.count(inputs, "catalog", false));
  plan.provenance.assumed = static_cast<int>(fields.count(inputs, "assumed", false));
  plan.provenance.assumed_inputs = fields.texts(inputs, "assumedInputs");
  for (const json& note : fields.list(document, "notes", false)) {
    const auto code = stored_code(fields.text(note, "code"));
    if (code) plan.notes.push_back(make_diagnostic(*code, {}, fields.text(note, "message")));
  }
}

sim::Plan stored_plan(const json& document, StoredFields& fields) {
  sim::Plan plan;
  read_metadata(document, plan, fields);
  for (const json& option : fields.list(document, "options")) {
    plan.options.push_back(stored_option(option, fields));
  }
  if (document.contains("today")) {
    plan.today = stored_option(fields.object(document, "today"), fields);
  }
  for (const json& rejected : fields.list(document, "rejected", false)) {
    plan.rejected.push_back(stored_rejection(rejected, fields));
  }
  plan.nearest = fields.texts(document, "nearest");
  read_curve(document, plan, fields);
  read_headroom(document, plan, fields);
  for (const json& flip : fields.list(document, "flips", false)) {
    plan.flips.push_back(stored_flip(flip, fields));
  }
  read_counts(document, plan, fields);
  return plan;
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
  sim::Plan plan = stored_plan(document, fields);
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
