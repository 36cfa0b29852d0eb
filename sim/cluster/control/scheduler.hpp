#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "../state.hpp"

namespace slicewise::sim {

// The Pending pods of one workload, oldest first. They ask for the same, so when one does not fit,
// none does: a cycle looks at one of them, however many wait. Allocates once.
class PendingPods {
 public:
  explicit PendingPods(std::size_t capacity) : ring_(std::max<std::size_t>(1, capacity)) {}
  std::size_t size() const { return count_; }
  std::uint32_t operator[](std::size_t place) const { return ring_[slot(place)]; }
  void push_back(std::uint32_t pod) { ring_[slot(count_++)] = pod; }
  // O(place): the pods before it move up.
  void remove(std::size_t place);

 private:
  std::size_t slot(std::size_t place) const { return (head_ + place) % ring_.size(); }

  std::vector<std::uint32_t> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

// kube-scheduler: takes Pending pods by priority, then age; filters nodes by every resource,
// taints and node selectors; scores by LeastAllocated or MostAllocated; retries an unschedulable
// pod when resources were freed, not before its back-off (1 s doubling to 10 s) is over. The pod
// is then handed to the device plugin, which picks the GPU.
class Scheduler {
 public:
  Scheduler(ClusterState& cluster, std::uint64_t seed, std::uint32_t replication);

  // A pod is Pending from `now` on.
  void add(std::uint32_t pod, TimePoint now);

  // Takes a Pending pod out of the queue. O(pods that wait).
  void withdraw(std::uint32_t pod);

  // Tries every eligible pod once. Returns when a pod's back-off lets it be tried again (kNever if
  // no pod is backing off). O(nodes) for each pod placed and each workload turned down.
  TimePoint cycle(TimePoint now);
  // The pods that the last cycle placed: their node, domain, context and tickets are set and taken.
  const std::vector<std::uint32_t>& bound() const { return bound_; }

  // Gives back all that the pod held.
  void release(std::uint32_t pod);

  // Whether some node could hold a pod of this workload if it were empty, under its present layout
  // or one to come.
  bool fits_empty_node(const WorkloadModel& workload) const;

  std::size_t pending() const { return pending_count_; }
  // Pods of the workload that wait, oldest first.
  const PendingPods& pending_of(std::size_t workload) const { return queues_[workload]; }
  const std::vector<PendingReason>& reasons() const { return reasons_; }

 private:
  // Of a pod that was turned down.
  struct Backoff {
    TimePoint ends;
    int attempts = 0;
  };
  // The first pod of a workload whose back-off is over.
  struct Candidate {
    std::size_t workload = 0;
    std::size_t place = 0;  // in its queue
  };

  std::optional<Candidate> next_candidate(TimePoint now, TimePoint& retry) const;
  bool goes_before(const Candidate& a, const Candidate& b) const;
  bool fits(const Node& node, std::size_t workload);
  std::optional<std::uint32_t> choose_node(std::size_t workload);
  std::int64_t score(const Node& node, const WorkloadModel& workload) const;
  void bind(std::uint32_t pod, NodeId node);
  void take_tickets(Pod& pod, const Node& node, const WorkloadModel& workload);
  std::uint32_t take_context(std::uint32_t pod, DomainId domain);
  void record_reason();

  ClusterState& cluster_;
  RandomStream ties_;
  RandomStream placement_;
  std::vector<std::optional<RejectCause>> kept_off_;  // by workload and pool: taints, selectors
  std::vector<PendingPods> queues_;                   // by workload
  std::size_t pending_count_ = 0;
  std::vector<Backoff> backoff_;      // by pod
  std::vector<std::uint32_t> bound_;  // in the last cycle
  std::vector<char> turned_down_;     // by workload, in this cycle
  bool changes_nodes_ = false;        // nodes of some pool come and go
  PendingReason scratch_;
  std::vector<PendingReason> reasons_;
};

// The device plugin's choice among the devices of a node (GetPreferredAllocation): distributed
// takes the one with the fewest allocated replicas, packed the one with the most that has a free
// one; ties at random, as the plugin's map order has it. Unshared devices are taken in index order,
// several whole GPUs for one pod as GpuSets::choose has it.
// REQUIRES: the node has a free ticket of what the workload asks for.
DomainId choose_domain(const ClusterState& cluster, const Node& node, const WorkloadModel& workload,
                       RandomStream& random);

}  // namespace slicewise::sim
