#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/ids.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/scenarios/sharing_strategy.hpp"
#include "slicewise/sim/placement/gpu_sets.hpp"
#include "slicewise/sim/placement/placement.hpp"
#include "slicewise/sim/quotas.hpp"
#include "slicewise/sim/result.hpp"
#include "slicewise/units.hpp"

// The one place where a scenario meets the catalogue.
namespace slicewise::sim {

// What a world is made from, by its own name.
using models::Catalogue;
using models::GpuModel;
using models::InstanceType;
using models::MigCount;
using models::MigGeometry;
using models::MigProfile;
using models::WorkloadProfile;
using scenarios::CapacityType;
using scenarios::MigStrategy;
using scenarios::NodePool;
using scenarios::PlanGoal;
using scenarios::PodQueue;
using scenarios::PodTemplate;
using scenarios::Scenario;
using scenarios::ScenarioSet;
using scenarios::Traffic;
using scenarios::Workload;
using scenarios::WorkloadKind;

// What a pod asks HAMi or KAI for of each of its GPUs.
struct GpuPart {
  std::int64_t memory_mib = 0;
  int cores = 0;       // percent of the GPU's time
  bool alone = false;  // with nobody else
};

// The books of HAMi or KAI on each GPU of a pool: they place pods by what these ask for, whatever
// the pods do.
struct GpuBooks {
  enum class Keeper : std::uint8_t { Hami, Kai };
  using Packing = scenarios::Hami::Packing;
  Keeper keeper = Keeper::Hami;
  int pods = 1;
  std::int64_t memory_mib = 0;
  int cores = 0;  // 0: no books of time
  Packing nodes = Packing::Binpack;
  Packing gpus = Packing::Binpack;
  bool limits_alone = false;  // the cores of a pod limit it while nobody else works there, too

  // How many more pods with such a part a GPU takes that has `there` pods with `booked` in all.
  int room_for(const GpuPart& part, const GpuPart& booked, int there) const;
};

// An extended resource that the nodes of a pool advertise.
struct ResourceOffer {
  std::string name;     // as advertised: "nvidia.com/gpu", "nvidia.com/gpu.shared"
  ResourceId id{};      // into World::resources
  bool shared = false;  // several tickets for one device
  bool refuses_more_than_one = false;
  // Of a claim of DRA: its tickets are those of one device, whichever pods claim first.
  enum class Claim : std::uint8_t { None, OfEachPod, Shared };
  Claim claim = Claim::None;
  // Of pools with books: an offer for each part that pods ask for.
  std::optional<GpuPart> part = std::nullopt;
  // What the provisioner takes a node for that it has not seen yet.
  std::int64_t expected_per_node = 0;
};

// What one domain adds to an offer.
struct Tickets {
  std::size_t offer = 0;  // into PoolModel::offers
  int count = 1;
  std::optional<Bytes> memory_limit;  // of each CUDA process that holds one; nullopt: none
  double time_limit = 1;              // of the domain's time, the most of the pod that holds one
};

// One kind of domain. A domain is what executes kernels: a whole GPU or one MIG instance.
struct DomainKind {
  std::string partition;      // MIG profile, "" = the whole GPU
  models::DomainShare share;  // of the GPU's SMs and memory bandwidth
  double time_share = 1;      // of the GPU's time, for cost and busy ratios: its compute slices
  double owned_time = 1;      // of the wall time: an eighth where the node has one of eight vGPUs
  Bytes memory;               // usable by processes
  models::Sharing sharing;
  std::vector<Tickets> tickets;
};

// How the GPUs of one node are cut.
struct NodeLayout {
  struct Domain {
    int gpu = 0;              // on the node
    std::size_t kind = 0;     // into PoolModel::kinds
    std::uint32_t parts = 0;  // of its GPU, that no two domains have at once; 0: without MIG
    bool at_start = true;     // false: nos has to make it first
  };
  std::string name;  // of the MIG config, "" without MIG
  std::vector<Domain> domains;
};

// Which parts of the GPUs of a node are taken, while domains are looked at one after the other.
class TakenParts {
 public:
  // False: another domain has some of them.
  bool take(const NodeLayout::Domain& domain) {
    std::uint32_t& taken = of_gpu_[static_cast<std::size_t>(domain.gpu)];
    if ((taken & domain.parts) != 0) return false;
    taken |= domain.parts;
    return true;
  }

