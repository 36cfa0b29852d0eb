#include "open_jobs.hpp"

#include <algorithm>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {

OpenJobs::OpenJobs(RunState& run, const Scheduler& scheduler) : run_(run), scheduler_(scheduler) {
  made_.reserve(run.world.workloads.size());
  for (const WorkloadModel& model : run.world.workloads) {
    made_.push_back(static_cast<std::uint32_t>(model.spec.jobs_at_once()));
    waits_.push_back(std::ranges::any_of(
        model.spec.depends_on, [&](const scenarios::StartDependency& dependency) {
          return find_if_or_null(run.world.workloads, [&](const WorkloadModel& other) {
                   return other.name == dependency.name.value && other.spec.count > 0;
                 }) != nullptr;
        }));
  }
}

bool OpenJobs::is_left(const Pod& pod) const {
  if (run_.cluster.model(pod).spec.kind != WorkloadKind::Job) return false;
  if (waits(index(pod.workload))) return false;
  if (pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed) return false;
  const bool comes =
      pod.phase == PodPhase::Unsubmitted && run_.cluster.job(pod) < made_[index(pod.workload)];
  return comes || is_bound(pod.phase) || scheduler_.fits_empty_node(pod);
}

void OpenJobs::count() {
  left_ = std::ranges::count_if(run_.cluster.pods, [this](const Pod& pod) { return is_left(pod); });
}

void OpenJobs::one_submitted(const Pod& pod) {
  if (run_.world.duration || run_.cluster.model(pod).spec.kind != WorkloadKind::Job) {
    return;
  }
  if (!scheduler_.fits_empty_node(pod)) --left_;
}

void OpenJobs::have_quota_on(std::uint32_t job, PoolMask pools) {
  const Pod& pod = run_.cluster.pods[job];
  if (pod.pools == pools) return;
  const WorkloadModel& model = run_.cluster.model(pod);
  const auto set = [&](std::uint32_t first, PoolMask on) {
    const Pod& of_job = run_.cluster.pods[first];
    const auto left = [&] { return !run_.world.duration && is_left(of_job) ? 1 : 0; };
    const int before = left();
    for_each_of_job(run_.cluster, first, [&](std::uint32_t p) { run_.cluster.pods[p].pools = on; });
    left_ += std::int64_t{left() - before} * model.pods_per_job;
  };
  set(job, pools);
  const std::uint32_t made = made_[index(pod.workload)];
  if (run_.cluster.job(pod) >= made) return;
  const std::uint32_t start = job - pod.nth;
  const auto end = start + static_cast<std::uint32_t>(model.spec.count);
  const auto step = static_cast<std::uint32_t>(model.pods_per_job);
  const PoolMask later = pools == 0 ? 0 : kAnyPool;
  for (std::uint32_t p = start + made * step; p < end; p += step) {
    if (run_.cluster.pods[p].pools == later) return;
    set(p, later);
  }
}

void OpenJobs::make_next(std::uint32_t last) {
  const Pod& pod = run_.cluster.pods[last];
  if (waits(index(pod.workload))) return;  // nobody of it is made yet
  const WorkloadModel& model = run_.cluster.model(pod);
  std::uint32_t& made = made_[index(pod.workload)];
  if (made >= static_cast<std::uint32_t>(model.spec.count / model.pods_per_job)) return;
  const auto pods = static_cast<std::uint32_t>(model.pods_per_job);
  const TimePoint at = std::max(run_.now, first_submission(model.spec, made));
  const std::uint32_t first = last - pod.nth + made * pods;
  if (run_.cluster.pods[first].phase != PodPhase::Unsubmitted) return;  // failed with its object
  for (std::uint32_t p = first; p < first + pods; ++p) {
    if (!scheduler_.fits_empty_node(run_.cluster.pods[p])) ++left_;
    run_.timers.set(TimerKind::Pod, p, at);
  }
  ++made;
}

void OpenJobs::let(std::size_t workload) {
  waits_[workload] = false;
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    if (index(pod.workload) != workload) continue;
    if (is_left(pod)) ++left_;
    const std::uint32_t job = run_.cluster.job(pod);
    if (job >= made_[workload]) continue;
    const TimePoint at = first_submission(run_.cluster.model(pod).spec, job);
    run_.timers.set(TimerKind::Pod, p, std::max(run_.now, at));
  }
}

void OpenJobs::end_run_without_any() {
  if (run_.world.duration || left_ > 0) return;
  run_.timers.set(TimerKind::End, 0, run_.now);
}

}  // namespace slicewise::sim
