#include "disruption_budgets.hpp"

#include <algorithm>

#include "../service/autoscalers.hpp"
#include "terminations.hpp"

namespace slicewise::sim {

DisruptionBudgets::DisruptionBudgets(const RunState& run, const Terminations& endings,
                                     const Autoscalers& scalers)
    : run_(run),
      endings_(endings),
      scalers_(scalers),
      any_(std::ranges::any_of(run.world.workloads, [](const WorkloadModel& workload) {
        return workload.spec.disruption_budget.has_value();
      })) {}

bool DisruptionBudgets::is_leaving(std::uint32_t pod) const {
  return endings_.is_ending(pod) || scalers_.is_leaving(pod);
}

bool DisruptionBudgets::is_ready(std::uint32_t pod) const {
  return run_.cluster.pods[pod].phase == PodPhase::Working && !is_leaving(pod);
}

DisruptionBudgets::Count DisruptionBudgets::count(std::size_t workload) const {
  Count count;
  std::int64_t wanted = 0;
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    const bool is_over = pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed;
    if (index(pod.workload) != workload || pod.phase == PodPhase::Unsubmitted || is_over) continue;
    wanted += scalers_.is_leaving(p) ? 0 : 1;
    count.ready += is_ready(p) ? 1 : 0;
  }
  count.kept = run_.world.workloads[workload].spec.disruption_budget->kept_of(wanted);
  return count;
}

std::optional<std::int64_t> DisruptionBudgets::allowed(std::size_t workload) const {
  if (!run_.world.workloads[workload].spec.disruption_budget) return std::nullopt;
  const Count now = count(workload);
  return std::max<std::int64_t>(0, now.ready - now.kept);
}

bool DisruptionBudgets::lets_go(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  if (!run_.cluster.model(pod).spec.disruption_budget) return true;
  if (pod.phase == PodPhase::Pulling || is_leaving(p)) return true;  // Pending, or deleted already
  const Count now = count(index(pod.workload));
  if (now.ready > now.kept) return true;
  return !is_ready(p) && now.kept > 0 && now.ready == now.kept;
}

}  // namespace slicewise::sim
