#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/units.hpp"

// Nodes of one kind as a scenario has them: which instances, how their GPUs are shared, what pods
// have to know of them.
namespace slicewise::scenarios {

enum class CapacityType : std::uint8_t { OnDemand, Spot, Reserved, CapacityBlock };

// Whether the nodes run in a capacity reservation.
inline bool is_reserved(CapacityType type) {
  return type == CapacityType::Reserved || type == CapacityType::CapacityBlock;
}

enum class MigStrategy : std::uint8_t { None, Single, Mixed };

// What the device plugin calls a MIG instance; `own`: the name of its profile's resource.
inline std::string_view device_name(MigStrategy strategy, std::string_view own) {
  return strategy == MigStrategy::Mixed ? own : kGpuResource;
}
enum class AllocationPolicy : std::uint8_t { Distributed, Packed };

// One entry of the device plugin's sharing.<mode>.resources.
struct SharedResource {
  Located<std::string> name;  // "nvidia.com/gpu"; the prefix is added when missing
  int replicas = 2;
  SourceLocation replicas_where;
};

struct PluginSharing {
  bool rename_by_default = false;
  bool fail_requests_greater_than_one = false;
  std::vector<SharedResource> resources;
  SourceLocation where;

  // What the plugin calls a device that it shares, and how it shares the device of that name;
  // nullptr: it does not.
  std::string advertised(std::string_view device) const {
    return advertised_name(device, rename_by_default);
  }
  const SharedResource* find(std::string_view device) const {
    return find_if_or_null(resources, [&](const auto& r) { return r.name.value == device; });
  }
};

// The NVIDIA device plugin's own config file (version v1), pasted as is.
struct DevicePlugin {
  MigStrategy mig_strategy = MigStrategy::None;
  AllocationPolicy allocation_policy = AllocationPolicy::Distributed;
  std::optional<PluginSharing> time_slicing;
  std::optional<PluginSharing> mps;
  // flags.* that do not change the simulation, in file order, as (dotted path below the plugin
  // config, YAML scalar as written): export writes them back unchanged.
  std::vector<std::pair<std::string, std::string>> other_flags;
  SourceLocation where;
};

// One entry of a config in mig-parted's format: which GPUs of a node are cut, and into what.
struct MigPartedEntry {
  std::vector<int> devices;  // GPU indexes; empty: all
  bool mig_enabled = true;
  std::vector<std::pair<Located<std::string>, int>> mig_devices;  // profile -> count, as written
  SourceLocation where;
};

// Another layout, from a point of the run on.
struct MigChange {
  Duration at;
  Located<std::string> config;
};

// How long a node is out of service when its layout changes. Assumed: nobody publishes them.
struct MigChangeTimes {
  Duration drain = seconds(30);           // pods get to end; Kubernetes' default grace period
  Duration destroy = seconds(5);          // of all instances of the node
  Duration create = seconds(5);           // of the new ones
  Duration plugin_restart = seconds(30);  // mig-manager's fixed wait; then pods fit again
};

// nos' partitioner cuts GPUs anew for pods that stay Pending, around the instances that pods use.
struct NosMig {
  Duration window_timeout = seconds(60);  // of a batch of pods, since its first
  Duration window_idle = seconds(10);     // likewise, since its last
  SourceLocation where;
};

struct MigLayout {
  MigStrategy strategy = MigStrategy::Single;
  Located<std::string> config;  // value of the nvidia.com/mig.config node label
  std::map<std::string, std::vector<MigPartedEntry>> configs;  // the scenario's own, by name
  std::vector<MigChange> changes;                              // in order of time
  MigChangeTimes change_times;
  std::optional<NosMig> nos;  // config is the layout at the start
};

// MIG devices that NVIDIA's DRA driver makes when a pod with a claim starts and destroys once the
// claim has no pods, one after the other on a node (its feature gate DynamicMIG).
struct DynamicMig {
  Duration create = seconds(5);   // of one device. Assumed, like those of MigChangeTimes.
  Duration destroy = seconds(5);  // likewise; then its slices are free
  SourceLocation where;
};

// What the daemon of the device plugin would otherwise decide, and what it would refuse.
struct MpsSettings {
  bool uncapped = false;                 // active thread percentage 100 for every client
  std::optional<double> active_threads;  // share of the SMs a client may use, (0, 1]
  std::optional<int> client_limit;       // CUDA contexts per GPU
  Bytes server_memory = mebibytes(30);   // GPU memory of the MPS server
  bool force = false;                    // run what the stock device plugin refuses
  SourceLocation where;
};

// NVIDIA vGPU: the hypervisor's scheduler. EC2 has it in g6f and gr6f only.
struct VgpuSettings {
  enum class Policy : std::uint8_t { BestEffort, EqualShare, FixedShare };
  std::optional<Policy> policy;  // absent: FixedShare on g6f and gr6f, else BestEffort
  std::optional<int> per_gpu;    // absent: 1 / the instance type's fraction of a GPU
  std::optional<Duration> slice;
  SourceLocation where;
};

// AWS's virtual GPU device plugin in place of NVIDIA's: MPS without limits.
struct VirtualGpuPlugin {
  int per_gpu = 10;
  SourceLocation where;
};

// nos in place of NVIDIA's plugin: MPS with slices sized by memory, without a limit on threads.
struct NosPartitioning {
  std::vector<Located<std::string>> slices;  // "10gb", of each GPU
  SourceLocation where;
};

// HAMi in place of NVIDIA's plugin: pods ask for nvidia.com/gpu with nvidia.com/gpumem and
// nvidia.com/gpucores, which its scheduler keeps books of and its library in the containers holds
// them to. The settings of its chart.
struct Hami {
  enum class CorePolicy : std::uint8_t { Default, Force, Disable };
  enum class Packing : std::uint8_t { Binpack, Spread };
  int split_count = 10;       // pods of a GPU
  double memory_scaling = 1;  // of its memory, what the scheduler gives away
  double core_scaling = 1;    // likewise of its time
  CorePolicy core_policy = CorePolicy::Default;
  Packing nodes = Packing::Binpack;
  Packing gpus = Packing::Spread;  // of a node
  SourceLocation where;
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

// Overrides of the GPU's time-slice figures; what is absent comes from the catalogue.
struct GpuOverrides {
  std::optional<Duration> time_slice;
  std::optional<Duration> switch_cost;
  std::optional<double> cold_cache;     // kappa, 0..1
  std::optional<Bytes> context_memory;  // CUDA context per process
};

// EC2 takes spot nodes back, of every pool that is bought so.
struct Spot {
  std::optional<Rate> interruptions;     // of each node; absent: the Spot Advisor's bucket
  Duration notice = seconds(120);        // between the notice and the end of the node
  bool falls_back_to_on_demand = false;  // for nodes started within 3 minutes of an interruption
  SourceLocation where;
};

// What the pod of a DaemonSet asks for, one on every node.
struct DaemonSet {
  std::string name;
  Millicores cpu_request;
  Bytes memory_request;
};
// Those of an EKS node with GPUs, by the requests of their manifests.
const std::vector<DaemonSet>& usual_daemon_sets();

// What a node has for pods, those of its DaemonSets among them, as `status.allocatable` of a Node
// says; what is absent the instance type says.
struct Allocatable {
  std::optional<Millicores> cpu;
  std::optional<Bytes> memory;
  std::optional<int> pods;
  std::optional<int> gpus{};  // the first so many of its GPUs; the others are unhealthy
  SourceLocation where{};

