#include "queued_pods.hpp"

#include <algorithm>

#include "slicewise/lookup.hpp"

namespace slicewise::sim {
namespace {

// Kueue admits all pods of an object together. KAI's queues, which have no resource groups, take
// them one by one.
bool is_part(const World& world, const WorkloadModel& model) {
  return !model.spec.part_of.value.empty() &&
         !world.queues[model.queued->queue].spec.groups.empty();
}

}  // namespace

bool QueuedPods::Job::is_over() const {
  return std::ranges::all_of(sets, [](const Set& set) { return set.left == 0; });
}

QueuedPods::QueuedPods(RunState& run) : run_(run), first_of_(run.world.workloads.size()) {
  const bool any = std::ranges::any_of(
      run.world.workloads, [](const WorkloadModel& model) { return model.queued.has_value(); });
  if (!any) return;
  wait_of_.resize(run.cluster.pods.size(), kNeverAdmitted);
  for (std::uint32_t p = 0; p < run.cluster.pods.size(); ++p) {
    if (run.cluster.pods[p].nth == 0) first_of_[index(run.cluster.pods[p].workload)] = p;
  }
}

std::uint32_t QueuedPods::job_of(std::uint32_t p) const {
  const WorkloadModel& model = run_.cluster.model(run_.cluster.pods[p]);
  if (!is_part(run_.world, model)) return run_.cluster.first_of_job(p);
  if (!model.spec.schedule) return first_of_[model.queued->lead];
  return p - run_.cluster.pods[p].nth % static_cast<std::uint32_t>(model.spec.pods_of_run());
}

QueuedPods::Job* QueuedPods::find(std::uint32_t job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void QueuedPods::add(std::uint32_t job) {
  std::vector<Set>& sets = jobs_[job].sets;
  const auto add_set = [&](std::size_t w, std::uint32_t first, int pods) {
    sets.push_back({w, first, first + static_cast<std::uint32_t>(pods), first, pods, 0, 0, {}});
  };
  const std::size_t lead = index(run_.cluster.pods[job].workload);
  const WorkloadModel& model = run_.world.workloads[lead];
  if (!is_part(run_.world, model) || model.spec.schedule) {
    return add_set(lead, job, model.queued->pods);
  }
  for (std::size_t w = lead; w < run_.world.workloads.size(); ++w) {
    const WorkloadModel& part = run_.world.workloads[w];
    if (part.queued && part.queued->lead == lead) add_set(w, first_of_[w], part.spec.count);
  }
}

QueuedPods::Set& QueuedPods::set_of(std::uint32_t p) {
  const std::size_t workload = index(run_.cluster.pods[p].workload);
  return *find_or_null(jobs_.at(job_of(p)).sets, workload, &Set::workload);
}

// Pods that are there keep their quota when they are made anew, and those of a gang have it
// together.
bool QueuedPods::take_quota(std::uint32_t p) {
  const Job* job = find(job_of(p));
  if (job == nullptr || !job->is_admitted) return false;
  const PodPhase phase = run_.cluster.pods[p].phase;
  if (phase != PodPhase::Unsubmitted && phase != PodPhase::Suspended) return true;
  const std::uint32_t first = run_.cluster.first_of_job(p);
  if (p != first) return run_.cluster.pods[first].phase != PodPhase::Suspended;
  Set& set = set_of(p);
  if (set.there + run_.cluster.model(run_.cluster.pods[p]).pods_per_job > set.held) return false;
  begin(p, set);
  return true;
}

void QueuedPods::begin(std::uint32_t p, Set& set) {
  const Pod& pod = run_.cluster.pods[p];
  set.there += run_.cluster.model(pod).pods_per_job;
  std::vector<Duration>& waits = run_.record_of(pod).quota_wait;
  if (std::size_t& place = wait_of_[p]; place == kNeverAdmitted) {
    place = waits.size();
    waits.push_back(run_.now - pod.submitted);
  } else {
    waits[place] += run_.now - pod.queued;
  }
}

}  // namespace slicewise::sim
