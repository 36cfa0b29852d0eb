#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/metrics/replication.hpp"
#include "slicewise/sim/world.hpp"

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
  AntiAffinity,          // the pod's own
  ExistingAntiAffinity,  // of a pod that is there
  Affinity,              // pods that the pod wants near are not there
  Spread,                // the domain has too many of the pods
  SpreadLabel,           // ... and the node is of none
  HostPorts,             // a pod that is there has the port
  Devices,               // no device is left for the pod's claim
  ClaimElsewhere,        // the claim has its device on another node
  PartSlots,             // HAMi: the GPUs have as many pods as they take
  PartMemory,            // HAMi: not enough gpumem is left
  PartCores,             // HAMi: not enough gpucores are left
  PartAlone,             // HAMi: who wants the GPU alone finds others there
  PartCoresGone,         // HAMi: others have all cores
  PartOfKai,             // KAI: no GPU has the part left
};
inline constexpr std::size_t kResourceCause = 20;

// Events follow each other and the clock stands still: a cycle that takes no time. The problem
// names what takes turns, at the workload that it goes back to.
class Standstill : public std::runtime_error {
 public:
  explicit Standstill(Diagnostic problem)
      : std::runtime_error(problem.message), problem_(std::move(problem)) {}
  const Diagnostic& problem() const { return problem_; }

 private:
  Diagnostic problem_;
};

// Called every few thousand events, with how many recorded jobs are over.
using LookIn = std::function<void(std::int64_t jobs_over, TimePoint now)>;

// One replication of a world: pods are created, scheduled, started, restarted and finished as
// Kubernetes does it, and share GPUs as the pool's strategy does. Same world and replication, same
// record. Single-threaded; returns early (with `length` = the time reached) when `interrupted`
// turns true. Throws Standstill.
Replication run_replication(const World& world, std::uint32_t replication,
                            const std::atomic<bool>* interrupted = nullptr,
                            const LookIn& look_in = {});

// The kube-scheduler's event text for a reason, for example
// "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
std::string pending_message(const World& world, const PendingReason& reason);

// "api-1" of the first pod of a workload.
std::string pod_name(const WorkloadModel& workload, std::size_t nth);

}  // namespace slicewise::sim