  bool is_told() const { return cpu || memory || pods || gpus; }
};

// Which of its nodes Karpenter removes.
enum class Consolidation : std::uint8_t { WhenEmptyOrUnderutilized, WhenEmpty };
inline constexpr std::array kConsolidations = {
    Choice{"WhenEmptyOrUnderutilized", Consolidation::WhenEmptyOrUnderutilized},
    Choice{"WhenEmpty", Consolidation::WhenEmpty}};

struct NodePool {
  Located<std::string> name;
  Located<std::string> instance_type;
  int nodes = 1;                  // at the start; the fewest of a pool that grows
  std::optional<int> most_nodes;  // the provisioner adds and removes nodes; absent: it does not
  SourceLocation nodes_where;
  int weight = 0;  // Karpenter: of several pools that would do, those with the most go first
  // Karpenter; absent: as the provisioner has it.
  std::optional<Consolidation> consolidation{};
  std::optional<Duration> consolidate_after{};
  std::optional<Duration> expire_after{};  // since the decision to start a node; absent: never
  CapacityType capacity_type = CapacityType::OnDemand;
  std::optional<Spot> spot;
  std::optional<DevicePlugin> device_plugin;  // absent: nvidia.com/gpu, unshared
  std::optional<MigLayout> mig;
  std::optional<MpsSettings> mps;
  std::optional<VgpuSettings> vgpu;
  std::optional<VirtualGpuPlugin> virtual_gpu;
  std::optional<NosPartitioning> nos;
  std::optional<Hami> hami;
  bool kai = false;  // KAI scheduler with its GPU sharing: pods ask for parts by annotations
  bool dra = false;  // NVIDIA's DRA driver in place of the device plugin: pods claim devices
  std::optional<DynamicMig> dynamic_mig;
  std::vector<Taint> taints;
  std::map<std::string, std::string> labels;
  std::vector<DaemonSet> daemon_sets;  // of a file: the usual ones where it names none
  SourceLocation daemon_sets_where;
  Allocatable allocatable;
  GpuOverrides gpu;
  SourceLocation where;
};

}  // namespace slicewise::scenarios
