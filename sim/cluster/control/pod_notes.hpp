#pragma once

#include <cstdint>

#include "../run_state.hpp"

namespace slicewise::sim {

class Scheduler;

// What is noted of a pod on its way, for the record of the run; nothing of the way hangs on it but
// what an all-reduce takes.

// Which GPUs a pod with several was given, and what its all-reduce takes there.
void note_gpus(RunState& run, Pod& pod);
// Whose containers the pod's own meets on its domains, and who is there when most are.
void note_neighbours(RunState& run, std::uint32_t pod);
// The stages of the way of a pod that waited for its node, when its work begins.
void record_start_up(RunState& run, const Pod& pod);
// The run is over: whether the pod waits for a node that will not come.
bool is_pending_for_good(RunState& run, const Scheduler& scheduler, const Pod& pod);

}  // namespace slicewise::sim