 private:
  std::array<std::uint32_t, 8 * sizeof(GpuMask)> of_gpu_{};
};

// Every node of the pool gets another layout; see scenarios::MigChangeTimes.
struct LayoutChange {
  TimePoint at;
  std::size_t layout = 0;  // into PoolModel::layouts
};

// nos cuts the GPUs of a pool anew: its layout has all instances that may be made.
struct NosModel {
  scenarios::NosMig windows;
  std::vector<std::vector<int>> geometries;  // of a GPU: instances by PoolModel::kinds
};

// EC2 takes the nodes of a pool back.
struct SpotModel {
  Rate interruptions;    // of each node
  bool stated = false;   // by the scenario
  bool advised = false;  // by the Spot Advisor
  std::string source;    // of the rate
  Duration notice;
  std::optional<models::Price> fallback;  // of nodes started right after an interruption
};

// What the nodes of some pools may have together of one resource.
struct SharedLimit {
  std::vector<std::int64_t> each;  // that a node has, by pool; 0: the pool does not share it
  std::int64_t most = 0;
};

struct PoolModel {
  SourceLocation where;  // of its number of nodes
  std::string name;
  std::string instance_type;
  std::string architecture;  // of its CPUs
  std::string region;
  std::string purchase_option;
  std::string price_plan;  // of the scenario, that lowers the price; "": none
  scenarios::Strategy strategy{};
  int nodes = 1;                  // at the start
  std::optional<int> most_nodes;  // the provisioner adds and removes nodes; absent: it does not
  int weight = 0;                 // those with the most go first
  scenarios::Consolidation consolidation{};
  Duration consolidate_after;
  std::optional<Duration> expire_after;  // since the decision to start a node
  int gpus_per_node = 1;
  int unhealthy_gpus = 0;  // of these the last, that the device plugin does not offer
  int vcpus = 0;
  const models::GpuModel* gpu = nullptr;               // of the catalogue given to build_world
  const models::Interconnect* interconnect = nullptr;  // likewise
  GpuSets gpu_sets;                                    // empty unless some pod has several GPUs
  Bytes context_memory;                                // per CUDA process
  models::TimeSlice driver_slice;  // of processes that meet on a GPU without MPS
  std::vector<ResourceOffer> offers;
  std::vector<DomainKind> kinds;
  std::vector<NodeLayout> layouts;           // the first is in force at the start
  std::vector<LayoutChange> layout_changes;  // in order of time
  scenarios::MigChangeTimes change_times;
  bool exact = false;  // domains are simulated request by request, else in steady state
  bool dra = false;    // the offers are claims, of which a device has one at a time
  std::optional<scenarios::DynamicMig> dynamic_mig;  // the layout has all devices that may be made
  std::optional<NosModel> nos;
  std::optional<GpuBooks> books;
  scenarios::AllocationPolicy allocation = scenarios::AllocationPolicy::Distributed;
  // For the scenario's pods: what kubelet offers, less what DaemonSets ask for.
  Millicores allocatable_cpu;
  Bytes allocatable_memory;
  int max_pods = 0;
  std::vector<scenarios::DaemonSet> daemon_sets;
  std::vector<scenarios::Taint> taints;
  std::map<std::string, std::string> labels;
  std::vector<std::string> late_labels;  // of them, that nodes get once they have joined: no
                                         // provisioner knows them before
  models::Price price;
  bool paid_by_block = false;  // until its Capacity Block ends; else for the time of the run
  std::optional<SpotModel> spot;

