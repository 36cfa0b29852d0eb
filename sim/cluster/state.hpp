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
#include "slicewise/sim/kernel/far_times.hpp"
#include "slicewise/sim/world.hpp"
#include "slicewise/units.hpp"

#include "../world/pod_company.hpp"

// The state of one replication's cluster, as plain arrays indexed by ids.
namespace slicewise::sim {

// Of a pod that uses no GPU.
inline constexpr DomainId kNoDomain{std::numeric_limits<std::uint32_t>::max()};
inline constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();

// What a pod is doing. One pod stands for one Job or one replica over its whole life: when the Job
// controller replaces a failed pod (restartPolicy Never), the new pod takes the same place.
enum class PodPhase : std::uint8_t {
  Unsubmitted,
  Suspended,   // its Job waits for quota: there is no pod
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
};

// Where a pod is. How far its work has come, what its GPU time went into and how often it crashed
// belongs to the parts that drive it.
struct Pod {
  WorkloadId workload{};
  std::uint32_t nth = 0;  // of its pods
  PodPhase phase = PodPhase::Unsubmitted;
  PoolMask pools = kAnyPool;  // that the flavors which its Job was admitted to have
  NodeId node{};
  DomainId domain{};              // where its process runs
  std::uint32_t context = 0;      // its place there
  std::vector<DomainId> tickets;  // domains that it holds a ticket of, `domain` first
  std::vector<Rank> ranks;        // of a pod with several GPUs: those after `domain`
  Duration all_reduce;            // of a step, on these GPUs
  std::int64_t units = 0;         // of its work, one batch run
  double kept = 0;                // of them, done before it was stopped to go on later
  double size = 1;                // of its units, against the workload's mean
  TimePoint submitted;            // of the Job or replica: its first pod
  TimePoint queued;               // of this pod
  TimePoint bound;
  TimePoint container_started;
  TimePoint work_started;
};

// One thing that executes kernels: a whole GPU or one MIG instance.
struct Domain {
  NodeId node{};
  std::uint32_t gpu = 0;          // index on its node
  std::size_t kind = 0;           // into PoolModel::kinds
  std::size_t layout = 0;         // it exists while its node has this one
  std::vector<int> tickets_free;  // by position in DomainKind::tickets
  int allocated = 0;              // tickets of all kinds
  bool ending = false;            // a MIG device of a claim that is gone is being destroyed
  GpuPart booked;                 // by its pods, in the books of HAMi or KAI
  MemoryLedger memory;
  std::variant<std::monostate, Exclusive, RoundRobin, Fluid, StrictSlots>
      engine;                        // monostate: steady state
  std::vector<std::uint32_t> owner;  // pod index by context, kNoOwner when free
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
  TimePoint asked;  // since when somebody was at the decision
  TimePoint decided;
  TimePoint launched;
  TimePoint registered;
  TimePoint allocatable;
  TimePoint first_pod = kNever;       // bound to it
  TimePoint changed;                  // a pod came or went
  TimePoint examined = kNever;        // its pods had nowhere else to go; kNever: not examined
  TimePoint unneeded_since = kNever;  // Cluster Autoscaler
  TimePoint taken_at = kNever;        // by EC2, at the end of its notice, if it is still there
  double slowness = 1;                // of its start, against the mean
  bool started = false;               // in the run
  bool of_least = false;              // one of the fewest that the pool may have
  bool on_demand = false;             // the fallback of a spot pool
  bool needless = false;              // the pods did not need it
  bool expired = false;               // as old as it may get
  std::optional<std::uint32_t> replaced_by;  // the node that starts in its place
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
  std::vector<std::uint32_t> without_gpu;            // pods on it that use none

  const std::vector<DomainId>& domains() const { return domains_under[layout]; }
  // To the scheduler.
  bool is_known() const { return stage >= NodeStage::Registered; }
};

// What a node has, or has left, of what pods of a workload ask for.
struct PodRoom {
  std::int64_t pods = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t tickets = 0;

