#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/sim/recording.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "../state.hpp"

namespace slicewise::sim {

inline constexpr std::uint32_t kNotRecorded = UINT32_MAX;

// A recording that is being written, and what its writers must know of each other.
struct Draft {
  Recording recording;
  RecordingLimits limits;
  std::size_t bucket = 0;              // under way
  std::vector<std::uint32_t> gpu_of;   // by domain: into Recording::gpus
  std::vector<std::uint32_t> lane_of;  // by pod: into Recording::pods

  // Of the bucket under way.
  template <class T>
  T& now_of(std::vector<T>& series) const {
    return series[bucket];
  }
};

// What GPUs and MIG instances do per bucket.
class GpuSeries {
 public:
  // At the end of a bucket: totals since the start of the run, in nanoseconds.
  struct Totals {
    double busy_ns = 0;
    double switching_ns = 0;
    double sm_ns = 0;
    bool sm_known = true;
    Bytes memory_used;
  };

  explicit GpuSeries(Draft& draft) : draft_(draft) {}

  // Those of a place for a node, when its first node comes.
  void add(const ClusterState& cluster, std::uint32_t node, const std::string& name);
  void memory_used(std::size_t domain, Bytes used);
  void sample(std::size_t domain, const Totals& totals);
  void end();

 private:
  // At the end of the last bucket.
  struct Before {
    std::int64_t busy_ns = 0;
    std::int64_t switching_ns = 0;
    std::int64_t sm_ns = 0;
  };

  Draft& draft_;
  std::vector<Before> before_;          // by GPU
  std::vector<std::uint8_t> sm_known_;  // by GPU
};

// A recording's lanes of pods: phases, marks, and GPU time per bucket.
class PodLanes {
 public:
  PodLanes(Draft& draft, GpuSeries& gpus) : draft_(draft), gpus_(gpus) {}

  void begin(const World& world);

  // Before the phase of a pod is changed.
  void enters(const ClusterState& cluster, std::uint32_t pod, PodPhase phase, TimePoint now);
  void took_memory(const ClusterState& cluster, std::uint32_t pod);
  // A container has ended.
  void worked(std::uint32_t pod, double gpu_busy_ns) { worked_ns_[pod] += gpu_busy_ns; }
  void mark(std::uint32_t pod, LaneMark::Kind kind, TimePoint now);
  // At the end of a bucket: the total of the pod's present container.
  void sample(std::uint32_t pod, double gpu_busy_ns);
  void end(TimePoint now);

 private:
  // What is under way in a lane.
  struct OpenInterval {
    std::optional<LanePhase> phase;
    TimePoint from;
    std::vector<std::uint32_t> gpus;
    Bytes memory;
  };

  bool has_room(std::size_t taken);
  void close(std::uint32_t lane, TimePoint now);

  Draft& draft_;
  GpuSeries& gpus_;
  std::vector<OpenInterval> open_;         // by lane
  std::vector<std::int64_t> busy_before_;  // by lane, at the end of the last bucket
  std::vector<double> worked_ns_;          // by pod: of containers that have ended
};

// A recording's lives of nodes, by place.
class NodeLanes {
 public:
  NodeLanes(Draft& draft, GpuSeries& gpus) : draft_(draft), gpus_(gpus) {}

  void begin(const ClusterState& cluster);
  void decided(const ClusterState& cluster, std::uint32_t node);
  void drains(std::uint32_t node, TimePoint now, RecordedNode::End why);
  void ends(const Node& node, std::uint32_t place, TimePoint now, UsdPerHour price, Usd billed);
  void end(TimePoint now);

 private:
  Draft& draft_;
  GpuSeries& gpus_;
  std::vector<std::uint32_t> life_of_;  // by place: into Recording::nodes
  std::vector<std::uint8_t> seen_;      // by place: its GPUs are recorded
};

// A recording's turns on GPUs under time-slicing.
class TurnLanes {
 public:
  explicit TurnLanes(Draft& draft) : draft_(draft) {}

  void begin(const ClusterState& cluster);
  // Whether turns are still of interest at `now`.
  bool follows(TimePoint now) const { return now >= from_ && now < until_; }
  // What an engine does from `now` on, and whose context that is.
  void gpu_does(std::size_t domain, const RoundRobin::Doing& doing, std::uint32_t pod,
                TimePoint now);
  void end(TimePoint now);

 private:
  struct OpenTurn {
    RoundRobin::Doing doing;
    std::uint32_t lane = kNotRecorded;
    TimePoint from;
  };

  void close(std::uint32_t gpu, TimePoint now);

  Draft& draft_;
  std::vector<OpenTurn> open_;  // by GPU: what it does, as of the last change
  TimePoint from_ = kNever;     // of the window in which turns are followed
  TimePoint until_ = kNever;
};

// What a total has gained since the last bucket. One that fell back (work under way that was
// thrown away) gains nothing until it has caught up.
Duration gained(double total_ns, std::int64_t& before_ns);

}  // namespace slicewise::sim
