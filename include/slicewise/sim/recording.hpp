#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/sim/result.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

// One replication written down as it went: who was on which GPU when, and how busy everything was
// over time. A result says how much; this says when. Plain data for timelines, traces and series.
namespace slicewise::sim {

// What of a pod's life is told apart.
enum class LanePhase : std::uint8_t {
  Pending,  // in the scheduler's queue
  Pulling,  // bound; the node pulls its image
  Loading,  // its container runs and loads its model
  Running,  // at work, or ready for it
  BackOff,  // waits to be restarted (CrashLoopBackOff), or to be created anew (Job controller)
};

struct LaneInterval {
  LanePhase phase = LanePhase::Pending;
  TimePoint from;
  TimePoint until;                  // > from
  std::vector<std::uint32_t> gpus;  // into Recording::gpus; empty while it is Pending
  Bytes memory;                     // the most that it held on each of them
};

// What happened to a pod at an instant.
struct LaneMark {
  enum class Kind : std::uint8_t { OutOfMemory, GpuFault, FaultOfNeighbour, Evicted, Done, Failed };
  Kind kind = Kind::Done;
  TimePoint at;
};

// A place for a pod: one replica, or one Job with all the pods that were created for it.
struct RecordedPod {
  std::string name;            // "asr-2", counted from 1
  std::uint32_t workload = 0;  // into Recording::workloads
  std::vector<LaneInterval> intervals;
  std::vector<LaneMark> marks;
  std::vector<Duration> gpu_busy;  // of each bucket, all its GPUs added up
};

// A whole GPU or one MIG instance of a place for a node; named as GpuResult is.
struct RecordedGpu {
  std::string node;
  int index = 0;
  int instance = 0;
  std::string partition;  // MIG profile, "" = the whole GPU
  std::string model;
  double share = 1;                 // of the GPU: its compute slices
  Bytes memory_total;               // usable
  std::vector<Duration> busy;       // kernels of some context ran; of the time that it owns
  std::vector<Duration> switching;  // contexts were switched
  std::vector<Duration> sm_active;  // of `busy`; empty when no workload on it says
  std::vector<Bytes> memory;        // the most held in the bucket
};

// One node from the decision to start it to its end. Where nodes do not come and go, each is there
// from the start to the end of the run. Several nodes may follow each other in one place.
struct RecordedNode {
  enum class End : std::uint8_t { OfRun, Removed, TakenBack };  // by the provisioner; by EC2
  std::string name;  // of its place, as NodeResult has it
  std::uint32_t pool = 0;
  std::string pool_name;
  std::string instance_type;
  TimePoint decided;
  std::optional<TimePoint> launched;     // billed from here; absent: the run ended before it
  std::optional<TimePoint> ready;        // known to the scheduler
  std::optional<TimePoint> allocatable;  // its GPUs are offered
  std::optional<TimePoint> draining;
  TimePoint until;
  End end = End::OfRun;
  UsdPerHour price;  // 0 when EC2 does not charge it
  Usd billed;
};

// A turn that a pod had on a GPU under time-slicing, or a switch to its context.
struct RecordedTurn {
  std::uint32_t gpu = 0;  // into Recording::gpus
  std::uint32_t pod = 0;  // into Recording::pods
  bool is_switch = false;
  TimePoint from;
  TimePoint until;
};

// The turns of a short while: a second of one GPU has hundreds. They are simulated where requests
// are, on GPUs that processes take in turns.
struct RecordedTurns {
  enum class Seen : std::uint8_t {
    Some,
    NoEngine,  // no pool is simulated turn by turn: steady state, or another way of sharing
    NotAsked,  // RecordingLimits::turns is 0
    NoRivals,  // no two pods ever wanted a GPU at once
  };
  Seen seen = Seen::NoEngine;
  TimePoint from;  // the first switch after the warm-up
  TimePoint until;
  std::vector<RecordedTurn> turns;  // in order of their end
};

// A request of a Service or a pipeline, from its first attempt to its answer or its loss.
struct RecordedRequest {
  enum class Outcome : std::uint8_t { InTime, Late, Refused, Dropped, TimedOut };
  std::uint32_t workload = 0;        // into Recording::workloads
  std::optional<std::uint32_t> pod;  // that answered, counted from 0 among those of its workload
  Outcome outcome = Outcome::InTime;
  int retries = 0;
  TimePoint arrived;
  TimePoint over;
  std::int64_t input_tokens = 0;  // 0 where the workload is no language model
  std::int64_t output_tokens = 0;
};

// Nodes of one pool at the end of each bucket.
struct RecordedPool {
  std::string name;
  std::vector<std::int64_t> ready;   // with their GPUs offered
  std::vector<std::int64_t> billed;  // from launch to end
};

// A workload or pipeline over time. Counts are of each bucket and, unlike those of a result,
// include the warm-up.
struct RecordedWorkload {
  std::string name;
  std::string kind;                     // as WorkloadResult has it
  std::string namespace_name;           // of its pods
  std::vector<std::int64_t> arrived;    // requests; empty for workloads without
  std::vector<std::int64_t> completed;  // requests answered, Jobs or container runs, cells
  std::vector<std::int64_t> late;       // answered beyond an objective
  std::vector<std::int64_t> lost;       // refused, dropped or timed out
  std::vector<std::int64_t> in_system;  // requests, at the end of the bucket
  std::vector<std::int64_t> waiting;    // of these, for a worker or the GPU; empty for pipelines
  std::vector<std::int64_t> running;    // pods in LanePhase::Running, likewise
  std::vector<Duration> gpu_busy;       // a MIG instance counts with its part of the GPU
  // Of the requests answered in the bucket; absent when none was.
  std::vector<std::optional<Duration>> mean;
  std::vector<std::optional<Duration>> p50;
  std::vector<std::optional<Duration>> p99;
  std::optional<Duration> latency_limit;  // beyond which a request is late
  // For cumulative histograms: how many answered requests took at most each bound, by bucket; row
  // after row. The limit is one of the bounds.
  std::vector<Duration> latency_bounds;
  std::vector<std::int64_t> within_bound;
};

// How much a recording may hold. What does not fit is counted, never dropped in silence.
struct RecordingLimits {
  int buckets = 300;
  int nodes = 1'000;
  int gpus = 256;
  int pods = 500;
  int intervals_per_pod = 400;  // and as many marks
  int turns = 4'000;            // of all GPUs together
  int requests = 0;             // of all workloads together; 0 = not asked for
};

struct LeftOut {
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  std::int64_t pods = 0;
  std::int64_t intervals = 0;  // of recorded pods, marks included
  std::int64_t requests = 0;   // where they are asked for
  bool any() const { return nodes + gpus + pods + intervals + requests > 0; }
};

// Buckets are counted from the start of the run; the k-th is (k, k + 1] x `bucket`, the last ends
// with the run.
struct Recording {
  std::string variant;
  std::string strategy;
  std::uint64_t seed = 0;
  Duration length;  // of the run
  Duration warmup;  // whose requests the result does not count
  Duration bucket;
  std::vector<RecordedNode> nodes;  // in order of their decision
  std::vector<RecordedGpu> gpus;
  std::vector<RecordedPod> pods;
  RecordedTurns turns;
  std::vector<RecordedPool> pools;
  std::vector<RecordedWorkload> workloads;  // in the scenario's order, then pipelines
  std::vector<RecordedRequest> requests;    // in order of their end
  LeftOut left_out;
  VariantResult result;  // of this replication alone

  std::size_t buckets() const;
  TimePoint bucket_end(std::size_t n) const;
};

// Runs the first replication of a world and writes it down: the same replication, to the byte, as
// the first one of simulate(). A world without a duration is run twice, once to learn its length.
// nullopt when `interrupted` turned true before the end.
std::optional<Recording> record(const World& world, const RecordingLimits& limits = {},
                                const std::atomic<bool>* interrupted = nullptr);

}  // namespace slicewise::sim
