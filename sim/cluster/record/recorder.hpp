#pragma once

#include <cstdint>
#include <vector>

#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "../service/request.hpp"
#include "../state.hpp"
#include "lanes.hpp"

namespace slicewise::sim {

inline RecordedRequest::Outcome outcome_of(Loss loss) {
  using Outcome = RecordedRequest::Outcome;
  return loss == Loss::Dropped    ? Outcome::Dropped
         : loss == Loss::TimedOut ? Outcome::TimedOut
                                  : Outcome::Refused;
}

// Writes a recording while a run goes on. It looks and never touches: with or without it a run is
// the same. Where a run has none, each place that would tell it something compares one pointer.
class Recorder {
 public:
  // `length` of the run to come.
  Recorder(const World& world, Duration length, const RecordingLimits& limits);

  // Its parts refer to each other.
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Before anything else.
  void begin(const ClusterState& cluster);
  // When the next bucket ends.
  TimePoint bucket_ends() const;
  void close_bucket() { ++draft_.bucket; }

  GpuSeries& gpus() { return gpus_; }
  NodeLanes& nodes() { return nodes_; }
  PodLanes& pods() { return pods_; }
  TurnLanes& turns() { return turns_; }

  // Requests, by position in Recording::workloads.
  void arrived(std::size_t workload) {
    ++draft_.now_of(draft_.recording.workloads[workload].arrived);
  }
  // `request.pod`: among all pods.
  void request_over(RecordedRequest request);

  // At the end of a bucket: totals since the start of the run, in nanoseconds.
  struct WorkloadTotals {
    std::int64_t completed = 0;  // of workloads without requests
    std::int64_t in_system = 0;
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    double gpu_busy_ns = 0;
  };
  void sample_workload(std::size_t workload, const WorkloadTotals& totals);
  void sample_pool(std::size_t pool, std::int64_t ready, std::int64_t billed);

  // Closes what is open. REQUIRES: the last bucket was sampled.
  Recording take(TimePoint now);

 private:
  struct Latencies {
    Histogram times;
    std::vector<std::int64_t> within_bound;
  };

  void add_workloads(const World& world);

  Draft draft_;
  GpuSeries gpus_;
  NodeLanes nodes_;
  PodLanes pods_;
  TurnLanes turns_;
  std::vector<std::uint32_t> first_of_;         // by workload: its first pod
  std::vector<Latencies> latencies_;            // by workload
  std::vector<std::int64_t> busy_before_;       // by workload, at the end of the last bucket
  std::vector<std::int64_t> completed_before_;  // likewise
};

}  // namespace slicewise::sim
