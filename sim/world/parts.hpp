#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/mig_cut.hpp"
#include "slicewise/sim/world.hpp"

// The steps of build_world. Each appends what it finds wrong to `found` and goes on.
namespace slicewise::sim {

using scenarios::kGpuResource;
using scenarios::kMigPrefix;

// "did you mean" for a name that is not in a list of the catalogue, else where to find the list.
template <class Items>
Diagnostic unknown_name(Code code, const Located<std::string>& wanted, const std::string& message,
                        const Items& known, const std::string& list_command) {
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const auto& item : known) names.push_back(item.name);
  const auto near = nearest_name(wanted.value, names);
  const std::string all =
      "`" + list_command + "` lists all; your own come with profileFiles, or --catalogue";
  return make_diagnostic(code, wanted.where, message,
                         near ? "did you mean " + *near + "? " + all : all);
}

Diagnostic unknown_instance(const Located<std::string>& wanted, const Catalogue& catalogue);

// A profile of the catalogue on the whole GPU, of a Service as one of requests: kernels and, beside
// them, the host's part.
WorkloadProfile profile_for(const Workload& spec, const WorkloadProfile& published,
                            const Catalogue& catalogue);
// What such a profile says of how a process shares a GPU, where `spec` does not.
void take_profile(const WorkloadProfile& profile, Workload& spec);
// ... and how long a step or request takes. REQUIRES: spec.measured.
void take_times(const WorkloadProfile& profile, Workload& spec);
// The larger batches of such a profile that were measured, ascending; none where `spec` says itself
// how long a request or a batch takes, or what it fills.
std::vector<scenarios::MeasuredBatch> measured_batches(const Workload& spec,
                                                       const WorkloadProfile& published,
                                                       const Catalogue& catalogue);

// Whether its capacityShare is that of profiles like it, as `slicewise calibrate` writes it where
// measurements do not tell.
bool borrows_capacity(const WorkloadProfile& profile);
// ... or fitted to times of a user's own.
bool fits_capacity(const WorkloadProfile& profile);
// Whether its sensitivity and pressure are from no more than one.
bool has_one_neighbour(const WorkloadProfile& profile);

// The workload with what the catalogue knows of the profile or language model that it names.
Workload filled_in(const Workload& workload, const Catalogue& catalogue);

// Whether the price book knows the region at all.
bool has_prices(const Catalogue& catalogue, const std::string& region);
// What to say where it does not.
Diagnostic unknown_region(const std::string& region, const SourceLocation& where,
                          const Catalogue& catalogue);

// The entry of the device plugin's `sharing` that replicates a device.
struct PluginEntry {
  const scenarios::PluginSharing* sharing = nullptr;
  const scenarios::SharedResource* resource = nullptr;
  bool mps = false;
};
// nullopt when the plugin leaves devices called `device` unshared.
std::optional<PluginEntry> plugin_entry(const NodePool& pool, std::string_view device);

// The node under each MIG layout that the pool ever has, or with all devices that may be made on
// demand; empty without MIG.
std::vector<CutNode> cut_nodes(const NodePool& pool, const InstanceType& type, const GpuModel& gpu,
                               const Catalogue& catalogue, Diagnostics& found);

// Those that nos knows of a GPU, by kind. REQUIRES: cut_nodes() has found no fault with the pool.
std::vector<std::vector<int>> nos_geometries(const models::MigGeometry& geometry,
                                             const std::vector<DomainKind>& kinds);

// Fills in offers, domain kinds, layouts and the name of the strategy.
void model_sharing(const Scenario& scenario, const NodePool& pool, const InstanceType& type,
                   const std::vector<CutNode>& cuts, PoolModel& model, Diagnostics& found);

// Clients of MPS that a GPU or MIG instance takes, of so many on a whole GPU. Source: NVIDIA MIG
// User Guide (r570), "the maximum number of clients (48) is lowered proportionally to the Compute
// Instance size".
int mps_clients_in(const DomainKind& kind, int on_gpu);

// A share of the threads as a number of SMs, rounded down. Source: MPS documentation.
double whole_sms(double share, const GpuModel& gpu, const models::DomainShare& domain);

// What the DRA driver publishes of such a device.
scenarios::DraDevice device_of(const GpuModel& gpu, const DomainKind& kind);

// Makes offers of the claims that select devices of the pool, in place of the device plugin's.
void share_by_claims(const Scenario& scenario, const NodePool& pool, PoolModel& model,
                     Diagnostics& found);

// Makes offers of the parts of GPUs that pods ask HAMi or KAI for. REQUIRES: the pool has one kind.
void share_by_books(const Scenario& scenario, const NodePool& pool, PoolModel& model,
                    Diagnostics& found);
// What a pod asks HAMi or KAI for, by the name of its offer; nullopt: nothing, or neither is there.
std::optional<scenarios::ExtendedRequest> part_request(const Scenario& scenario,
                                                       const Workload& workload,
                                                       Diagnostics& found);

// What Kubernetes' and Karpenter's labels say of nodes of the type.
scenarios::NodeLabels type_labels(const InstanceType& type);

// Labels that nodes carry by their pool, whatever their type. The scenario's own labels win.
std::map<std::string, std::string> pool_labels(const Scenario& scenario, const NodePool& pool);

// The labels that a GPU node of EKS carries without anybody's doing, by who makes it where nodes
// come and go, and those of GPU Feature Discovery. The scenario's own labels win.
std::map<std::string, std::string> node_labels(const Scenario& scenario, const NodePool& pool,
                                               const InstanceType& type, const PoolModel& model);

