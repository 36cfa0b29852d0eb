#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "slicewise/ids.hpp"
#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/device/fluid.hpp"
#include "slicewise/sim/device/memory_ledger.hpp"
#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/device/strict_slots.hpp"
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

constexpr bool holds_container(PodPhase phase) {
  return phase == PodPhase::Loading || phase == PodPhase::Working;
}

constexpr bool is_bound(PodPhase phase) {
  return holds_container(phase) || phase == PodPhase::Pulling || phase == PodPhase::BackOff;
}

// One more GPU of a pod that has several whole ones: the process there keeps in step with the one
// on Pod::domain.
struct Rank {
  DomainId domain{};
  std::uint32_t context = 0;
  Duration busy_before;  // see Pod::busy_before
};

struct Pod {
  WorkloadId workload{};
  PodPhase phase = PodPhase::Unsubmitted;
  NodeId node{};
  DomainId domain{};              // where its process runs
  std::uint32_t context = 0;      // its place there
  std::vector<DomainId> tickets;  // domains that it holds a ticket of, `domain` first
  std::vector<Rank> ranks;        // of a pod with several GPUs: those after `domain`
  int ranks_at_work = 0;          // exact: GPUs that still work on its step or request
  Duration all_reduce;            // of a step, on these GPUs
  TimePoint submitted;            // of the Job or replica: its first pod
  TimePoint queued;               // of this pod
  TimePoint bound;
  TimePoint container_started;
  TimePoint work_started;
  bool has_run = false;
  bool container_started_before = false;  // in this pod: the next start is a restart
  int restarts = 0;                       // of this pod's container
  int crash_streak = 0;                   // since the last 10 minutes without a crash
  int pods_failed = 0;                    // restartPolicy Never: pods of this Job that failed
  int schedule_attempts = 0;
  // Autoscaled services.
  TimePoint wanted_at = kNever;  // kNever: it is not
  bool was_ready = false;        // since then
  bool leaving = false;          // not wanted any more: takes no requests, ends when it has none
  TimePoint eligible_at;         // scheduling back-off ends
  double size = 1;               // of its units, against the workload's mean

  // Batch work on a pool in steady state.
  double units_left = 0;
  double units_per_second = 0;
  double unhindered_by_cpu = 0;  // what units_per_second would be with host CPU to spare
  double busy_share = 0;         // of the domain's time, its part of the time that kernels run
  // Batch work on a pool that is simulated exactly.
  std::int64_t steps_left = 0;        // to be executed
  std::int64_t steps_to_prepare = 0;  // by the host, Overlapped
  int steps_ready = 0;                // prepared and not yet started
  bool on_gpu = false;                // a step is being executed
  bool preparing = false;             // the host works on a step
  TimePoint step_started;
  // GPU time of the running container.
  double busy_ns = 0;    // steady state
  Duration busy_before;  // exact: of its context, when the container started
  double sm_ns = 0;      // SM time, averaged over the domain's SMs
  Duration answered;     // GPU work of finished requests
  Duration late;         // ... of those that missed their objective
};

// One thing that executes kernels: a whole GPU or one MIG instance.
struct Domain {
  NodeId node{};
  std::uint32_t gpu = 0;          // index on its node
  std::size_t kind = 0;           // into PoolModel::kinds
  std::size_t layout = 0;         // it exists while its node has this one
  std::vector<int> tickets_free;  // by position in DomainKind::tickets
  int allocated = 0;              // tickets of all kinds
  MemoryLedger memory;
  std::variant<std::monostate, Exclusive, RoundRobin, Fluid, StrictSlots>
      engine;                        // monostate: steady state
  std::vector<std::uint32_t> owner;  // pod index by context, kNoOwner when free
  int loading = 0;                   // containers that pull or load
  int working = 0;
  TimePoint cold_since = kNever;   // idle because of that
  double switch_share = 0;         // steady state: of the time since the node was settled
  Duration switching_billed = {};  // of the engine's, what earlier nodes in this place had
  // Totals, ns.
  double useful_ns = 0;
  double late_ns = 0;
  double failed_ns = 0;
  double switch_ns = 0;
  double cold_ns = 0;
  double sm_ns = 0;
  bool sm_known = true;
};

// How far a node has come. Where nodes do not come and go, they are Ready all the time.
enum class NodeStage : std::uint8_t {
  Absent,      // the place is free
  Launching,   // decided; EC2 does not bill it yet
  Booting,     // billed; the scheduler does not know it yet
  Registered,  // Ready, but without its GPU resources
  Ready,
  Draining,  // cordoned, about to end
};

