#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "request.hpp"
#include "state.hpp"

namespace slicewise::sim {

inline RecordedRequest::Outcome outcome_of(Loss loss) {
  using Outcome = RecordedRequest::Outcome;
  return loss == Loss::Refused   ? Outcome::Refused
         : loss == Loss::Dropped ? Outcome::Dropped
                                 : Outcome::TimedOut;
}

// Writes a recording while ClusterRun runs. It looks and never touches: with or without it a run is
// the same. Where a run has none, each place that would tell it something compares one pointer.
class Recorder {
 public:
  // `length` of the run to come.
  Recorder(const World& world, Duration length, const RecordingLimits& limits);

  // When the next bucket ends.
  TimePoint bucket_ends() const;

  // Before anything else.
  void begin(const ClusterState& cluster);

  // Nodes, by place.
  void node_decided(const ClusterState& cluster, std::uint32_t node);
  void node_drains(std::uint32_t node, TimePoint now, RecordedNode::End why);
  void node_ends(const Node& node, std::uint32_t place, TimePoint now, UsdPerHour price,
                 Usd billed);

  // Pods: before the phase of one is changed, and after it took memory.
  void pod_enters(const ClusterState& cluster, std::uint32_t pod, PodPhase phase, TimePoint now);
  void memory_taken(const ClusterState& cluster, std::uint32_t pod);
  void pod_worked(std::uint32_t pod, double gpu_busy_ns) { pod_worked_ns_[pod] += gpu_busy_ns; }
  void mark(std::uint32_t pod, LaneMark::Kind kind, TimePoint now);

  // Turns on GPUs under time-slicing. Whether they are still of interest at `now`.
  bool follows_turns(TimePoint now) const { return now >= follow_from_ && now < follow_until_; }
  // What an engine does from `now` on, and whose context that is.
  void gpu_does(std::size_t domain, const RoundRobin::Doing& doing, std::uint32_t pod,
                TimePoint now);

  // Requests, by position in Recording::workloads.
  void arrived(std::size_t workload) { ++now_of(recording_.workloads[workload].arrived); }
  // `request.pod`: among all pods.
  void request_over(RecordedRequest request);

  // At the end of a bucket: totals since the start of the run, in nanoseconds.
  struct GpuTotals {
    double busy_ns = 0;
    double switching_ns = 0;
    double sm_ns = 0;
    bool sm_known = true;
    Bytes memory_used;
  };
  struct WorkloadTotals {
    std::int64_t completed = 0;  // of workloads without requests
    std::int64_t in_system = 0;
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    double gpu_busy_ns = 0;
  };
  void sample_gpu(std::size_t domain, const GpuTotals& totals);
  void sample_workload(std::size_t workload, const WorkloadTotals& totals);
  void sample_pod(std::uint32_t pod, double gpu_busy_ns);  // of its present container
  void sample_pool(std::size_t pool, std::int64_t ready, std::int64_t billed);
  void close_bucket() { ++bucket_; }

  // Closes what is open. REQUIRES: the last bucket was sampled.
  Recording take(TimePoint now);

 private:
  static constexpr std::uint32_t kNotRecorded = UINT32_MAX;

  // What is under way in a pod's lane.
  struct OpenInterval {
    std::optional<LanePhase> phase;
    TimePoint from;
    std::vector<std::uint32_t> gpus;
    Bytes memory;
  };
  struct Latencies {
    Histogram times;
    std::vector<std::int64_t> within_bound;
  };

  template <class T>
  T& now_of(std::vector<T>& series) {
    return series[bucket_];
  }
  static Duration gained(double total_ns, std::int64_t& before_ns);
  void add_workloads(const World& world);
  void add_pods(const World& world);
  void add_gpus(const ClusterState& cluster, std::uint32_t node, const std::string& name);
  static void copy_life(const Node& node, RecordedNode& recorded);
  void memory_used(std::size_t domain, Bytes used);
  bool has_room(std::size_t taken);
  void end_turn(std::uint32_t gpu, TimePoint now);
  void close_interval(std::uint32_t lane, TimePoint now);

  RecordingLimits limits_;
  Recording recording_;
  std::size_t bucket_ = 0;
  std::vector<std::uint32_t> gpu_of_;    // by domain
  std::vector<std::uint32_t> life_of_;   // by node: into Recording::nodes
  std::set<std::uint32_t> places_seen_;  // nodes whose GPUs are recorded
  std::vector<std::uint32_t> lane_of_;   // by pod: into Recording::pods
  std::vector<std::uint32_t> first_of_;  // by workload: its first pod
  std::vector<OpenInterval> open_;       // by lane
  std::vector<std::uint8_t> sm_known_;   // by GPU
  std::vector<Latencies> latencies_;     // by workload
  // What each GPU is doing, as of the last change.
  struct OpenTurn {
    RoundRobin::Doing doing;
    std::uint32_t pod = kNotRecorded;
    TimePoint from;
  };
  std::vector<OpenTurn> turn_now_;  // by GPU
  TimePoint follow_from_ = kNever;
  TimePoint follow_until_ = kNever;
  // Totals at the end of the last bucket.
  struct GpuBefore {
    std::int64_t busy_ns = 0;
    std::int64_t switching_ns = 0;
    std::int64_t sm_ns = 0;
  };
  std::vector<GpuBefore> gpu_before_;
  std::vector<std::int64_t> workload_busy_before_;
  std::vector<std::int64_t> completed_before_;
  std::vector<std::int64_t> pod_busy_before_;  // by lane
  std::vector<double> pod_worked_ns_;          // by pod: of containers that have ended
};

}  // namespace slicewise::sim