// nullopt when the pool's instance type, GPU or price is unknown, or its strategy is refused.
std::optional<PoolModel> model_pool(const Scenario& scenario, const NodePool& pool,
                                    const Catalogue& catalogue, Diagnostics& found);

// Matches what each workload asks for with what the pools offer, and fills in what one unit of its
// work costs on each of them.
void model_workloads(const Scenario& scenario, const Catalogue& catalogue, World& world,
                     Diagnostics& found);

// The queues of Kueue, and what Jobs that wait in them ask for. REQUIRES: the workloads are there.
// Those of KAI, as Kueue's. REQUIRES: likewise; there are no others.
void model_kai_queues(const Scenario& scenario, World& world, Diagnostics& found);
void model_quotas(const Scenario& scenario, World& world, Diagnostics& found);

// Pods that are on nodes when the run begins; tells of nodes that do not hold theirs.
void model_starts(World& world, Diagnostics& found);

// Resource names that the node pools advertise.
struct Offered {
  std::vector<std::string> names;  // by all pools, distinct
  bool any_mig_name = false;       // of a pool whose layout is not known
  bool any_pool = false;
};
Offered offered_names(const Scenario& scenario, const World& world);

// The one extended resource that the pod asks for; nullptr when it asks for none, or on an error.
const scenarios::ExtendedRequest* gpu_request(const Workload& spec,
                                              const std::vector<PoolModel>& pools,
                                              const Offered& offered, const Catalogue& catalogue,
                                              Diagnostics& found);

// Fills in what the workload asks for, nullptr for no GPU, and which pools could take it.
void match_offers(const scenarios::ExtendedRequest* request, World& world, WorkloadModel& model);
// The same for a workload that claims devices of DRA.
void match_claim(const Scenario& scenario, World& world, WorkloadModel& model, Diagnostics& found);

// Whether figures can be carried over from one GPU to the other by their FP32 rates.
bool has_roofline(const GpuModel& from, const GpuModel& to);

// What one unit of the workload costs on `pool`. `from`: the GPU that its figures were taken on;
// nullptr: the pool's own. On a pool that its pods stay away from, figures that cannot be carried
// over are left as they are.
PoolDemand demand_on(const Workload& spec, const GpuModel* from, const PoolModel& pool);

// GPU time of a request when batches are as full as they may be.
double seconds_per_request(const Demand& demand);

// p of the execution law where neither the scenario nor a profile says it.
double usual_norm(const Workload& spec);

// How many times as long kernels run on a whole GPU where the work itself takes `gpu_scale` times
// as long: the fixed part of the time stays.
struct CarriedOver {
  double factor = 1;
  double share = 1;  // of the GPU that they fill: what the factor hangs on
  // Nobody says the share: it is taken as high as it can be. The less it is, the nearer the factor
  // is to 1.
  bool is_bound = false;
};
CarriedOver carried_over(const Workload& spec, double gpu_scale);

// The loosest limit of each kind that objectives put on single requests.
RequestLimits request_limits(std::span<const scenarios::Objective> objectives);

// Which blocks the prompts of language models have alike: those of the trace that a Service or its
// pipeline replays, or the prefixes that its prompts share. REQUIRES: the pipelines are known.
void model_prompts(World& world, Diagnostics& found);

// Which workloads are of one trace.
void model_traces(World& world, Diagnostics& found);

// Fills in what a language model leaves open from the catalogue, and `measured` with the GPU that
// its figures were taken on; the GPU time of a "request" is then that of one decoding step.
void apply_llm(const Catalogue& catalogue, Workload& spec, Diagnostics& found);

// How an engine with so much of its model on a GPU of the pool sleeps and wakes up.
SleepDemand sleep_of(const scenarios::EngineSleep& sleep, Bytes weights, const PoolModel& pool);

// The steps and the KV cache of a language model in every kind of domain. `from`: as above.
// REQUIRES: the workload's offers are known.
void model_llm(const Catalogue& catalogue, const GpuModel* from, const World& world,
               WorkloadModel& model, Diagnostics& found);

// What engines hold asleep, and whether memory of the host is kept for it. REQUIRES: all workloads
// are there.
void note_sleep(World& world);

// Why it is no choice by price, for pods that nodes of both NodePools take.
std::string node_pools_tie(std::string_view pod, std::string_view one, std::string_view other);

// Warnings about a workload on the pools that may run it; sets dies_at_start.
void note_workload(const Scenario& scenario, WorkloadModel& model, const World& world,
                   Diagnostics& found);

// Whether sharing hangs on for how much of its time kernels of a batch workload run, and that lies
// between bounds only (scenarios::busy_range).
bool lacks_busy(const WorkloadModel& model, const World& world);

// Whether sharing under MPS hangs on a capacityShare that nobody gives, and for which counters
// stand in (scenarios::capacity_range).
bool lacks_capacity(const WorkloadModel& model, const World& world);

// Whether sharing under MPS hangs on a kernelTime that nobody gives (scenarios::KernelRange). Batch
// work among its equals fares alike, however long its kernels are.
bool lacks_kernels(const WorkloadModel& model, const World& world);

// Whether sharing other than in turns hangs on a normP that neither the scenario nor rows that its
// profile was fitted to give.
bool lacks_norm(const WorkloadModel& model, const World& world);

// Adds the inputs of `world` to its provenance counts and notes which ones nobody measured.
void count_provenance(const Scenario& scenario, const Catalogue& catalogue, UnknownInputs unknown,
                      World& world);

// EKS's fee for the cluster.
UsdPerHour control_plane_fee(scenarios::ControlPlane plane);

}  // namespace slicewise::sim
