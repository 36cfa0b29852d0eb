#include "open_jobs.hpp"

#include <algorithm>

namespace slicewise::sim {

OpenJobs::OpenJobs(RunState& run, const Scheduler& scheduler) : run_(run), scheduler_(scheduler) {
  made_.reserve(run.world.workloads.size());
  for (const WorkloadModel& model : run.world.workloads) {
    made_.push_back(static_cast<std::uint32_t>(model.spec.jobs_at_once()));
  }
}

void OpenJobs::count() {
  left_ = 0;
  for (const Pod& pod : run_.cluster.pods) {
    const WorkloadModel& model = run_.cluster.model(pod);
    if (model.spec.kind != scenarios::WorkloadKind::Job) continue;
    if (pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed) continue;
    const bool comes =
        pod.phase == PodPhase::Unsubmitted && run_.cluster.job(pod) < made_[index(pod.workload)];
    if (comes || is_bound(pod.phase) || scheduler_.fits_empty_node(pod)) ++left_;
  }
}

void OpenJobs::one_submitted(const Pod& pod) {
  if (run_.world.duration || run_.cluster.model(pod).spec.kind != scenarios::WorkloadKind::Job) {
    return;
  }
  if (!scheduler_.fits_empty_node(pod)) --left_;
}

void OpenJobs::have_quota_on(std::uint32_t job, PoolMask pools) {
  const Pod& pod = run_.cluster.pods[job];
  if (pod.pools == pools) return;
  const auto held = [&] { return !run_.world.duration && scheduler_.fits_empty_node(pod) ? 1 : 0; };
  const int before = held();
  for_each_of_job(run_.cluster, job, [&](std::uint32_t p) { run_.cluster.pods[p].pools = pools; });
  left_ += std::int64_t{held() - before} * run_.cluster.model(pod).pods_per_job;
}

void OpenJobs::make_next(std::uint32_t last) {
  const Pod& pod = run_.cluster.pods[last];
  const WorkloadModel& model = run_.cluster.model(pod);
  std::uint32_t& made = made_[index(pod.workload)];
  if (made >= static_cast<std::uint32_t>(model.spec.count / model.pods_per_job)) return;
  const auto pods = static_cast<std::uint32_t>(model.pods_per_job);
  const TimePoint at = std::max(run_.now, first_submission(model.spec, made));
  const std::uint32_t first = last - pod.nth + made * pods;
  for (std::uint32_t p = first; p < first + pods; ++p) {
    if (!scheduler_.fits_empty_node(run_.cluster.pods[p])) ++left_;
    run_.timers.set(TimerKind::Pod, p, at);
  }
  ++made;
}

void OpenJobs::end_run_without_any() {
  if (run_.world.duration || left_ > 0) return;
  run_.timers.set(TimerKind::End, 0, run_.now);
}

}  // namespace slicewise::sim
