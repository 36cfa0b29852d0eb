#include <algorithm>
#include <cmath>

#include "cluster_run.hpp"

namespace slicewise::sim {
namespace {

using scenarios::RestartPolicy;
using scenarios::WorkloadKind;

// kubelet: the first restart is immediate, then 10 s doubling to 5 min; 10 minutes without a crash
// start over. Source: Kubernetes documentation, "Pod Lifecycle", container restart back-off.
constexpr Duration kFirstCrashBackoff = seconds(10);
constexpr Duration kLongestCrashBackoff = seconds(300);
constexpr Duration kCrashBackoffReset = minutes(10);

// Job controller: 10 s doubling to 6 min before it replaces a failed pod.
// Source: Kubernetes documentation, "Jobs", pod backoff failure policy.
constexpr Duration kFirstJobBackoff = seconds(10);
constexpr Duration kLongestJobBackoff = minutes(6);

Duration doubled(Duration first, int times, Duration longest) {
  Duration backoff = first;
  for (int n = 0; n < times && backoff < longest; ++n) backoff = backoff * 2;
  return std::min(backoff, longest);
}

// measured.cpu of a Service is what one replica uses on average while it serves.
Duration service_cpu_time(const scenarios::Workload& spec, Duration served) {
  if (!spec.measured) return {};
  const Millicores cpu = spec.measured->cpu.value_or(Millicores{});
  return {static_cast<std::int64_t>(static_cast<Int128>(served.ns) * cpu.count / 1000)};
}

bool is_loading(PodPhase phase) { return phase == PodPhase::Pulling || phase == PodPhase::Loading; }

}  // namespace

void ClusterRun::on_pod_timer(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const bool notebook = cluster_.model(pod).spec.kind == WorkloadKind::Notebook;
  switch (pod.phase) {
    case PodPhase::Unsubmitted:
      pod.submitted = now_;
      return notebook ? open_session(p) : submit(p);
    case PodPhase::Recreating:
      return submit(p);
    case PodPhase::Pulling:
    case PodPhase::BackOff:
      return start_container(p);
    case PodPhase::Loading:
      return begin_work(p);
    case PodPhase::Working:
      if (notebook) return on_user_timer(p);
      if (cluster_.model(pod).spec.kind == WorkloadKind::Service) return on_server_timer(p);
      if (cluster_.pool(cluster_.nodes[index(pod.node)]).exact) return step_prepared(p);
      return finish_batch(p);
    case PodPhase::Pending:
      if (notebook) close_session(p);  // given up
      return;
    case PodPhase::Succeeded:
    case PodPhase::Failed:
      return;
  }
}

void ClusterRun::submit(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  enter_phase(p, PodPhase::Pending);
  pod.queued = now_;
  pod.container_started_before = false;
  pod.restarts = 0;
  pod.crash_streak = 0;
  pod.eligible_at = now_;
  ++record_.pods_submitted;
  nodes_wanted_ = true;
  scheduler_.add(p);
  wake_scheduler();
  if (cluster_.model(pod).spec.kind == WorkloadKind::Notebook) wait_for_server(p);
}

// The first pod of a workload on a node pulls the image; later ones wait for that pull.
void ClusterRun::on_bound(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  note_gpus(pod);
  TimePoint& image_ready = cluster_.nodes[index(pod.node)].image_ready[index(pod.workload)];
  if (image_ready == kNever) image_ready = now_ + cluster_.model(pod).spec.startup.image_pull;
  set_activity(p, PodPhase::Pulling);
  timers_.set(p, std::max(now_, image_ready));
  pod.bound = now_;
  NodeLife& life = cluster_.nodes[index(pod.node)].life;
  life.first_pod = std::min(life.first_pod, now_);
  life.changed = last_pod_change_ = now_;
}

// Gives back what the pod held on its node.
void ClusterRun::release_node(std::uint32_t p) {
  scheduler_.release(p);
  cluster_.nodes[index(cluster_.pods[p].node)].life.changed = last_pod_change_ = now_;
}

void ClusterRun::start_container(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  if (pod.container_started_before) {
    ++pod.restarts;
    ++record_.restarts;
    // Job controller, restartPolicy OnFailure: the Job fails when its container was restarted
    // backoffLimit times; a limit of 0 allows no restart either.
    if (model.spec.kind == WorkloadKind::Job &&
        pod.restarts >= std::max(1, model.spec.backoff_limit)) {
      return leave(p, PodPhase::Failed);
    }
  }
  pod.container_started_before = true;
  pod.container_started = now_;
  const bool notebook = model.spec.kind == WorkloadKind::Notebook;  // its first cell takes memory
  if (!notebook && !take_memory(p, cluster_.gpu_memory(pod))) return crash(p);
  if (!pod.has_run) {
    pod.has_run = true;
    if (!notebook) record_.workloads[index(pod.workload)].wait.push_back(now_ - pod.submitted);
  }
  record_.running_max = std::max(record_.running_max, ++running_);
  open_on_gpu(pod);
  settle_node(pod.node);
  set_activity(p, PodPhase::Loading);
  note_neighbours(p);
  if (has_equal_shares(cluster_.domains[index(pod.domain)])) resolve_node(pod.node);
  timers_.set(p, now_ + model.spec.startup.model_load);
}

// The processes of the pod make their CUDA contexts and allocate. False: CUDA out of memory.
bool ClusterRun::take_memory(std::uint32_t p, Bytes needed) {
  const Pod& pod = cluster_.pods[p];
  const WorkloadModel& model = cluster_.model(pod);
  bool enough = true;
  for_each_rank(pod, [&](DomainId id, std::uint32_t context, Duration) {
    if (!enough) return;
    Domain& domain = cluster_.domains[index(id)];
    const Tickets* tickets = cluster_.tickets(domain, model);
    const MemoryLedger::Process process{needed, model.greedy, model.spec.processes_per_pod,
                                        tickets == nullptr ? std::nullopt : tickets->memory_limit};
    enough = domain.memory.open(context, process).has_value();
  });
  if (enough) {
    if (recorder_ != nullptr) recorder_->memory_taken(cluster_, p);
    return true;
  }
  close_memory(pod);
  mark(p, LaneMark::Kind::OutOfMemory);
  ++record_.oom_kills;
  ++record_.workloads[index(pod.workload)].oom_kills;
  return false;
}

void ClusterRun::close_memory(const Pod& pod) {
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context, Duration) {
    cluster_.domains[index(domain)].memory.close(context);
  });
}

