#include <algorithm>

#include "slicewise/sim/plan.hpp"

#include "../../result/merge.hpp"

namespace slicewise::sim {
namespace {

void add_objectives(const VariantResult& result, OptionFigures& figures) {
  for (const WorkloadResult& workload : result.workloads) {
    for (const ObjectiveResult& objective : workload.objectives) {
      figures.objectives.push_back({workload.name, objective.name, objective.limit, objective.value,
                                    objective.ci95, objective.at_least, objective.pass});
      figures.worst_ratio = std::max(figures.worst_ratio, figures.objectives.back().ratio());
    }
    if (!workload.latency || workload.latency->count == 0) continue;
    figures.latency_p99 = std::max(figures.latency_p99.value_or(Duration{}), workload.latency->p99);
  }
}

void add_policies(const std::vector<PolicyResult>& policies, OptionFigures& figures) {
  for (const PolicyResult& policy : policies) {
    if (policy.verdict != PolicyResult::Verdict::Fail) continue;
    (policy.deny ? figures.denied_by : figures.warned_by).push_back(policy.name);
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
  figures.gpu_busy = gpu_busy_ratio(result);
  figures.failed = result.pods.failed;
  figures.oom_kills = result.pods.oom_kills;
  figures.running_max = result.pods.running_max;
  figures.pending_max = result.pods.pending_max;
  figures.verdict = result.verdict;
  add_policies(result.policies, figures);
  return figures;
}

}  // namespace slicewise::sim