  // How many of them go in.
  std::int64_t holds(const WorkloadModel& workload) const;

  PodRoom& operator+=(const PodRoom& other);
  PodRoom& operator-=(const PodRoom& other);
};

inline PodRoom& PodRoom::operator+=(const PodRoom& other) {
  pods += other.pods;
  cpu += other.cpu;
  memory += other.memory;
  tickets += other.tickets;
  return *this;
}

inline PodRoom& PodRoom::operator-=(const PodRoom& other) {
  return *this += {-other.pods, -other.cpu, -other.memory, -other.tickets};
}

struct ClusterState {
  const World* world = nullptr;
  std::vector<Node> nodes;
  std::vector<Domain> domains;
  std::vector<Pod> pods;
  PodCompany company;
  TimePoint last_change;  // a pod came or went on any node
  bool grew = false;      // pods or nodes came or went since the provisioner was asked

  const WorkloadModel& model(const Pod& pod) const { return world->workloads[index(pod.workload)]; }
  const PoolModel& pool(const Node& node) const { return world->pools[index(node.pool)]; }
  const DomainKind& kind(const Domain& domain) const {
    return pool(nodes[index(domain.node)]).kinds[domain.kind];
  }
  const Demand& demand(const Pod& pod) const {
    const Domain& domain = domains[index(pod.domain)];
    return model(pod).on_pool[index(nodes[index(pod.node)].pool)].in_kind[domain.kind];
  }
  // Whether the pod's quota is of nodes of the pool.
  bool has_quota_on(const Pod& pod, PoolId id) const { return has_pool(pod.pools, index(id)); }
  // Whether the node's GPUs are simulated burst by burst.
  bool is_exact(NodeId node) const { return pool(nodes[index(node)]).exact; }
  // Which of its workload's jobs the pod belongs to: the pods of a gang stand next to each other.
  std::uint32_t job(const Pod& pod) const {
    return pod.nth / static_cast<std::uint32_t>(model(pod).pods_per_job);
  }
  // Of its batch run, before it starts.
  double units_to_do(std::uint32_t p) const {
    return static_cast<double>(pods[p].units) - pods[p].kept;
  }
  std::uint32_t first_of_job(std::uint32_t p) const {
    return p - pods[p].nth % static_cast<std::uint32_t>(model(pods[p]).pods_per_job);
  }
  // Without pods.
  bool is_empty(const Node& node) const { return node.pods_free == pool(node).max_pods; }
  // A pod came or went on the node.
  void note_change(Node& node, TimePoint now) { node.life.changed = last_change = now; }
  // Seconds of all-reduce in a unit of the pod's work.
  double all_reduce_s(const Pod& pod) const {
    return to_seconds(pod.all_reduce) * static_cast<double>(model(pod).steps_per_unit);
  }
  // Of a process of the pod, without its CUDA context.
  Bytes gpu_memory(const Pod& pod) const {
    if (pod.domain == kNoDomain) return {};
    const PoolDemand& there = model(pod).on_pool[index(nodes[index(pod.node)].pool)];
    return process_memory(model(pod), there, domains[index(pod.domain)].kind);
  }
  // That must be free beside it when the process starts.
  Bytes spare_memory(const Pod& pod) const {
    const PoolDemand& there = model(pod).on_pool[index(nodes[index(pod.node)].pool)];
    return sim::spare_memory(there, domains[index(pod.domain)].kind);
  }
  // Of that, what it has only while no other engine of its GPU is awake.
  Bytes memory_by_turns(const Pod& pod) const {
    if (pod.domain == kNoDomain) return {};
    const PoolDemand& there = model(pod).on_pool[index(nodes[index(pod.node)].pool)];
    return sim::memory_by_turns(model(pod), there, domains[index(pod.domain)].kind);
  }
  // That the pod works on.
  GpuMask gpus_of(const Pod& pod) const;
  // Of the domain's time, the most that the pod gets; 1: nothing limits it now.
  double time_limit(const Pod& pod) const;
  // The tickets of the domain that pods of the workload hold; nullptr when they hold none.
  const Tickets* tickets(const Domain& domain, const WorkloadModel& workload) const;
};

// Calls `use` with domain and context of each GPU that the pod works on.
template <class Use>
void for_each_rank(const Pod& pod, Use&& use) {
  if (pod.domain == kNoDomain) return;
  use(pod.domain, pod.context);
  for (const Rank& rank : pod.ranks) use(rank.domain, rank.context);
}

// Calls `use` with the engine of a domain that is simulated exactly; does nothing in steady state.
template <class Use>
void with_engine(Domain& domain, Use&& use) {
  std::visit(models::Overloaded{[](std::monostate) {}, [&](auto& engine) { use(engine); }},
             domain.engine);
}

// SM time in so much GPU time, both in ns, of what takes `demand`: a batch, or one unit alone.
template <class AnyDemand>
double sm_time(const AnyDemand& demand, double gpu_ns) {
  return gpu_ns * static_cast<double>(demand.sm_active.ns) / static_cast<double>(demand.gpu.ns);
}

// Whether requests need the host beside the GPU.
inline bool needs_host_cpu(const scenarios::Serving& serving) {
  const bool between = serving.bursts > 1 && serving.cpu_between.ns > 0;
  return serving.cpu_before.ns > 0 || serving.cpu_after.ns > 0 || between;
}

// Calls `use` with each pod that is bound to the node.
template <class Use>
void for_each_pod_on(const ClusterState& cluster, const Node& node, Use&& use) {
  for (const DomainId id : node.domains()) {
    for (const std::uint32_t p : cluster.domains[index(id)].owner) {
      if (p == kNoOwner || cluster.pods[p].domain != id) continue;
      if (is_bound(cluster.pods[p].phase)) use(p);
    }
  }
  for (const std::uint32_t p : node.without_gpu) {
    if (is_bound(cluster.pods[p].phase)) use(p);
  }
}

// Calls `use` with each pod of the job that `pod` belongs to.
template <class Use>
void for_each_of_job(const ClusterState& cluster, std::uint32_t pod, Use&& use) {
  const std::uint32_t first = cluster.first_of_job(pod);
  const auto pods = static_cast<std::uint32_t>(cluster.model(cluster.pods[pod]).pods_per_job);
  for (std::uint32_t p = first; p < first + pods; ++p) use(p);
}

// The job's row in the trace that it was recorded in; 0: in none.
inline std::uint32_t row_of(const ClusterState& cluster, std::uint32_t pod) {
  const auto& trace = cluster.model(cluster.pods[pod]).spec.trace;
  return trace ? (*trace->jobs)[cluster.job(cluster.pods[pod])].row : 0;
}

// When the pods of the nth job of a workload are created first.
inline TimePoint first_submission(const Workload& workload, std::size_t nth) {
  if (workload.trace) {
    // A run is a year long at most; max-load lowers the scale as far as it likes.
    constexpr double kFarthestSeconds = 3e9;
    const double at_s = to_seconds((*workload.trace->jobs)[nth].submitted) / workload.trace->scale;
    return TimePoint{} + workload.submit_at + from_seconds(std::min(at_s, kFarthestSeconds));
  }
  if (const auto& schedule = workload.schedule) {
    return TimePoint{} + schedule->runs[nth / static_cast<std::size_t>(schedule->jobs_per_run)];
  }
  return after(TimePoint{}, static_cast<std::int64_t>(nth), workload.submit_interval.ns,
               workload.submit_at.ns);
}

// Adds up what the node's domains have free.
void count_tickets(ClusterState& cluster, Node& node);

// Of each node.
std::vector<std::size_t> pools_of_nodes(const ClusterState& cluster);

// Empty nodes and unsubmitted pods.
ClusterState make_cluster(const World& world);

}  // namespace slicewise::sim