  // The NodePool of Karpenter's that starts its nodes, whose instance types several pools may be.
  const std::string& node_pool() const;
  // As kubelet reports it, with what DaemonSets ask for.
  Millicores node_cpu() const;
  Bytes node_memory() const;
  // Places for nodes: as many as there ever are at once.
  int node_slots() const;
  // Whether whole GPUs are shared by turns, or not at all.
  bool takes_turns() const;
  // Whether nodes come and go.
  int healthy_gpus() const { return gpus_per_node - unhealthy_gpus; }
  bool changes_nodes() const { return most_nodes.has_value() || spot.has_value(); }
  // The tickets of a kind of domain that may be out together: all, or those of one claim.
  std::vector<std::vector<Tickets>> companies(std::size_t kind) const;
  // Whether some device would do for either of two claims.
  bool has_common_device(std::size_t offer, std::size_t other) const;
  // Tickets of an offer on one node under a layout.
  std::int64_t tickets_per_node(std::size_t offer, std::size_t layout) const;
  // ... under the layout with the most of those that it ever has.
  std::int64_t most_tickets_per_node(std::size_t offer) const;
};

using scenarios::untolerated;

// Whether the pool's nodes have a NoSchedule or NoExecute taint that the pod does not tolerate, and
// whether they carry all labels of its node selector; `admits` says that neither keeps it off.
bool has_untolerated_taint(const PoolModel& pool, const scenarios::PodTemplate& pod);
bool matches_selector(const PoolModel& pool, const scenarios::PodTemplate& pod);
bool admits(const PoolModel& pool, const scenarios::PodTemplate& pod);

// Requests that are answered in one go, alone in a domain: more work in the same kernels.
struct BatchDemand {
  Duration gpu;                 // kernels run
  Duration sm_active;           // of that: SM time, averaged over the SMs of the domain
  models::DomainClient client;  // beside others in the same domain
};

// What one unit of a workload (an epoch of a batch pod, a request of a service) costs in one kind
// of domain when it runs alone there. Times are already carried over to that domain.
struct Demand {
  Duration gpu;                      // D: kernels run; of a request: the mean
  Duration host;                     // Z: the rest of the unit
  Duration cpu;                      // host CPU time, all cores added up
  Duration whole_gpu;                // D + Z if the pod had the whole GPU
  Duration sm_active;                // of D: SM time, averaged over the SMs of the domain
  models::DomainClient client;       // beside others in the same domain
  std::vector<BatchDemand> batches;  // of 1, 2, ... requests
};

// How an engine of a language model sleeps in one kind of domain, and wakes up.
struct SleepDemand {
  Duration wake_time;
  Duration sleep_time;
  Bytes gpu_memory;   // that stays taken, without the CUDA context
  Bytes host_memory;  // that the weights take meanwhile
};

// How a language model runs in one kind of domain. All zero for other workloads.
struct LlmDemand {
  models::LlmStep step;           // but for what the GPUs of the pod exchange
  double adapter_load_s = 0;      // one LoRA adapter comes into GPU memory
  double adapter_read_s = 0;      // ... and is read in a step
  std::int64_t cache_tokens = 0;  // size of the KV pool of one pod; 0: it does not start here
  int max_sequences = 0;          // running at once
  int max_batched_tokens = 0;     // of a step
  Bytes gpu_memory;               // of one GPU: weights and KV pool
  Bytes spare;                    // ... that must be free beside it at start
  Bytes least;                    // that a server must have of a GPU: weights, context, one block
  Bytes share;                    // ... and may have by its own flag; it starts if that is enough
  // What the GPUs of the pod share; nullopt: one has it all. What they then exchange hangs on the
  // GPUs that a pod gets: all_reduces_of().
  std::optional<models::LlmLayers> shared;
  std::optional<SleepDemand> sleep;  // nullopt: it does not
};

struct PoolDemand {
  std::optional<std::size_t> offer;  // of the pool's offers, the one that the pod asks for
  bool schedulable = false;          // by taints, selector and what it asks for
  int gpus = 1;                      // that a pod works on, see gpus_of_pod()
  // These are shared GPUs: a pod has as many at the most, whichever the plugin takes replicas from.
  bool shares_several = false;
  double gpu_scale = 1;         // GPU work on this GPU / on the measured one
  double batch_scale = 1;       // GPU work of this batch / of the measured one
  std::vector<Demand> in_kind;  // by PoolModel::kinds
  std::vector<LlmDemand> llm;   // the same; empty without a language model

