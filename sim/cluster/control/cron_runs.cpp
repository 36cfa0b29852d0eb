#include "cron_runs.hpp"

#include "pod_life.hpp"

namespace slicewise::sim {

using Concurrency = scenarios::Schedule::Concurrency;

CronRuns::CronRuns(RunState& run) : run_(run), runs_(run.world.workloads.size()) {}

std::uint32_t CronRuns::run_of(std::uint32_t p) const {
  const Pod& pod = run_.cluster.pods[p];
  const auto jobs = run_.cluster.model(pod).spec.schedule->jobs_per_run;
  return run_.cluster.job(pod) / static_cast<std::uint32_t>(jobs);
}

// `of_workload`: any pod of it.
void CronRuns::for_each_pod(std::uint32_t of_workload, std::uint32_t run, auto&& use) const {
  const Pod& pod = run_.cluster.pods[of_workload];
  const Workload& spec = run_.cluster.model(pod).spec;
  const auto pods = static_cast<std::uint32_t>(spec.pods_at_once());
  const std::uint32_t first = of_workload - pod.nth + run * pods;
  for (std::uint32_t p = first; p < first + pods; ++p) use(p);
}

bool CronRuns::makes(std::uint32_t p, PodLife& pods) {
  const Pod& pod = run_.cluster.pods[p];
  const auto& schedule = run_.cluster.model(pod).spec.schedule;
  if (!schedule || schedule->concurrency == Concurrency::Allow) return true;
  Runs& runs = runs_[index(pod.workload)];
  const std::uint32_t run = run_of(p);
  if (runs.left > 0 && runs.now == run) return true;
  WorkloadRecord& record = run_.record_of(pod);
  if (runs.left > 0 && schedule->concurrency == Concurrency::Forbid) {
    if (runs.missed != run) ++record.runs_missed;
    runs.missed = run;
    return false;
  }
  if (runs.left > 0) {
    ++record.runs_replaced;
    for_each_pod(p, runs.now, [&](std::uint32_t of_run) {
      const PodPhase phase = run_.cluster.pods[of_run].phase;
      if (phase == PodPhase::Succeeded || phase == PodPhase::Failed) return;
      pods.remove(of_run);
      run_.timers.clear(TimerKind::Pod, of_run);
    });
  }
  runs.now = run;
  runs.left = schedule->jobs_per_run;
  return true;
}

void CronRuns::one_ended(std::uint32_t last) {
  const Pod& pod = run_.cluster.pods[last];
  const auto& schedule = run_.cluster.model(pod).spec.schedule;
  if (!schedule || schedule->concurrency == Concurrency::Allow) return;
  Runs& runs = runs_[index(pod.workload)];
  if (--runs.left > 0 || !runs.missed) return;
  const std::uint32_t run = *runs.missed;
  runs.missed.reset();
  const TimePoint due = TimePoint{} + schedule->runs[run];
  if (schedule->starting_deadline && run_.now > due + *schedule->starting_deadline) return;
  --run_.record_of(pod).runs_missed;
  for_each_pod(last, run, [&](std::uint32_t p) { run_.timers.set(TimerKind::Pod, p, run_.now); });
}

}  // namespace slicewise::sim
