#include "disruption_budgets.hpp"

#include <algorithm>

#include "../service/autoscalers.hpp"
#include "terminations.hpp"

namespace slicewise::sim {

DisruptionBudgets::DisruptionBudgets(const RunState& run, const Terminations& endings,
                                     const Autoscalers& scalers)
    : run_(run), endings_(endings), scalers_(scalers) {
  std::uint32_t first = 0;
  for (const WorkloadModel& workload : run.world.workloads) {
    any_ = any_ || workload.spec.disruption_budget;
    first_pod_.push_back(first);
    first += static_cast<std::uint32_t>(workload.spec.count);
  }
}

bool DisruptionBudgets::is_leaving(std::uint32_t pod) const {
  return endings_.is_ending(pod) || scalers_.is_leaving(pod);
}

bool DisruptionBudgets::is_ready(std::uint32_t pod) const {
  return run_.cluster.pods[pod].phase == PodPhase::Working && !is_leaving(pod);
}

DisruptionBudgets::Count DisruptionBudgets::count(std::size_t workload) const {
  Count count;
  std::int64_t wanted = 0;
  const Workload& spec = run_.world.workloads[workload].spec;
  const std::uint32_t first = first_pod_[workload];
  for (std::uint32_t p = first; p < first + static_cast<std::uint32_t>(spec.count); ++p) {
    const PodPhase phase = run_.cluster.pods[p].phase;
    const bool is_over = phase == PodPhase::Succeeded || phase == PodPhase::Failed;
    if (phase == PodPhase::Unsubmitted || is_over) continue;
    wanted += scalers_.is_leaving(p) ? 0 : 1;
    count.ready += is_ready(p) ? 1 : 0;
  }
  count.kept = spec.disruption_budget->kept_of(wanted);
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

bool DisruptionBudgets::never_lets_go(std::uint32_t p) const {
  const Workload& spec = run_.cluster.model(run_.cluster.pods[p]).spec;
  return spec.kind == WorkloadKind::Service && !spec.autoscaling && spec.disruption_budget &&
         spec.disruption_budget->kept_of(spec.count) >= spec.count;
}

}  // namespace slicewise::sim
