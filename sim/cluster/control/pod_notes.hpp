#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/recording.hpp"

#include "../run_state.hpp"

namespace slicewise::sim {

class Scheduler;

// What is noted of a pod on its way, for the record of the run; nothing of the way hangs on it but
// what an all-reduce takes.

// What happened to it, in a recording.
void mark(RunState& run, std::uint32_t pod, LaneMark::Kind kind);
// Which GPUs a pod with several was given, and what its all-reduce takes there.
void note_gpus(RunState& run, Pod& pod);
// Whose containers the pod's own meets on its domains, and who is there when most are.
void note_neighbours(RunState& run, std::uint32_t pod);
// The stages of the way of a pod that waited for its node, when its work begins.
void record_start_up(RunState& run, const Pod& pod);

// Room for pods of a workload on the nodes that are on their way when a run ends.
class RoomToCome {
 public:
  RoomToCome(const RunState& run, const Scheduler& scheduler);
  // Whether there is room for the pod beside those of its workload that took some before.
  bool take(const Pod& pod);

 private:
  const RunState& run_;
  const Scheduler& scheduler_;
  std::vector<std::optional<std::int64_t>> left_;  // by workload, once it was asked for
};

// The run is over: whether the pod waits for a node that will not come.
bool is_pending_for_good(RunState& run, const Scheduler& scheduler, const Pod& pod,
                         RoomToCome& to_come);
// Of a pod that is taken away before: whether no node had room. A window of a schedule that wanted
// it has its pods whether a run ends inside of the window or after it; what a metric wants is
// judged by objectives.
bool waited_in_vain(RunState& run, const Scheduler& scheduler, const Pod& pod);

}  // namespace slicewise::sim
