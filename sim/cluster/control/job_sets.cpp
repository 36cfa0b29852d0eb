#include "job_sets.hpp"

#include <algorithm>

#include "../../placement/job_backoff.hpp"
#include "pod_life.hpp"

namespace slicewise::sim {

using scenarios::StartDependency;

std::uint32_t first_of_object(const ClusterState& cluster, std::uint32_t p) {
  const WorkloadModel& model = cluster.model(cluster.pods[p]);
  if (model.spec.part_of.value.empty()) return cluster.first_of_job(p);
  return p - cluster.pods[p].nth % static_cast<std::uint32_t>(model.spec.pods_of_run());
}

JobSets::JobSets(RunState& run, OpenJobs& jobs)
    : run_(run),
      jobs_(jobs),
      progress_(run.world.workloads.size()),
      failures_(run.cluster.pods.size()) {
  for (std::size_t w = 0; w < progress_.size(); ++w) {
    for (const StartDependency& wanted : run.world.workloads[w].spec.depends_on) {
      for (std::size_t other = 0; other < progress_.size(); ++other) {
        if (run.world.workloads[other].name == wanted.name.value)
          progress_[other].next.push_back(w);
      }
    }
  }
}

void JobSets::one_ready(const Pod& pod) {
  ++progress_[index(pod.workload)].ready;
  let_those_after(index(pod.workload));
}

void JobSets::one_done(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  failures_[first_of_object(run_.cluster, p)].in_a_row = 0;
  progress_[index(pod.workload)].done += run_.cluster.model(pod).pods_per_job;
  let_those_after(index(pod.workload));
}

std::optional<Duration> JobSets::wait_after_failure(std::uint32_t failed) {
  Failures& failures = failures_[first_of_object(run_.cluster, failed)];
  ++failures.in_a_row;
  const int limit = run_.cluster.model(run_.cluster.pods[failed]).spec.backoff_limit;
  if (++failures.all > limit) return std::nullopt;
  return job_backoff(failures.in_a_row);
}

void JobSets::fail(std::uint32_t failed, PodLife& pods) {
  const ClusterState& cluster = run_.cluster;
  const Workload& spec = cluster.model(cluster.pods[failed]).spec;
  const auto ends_too = [&](std::uint32_t p) {
    const Pod& pod = cluster.pods[p];
    const bool is_over = pod.phase == PodPhase::Succeeded || pod.phase == PodPhase::Failed;
    if (is_over || cluster.first_of_job(p) != p || cluster.first_of_job(failed) == p) return false;
    if (!spec.schedule) return cluster.model(pod).spec.is_of_one_object_with(spec);
    const auto of_run = static_cast<std::uint32_t>(spec.pods_of_run());
    return pod.workload == cluster.pods[failed].workload &&
           pod.nth / of_run == cluster.pods[failed].nth / of_run;
  };
  const auto is_there = [&](std::uint32_t p) {
    const PodPhase phase = cluster.pods[p].phase;
    return phase != PodPhase::Unsubmitted && phase != PodPhase::Suspended;
  };
  // Those that wait first: what the others give back is not theirs.
  for (const bool there : {false, true}) {
    if (spec.part_of.value.empty()) break;
    for (std::uint32_t p = 0; p < cluster.pods.size(); ++p) {
      if (ends_too(p) && is_there(p) == there) pods.leave(p, PodPhase::Failed);
    }
  }
  pods.leave(failed, PodPhase::Failed);
}

// Studies simulate parts of a scenario: what is not there holds up nobody.
bool JobSets::may_start(std::size_t workload) const {
  const auto has_come_so_far = [&](const StartDependency& wanted) {
    for (std::size_t w = 0; w < progress_.size(); ++w) {
      const WorkloadModel& model = run_.world.workloads[w];
      if (model.name != wanted.name.value) continue;
      return wanted.status == StartDependency::Status::Ready
                 ? progress_[w].ready >= model.spec.pods_at_once()
                 : progress_[w].done >= model.spec.count;
    }
    return true;
  };
  return std::ranges::all_of(run_.world.workloads[workload].spec.depends_on, has_come_so_far);
}

void JobSets::let_those_after(std::size_t workload) {
  for (const std::size_t next : progress_[workload].next) {
    if (jobs_.waits(next) && may_start(next)) jobs_.let(next);
  }
}

}  // namespace slicewise::sim
