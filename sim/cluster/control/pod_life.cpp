#include "pod_life.hpp"

#include <algorithm>

#include "slicewise/sim/gpu_room.hpp"

#include "../record/recorder.hpp"
#include "../service/autoscalers.hpp"
#include "container_work.hpp"
#include "pod_notes.hpp"

namespace slicewise::sim {
namespace {

// kubelet: the first restart is immediate, then 10 s doubling to 5 min; 10 minutes without a crash
// start over. Source: Kubernetes documentation, "Pod Lifecycle", container restart back-off.
constexpr Duration kFirstCrashBackoff = seconds(10);
constexpr Duration kLongestCrashBackoff = seconds(300);
constexpr Duration kCrashBackoffReset = minutes(10);

Duration doubled(Duration first, int times, Duration longest) {
  Duration backoff = first;
  for (int n = 0; n < times && backoff < longest; ++n) backoff = backoff * 2;
  return std::min(backoff, longest);
}

// Whether a container changes the pace of its neighbours before it has any work.
bool has_equal_shares(const ClusterState& cluster, const Pod& pod) {
  if (pod.domain == kNoDomain) return false;
  const auto& sharing = cluster.kind(cluster.domains[index(pod.domain)]).sharing;
  const auto* vgpu = std::get_if<models::Vgpu>(&sharing);
  return vgpu != nullptr && vgpu->policy == models::Vgpu::Policy::EqualShare;
}

// What people got from a process is not lost with it; a Job starts over.
Worth worth_of_killed(const WorkloadModel& model) {
  return scenarios::runs_batches(model.spec.kind) ? Worth::Lost : Worth::Useful;
}

void enter_phase(RunState& run, std::uint32_t p, PodPhase phase) {
  if (run.recorder != nullptr) run.recorder->pods().enters(run.cluster, p, phase, run.now);
  run.cluster.pods[p].phase = phase;
}

// Moves the pod to another phase on its GPUs.
void set_activity(RunState& run, Usage& usage, std::uint32_t p, PodPhase phase) {
  usage.pod_enters(run.cluster.pods[p], phase);
  enter_phase(run, p, phase);
}

// Whether pods that are deleted have failed, unless Kueue does it that suspends their Job. Recorded
// jobs go back to the queue of their scheduler.
// Source: kubernetes, pkg/controller/job/job_controller.go, isPodFailed.
bool fails_when_deleted(const WorkloadModel& model) {
  return model.spec.kind == WorkloadKind::Job && !model.spec.trace &&
         !model.spec.ignore_disruptions;
}

// What its processes hold of GPU memory is free.
void close_memory(ClusterState& cluster, std::uint32_t p) {
  for_each_rank(cluster.pods[p], [&](DomainId domain, std::uint32_t context) {
    cluster.domains[index(domain)].memory.close(context);
  });
}

// Calls `use` with the first pod of each other part of an object whose failures count together.
template <class Use>
void for_each_beside(const ClusterState& cluster, std::uint32_t p, Use&& use) {
  const WorkloadModel& model = cluster.model(cluster.pods[p]);
  if (model.spec.part_of.value.empty()) return;
  const auto of_run = static_cast<std::uint32_t>(model.spec.pods_of_run());
  const std::uint32_t first = first_of_object(cluster, p);
  const auto step = static_cast<std::uint32_t>(model.pods_per_job);
  for (std::uint32_t other = first; other < first + of_run; other += step) {
    if (other != cluster.first_of_job(p)) use(other);
  }
}

// The first step takes what the container did not hold while it loaded. False: out of memory.
bool grow_memory(RunState& run, PodLife& pods, std::uint32_t loaded) {
  bool enough = true;
  for_each_of_job(run.cluster, loaded, [&](std::uint32_t p) {
    const Pod& pod = run.cluster.pods[p];
    if (!enough || !run.cluster.model(pod).before_work) return;
    enough = pods.take_memory(p, run.cluster.gpu_memory(pod));
  });
  return enough;
}

}  // namespace

PodLife::PodLife(RunState& run, Scheduler& scheduler, GpuAccess& gpus, Usage& usage,
                 SteadyBatch& batch, OpenJobs& jobs, ContainerWork& work, Autoscalers& scalers,
                 Services& services, const Replicas& replicas)
    : run_(run),
      scheduler_(scheduler),
      gpus_(gpus),
      usage_(usage),
      holdings_(run, usage),
      batch_(batch),
      faults_(run),
      gangs_(run.cluster),
      crons_(run),
      sets_(run, jobs),
      quotas_(run, *this, jobs),
      jobs_(jobs),
      work_(work),
      scalers_(scalers),
      endings_(run, services, replicas, *this, scalers),
      devices_(run, scheduler),
      restarts_(run.cluster.pods.size()) {}

void PodLife::on_timer(std::uint32_t p) {
  Pod& pod = run_.cluster.pods[p];
  switch (pod.phase) {
    case PodPhase::Unsubmitted:
      if (jobs_.waits(index(pod.workload)) || !crons_.makes(p, *this)) return;
      pod.submitted = run_.now;
      return work_.create(p);
    case PodPhase::Recreating:
      return submit(p);
    case PodPhase::Suspended:
      return;
    case PodPhase::Pending:
      return work_.give_up(p);
    case PodPhase::Pulling:
    case PodPhase::BackOff:
      return start_container(p);
    case PodPhase::Loading:
      return begin_work(p);
    case PodPhase::Working:
      return work_.on_timer(p);
    case PodPhase::Succeeded:
    case PodPhase::Failed:
      return;
  }
}

void PodLife::submit(std::uint32_t p) {
  Pod& pod = run_.cluster.pods[p];
  const bool is_new = pod.phase == PodPhase::Unsubmitted;
  if (is_new) jobs_.one_submitted(pod);
  if (!quotas_.lets(p)) {
    enter_phase(run_, p, PodPhase::Suspended);
    pod.queued = run_.now;
    run_.wake_scheduler();  // others may have what it gave back
    return quotas_.add(p, is_new);
  }
  enter_phase(run_, p, PodPhase::Pending);
  pod.queued = run_.now;
  restarts_[p].started_before = false;
  restarts_[p].count = 0;
  restarts_[p].crash_streak = 0;
  ++run_.record.pods_submitted;
  run_.cluster.grew = true;
  scheduler_.add(p, run_.now);
  run_.wake_scheduler();
  work_.wait(p);
}

void PodLife::suspend(std::uint32_t suspended) {
  if (is_bound(run_.cluster.pods[suspended].phase)) return endings_.begin(suspended);
  for_each_of_job(run_.cluster, suspended, [&](std::uint32_t p) {
    const bool waits = run_.cluster.pods[p].phase == PodPhase::Pending;
    if (waits && run_.cluster.first_of_job(p) == p) scheduler_.withdraw(p);
    run_.timers.clear(TimerKind::Pod, p);
    submit(p);
  });
}

// A container that ran for ten minutes is out of its loop.
void PodLife::count_left_behind() {
  constexpr int kLoop = 3;  // crashes in a row: once or twice, a fault may have been
  RoomToCome to_come(run_, scheduler_);
  for (std::uint32_t p = 0; p < run_.cluster.pods.size(); ++p) {
    const Pod& pod = run_.cluster.pods[p];
    WorkloadRecord& record = run_.record_of(pod);
    const bool loops = is_bound(pod.phase) && restarts_[p].crash_streak >= kLoop &&
                       run_.now - pod.container_started < kCrashBackoffReset;
    record.crash_looping += loops ? 1 : 0;
    const bool waits_for_quota =
        pod.phase == PodPhase::Suspended && run_.cluster.first_of_job(p) == p;
    record.quota_waiting += waits_for_quota ? 1 : 0;
    record.never_admitted += waits_for_quota && pod.pools == 0 ? 1 : 0;
    const bool waits =
        restarts_[p].left_pending || is_pending_for_good(run_, scheduler_, pod, to_come);
    record.pending_for_good += waits ? 1 : 0;
    const bool is_open = pod.phase != PodPhase::Unsubmitted && pod.phase != PodPhase::Succeeded &&
                         pod.phase != PodPhase::Failed && run_.cluster.first_of_job(p) == p;
    if (!is_open || run_.cluster.model(pod).spec.kind == WorkloadKind::Notebook) continue;
    const Duration age = run_.now - pod.submitted;
    if (run_.cluster.model(pod).spec.kind == WorkloadKind::Job) record.unfinished.push_back(age);
    if (!restarts_[p].has_run) record.waiting.push_back(age);
    if (!record.outcomes.empty()) record.outcomes[run_.cluster.job(pod)].unfinished = age;
  }
}

// The first pod of a workload on a node pulls the image; later ones wait for that pull.
void PodLife::on_bound(std::uint32_t p) {
  Pod& pod = run_.cluster.pods[p];
  note_gpus(run_, pod);
  holdings_.take(p);
  Duration& longest = run_.record_of(pod).longest_pending;
  longest = std::max(longest, run_.now - pod.queued);
  Node& node = run_.cluster.nodes[index(pod.node)];
  // kubelet has the devices of a pod prepared before it pulls.
  const TimePoint prepared = devices_.prepare(pod);
  TimePoint& image_ready = node.image_ready[index(pod.workload)];
  if (image_ready == kNever) {
    const Duration pull = run_.cluster.model(pod).spec.startup.image_pull;
    image_ready = prepared + (run_.starts_warm(run_.cluster.model(pod).spec) ? Duration{} : pull);
  }
  set_activity(run_, usage_, p, PodPhase::Pulling);
  run_.timers.set(TimerKind::Pod, p, std::max(prepared, image_ready));
  pod.bound = run_.now;
  node.life.first_pod = std::min(node.life.first_pod, run_.now);
  run_.cluster.note_change(node, run_.now);
}

void PodLife::stop_at_end(std::uint32_t p) {
  const PodPhase phase = run_.cluster.pods[p].phase;
  if (holds_container(phase)) end_container(p, Worth::Useful);
  if (is_bound(phase)) holdings_.give_back(p);
}

// Gives back what the pod held on its node.
void PodLife::release_node(std::uint32_t p) {
  holdings_.give_back(p);
  endings_.gone(p);
  devices_.unprepare(run_.cluster.pods[p]);
  scheduler_.release(p);
  run_.cluster.note_change(run_.cluster.nodes[index(run_.cluster.pods[p].node)], run_.now);
}

void PodLife::start_container(std::uint32_t p) {
  Pod& pod = run_.cluster.pods[p];
  const WorkloadModel& model = run_.cluster.model(pod);
  Restarts& restarts = restarts_[p];
  if (restarts.started_before) {
    ++restarts.count;
    ++run_.record.restarts;
    // Job controller, restartPolicy OnFailure: the Job fails when its containers were restarted
    // backoffLimit times; a limit of 0 allows no restart either.
    int count = restarts.count;
    for_each_beside(run_.cluster, p, [&](std::uint32_t other) {
      if (is_bound(run_.cluster.pods[other].phase)) count += restarts_[other].count;
    });
    if (model.spec.kind == WorkloadKind::Job && count >= std::max(1, model.spec.backoff_limit)) {
      return sets_.fail(p, *this);
    }
  }
  restarts.started_before = true;
  pod.container_started = run_.now;
  const bool notebook = model.spec.kind == WorkloadKind::Notebook;  // its first cell takes memory
  const Bytes needed =
      model.before_work.value_or(run_.cluster.gpu_memory(pod) - run_.cluster.memory_by_turns(pod));
  if (!notebook && !take_memory(p, needed)) return crash(p);
  if (!restarts.has_run) {
    restarts.has_run = true;
    sets_.one_ready(pod);
    WorkloadRecord& record = run_.record_of(pod);
    const bool of_job = run_.cluster.first_of_job(p) == p;
    if (!notebook && of_job) record.wait.push_back(run_.now - pod.submitted);
    if (model.spec.trace && of_job) {
      record.outcomes[run_.cluster.job(pod)].wait = run_.now - pod.submitted;
    }
  }
  run_.record.running_max = std::max(run_.record.running_max, ++running_);
  gpus_.open(p);
  batch_.settle(pod.node);
  set_activity(run_, usage_, p, PodPhase::Loading);
  note_neighbours(run_, p);
  if (has_equal_shares(run_.cluster, pod)) batch_.resolve(pod.node);
  const Duration load =
      run_.starts_warm(run_.cluster.model(pod).spec) ? Duration{} : model.spec.startup.model_load;
  run_.timers.set(TimerKind::Pod, p, run_.now + load);
}

// What they held before is free.
bool PodLife::take_memory(std::uint32_t p, Bytes needed) {
  const Pod& pod = run_.cluster.pods[p];
  const WorkloadModel& model = run_.cluster.model(pod);
  close_memory(run_.cluster, p);
  bool enough = true;
  for_each_rank(pod, [&](DomainId id, std::uint32_t context) {
    if (!enough) return;
    Domain& domain = run_.cluster.domains[index(id)];
    const Tickets* tickets = run_.cluster.tickets(domain, model);
    MemoryLedger::Process process{
        needed, model.greedy, model.spec.processes_per_pod, {}, run_.cluster.spare_memory(pod)};
    if (tickets != nullptr) {
      const PoolModel& pool = run_.cluster.pool(run_.cluster.nodes[index(pod.node)]);
      process.limit = limit_of_process(pool, *tickets, model);
    }
    enough = domain.memory.open(context, process).has_value();
  });
  if (enough) {
    if (run_.recorder != nullptr) run_.recorder->pods().took_memory(run_.cluster, p);
    return true;
  }
  close_memory(run_.cluster, p);
  mark(run_, p, LaneMark::Kind::OutOfMemory);
  ++run_.record.oom_kills;
  ++run_.record_of(pod).oom_kills;
  return false;
}

void PodLife::begin_work(std::uint32_t loaded) {
  if (!gangs_.all_there(loaded)) return;
  if (!grow_memory(run_, *this, loaded)) return crash(loaded);
  for_each_of_job(run_.cluster, loaded, [&](std::uint32_t p) {
    Pod& pod = run_.cluster.pods[p];
    batch_.settle(pod.node);
    set_activity(run_, usage_, p, PodPhase::Working);
    pod.work_started = run_.now;
    if (restarts_[p].count == 0) record_start_up(run_, pod);
    faults_.arm(p);
    usage_.begin(p);
    work_.begin(p);
  });
}

// The process is gone, and its memory is free.
void PodLife::end_container(std::uint32_t p, Worth worth) {
  const Pod& pod = run_.cluster.pods[p];
  const NodeId node = pod.node;
  const bool worked = pod.phase == PodPhase::Working;
  if (worked) {
    batch_.settle(node);
    gpus_.cancel(p);
    usage_.end(p, worth);
    WorkloadRecord& record = run_.record_of(pod);
    record.pod_running += run_.now - pod.container_started;
    record.working += run_.now - pod.work_started;
  }
  gpus_.close(p);
  close_memory(run_.cluster, p);
  --running_;
  run_.timers.clear(TimerKind::Pod, p);
  faults_.disarm(p);
  if (worked) work_.end(p);
  batch_.settle(node);
  set_activity(run_, usage_, p, PodPhase::BackOff);
  if ((worked || has_equal_shares(run_.cluster, pod)) && !run_.ended) batch_.resolve(node);
}

void PodLife::work_done(std::uint32_t p) {
  const Pod& pod = run_.cluster.pods[p];
  const WorkloadModel& model = run_.cluster.model(pod);
  WorkloadRecord& record = run_.record_of(pod);
  batch_.settle(pod.node);
  end_container(p, model.pods_per_job > 1 ? Worth::Kept : Worth::Useful);
  if (!gangs_.all_there(p)) {  // it keeps its GPUs until the others are done
    // Where the job is stopped meanwhile, this part is not done again but for its last step.
    run_.cluster.pods[p].kept =
        static_cast<double>(pod.units) - 1 / static_cast<double>(model.steps_per_unit);
    return;
  }
  ++record.jobs_done;
  record.units_done += pod.units;
  record.units_in_objective += pod.units;
  if (model.spec.kind == WorkloadKind::Job) {
    leave(p, PodPhase::Succeeded);
  } else if (endings_.is_ending(p)) {
    evict(p, Eviction::Preempted);
  } else {
    back_off(p);  // a Deployment restarts what completes
  }
}

void PodLife::evict(std::uint32_t evicted, Eviction why) {
  if (scalers_.is_leaving(evicted)) return scalers_.replica_gone(evicted);
  if (!is_bound(run_.cluster.pods[evicted].phase)) return;  // its object failed with another one
  const WorkloadModel& model = run_.cluster.model(run_.cluster.pods[evicted]);
  WorkloadRecord& record = run_.record_of(run_.cluster.pods[evicted]);
  const bool fails = why != Eviction::Stopped && fails_when_deleted(model) && quotas_.lets(evicted);
  const auto wait = fails ? sets_.wait_after_failure(evicted) : Duration{};
  const TimePoint again = endings_.deleted_at(evicted) + wait.value_or(Duration{});
  Duration lost;
  const bool starts_over =
      model.spec.kind == WorkloadKind::Job && holds_container(run_.cluster.pods[evicted].phase);
  gangs_.start_over(evicted);
  for_each_of_job(run_.cluster, evicted, [&](std::uint32_t p) {
    const Pod& pod = run_.cluster.pods[p];
    const bool stopped = why == Eviction::Stopped;
    if (stopped) batch_.settle(pod.node);
    const double done = static_cast<double>(pod.units) - work_.units_left(p);
    const Duration busy_before = record.gpu_busy;
    const Worth worth = stopped ? Worth::Kept : worth_of_killed(model);
    if (holds_container(pod.phase)) end_container(p, worth);
    run_.cluster.pods[p].kept = stopped ? done : 0;
    if (!stopped) lost += record.gpu_busy - busy_before + usage_.lose_kept(p);
    mark(run_, p, LaneMark::Kind::Evicted);
    set_activity(run_, usage_, p, PodPhase::BackOff);
    run_.timers.clear(TimerKind::Pod, p);
    release_node(p);
    ++run_.record.evicted;
    if (wait && again <= run_.now) return submit(p);
    enter_phase(run_, p, PodPhase::Recreating);
    if (wait) run_.timers.set(TimerKind::Pod, p, again);
  });
  run_.wake_scheduler();
  if (worth_of_killed(model) == Worth::Lost) record.gpu_lost += lost;
  if (!wait) sets_.fail(evicted, *this);
  if (!starts_over || (why != Eviction::Unneeded && why != Eviction::Expired)) return;
  RunsLost& runs = why == Eviction::Expired ? record.expired : record.disrupted;
  ++runs.jobs;
  runs.gpu_time += lost;
}

void PodLife::remove(std::uint32_t p) {
  const PodPhase phase = run_.cluster.pods[p].phase;
  if (phase == PodPhase::Unsubmitted) return;
  quotas_.remove(p);
  if (!is_bound(phase)) {
    if (phase == PodPhase::Pending) {
      restarts_[p].left_pending |=
          scalers_.a_window_wanted(p) && waited_in_vain(run_, scheduler_, run_.cluster.pods[p]);
      scheduler_.withdraw(p);
    }
    return enter_phase(run_, p, PodPhase::Unsubmitted);
  }
  const Worth worth = worth_of_killed(run_.cluster.model(run_.cluster.pods[p]));
  WorkloadRecord& record = run_.record_of(run_.cluster.pods[p]);
  const Duration busy_before = record.gpu_busy;
  if (holds_container(phase)) end_container(p, worth);
  if (worth == Worth::Lost) record.gpu_lost += record.gpu_busy - busy_before + usage_.lose_kept(p);
  set_activity(run_, usage_, p, PodPhase::Unsubmitted);
  release_node(p);
  run_.wake_scheduler();
}

void PodLife::crash(std::uint32_t p) {
  if (scalers_.is_leaving(p)) return scalers_.replica_gone(p);
  if (endings_.is_ending(p)) return evict(p, Eviction::Preempted);
  const Pod& pod = run_.cluster.pods[p];
  const Workload& spec = run_.cluster.model(pod).spec;
  WorkloadRecord& record = run_.record_of(pod);
  const Duration busy_before = record.gpu_busy;
  gangs_.start_over(p);
  for_each_of_job(run_.cluster, p, [&](std::uint32_t of_job) {
    run_.cluster.pods[of_job].kept = 0;
    record.gpu_lost += usage_.lose_kept(of_job);
    if (!holds_container(run_.cluster.pods[of_job].phase)) return;
    end_container(of_job, worth_of_killed(run_.cluster.model(pod)));
  });
  record.gpu_lost += record.gpu_busy - busy_before;
  if (spec.kind == WorkloadKind::Job && spec.restart_policy == scenarios::RestartPolicy::Never) {
    return job_pod_failed(p);
  }
  back_off(p);
}

void PodLife::back_off(std::uint32_t crashed) {
  const Pod& pod = run_.cluster.pods[crashed];
  Restarts& restarts = restarts_[run_.cluster.first_of_job(crashed)];
  if (run_.now - pod.container_started >= kCrashBackoffReset) restarts.crash_streak = 0;
  const Duration wait =
      restarts.crash_streak == 0
          ? Duration{}
          : doubled(kFirstCrashBackoff, restarts.crash_streak - 1, kLongestCrashBackoff);
  ++restarts.crash_streak;
  run_.record_of(pod).backing_off += wait;
  for_each_of_job(run_.cluster, crashed, [&](std::uint32_t p) {
    const Pod& restarted = run_.cluster.pods[p];
    const TimePoint image =
        run_.cluster.nodes[index(restarted.node)]
            .image_ready[index(restarted.workload)];  // of a gang, some may still pull it
    set_activity(run_, usage_, p, PodPhase::BackOff);
    run_.timers.set(TimerKind::Pod, p, std::max(run_.now + wait, image));
  });
}

void PodLife::job_pod_failed(std::uint32_t failed) {
  const std::optional<Duration> wait = sets_.wait_after_failure(failed);
  if (!wait) return sets_.fail(failed, *this);
  for_each_of_job(run_.cluster, failed, [&](std::uint32_t p) {
    set_activity(run_, usage_, p, PodPhase::Recreating);
    release_node(p);
    run_.timers.set(TimerKind::Pod, p, run_.now + *wait);
  });
  run_.wake_scheduler();
}

void PodLife::leave(std::uint32_t last, PodPhase final_phase) {
  const Pod& pod = run_.cluster.pods[last];
  const bool succeeded = final_phase == PodPhase::Succeeded;
  WorkloadRecord& record = run_.record_of(pod);
  const std::uint32_t first = run_.cluster.first_of_job(last);
  quotas_.remove(first);
  if (pod.phase == PodPhase::Pending) scheduler_.withdraw(first);
  for_each_of_job(run_.cluster, last, [&](std::uint32_t p) {
    const PodPhase phase = run_.cluster.pods[p].phase;
    jobs_.one_ends(run_.cluster.pods[p]);
    if (holds_container(phase)) end_container(p, Worth::Lost);
    run_.timers.clear(TimerKind::Pod, p);
    if (is_bound(phase)) {
      set_activity(run_, usage_, p, final_phase);
      release_node(p);
    } else {
      enter_phase(run_, p, final_phase);
    }
    mark(run_, p, succeeded ? LaneMark::Kind::Done : LaneMark::Kind::Failed);
    ++(succeeded ? run_.record.succeeded : run_.record.failed);
  });
  run_.record.last_job_end = run_.now - TimePoint{};
  if (succeeded) {
    const Duration took = run_.now - pod.submitted;
    record.completion.push_back(took);
    sets_.one_done(last);
    if (!record.outcomes.empty()) record.outcomes[run_.cluster.job(pod)].completion = took;
  } else {
    ++record.jobs_failed;
  }
  jobs_.make_next(last);
  crons_.one_ended(last);
  run_.wake_scheduler();
}

}  // namespace slicewise::sim
