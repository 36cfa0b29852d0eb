#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/units.hpp"

// What one replication recorded: raw sums, integers wherever they can be. Merged by
// sim/result/merge.hpp.
namespace slicewise::sim {

// Where the time of one domain went. Sums to the length of the run.
struct DomainTime {
  Duration useful;  // kernels of work that finished, or still ran at the end
  Duration late;    // kernels of requests that missed their objective
  Duration failed;  // kernels of containers that died
  Duration switching;
  Duration cold_start;   // idle, but a container on it was pulling its image or loading its model
  Duration sm_active;    // of the kernel time; not a part of the sum
  bool sm_known = true;  // every workload that ran here says how much of the SMs it uses

  Duration busy() const { return useful + late + failed; }
  DomainTime& operator+=(const DomainTime& other) {
    useful += other.useful;
    late += other.late;
    failed += other.failed;
    switching += other.switching;
    cold_start += other.cold_start;
    sm_active += other.sm_active;
    sm_known = sm_known && other.sm_known;
    return *this;
  }
};

struct DomainRecord {
  DomainTime time;
  Bytes memory_peak;
  std::vector<std::uint32_t> fullest;  // pods, when most containers were there; the first such time
};

// One place for a node, and all the nodes that were there.
struct NodeRecord {
  Duration cpu_time;  // vCPU time used by pods
  Duration up;        // from launch to end
  CostLedger cost;
  Usd observed;   // of the total, after the warm-up
  Usd switching;  // what context switches took from what pods hold
};

// Of a pool, most of it where its nodes come and go.
struct PoolRecord {
  int most = 0;                       // nodes at once
  std::int64_t launches = 0;          // after the start of the run
  std::int64_t surplus = 0;           // of those, more than the pods needed
  std::int64_t removed = 0;           // as empty or underused
  std::int64_t interruptions = 0;     // by EC2
  std::int64_t on_demand = 0;         // started as on-demand after an interruption
  std::int64_t layouts_given_up = 0;  // changes: a budget kept pods there too long
  Duration thrash;                    // node time of nodes started without need
  // GPU time that several batch pods shared, and what their work would have taken of it one after
  // the other.
  double shared_ns = 0;
  double one_by_one_ns = 0;
};

// Pods that waited for a node: the stages of their way, added up.
struct StartUpRecord {
  std::int64_t pods = 0;
  Duration decision;
  Duration launch;
  Duration ready;
  Duration gpu_allocatable;
  Duration scheduling;
  Duration image_pull;
  Duration model_load;
  std::vector<Duration> total;
};

// Why a pod could not be placed: how many nodes fell to each reason. Turned into the scheduler's
// message at the end, so that the event loop handles no text.
struct PendingReason {
  std::uint32_t nodes = 0;                    // that the scheduler knows of
  std::vector<std::uint32_t> nodes_by_cause;  // index: see cluster/cluster.hpp
  friend bool operator==(const PendingReason&, const PendingReason&) = default;
};

// Requests of a Service or a pipeline, those that came after the warm-up (but for in_system).
struct RequestRecord {
  std::int64_t arrived = 0;
  std::int64_t answered = 0;
  std::int64_t in_objectives = 0;
  std::int64_t refused = 0;   // found no ready replica, died with it, or was too long
  std::int64_t too_long = 0;  // of these: more tokens than a pod's cache could ever hold
  std::int64_t dropped = 0;   // the queue was full
  std::int64_t timed_out = 0;
  std::int64_t retried = 0;
  std::int64_t batches = 0;  // on the GPU, after the warm-up; steps of a language model
  std::int64_t batched = 0;  // requests in them
  // Integral of the number of requests in the system from the end of the warm-up to the end of the
  // run, and the time that the requests in it spent there: equal by Little's law.
  double in_system_ns = 0;
  Histogram latency;
  Histogram queueing;  // arrival -> taken up by the GPU
};

struct TokenRecord {
  std::int64_t answered = 0;  // after the warm-up, whenever they came
  std::int64_t input = 0;     // of these
  std::int64_t output = 0;
  std::int64_t output_late = 0;  // of requests that missed an objective
  std::int64_t preemptions = 0;
  std::int64_t prompts = 0;  // tokens of prompts that were taken in
  std::int64_t found = 0;    // ... of these, that were found in the cache
  std::int64_t adapter_loads = 0;
  std::int64_t wake_ups = 0;    // of engines that sleep
  double awake_ns = 0;          // of all of them
  std::int64_t cache_peak = 0;  // tokens, of the fullest pod
  std::int64_t cache_size = 0;  // of one pod
  Histogram first_token;
  Histogram per_token;
};

struct ScalingRecord {
  double replica_ns = 0;  // integral of the wish
  int most = 0;
  int most_by_metric = 0;  // asked for, not cut to what is allowed
  std::int64_t ups = 0;
  std::int64_t downs = 0;
  Histogram start_up;  // wanted -> ready
};

// Slowdowns are kept in a histogram of times: 1.0 is kUnitSlowdown.
inline constexpr Duration kUnitSlowdown = milliseconds(1);

// Of the whole run: it starts with nobody logged in, and a warm-up is short against a week.
struct NotebookRecord {
  std::int64_t sessions = 0;
  std::int64_t cells = 0;
  std::int64_t culled = 0;
  std::int64_t active_users = 0;  // with at least one kernel
  Duration waiting;               // for sessions to start, and for slowed cells
  Histogram session_start;        // asked for -> kernel ready; those given up: -> given up
  Histogram slowdown;
  std::int64_t gave_up = 0;  // sessions that had no kernel by the time they were to end
};

struct PipelineRecord {
  std::int64_t units_done = 0;          // requests answered after the warm-up, whenever they came
  std::int64_t units_in_objective = 0;  // of these, within every objective that holds per request
  RequestRecord requests;
};

// Of a recorded job; -1: it did not come to that.
struct JobOutcome {
  Duration wait{-1};        // submitted -> first container running
  Duration completion{-1};  // submitted -> succeeded
  Duration unfinished{-1};  // submitted -> end of the run, if it was not over by then
};

// Jobs that started over, since their node was removed.
struct RunsLost {
  std::int64_t jobs = 0;
  Duration gpu_time;  // of what they had done
};

struct WorkloadRecord {
  std::int64_t jobs_done = 0;  // Job pods, container runs of a Deployment
  std::int64_t jobs_failed = 0;
  std::int64_t runs_missed = 0;    // of a CronJob, whose Jobs were not made
  std::int64_t runs_replaced = 0;  // ... or deleted before they were done
  RunsLost disrupted;              // their node was not needed any more
  RunsLost expired;                // ... or as old as it may get
  std::int64_t oom_kills = 0;
  std::int64_t faults = 0;  // of GPUs that ended its containers, those of neighbours included
  std::int64_t crash_looping = 0;  // pods, at the end of the run
  std::int64_t pending_for_good = 0;
  Duration longest_pending;     // of a pod that then got a node
  std::int64_t units_done = 0;  // epochs, requests
  std::int64_t units_in_objective = 0;
  double units_under_way = 0;  // what the containers had done of their units when the run ended
  std::vector<Duration> completion;  // by finished job, in order of finishing
  std::vector<Duration> wait;        // by pod that got to run
  // By Job that was not over, and by pod that had not got to run, when the run ended: so far.
  std::vector<Duration> unfinished;
  std::vector<Duration> waiting;
  std::vector<Duration> quota_wait;  // by Job that Kueue admitted: all that it was suspended
  std::int64_t quota_stops = 0;      // of Jobs, for others to have their quota
  std::int64_t quota_waiting = 0;    // Jobs, at the end of the run
  std::int64_t never_admitted = 0;   // of them those that no time helps
  std::vector<JobOutcome> outcomes;  // of recorded jobs, by their number
  RequestRecord requests;            // Service
  TokenRecord tokens;                // Service with a language model
  ScalingRecord scaling;             // autoscaled Service
  NotebookRecord notebooks;
  Duration gpu_busy;            // a MIG instance counts with its part of the GPU
  Duration gpu_lost;            // of that, of containers that died
  Duration pod_running;         // container time
  Duration backing_off;         // between the end of a container and its restart
  Duration stretched_by_gpu;    // of that, how much longer it took because of GPU neighbours
  Duration stretched_by_cpu;    // ... and because of the host CPU; of a Service: its requests
  bool met_node_limit = false;  // a pod waited because its pools have all the nodes they may have
  bool no_node_for_it = false;  // ... because the provisioner knows no node that has its resource
  // Pods with several GPUs: how many were placed on which, by pool x kGpuSets + set; else empty.
  std::vector<std::int64_t> pods_by_gpu_set;
  double all_reduce_ns = 0;  // that their steps took, of `working`
  Duration working;          // container time after start-up
  Usd held;                  // of the bills of its nodes: what its pods hold, without switches
  Usd shared;                // its part of what is idle and switched there
  Usd observed;              // of both together, after the warm-up
};

struct Replication {
  Duration length;                    // of the run; what is billed is at least 60 s
  Duration last_job_end;              // 0: none ended
  std::vector<DomainRecord> domains;  // node by node, layout by layout
  std::vector<NodeRecord> nodes;      // by place
  std::vector<PoolRecord> pools;
  StartUpRecord start_up;
  std::vector<WorkloadRecord> workloads;
  std::vector<PipelineRecord> pipelines;
  std::vector<PendingReason> pending_reasons;  // distinct, in order of appearance
  std::int64_t pods_submitted = 0;
  std::int64_t running_max = 0;
  std::int64_t pending_max = 0;
  std::int64_t pending_at_end = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t oom_kills = 0;
  std::int64_t restarts = 0;
  std::int64_t faults = 0;         // fatal GPU faults
  std::int64_t fault_victims = 0;  // containers that died of a neighbour's fault
  std::int64_t evicted = 0;        // pods drained for a change of the MIG layout
  bool cut_off = false;            // stopped after a simulated year with Jobs still waiting
  bool interrupted = false;        // stopped by the user before its end
  std::int64_t events = 0;         // that the loop handled
  // 1 for two workloads that had containers on one domain at once; row after row.
  std::vector<std::uint8_t> shared_domain;
};

}  // namespace slicewise::sim
