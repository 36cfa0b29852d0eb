#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicewise/sim/kernel/timer_heap.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "state.hpp"

namespace slicewise::sim {

// What a timer is for. Timers of the same instant fire in this order, those of one kind by number:
// the order is part of every result.
enum class TimerKind : std::uint8_t {
  Pod,           // one per pod: its next step by the clock
  Domain,        // one per GPU or MIG instance: work done on it
  Service,       // one per Service: its next request
  Termination,   // one: the next preempted pod that has had its time to end
  MigDevice,     // one: the next MIG device of DRA that is destroyed
  Quota,         // one, if Jobs wait for quotas: a look at their queues
  Scheduler,     // a look at the queue
  Layout,        // one per pool: its MIG layout changes
  Partitioner,   // one, if nos cuts GPUs anew: it looks at Pending pods, or has cut some
  Fault,         // one per pod, if there are faults
  HostCpu,       // one per node, if requests need the host
  Pipeline,      // one per pipeline: its next request
  Scaler,        // one per autoscaler
  EngineTurn,    // one per GPU or MIG instance, if engines sleep: who is awake there
  Node,          // one per place for a node, if nodes come and go: its next stage
  Interruption,  // likewise: EC2 takes it back
  Provisioner,   // if nodes come and go: looks at Pending pods
  Removal,       // likewise: looks for nodes to remove
  End,           // of the run
  Sample,        // the end of a recording's bucket
  Turn,          // the next change of a turn that a recording follows
};
inline constexpr std::size_t kTimerKinds = static_cast<std::size_t>(TimerKind::Turn) + 1;

// The timers of a run: kinds one after the other in one heap.
class Timers {
 public:
  using Counts = std::array<std::uint32_t, kTimerKinds>;  // of timers, by kind

  struct Fired {
    TimerKind kind;
    std::uint32_t nth;  // of its kind
  };

  explicit Timers(const Counts& counts) : heap_(total(counts)) {
    std::uint32_t first = 0;
    for (std::size_t kind = 0; kind < kTimerKinds; ++kind) {
      first_[kind] = first;
      first += counts[kind];
      kind_of_.resize(first, static_cast<TimerKind>(kind));
    }
  }

  void set(TimerKind kind, std::size_t nth, TimePoint at) { heap_.set(timer(kind, nth), at); }
  void clear(TimerKind kind, std::size_t nth) { heap_.clear(timer(kind, nth)); }

  // kNever when it is not set.
  TimePoint at(TimerKind kind, std::size_t nth) const { return heap_.time_of(timer(kind, nth)); }
  // Of the timer that fires next. There is always one: the end of the run.
  TimePoint next() const { return heap_.top_time(); }

  // Around the firing of the next timer, see TimerHeap.
  Fired begin_firing() {
    const std::uint32_t timer = heap_.begin_firing();
    const TimerKind kind = kind_of_[timer];
    return {kind, timer - first_[static_cast<std::size_t>(kind)]};
  }
  void end_firing() { heap_.end_firing(); }
  bool is_firing() const { return heap_.is_firing(); }

  std::size_t size() const { return kind_of_.size(); }

 private:
  static std::size_t total(const Counts& counts) {
    std::size_t sum = 0;
    for (const std::uint32_t count : counts) sum += count;
    return sum;
  }
  std::uint32_t timer(TimerKind kind, std::size_t nth) const {
    return first_[static_cast<std::size_t>(kind)] + static_cast<std::uint32_t>(nth);
  }

  TimerHeap heap_;
  Counts first_{};                  // timer of each kind
  std::vector<TimerKind> kind_of_;  // by timer: the table that the loop dispatches by
};

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

  // Whether its replicas are ready before the run begins, which is now.
  bool starts_warm(const Workload& spec) const {
    return now == TimePoint{} && spec.kind == WorkloadKind::Service && !spec.startup.cold;
  }

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
