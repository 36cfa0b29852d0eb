#include "plan_document.hpp"

#include <nlohmann/json.hpp>

#include "slicewise/reports/plan_report.hpp"

#include "../screens/plan_screen.hpp"
#include "document_values.hpp"
#include "result_document.hpp"
#include "yaml_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

json names_or_nothing(const std::vector<std::string>& names) {
  return names.empty() ? json(nullptr) : json(names);
}

json plan_pool(const sim::PoolChoice& choice) {
  json layout = json::array();
  for (const models::MigCount& count : choice.mig) {
    layout.push_back({{"profile", count.profile}, {"count", count.count}});
  }
  return document::present({{"instanceType", choice.instance_type},
                            {"purchaseOption", choice.purchase},
                            {"strategy", sim::strategy_name(choice.strategy)},
                            {"replicas", choice.replicas},
                            {"mig", layout.empty() ? json(nullptr) : layout},
                            {"workloads", choice.workloads},
                            {"migProfiles", names_or_nothing(choice.mig_profiles)},
                            {"nodes", choice.nodes}});
}

json plan_objective(const sim::PlannedObjective& planned) {
  json out = document::objective(
      {planned.name, planned.limit, planned.value, planned.ci95, planned.pass, planned.at_least});
  out["workload"] = planned.workload;
  out["ratio"] = document::number(planned.ratio());
  return out;
}

json plan_figures(const sim::OptionFigures& figures) {
  return document::present({{"replications", figures.replications},
                            {"monthlyUsd", document::in_dollars(figures.monthly)},
                            {"totalUsd", document::in_dollars(figures.total)},
                            {"per1kRequestsInSloUsd", document::in_dollars(figures.per_1k_in_slo)},
                            {"perJobUsd", document::in_dollars(figures.per_job)},
                            {"objectives", document::list(figures.objectives, plan_objective)},
                            {"worstRatio", document::number(figures.worst_ratio)},
                            {"latencyP99Seconds", document::in_seconds(figures.latency_p99)},
                            {"gpuBusyRatio", document::number(figures.gpu_busy)},
                            {"failedPods", document::number(figures.failed)},
                            {"oomKills", document::number(figures.oom_kills)},
                            {"runningMax", figures.running_max},
                            {"pendingMax", figures.pending_max},
                            {"deniedBy", names_or_nothing(figures.denied_by)},
                            {"warnedBy", names_or_nothing(figures.warned_by)},
                            {"stands", figures.stands()}});
}

json plan_option(const sim::PlanOption& option) {
  json out = plan_figures(option.figures);
  out["pools"] = document::list(option.pools, plan_pool);
  if (option.goal) out["goal"] = document::number(option.goal);
  if (option.pareto) out["pareto"] = true;
  return out;
}

json plan_rejected(const sim::RejectedChoice& rejected) {
  return document::present(
      {{"stage", stage_word(rejected.stage)},
       {"pool", plan_pool(rejected.choice)},
       {"code", rejected.code ? json(info(*rejected.code).name) : json(nullptr)},
       {"reason", rejected.reason},
       {"figures", rejected.figures ? plan_figures(*rejected.figures) : json(nullptr)}});
}

json replicas_point(const sim::ReplicasPoint& point) {
  return document::present(
      {{"replicas", point.replicas},
       {"nodes", point.nodes},
       {"refused", document::text(point.refused)},
       {"figures", point.figures ? plan_figures(*point.figures) : json(nullptr)}});
}

json replicas_document(const sim::Plan& plan) {
  if (plan.replicas.empty()) return nullptr;
  return document::present(
      {{"points", document::list(plan.replicas, replicas_point)},
       {"knee", plan.knee ? json(plan.replicas[*plan.knee].replicas) : json(nullptr)},
       {"binding", document::text(plan.binding)}});
}

json headroom_document(const sim::Plan& plan) {
  if (!plan.headroom && !plan.headroom_fails) return nullptr;
  return document::present({{"passedFactor", document::number(plan.headroom)},
                            {"failedFactor", document::number(plan.headroom_fails)},
                            {"binding", document::text(plan.headroom_binding)}});
}

json plan_flip(const sim::Flip& flip) {
  return document::present({{"input", flip.input},
                            {"factor", document::number(flip.factor)},
                            {"holdsAt", document::number(flip.holds_at)},
                            {"missesObjective", flip.misses},
                            {"winner", flip.winner ? plan_option(*flip.winner) : json(nullptr)}});
}

json plan_counts(const sim::PlanCounts& counts) {
  return {{"configurations", counts.configurations},
          {"refused", counts.refused},
          {"bounded", counts.bounded},
          {"simulations", counts.simulations},
          {"exhaustive", counts.exhaustive},
          {"replications", counts.replications}};
}

json plan_metadata(const sim::Plan& plan) {
  return document::metadata_of(plan.stamp, plan.interrupted,
                               {{"scenarioFile", document::text(plan.stamp.scenario_file)},
                                {"settings", names_or_nothing(plan.stamp.settings)},
                                {"goal", scenarios::goal_name(plan.goal)},
                                {"instanceTypes", plan.instance_types},
                                {"purchaseOptions", plan.purchases}});
}

}  // namespace

json plan_document(const sim::Plan& plan) {
  return document::present({{"apiVersion", kPlanApiVersion},
                            {"kind", "Plan"},
                            {"metadata", plan_metadata(plan)},
                            {"options", document::list(plan.options, plan_option)},
                            {"today", plan.today ? plan_option(*plan.today) : json(nullptr)},
                            {"rejected", document::list(plan.rejected, plan_rejected)},
                            {"nearest", names_or_nothing(plan.nearest)},
                            {"replicasCurve", replicas_document(plan)},
                            {"headroom", headroom_document(plan)},
                            {"flips", document::list(plan.flips, plan_flip)},
                            {"counts", plan_counts(plan.counts)},
                            {"inputs",
                             {{"measured", plan.provenance.measured},
                              {"catalog", plan.provenance.catalog},
                              {"assumed", plan.provenance.assumed},
                              {"assumedInputs", plan.provenance.assumed_inputs}}},
                            {"notes", document::list(plan.notes, document::finding)}});
}

std::string plan_json(const sim::Plan& plan) { return json_text(plan_document(plan)); }

std::string plan_yaml(const sim::Plan& plan) { return yaml_text(plan_document(plan)); }

}  // namespace slicewise::reports
