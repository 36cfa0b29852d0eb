#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicewise/sim/cluster/cluster.hpp"

#include "../state.hpp"

namespace slicewise::sim {

// The devices that DRA has given to claims. A claim of each pod has its devices for as long as the
// pod; one that pods share has its device from the first pod that names it until the last is gone.
// A device is one claim's as a whole: what a node has free of a claim are the tickets of a device
// that is nobody's, or those that are left of the claim's own. Source: kube-scheduler 1.36,
// plugins/dynamicresources; kube-controller-manager, resourceclaim/controller.go.
class DeviceClaims {
 public:
  explicit DeviceClaims(ClusterState& cluster);

  // Why pods of a workload that claims devices find none on the node.
  std::optional<RejectCause> reject(std::uint32_t node, std::size_t workload) const;

  // Gives the pod, whose node is known, its tickets: the first devices that are free, as the
  // allocator takes them, or the one that the claim has. REQUIRES: reject() has no cause.
  void take(Pod& pod);
  void give_back(Pod& pod);

  // After devices of the node were destroyed.
  void count(Node& node) const;

 private:
  std::int64_t left_of(const Node& node, std::size_t offer) const;
  // After the device of a claim was taken or given back.
  void count(const Pod& pod);

  ClusterState& cluster_;
  std::vector<std::optional<DomainId>> shared_;  // by resource: what a shared claim has
};

}  // namespace slicewise::sim