void ClusterRun::begin_work(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  settle_node(pod.node);
  set_activity(p, PodPhase::Working);
  pod.work_started = now_;
  record_start_up(pod);
  pod.busy_ns = 0;
  pod.sm_ns = 0;
  pod.answered = {};
  pod.late = {};
  pod.step_started = {};
  arm_fault(p);
  for_each_rank(pod, [&](DomainId domain, std::uint32_t context, Duration& busy_before) {
    busy_before = busy_on_gpu(domain, context);
  });
  if (cluster_.model(pod).spec.kind == WorkloadKind::Service) {
    start_serving(p);
    return resolve_node(pod.node);
  }
  if (cluster_.model(pod).spec.kind == WorkloadKind::Notebook) return kernel_ready(p);
  start_batch(p);
}

// The process is gone: its memory is free, and its GPU time was useful or was not.
void ClusterRun::end_container(std::uint32_t p, bool useful) {
  Pod& pod = cluster_.pods[p];
  const Domain& domain = cluster_.domains[index(pod.domain)];
  const bool worked = pod.phase == PodPhase::Working;
  if (worked) {
    settle_node(pod.node);
    cancel_on_gpu(pod);
    for_each_rank(pod, [&](DomainId id, std::uint32_t context, Duration busy_before) {
      const double exact_ns = static_cast<double>((busy_on_gpu(id, context) - busy_before).ns);
      account_busy(pod, cluster_.domains[index(id)], pod.busy_ns + exact_ns, useful);
      if (recorder_ != nullptr) recorder_->pod_worked(p, pod.busy_ns + exact_ns);
    });
    WorkloadRecord& record = record_.workloads[index(pod.workload)];
    record.pod_running += now_ - pod.container_started;
    record.working += now_ - pod.work_started;
  }
  close_on_gpu(pod);
  close_memory(pod);
  --running_;
  timers_.clear(p);
  if (!faults_.empty()) timers_.clear(first_fault_timer_ + p);
  const NodeId node = pod.node;
  if (worked && cluster_.model(pod).spec.kind == WorkloadKind::Service) {
    stop_serving(p);
    const Duration cpu_time = service_cpu_time(cluster_.model(pod).spec, now_ - pod.work_started);
    cluster_.nodes[index(node)].cpu_ns += static_cast<double>(cpu_time.ns);
  }
  settle_node(node);
  set_activity(p, PodPhase::BackOff);
  if ((worked || has_equal_shares(domain)) && !ended_) resolve_node(node);
}

// GPU time of the pod on one of its GPUs.
void ClusterRun::account_busy(const Pod& pod, Domain& domain, double busy_ns, bool useful) {
  // Requests are late by their work; side by side they take less of the GPU's time than that.
  const double late_ns = pod.late.ns == 0 ? 0
                                          : busy_ns * static_cast<double>(pod.late.ns) /
                                                static_cast<double>(pod.answered.ns);
  (useful ? domain.useful_ns : domain.failed_ns) += busy_ns - late_ns;
  domain.late_ns += late_ns;
  domain.sm_ns += pod.sm_ns;
  domain.sm_known = domain.sm_known && cluster_.model(pod).sm_known;
  record_.workloads[index(pod.workload)].gpu_busy += nanoseconds(
      std::llround(busy_ns * cluster_.kind(domain).time_share / cluster_.kind(domain).owned_time));
}

