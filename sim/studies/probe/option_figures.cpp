#include <algorithm>

#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../../result/merge.hpp"
#include "probe.hpp"

// What plans keep of a result, and comparisons rank by.
namespace slicewise::sim {
namespace {

void add_objectives(const VariantResult& result, OptionFigures& figures) {
  for (const WorkloadResult& workload : result.workloads) {
    for (const ObjectiveResult& objective : workload.objectives) {
      figures.objectives.push_back({workload.name, objective});
      figures.worst_ratio = std::max(figures.worst_ratio, objective.ratio());
    }
    if (!workload.latency || workload.latency->count == 0) continue;
    figures.latency_p99 = std::max(figures.latency_p99.value_or(Duration{}), workload.latency->p99);
    if (workload.objectives.empty() && workload.kind == "Service") {
      figures.answers.push_back({workload.name, workload.latency->p99});
    }
  }
}

void add_work(const VariantResult& result, OptionFigures& figures) {
  for (const WorkloadResult& workload : result.workloads) {
    if (!(workload.has_jobs() || workload.kind == "Deployment") || !workload.objectives.empty())
      continue;
    const double per_hour = workload.throughput_per_second * to_seconds(hours(1));
    WorkRate rate{workload.name, workload.unit_name, per_hour};
    if (all_jobs_end(workload) && workload.job_completion)
      rate.completion = workload.job_completion->mean;
    figures.work.push_back(std::move(rate));
  }
}

void add_policies(const std::vector<PolicyResult>& policies, OptionFigures& figures) {
  for (const PolicyResult& policy : policies) {
    if (policy.verdict != PolicyResult::Verdict::Fail) continue;
    (policy.denies() ? figures.denied_by : figures.warned_by).push_back(policy.name);
  }
}

}  // namespace

OptionFigures figures_of(const VariantResult& result) {
  OptionFigures figures;
  figures.replications = result.replications;
  figures.monthly = result.cost.monthly;
  figures.total = result.cost.ledger.total;
  figures.per_1k_in_slo = result.cost.per_1k_requests_in_slo;
  figures.per_job = result.cost.per_job;
  add_objectives(result, figures);
  add_work(result, figures);
  figures.unfinished_jobs = unfinished_jobs(result);
  figures.gpu_busy = gpu_busy_ratio(result);
  figures.failed = result.pods.failed;
  figures.oom_kills = result.pods.oom_kills;
  figures.running_max = result.pods.running_max;
  figures.pending_max = result.pods.pending_max;
  const bool has_scaled = std::ranges::any_of(
      result.workloads, [](const WorkloadResult& w) { return w.scaling.has_value(); });
  const bool is_short = std::ranges::any_of(
      result.findings, [](const Diagnostic& d) { return d.code == Code::NodeLimitReached; });
  if (has_scaled && is_short) figures.pending_at_limit = figures.pending_max;
  figures.bound_by = bounds_of(result);
  figures.unsure_gains = result.unsure_gains;
  figures.verdict = result.verdict;
  add_policies(result.policies, figures);
  return figures;
}

std::optional<double> goal_of(PlanGoal goal, const OptionFigures& figures) {
  switch (goal) {
    case PlanGoal::MonthlyCost:
      return to_dollars(figures.monthly);
    case PlanGoal::CostPer1kInSlo:
      if (figures.per_1k_in_slo) return to_dollars(*figures.per_1k_in_slo);
      return std::nullopt;
    case PlanGoal::CostPerJob:
      if (figures.per_job) return to_dollars(*figures.per_job);
      return std::nullopt;
    case PlanGoal::LatencyP99:
      if (figures.latency_p99) return to_seconds(*figures.latency_p99);
      return std::nullopt;
  }
  return std::nullopt;
}

const PlannedObjective* OptionFigures::tightest() const {
  const PlannedObjective* worst = nullptr;
  for (const PlannedObjective& objective : objectives) {
    if (worst == nullptr || objective.result.ratio() > worst->result.ratio()) worst = &objective;
  }
  return worst;
}

bool fails_clearly(const OptionFigures& figures) {
  // ... or by so many half widths of the interval.
  constexpr double kClearWidths = 3;
  if (figures.verdict.loses_pods()) return true;
  return std::ranges::any_of(figures.objectives, [](const PlannedObjective& planned) {
    const ObjectiveResult& objective = planned.result;
    if (objective.pass) return false;
    if (objective.ratio() >= kClearFactor) return true;
    if (!objective.ci95) return false;
    const double limit = in_its_unit(objective.limit);
    const double value = in_its_unit(objective.value);
    const double margin = kClearWidths * in_its_unit(*objective.ci95);
    return objective.at_least ? value + margin < limit : value - margin > limit;
  });
}

}  // namespace slicewise::sim