  // Its figures were measured on another model of GPU.
  bool is_carried_over() const { return schedulable && gpu_scale != 1; }
};

// The loosest limit of each figure that single requests can be held to; nullopt: none.
struct RequestLimits {
  std::optional<Duration> latency;
  std::optional<Duration> first_token;
  std::optional<Duration> per_token;
};

// Pods of a workload that are on a node when the run begins.
struct StartingPods {
  std::size_t pool = 0;  // into World::pools
  int node = 0;          // of its nodes
  int pods = 0;
};

struct WorkloadModel {
  std::string name;
  scenarios::Workload spec;
  std::int64_t units = 0;             // of one batch run
  int pods_per_job = 1;               // several: a gang, which starts and ends together
  std::int64_t steps_per_unit = 1;    // GPU bursts in a unit, when simulated exactly
  Bytes gpu_memory;                   // peak of a process, without its CUDA context
  std::optional<Bytes> before_work;   // of it, what a process holds until it works; absent: all
  bool greedy = false;                // maps all free GPU memory at start
  bool dies_at_start = false;         // no GPU that it may get holds one of its processes
  RequestLimits limits;               // a request beyond one of them missed its objective
  bool sm_known = false;              // Demand::sm_active is known
  bool capacity_is_borrowed = false;  // measured.capacityShare is that of profiles like its own
  bool capacity_is_fitted = false;    // ... is calibrate's, from times beside copies or on slices
  bool has_one_neighbour = false;     // that measured.sensitivity and pressure are from
  scenarios::Work::HostPhase host_phase = scenarios::Work::HostPhase::Overlapped;
  // What it asks for, into World::resources. nullopt: no GPU resource, yet it uses a GPU ("manual
  // sharing"): the scheduler does not count it, and all its pods open the GPU `visible_gpu`.
  std::optional<ResourceId> resource;
  bool by_claim = false;                // the resource is a claim of DRA
  std::int64_t tickets = 1;             // how many of the resource
  int visible_gpu = 0;                  // index on the node, as CUDA_VISIBLE_DEVICES has it
  std::vector<PoolDemand> on_pool;      // by PoolId
  std::optional<QueuedJobs> queued;     // Jobs that wait for a quota of Kueue first
  std::vector<StartingPods> starts_on;  // its first pods
  // What a language model's prompts have alike; null: nothing, or its server keeps none.
  std::shared_ptr<const scenarios::PromptBlocks> prompts;