// Whose containers the pod's own meets on its domains.
void ClusterRun::note_neighbours(std::uint32_t p) {
  const std::size_t own = index(cluster_.pods[p].workload);
  const std::size_t workloads = world_.workloads.size();
  for_each_rank(cluster_.pods[p], [&](DomainId domain, std::uint32_t, Duration) {
    for (const std::uint32_t other : cluster_.domains[index(domain)].owner) {
      if (other == kNoOwner || other == p || !holds_container(cluster_.pods[other].phase)) continue;
      const std::size_t neighbour = index(cluster_.pods[other].workload);
      record_.shared_domain[own * workloads + neighbour] = 1;
      record_.shared_domain[neighbour * workloads + own] = 1;
    }
  });
}

// Whether a container changes the pace of its neighbours before it has any work.
bool ClusterRun::has_equal_shares(const Domain& domain) const {
  const auto* vgpu = std::get_if<models::Vgpu>(&cluster_.kind(domain).sharing);
  return vgpu != nullptr && vgpu->policy == models::Vgpu::Policy::EqualShare;
}

void ClusterRun::crash(std::uint32_t p) {
  const Pod& pod = cluster_.pods[p];
  if (pod.leaving) return replica_gone(p);
  const scenarios::Workload& spec = cluster_.model(pod).spec;
  // What people got from a process is not lost with it; a Job starts over.
  if (holds_container(pod.phase)) end_container(p, !scenarios::runs_batches(spec.kind));
  if (spec.kind == WorkloadKind::Job && spec.restart_policy == RestartPolicy::Never) {
    return job_pod_failed(p);
  }
  back_off(p);
}

void ClusterRun::back_off(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  if (now_ - pod.container_started >= kCrashBackoffReset) pod.crash_streak = 0;
  const Duration wait = pod.crash_streak == 0 ? Duration{}
                                              : doubled(kFirstCrashBackoff, pod.crash_streak - 1,
                                                        kLongestCrashBackoff);
  ++pod.crash_streak;
  record_.workloads[index(pod.workload)].backing_off += wait;
  set_activity(p, PodPhase::BackOff);
  timers_.set(p, now_ + wait);
}

void ClusterRun::job_pod_failed(std::uint32_t p) {
  Pod& pod = cluster_.pods[p];
  ++pod.pods_failed;
  if (pod.pods_failed > cluster_.model(pod).spec.backoff_limit) return leave(p, PodPhase::Failed);
  set_activity(p, PodPhase::Recreating);
  release_node(p);
  wake_scheduler();
  timers_.set(p, now_ + doubled(kFirstJobBackoff, pod.pods_failed - 1, kLongestJobBackoff));
}

// The Job has ended, one way or the other: its pod gives everything back.
void ClusterRun::leave(std::uint32_t p, PodPhase final_phase) {
  Pod& pod = cluster_.pods[p];
  set_activity(p, final_phase);
  timers_.clear(p);
  release_node(p);
  mark(p, final_phase == PodPhase::Succeeded ? LaneMark::Kind::Done : LaneMark::Kind::Failed);
  WorkloadRecord& record = record_.workloads[index(pod.workload)];
  if (final_phase == PodPhase::Succeeded) {
    ++record_.succeeded;
    record.completion.push_back(now_ - pod.submitted);
  } else {
    ++record_.failed;
    ++record.jobs_failed;
  }
  --jobs_left_;
  wake_scheduler();
}

// Moves the pod to another phase and keeps its GPUs' counts of loading and working containers.
void ClusterRun::set_activity(std::uint32_t p, PodPhase phase) {
  Pod& pod = cluster_.pods[p];
  for_each_rank(pod, [&](DomainId id, std::uint32_t, Duration) {
    Domain& domain = cluster_.domains[index(id)];
    account_cold(domain);
    domain.loading += static_cast<int>(is_loading(phase)) - static_cast<int>(is_loading(pod.phase));
    domain.working += static_cast<int>(phase == PodPhase::Working) -
                      static_cast<int>(pod.phase == PodPhase::Working);
    domain.cold_since = domain.loading > 0 && domain.working == 0 ? now_ : kNever;
  });
  enter_phase(p, phase);
}

void ClusterRun::enter_phase(std::uint32_t p, PodPhase phase) {
  if (recorder_ != nullptr) recorder_->pod_enters(cluster_, p, phase, now_);
  cluster_.pods[p].phase = phase;
}

void ClusterRun::mark(std::uint32_t p, LaneMark::Kind kind) {
  if (recorder_ != nullptr) recorder_->mark(p, kind, now_);
}

void ClusterRun::account_cold(Domain& domain) {
  if (domain.cold_since == kNever) return;
  domain.cold_ns += static_cast<double>((now_ - domain.cold_since).ns);
  domain.cold_since = now_;
}

}  // namespace slicewise::sim
