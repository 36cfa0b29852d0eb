#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/recording.hpp"

#include "../batch/steady_batch.hpp"
#include "../nodes/gpu_access.hpp"
#include "../nodes/holdings.hpp"
#include "../nodes/usage.hpp"
#include "../run_state.hpp"
#include "cron_runs.hpp"
#include "faults.hpp"
#include "gangs.hpp"
#include "job_sets.hpp"
#include "open_jobs.hpp"
#include "quota_admission.hpp"
#include "scheduler.hpp"
#include "terminations.hpp"

namespace slicewise::sim {

class Autoscalers;
class ContainerWork;
class Replicas;
class Services;

// Why a pod has to leave its node.
enum class Eviction : std::uint8_t {
  Drained,    // the node ends, or gets another MIG layout
  Unneeded,   // likewise, because nobody needs it any more: what sharing nodes costs jobs
  Expired,    // likewise, because it is as old as it may get
  Preempted,  // by one of higher priority
  Stopped,    // it will go on where it was
};

// The way of a pod: submit -> bind -> pull -> start -> work -> end, with restarts, back-offs,
// evictions and faults, as kubelet and the controllers of Jobs and Deployments have it. What it
// works on is ContainerWork's.
class PodLife {
 public:
  PodLife(RunState& run, Scheduler& scheduler, GpuAccess& gpus, Usage& usage, SteadyBatch& batch,
          OpenJobs& jobs, ContainerWork& work, Autoscalers& scalers, Services& services,
          const Replicas& replicas);

  // What pods hold of their nodes, for the bill.
  Holdings& holdings() { return holdings_; }
  // Pods that were told to make room.
  Terminations& endings() { return endings_; }
  // Jobs that wait for a quota.
  QuotaAdmission& quotas() { return quotas_; }

  // A pod's timer: the next step of its way.
  void on_timer(std::uint32_t pod);

  void submit(std::uint32_t pod);
  // All pods of its Job end, with their time for it, and the Job waits for quota anew.
  void suspend(std::uint32_t pod);
  // Nodes came, went or were cordoned: whoever waits is looked at anew.
  void nodes_changed() {
    scheduler_.nodes_changed();
    run_.wake_scheduler();
  }
  // The scheduler has given it a place.
  void on_bound(std::uint32_t pod);
  // The processes of the pod make their CUDA contexts and allocate; what they held is free. False:
  // CUDA out of memory.
  bool take_memory(std::uint32_t pod, Bytes needed);
  // A batch pod has done all its work; a gang is done when the last of its pods is.
  void work_done(std::uint32_t pod);
  // Its process dies.
  void crash(std::uint32_t pod);
  // A fatal fault on its GPU.
  void gpu_fault(std::uint32_t pod) { faults_.strike(pod, *this); }
  // A pod that a controller owns is deleted and created anew, a gang with all its pods.
  void evict(std::uint32_t pod, Eviction why);
  // Its Job has ended, one way or the other, wherever it is: its pods give everything back.
  void leave(std::uint32_t pod, PodPhase final_phase);
  // Deleted, whatever it is doing; its place can be submitted again.
  void remove(std::uint32_t pod);
  // The run is over: notes which pods judge() holds against it.
  void count_left_behind();
  // The run is over: its container ends, if one still runs, and what it held is accounted for.
  void stop_at_end(std::uint32_t pod);

 private:
  // Of a pod's container, and of the pods of a Job. What counts crashes of a gang is its first
  // pod's.
  struct Restarts {
    bool has_run = false;
    bool started_before = false;  // in this pod: the next start is a restart
    int count = 0;                // of this pod's container
    int crash_streak = 0;         // since the last 10 minutes without a crash
    bool left_pending = false;    // a window of a schedule ended before it had a node
  };

  void start_container(std::uint32_t pod);
  void begin_work(std::uint32_t pod);
  void end_container(std::uint32_t pod, Worth worth);
  void back_off(std::uint32_t pod);
  void job_pod_failed(std::uint32_t pod);
  void release_node(std::uint32_t pod);
  void set_activity(std::uint32_t pod, PodPhase phase);

  RunState& run_;
  Scheduler& scheduler_;
  GpuAccess& gpus_;
  Usage& usage_;
  Holdings holdings_;
  SteadyBatch& batch_;
  Faults faults_;
  Gangs gangs_;
  CronRuns crons_;
  JobSets sets_;
  QuotaAdmission quotas_;
  OpenJobs& jobs_;
  ContainerWork& work_;
  Autoscalers& scalers_;
  Terminations endings_;
  std::vector<Restarts> restarts_;  // by pod
  std::int64_t running_ = 0;        // containers
};

}  // namespace slicewise::sim
