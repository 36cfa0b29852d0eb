#pragma once

#include <cstdint>

#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "state.hpp"
#include "timers.hpp"

namespace slicewise::sim {

class Recorder;

// What all parts of a run share: the clock, the timers, where pods are and what nodes hold, and the
// record. Everything else belongs to one part.
struct RunState {
  // `recorder`: writes the run down; nullptr: nobody does.
  RunState(const World& of_world, std::uint32_t nth_replication, Recorder* recorder_or_null);

  // The scheduler looks at its queue at this instant, after all that happens on pods and GPUs.
  void wake_scheduler() { timers.set(TimerKind::Scheduler, 0, now); }

  // Whether it lies after the warm-up.
  bool is_observed(TimePoint at) const { return at - TimePoint{} >= world.warmup; }

  WorkloadRecord& record_of(const Pod& pod) { return record.workloads[index(pod.workload)]; }

  const World& world;
  const std::uint32_t replication;
  Recorder* const recorder;
  ClusterState cluster;
  Timers timers;
  TimePoint now;
  bool ended = false;
  Replication record;
};

}  // namespace slicewise::sim
