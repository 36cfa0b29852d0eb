#pragma once

#include <array>
#include <cstdint>

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/world.hpp"

// How many nodes a pool needs at the very least, without simulating it. Every bound is a necessary
// condition with a margin for chance, so that nothing which could stand is pruned.
namespace slicewise::sim {

class KnownQueues;

struct NodeBound {
  int least = 1;   // no fewer can do
  int most = 1;    // more change nothing: every pod has a node of its own
  int kept = 0;    // of nodes that come and go with the pods, those that are there all the time
  Reason why;      // what asks for `least`: "GPU tickets", "host CPU", ...
  Reason refused;  // why no number of nodes can do, half a sentence; empty if some may
};

// REQUIRES: one pool. `queues`: who remembers what it finds of them.
NodeBound node_bound(const World& world, KnownQueues* queues = nullptr);

// Pods that must all run at once: jobs may wait for their turn.
int at_once(const WorkloadModel& workload);

// No pod is split over nodes: what pods with several GPUs take beyond their sum. Of a node with
// `per_node` GPUs a pod with `gpus` has packed_parts(k, ...) of k * per_node parts at the least,
// whichever pods are beside it; k = 1 tells of more than a half, k = 2 of more than a third.
// Source: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems", Math.
// Program. 91 (2001), theorem 3.
inline constexpr std::array<std::int64_t, 2> kPackings = {1, 2};
std::int64_t packed_parts(std::int64_t k, std::int64_t gpus, std::int64_t per_node);

// Nodes that a pod of the workload, or the gang that it is of, needs at once where GPUs are not
// shared: jobs may all wait, but not for a part of themselves.
int least_nodes_alone(const WorkloadModel& workload, std::int64_t gpus_per_node);

// What a workload asks of the GPUs of the world's pool, as far as closed forms know it.
struct GpuNeed {
  double busy = 0;      // GPUs that its requests keep busy at the very least; 0: not known
  double sm_busy = 0;   // ... whose every SM they keep busy
  double company = 0;   // GPUs' worth of turns that neighbours see it take
  double bears = kAny;  // of a GPU that is busy so much its objectives should still hold

  static constexpr double kAny = 1e9;
};

// REQUIRES: one pool.
GpuNeed gpu_need(const World& world, const WorkloadModel& workload);

}  // namespace slicewise::sim
