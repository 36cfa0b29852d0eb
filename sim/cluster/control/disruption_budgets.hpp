#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../run_state.hpp"

namespace slicewise::sim {

class Autoscalers;
class Terminations;

// How often kubectl drain asks again for a pod that a budget does not let go. Karpenter, which
// begins with 0.1 s and doubles it up to 10 s, has the same here.
// Source: Kubernetes 1.36, staging/src/k8s.io/kubectl/pkg/drain/drain.go, evictPods.
inline constexpr Duration kEvictionRetry = seconds(5);

// PodDisruptionBudgets: which pods the Eviction API lets go. Who drains a node asks; EC2, whose
// notice is over, faults, autoscalers and preemption do not. Kubernetes' usual
// unhealthyPodEvictionPolicy, IfHealthyBudget. Source: Kubernetes 1.36,
// pkg/controller/disruption/disruption.go, getExpectedPodCount and updatePdbStatus;
// pkg/registry/core/pod/storage/eviction.go, Create and canIgnorePDB.
class DisruptionBudgets {
 public:
  DisruptionBudgets(const RunState& run, const Terminations& endings, const Autoscalers& scalers);

  // Whether some workload has one.
  bool any() const { return any_; }
  // Of its ready pods, how many may go now; nullopt: no budget holds them. O(its pods).
  std::optional<std::int64_t> allowed(std::size_t workload) const;
  bool lets_go(std::uint32_t pod) const;
  // Of a pod that may not go now: whether it never may. Its Service has as many replicas all the
  // time, and its budget has to have them all.
  bool never_lets_go(std::uint32_t pod) const;

 private:
  struct Count {
    std::int64_t ready = 0;
    std::int64_t kept = 0;  // that have to be
  };

  Count count(std::size_t workload) const;
  bool is_ready(std::uint32_t pod) const;
  bool is_leaving(std::uint32_t pod) const;

  const RunState& run_;
  const Terminations& endings_;
  const Autoscalers& scalers_;
  bool any_ = false;
  std::vector<std::uint32_t> first_pod_;  // by workload: its pods are one after the other
};

}  // namespace slicewise::sim