  int jobs() const { return spec.count / pods_per_job; }
};

// Peak of a process in one kind of domain, without its CUDA context: the server of a language model
// takes a share of what there is.
Bytes process_memory(const WorkloadModel& model, const PoolDemand& demand, std::size_t kind);

// That must be free beside it when the process starts.
Bytes spare_memory(const PoolDemand& demand, std::size_t kind);

// What of it is a process's only while no other engine of its GPU is awake; 0: it does not sleep.
Bytes memory_by_turns(const WorkloadModel& model, const PoolDemand& demand, std::size_t kind);

// The same of a process that holds most: sessions of notebooks come to hold more or less. One of a
// thousand may hold more.
Bytes largest_process_memory(const WorkloadModel& model, const PoolDemand& demand,
                             std::size_t kind);

// A request's way through several Services: stages in topological order.
struct PipelineModel {
  struct Stage {
    WorkloadId workload{};
    int inputs = 0;                   // stages that it waits for
    Duration network;                 // from the last of them
    double kv_s_per_token = 0;        // ... and for the keys and values of a token that come along
    std::vector<std::uint32_t> next;  // stages that wait for it
  };
  std::string name;
  scenarios::Pipeline spec;
  RequestLimits limits;
  std::vector<Stage> stages;
};

// The workloads that a `kind: TraceJobs` became, reported and judged as one.
struct TraceModel {
  std::string name;
  std::vector<std::size_t> workloads;  // into World::workloads
  std::vector<scenarios::ApartJobs> apart;
  std::vector<std::size_t> never_fit;  // of `workloads`: no node holds their jobs
};

struct World {
  std::string name;
  std::string description;
  std::string swept_value;
  std::optional<Duration> duration;
  Duration warmup;
  std::uint64_t seed = 0;
  int replications = 1;
  bool allow_pending = false;  // see judge()
  scenarios::Fidelity fidelity = scenarios::Fidelity::Auto;
  scenarios::ScorePolicy score_policy = scenarios::ScorePolicy::LeastAllocated;
  std::optional<NodePolicy> placement;  // that chooses nodes in place of kube-scheduler's score
  scenarios::PodQueue pod_queue = scenarios::PodQueue::Backfill;
  scenarios::CostSplit cost_split = scenarios::CostSplit::Dominant;
  UsdPerHour control_plane;
  std::vector<PoolModel> pools;
  scenarios::Provisioner provisioner;
  std::vector<SharedLimit> node_limits;
  std::vector<QuotaCell> quota_cells;
  std::vector<QueueModel> queues;
  std::vector<WorkloadModel> workloads;
  std::vector<PipelineModel> pipelines;
  std::vector<TraceModel> traces;
  Duration starts_at;                  // of the run, since Monday 00:00 UTC
  std::vector<std::string> resources;  // names of all advertised extended resources
  std::optional<scenarios::IsolationRule> isolation;
  std::vector<scenarios::Policy> policies;
  Diagnostics findings;  // warnings and notes known before the run
  ProvenanceCounts provenance;

  // Whether nodes of some pool come and go.
  bool changes_nodes() const;
};

// What nobody gives, and sharing hangs on: one value stands for it, or each replication of
// run_sampled() draws it. Findings say which.
enum class UnknownInputs : std::uint8_t { Taken, Drawn };

// Checks everything that needs the catalogue, every mistake in one pass: instance types, regions,
// prices, GPU models, MIG on a GPU without it, resource names that no pool offers, requests that
// the device plugin refuses, figures that are missing. The result points into `catalogue`.
Expected<World> build_world(const scenarios::Scenario& scenario, const models::Catalogue& catalogue,
                            UnknownInputs unknown = UnknownInputs::Taken);

// Services and pipelines whose traffic is at its peak outside of the run, where the clock tells
// its rate, and when a run would have it. Not among the findings of build_world: studies build
// many worlds of one run.
Diagnostics peaks_not_in_run(const scenarios::Scenario& scenario);

// CronJobs that run more or less often in the run than in a week, of a scenario whose nodes do not
// come and go, as they may in a plan; of others peaks_not_in_run() has them.
Diagnostics schedules_not_in_run(const scenarios::Scenario& scenario);

// For who judges a configuration and not a time: where no startsAt is named and the peak of a day's
// traffic is outside of the run, the scenario that starts so that its traffic together is at its
// busiest in the middle of what is measured. Of CronJobs the times of the run are known: those
// scenarios stay as they are.
scenarios::Scenario at_its_peak(scenarios::Scenario scenario);
// Says so, and which peaks are not in that run either.
void tell_of_peak(const scenarios::Scenario& written, const scenarios::Scenario& judged,
                  Diagnostics& found);

}  // namespace slicewise::sim
