#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "slicewise/ids.hpp"
#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/device/memory_ledger.hpp"
#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

// The state of one replication's cluster, as plain arrays indexed by ids.
namespace slicewise::sim {

inline constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();

// What a pod is doing. One pod stands for one Job or one replica over its whole life: when the Job
// controller replaces a failed pod (restartPolicy Never), the new pod takes the same place.
enum class PodPhase : std::uint8_t {
  Unsubmitted,
  Pending,     // in the scheduler's queue
  Pulling,     // bound; the node pulls the image
  Loading,     // container runs, no GPU work yet
  Working,     // container runs and uses the GPU
  BackOff,     // kubelet waits before it restarts the container (CrashLoopBackOff)
  Recreating,  // Job controller waits before it creates the next pod
  Succeeded,
  Failed,
};

struct Pod {
  WorkloadId workload{};
  PodPhase phase = PodPhase::Unsubmitted;
  NodeId node{};
  GpuId gpu{};                 // where its process runs
  std::uint32_t context = 0;   // its ticket on that GPU
  std::vector<GpuId> tickets;  // all GPUs it holds a ticket of, `gpu` first
  TimePoint submitted;         // of the Job or replica: its first pod
  TimePoint queued;            // of this pod
  TimePoint container_started;
  TimePoint work_started;
  bool has_run = false;
  bool container_started_before = false;  // in this pod: the next start is a restart
  int restarts = 0;                       // of this pod's container
  int crash_streak = 0;                   // since the last 10 minutes without a crash
  int pods_failed = 0;                    // restartPolicy Never: pods of this Job that failed
  int schedule_attempts = 0;
  TimePoint eligible_at;  // scheduling back-off ends
  double size = 1;        // of its units, against the workload's mean

  // Batch work on a pool in steady state.
  double units_left = 0;
  double units_per_second = 0;
  double unhindered_by_cpu = 0;  // what units_per_second would be with host CPU to spare
  // Batch work on a pool that is simulated exactly.
  std::int64_t steps_left = 0;
  // GPU time of the running container.
  double busy_ns = 0;    // steady state
  Duration busy_before;  // exact: of its context, when the container started
  Duration late;         // of requests that missed their objective
};

struct Gpu {
  NodeId node{};
  std::uint32_t index = 0;  // on its node
  int tickets = 1;
  int allocated = 0;
  MemoryLedger memory;
  std::variant<std::monostate, Exclusive, RoundRobin> engine;  // monostate: steady state
  std::vector<std::uint32_t> owner;  // pod index by context, kNoOwner when free
  int loading = 0;                   // containers that pull or load
  int working = 0;
  TimePoint cold_since = kNever;  // idle because of that
  // Steady state: shares of the GPU's time since `settled`.
  double switch_share = 0;
  // Totals, ns.
  double useful_ns = 0;
  double late_ns = 0;
  double failed_ns = 0;
  double switch_ns = 0;
  double cold_ns = 0;
  double sm_ns = 0;
  bool sm_known = true;
};

struct Node {
  PoolId pool{};
  Millicores cpu_free;
  Bytes memory_free;
  Millicores scored_cpu_free;  // pods without a request count with the scheduler's default
  Bytes scored_memory_free;
  int pods_free = 0;
  std::int64_t tickets_free = 0;  // of the pool's extended resource
  std::vector<GpuId> gpus;
  std::vector<TimePoint> image_ready;  // by workload; kNever until somebody pulls it
  TimePoint settled;                   // progress of its pods is accounted for up to here
  double host_stretch = 1;             // how much longer host work takes than alone
  double cpu_ns = 0;                   // vCPU time used
};

struct ClusterState {
  const World* world = nullptr;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Pod> pods;

  const WorkloadModel& model(const Pod& pod) const { return world->workloads[index(pod.workload)]; }
  const PoolModel& pool(const Node& node) const { return world->pools[index(node.pool)]; }
  const Demand& demand(const Pod& pod) const {
    return model(pod).on_pool[index(nodes[index(pod.node)].pool)];
  }
};

// Calls `use` with the engine of a GPU that is simulated exactly; does nothing in steady state.
template <class Use>
void with_engine(Gpu& gpu, Use&& use) {
  std::visit(models::Overloaded{[](std::monostate) {}, [&](Exclusive& engine) { use(engine); },
                                [&](RoundRobin& engine) { use(engine); }},
             gpu.engine);
}

// Empty nodes and unsubmitted pods.
ClusterState make_cluster(const World& world);

}  // namespace slicewise::sim
