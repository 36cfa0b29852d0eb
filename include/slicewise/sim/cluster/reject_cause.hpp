#pragma once

#include <cstddef>
#include <cstdint>

namespace slicewise::sim {

// Causes for which kube-scheduler's filters turn a node down: positions in
// PendingReason::nodes_by_cause. From kResourceCause on, "Insufficient <resource>" by ResourceId.
enum class RejectCause : std::uint8_t {
  Unschedulable,
  Taint,
  NodeSelector,
  TooManyPods,
  Cpu,
  Memory,
};
inline constexpr std::size_t kResourceCause = 6;

}  // namespace slicewise::sim
