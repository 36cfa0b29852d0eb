#include "open_jobs.hpp"

namespace slicewise::sim {

void OpenJobs::count() {
  left_ = 0;
  for (const Pod& pod : run_.cluster.pods) {
    const WorkloadModel& model = run_.cluster.model(pod);
    if (model.spec.kind != scenarios::WorkloadKind::Job) continue;
    if (pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed) continue;
    const bool comes = pod.phase == PodPhase::Unsubmitted;
    if (comes || is_bound(pod.phase) || scheduler_.fits_empty_node(model)) ++left_;
  }
}

void OpenJobs::one_submitted(const WorkloadModel& model) {
  if (run_.world.duration || model.spec.kind != scenarios::WorkloadKind::Job) return;
  if (!scheduler_.fits_empty_node(model)) --left_;
}

void OpenJobs::end_run_without_any() {
  if (run_.world.duration || left_ > 0) return;
  run_.timers.set(TimerKind::End, 0, run_.now);
}

}  // namespace slicewise::sim
