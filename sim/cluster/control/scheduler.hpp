#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/replication.hpp"

#include "../state.hpp"
#include "device_claims.hpp"
#include "easy_reservation.hpp"
#include "gpu_parts.hpp"
#include "node_scores.hpp"
#include "nominations.hpp"
#include "policy_score.hpp"
#include "scheduling_queue.hpp"

namespace slicewise::sim {

class Preemption;

// kube-scheduler: takes Pending pods by priority, then age; filters nodes by every resource,
// taints, node selectors and company (PodCompany); scores them (NodeScores), or by a policy of
// `slicewise replay`; retries unschedulable pods when resources were freed (SchedulingQueue). The
// pod is then handed to the device plugin, which picks the GPU. With spec.scheduler.queue `easy`
// only those go by a pod that fits nowhere that do not delay it. The pods of a gang are placed
// together or not at all.
class Scheduler {
 public:
  Scheduler(ClusterState& cluster, std::uint64_t seed, std::uint32_t replication,
            Preemption& preemption);

  // A pod is Pending from `now` on. A gang waits as one, by the first of its pods.
  void add(std::uint32_t pod, TimePoint now);

  // Takes a Pending pod out of the queue. O(pods that wait).
  void withdraw(std::uint32_t pod);

  // Tries all pods that may fit, once. O(nodes) for each pod placed and each workload turned down.
  // True: some have to be tried once more, see SchedulingQueue::end_cycle().
  bool cycle(TimePoint now);
  // The pods that the last cycle placed: their node, domain, context and tickets are set and taken.
  const std::vector<std::uint32_t>& bound() const { return bound_; }

  // Nodes came, went or were cordoned, or MIG devices of one were destroyed.
  void nodes_changed(Node* without_devices = nullptr) {
    if (without_devices != nullptr) claims_.count(*without_devices);
    queue_.freed();
  }
  // Gives back all that the pod held.
  void release(std::uint32_t pod);

  // Whether some node that the pod's quota is of could hold it if it were empty, under its present
  // layout or one to come; all nodes together, the pods of a gang.
  bool fits_empty_node(const Pod& pod) const;
  // Pods of the workload that such a node holds without others.
  std::int64_t on_empty(const Node& node, const WorkloadModel& workload) const;

  // How many pods of the workload wait, by the pools that their quotas are of. Without those that
  // others make room for: nobody starts a node for them.
  std::vector<std::pair<PoolMask, std::int64_t>> pods_pending(std::size_t workload) const;
  const SchedulingQueue& queue() const { return queue_; }
  const Nominations& nominated() const { return nominated_; }
  Nominations& nominated() { return nominated_; }
  const std::vector<PendingReason>& reasons() const { return reasons_; }

 private:
  // `kept`: of the node's room, for others.
  template <class Kept>
  bool fits(const Node& node, std::size_t workload, const Kept& kept);
  // Claims of DRA, and parts of GPUs.
  bool has_devices(std::uint32_t node, std::size_t workload);
  // The pods that are there, and those that others end for.
  bool fits_company(std::uint32_t node, std::size_t workload);
  std::optional<std::uint32_t> choose_node(std::uint32_t pod);
  bool place(std::uint32_t pod, std::size_t workload, TimePoint now);
  bool holds_gang(std::uint32_t pod);
  void bind(std::uint32_t pod, NodeId node, TimePoint now);
  void give_back(std::uint32_t pod);
  void take_tickets(Pod& pod, const Node& node, const WorkloadModel& workload);
  std::uint32_t take_context(std::uint32_t pod, DomainId domain);
  void record_reason();

  ClusterState& cluster_;
  Preemption& preemption_;
  RandomStream ties_;
  RandomStream placement_;
  NodeScores scores_;
  DeviceClaims claims_;
  GpuParts parts_;
  std::optional<PolicyScore> policy_;                 // nullopt: kube-scheduler's own score
  std::vector<std::optional<RejectCause>> kept_off_;  // by workload and pool: taints, selectors
  SchedulingQueue queue_;
  Nominations nominated_;
  std::optional<EasyReservation> easy_;          // nullopt: another queue
  std::vector<std::uint32_t> bound_;             // in the last cycle
  bool any_parts_ = false;                       // some pool gives away parts of GPUs
  bool changes_nodes_ = false;                   // nodes of some pool come and go
  std::vector<NodeScores::Candidate> feasible_;  // scratch: nodes that are compared
  PendingReason scratch_;
  std::vector<PendingReason> reasons_;
};

// The device plugin's choice among the devices of a node (GetPreferredAllocation): distributed
// takes the one with the fewest allocated replicas, packed the one with the most that has a free
// one; of equals the one of which the pod has the fewest, then at random, as the plugin's map order
// has it. Unshared devices are taken in index order, several whole GPUs for one pod as
// GpuSets::choose has it. Source: NVIDIA/k8s-device-plugin v0.20.0, internal/rm/allocate.go,
// greedyAlloc; before, equals were taken at random.
// `taken`: what the pod has of the node so far.
// REQUIRES: the node has a free ticket of what the workload asks for.
DomainId choose_domain(const ClusterState& cluster, const Node& node, const WorkloadModel& workload,
                       std::span<const DomainId> taken, RandomStream& random);

}  // namespace slicewise::sim
