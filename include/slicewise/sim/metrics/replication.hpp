#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/units.hpp"

// What one replication recorded: raw sums, integers wherever they can be. Merged by summary.hpp.
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
};

struct DomainRecord {
  DomainTime time;
  Bytes memory_peak;
};

struct NodeRecord {
  Duration cpu_time;  // vCPU time used by pods
};

// Why a pod could not be placed: how many nodes fell to each reason. Turned into the scheduler's
// message at the end, so that the event loop handles no text.
struct PendingReason {
  std::vector<std::uint32_t> nodes_by_cause;  // index: see cluster/reject_cause.hpp
  friend bool operator==(const PendingReason&, const PendingReason&) = default;
};

struct WorkloadRecord {
  std::int64_t jobs_done = 0;  // Job pods, container runs of a Deployment
  std::int64_t jobs_failed = 0;
  std::int64_t oom_kills = 0;
  std::int64_t units_done = 0;  // epochs, requests
  std::int64_t units_in_objective = 0;
  std::int64_t refused = 0;          // requests that found no ready replica or died with it
  std::int64_t arrived = 0;          // requests after the warm-up
  std::vector<Duration> completion;  // by finished job, in order of finishing
  std::vector<Duration> wait;        // by pod that got to run
  Histogram latency;                 // Service
  Duration gpu_busy;                 // a MIG instance counts with its part of the GPU
  Duration pod_running;              // container time
  Duration backing_off;              // between the end of a container and its restart
  Duration stretched_by_gpu;         // of that, how much longer it took because of GPU neighbours
  Duration stretched_by_cpu;         // ... and because of the host CPU
};

struct Replication {
  Duration length;                    // of the run; what is billed is at least 60 s
  std::vector<DomainRecord> domains;  // node by node, layout by layout
  std::vector<NodeRecord> nodes;
  std::vector<WorkloadRecord> workloads;
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
};

}  // namespace slicewise::sim
