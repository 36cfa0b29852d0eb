#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "state.hpp"

namespace slicewise::sim {

// Causes for which kube-scheduler's filters turn a node down; from kResourceCause on,
// "Insufficient <resource>" by ResourceId.
enum class RejectCause : std::uint8_t { Taint, NodeSelector, TooManyPods, Cpu, Memory };
inline constexpr std::size_t kResourceCause = 5;

// kube-scheduler: takes Pending pods by priority, then age; filters nodes by every resource,
// taints and node selectors; scores by LeastAllocated or MostAllocated; retries an unschedulable
// pod when resources were freed, not before its back-off (1 s doubling to 10 s) is over. The pod
// is then handed to the device plugin, which picks the GPU.
class Scheduler {
 public:
  Scheduler(ClusterState& cluster, std::uint64_t seed, std::uint32_t replication);

  void add(std::uint32_t pod);

  // Tries every eligible pod once. Appends the placed ones to `bound`; node, gpu, context and
  // tickets of these are set and taken. Returns when a pod's back-off lets it be tried again
  // (kNever if no pod is backing off).
  TimePoint cycle(TimePoint now, std::vector<std::uint32_t>& bound);

  // Gives back all that the pod held.
  void release(std::uint32_t pod);

  // Whether some node of the empty cluster could hold a pod of this workload.
  bool fits_empty_node(const WorkloadModel& workload) const;

  std::size_t pending() const { return queue_.size(); }
  const std::vector<PendingReason>& reasons() const { return reasons_; }

 private:
  std::optional<RejectCause> static_reject(const Node& node, const WorkloadModel& workload) const;
  bool fits(const Node& node, const WorkloadModel& workload);
  std::optional<std::uint32_t> choose_node(const WorkloadModel& workload);
  std::int64_t score(const Node& node, const WorkloadModel& workload) const;
  void bind(std::uint32_t pod, NodeId node);
  void record_reason();

  ClusterState& cluster_;
  RandomStream ties_;
  RandomStream placement_;
  std::vector<std::uint32_t> queue_;  // Pending pods, in scheduling order
  std::vector<char> turned_down_;     // by workload, in this cycle
  PendingReason scratch_;
  std::vector<PendingReason> reasons_;
};

// The device plugin's choice among the GPUs of a node (GetPreferredAllocation): distributed takes
// the GPU with the fewest allocated replicas, packed the one with the most that has a free one;
// ties at random, as the plugin's map order has it. Unshared GPUs are taken in index order.
GpuId choose_gpu(const ClusterState& cluster, const Node& node, RandomStream& random);

}  // namespace slicewise::sim