constexpr bool is_billed(NodeStage stage) {
  return stage != NodeStage::Absent && stage != NodeStage::Launching;
}

// One node from the decision to start it to its end.
struct NodeLife {
  TimePoint decided;
  TimePoint launched;
  TimePoint registered;
  TimePoint allocatable;
  TimePoint first_pod = kNever;       // bound to it
  TimePoint changed;                  // a pod came or went
  TimePoint examined = kNever;        // its pods had nowhere else to go; kNever: not examined
  TimePoint unneeded_since = kNever;  // Cluster Autoscaler
  double slowness = 1;                // of its start, against the mean
  bool started = false;               // in the run
  bool on_demand = false;             // the fallback of a spot pool
  bool taken_back = false;            // by EC2, at the end of its notice
  bool needless = false;              // the pods did not need it
};

// A place for a node, and the node that is there.
struct Node {
  PoolId pool{};
  NodeStage stage = NodeStage::Ready;
  NodeLife life;
  bool schedulable = true;      // not while its MIG layout changes
  std::size_t next_change = 0;  // into PoolModel::layout_changes
  std::size_t layout = 0;       // in force, into PoolModel::layouts
  Millicores cpu_free;
  Bytes memory_free;
  Millicores scored_cpu_free;  // pods without a request count with the scheduler's default
  Bytes scored_memory_free;
  int pods_free = 0;
  std::vector<std::int64_t> tickets_free;            // by the pool's offers
  std::vector<std::vector<DomainId>> domains_under;  // by layout
  std::vector<TimePoint> image_ready;                // by workload; kNever until somebody pulls it
  TimePoint settled;        // progress of its pods is accounted for up to here
  double host_stretch = 1;  // how much longer host work takes than alone
  double cpu_ns = 0;        // vCPU time used

  const std::vector<DomainId>& domains() const { return domains_under[layout]; }
  // To the scheduler.
  bool is_known() const { return stage >= NodeStage::Registered; }
};

struct ClusterState {
  const World* world = nullptr;
  std::vector<Node> nodes;
  std::vector<Domain> domains;
  std::vector<Pod> pods;

  const WorkloadModel& model(const Pod& pod) const { return world->workloads[index(pod.workload)]; }
  const PoolModel& pool(const Node& node) const { return world->pools[index(node.pool)]; }
  const DomainKind& kind(const Domain& domain) const {
    return pool(nodes[index(domain.node)]).kinds[domain.kind];
  }
  const Demand& demand(const Pod& pod) const {
    const Domain& domain = domains[index(pod.domain)];
    return model(pod).on_pool[index(nodes[index(pod.node)].pool)].in_kind[domain.kind];
  }
  // Seconds of all-reduce in a unit of the pod's work.
  double all_reduce_s(const Pod& pod) const {
    return to_seconds(pod.all_reduce) * static_cast<double>(model(pod).steps_per_unit);
  }
  // Of a process of the pod, without its CUDA context.
  Bytes gpu_memory(const Pod& pod) const {
    const PoolDemand& there = model(pod).on_pool[index(nodes[index(pod.node)].pool)];
    return process_memory(model(pod), there, domains[index(pod.domain)].kind);
  }
  // The tickets of the domain that pods of the workload hold; nullptr when they hold none.
  const Tickets* tickets(const Domain& domain, const WorkloadModel& workload) const;
};

// Calls `use` with domain, context and busy_before of each GPU that the pod works on.
template <class AnyPod, class Use>
void for_each_rank(AnyPod& pod, Use&& use) {
  use(pod.domain, pod.context, pod.busy_before);
  for (auto& rank : pod.ranks) use(rank.domain, rank.context, rank.busy_before);
}

// Calls `use` with the engine of a domain that is simulated exactly; does nothing in steady state.
template <class Use>
void with_engine(Domain& domain, Use&& use) {
  std::visit(models::Overloaded{[](std::monostate) {}, [&](auto& engine) { use(engine); }},
             domain.engine);
}

// When the nth pod of a workload is created first.
inline TimePoint first_submission(const scenarios::Workload& workload, std::size_t nth) {
  return TimePoint{} + workload.submit_at +
         workload.submit_interval * static_cast<std::int64_t>(nth);
}

// Empty nodes and unsubmitted pods.
ClusterState make_cluster(const World& world);

}  // namespace slicewise::sim
