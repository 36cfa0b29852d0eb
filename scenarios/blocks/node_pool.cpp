#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kCapacityTypes[] = {{"on-demand", CapacityType::OnDemand},
                                   {"spot", CapacityType::Spot},
                                   {"reserved", CapacityType::Reserved},
                                   {"capacity-block", CapacityType::CapacityBlock}};
constexpr Word kFallbacks[] = {{"none", false}, {"on-demand", true}};

// What mixed names are to the plugin's MPS, unless `mps: {force: true}` runs it all the same.
void check_mixed_mps(const Node& pool, const NodePool& read, Findings& findings) {
  const Node* plugin = block(&pool, "devicePlugin");
  if (!is_set(block(plugin, "sharing"), "mps")) return;
  const bool force_mps = read.mps && read.mps->force;
  if (read.device_plugin->mig_strategy == MigStrategy::Mixed && !force_mps) {
    findings.add(Code::SettingConflict, value_place(*block(plugin, "flags"), "migStrategy"),
                 "mps with migStrategy mixed: the device plugin stops with \"using "
                 "--mig-strategy=mixed is not supported with MPS\"",
                 "use timeSlicing, leave migStrategy out, or simulate it all the same with `mps: "
                 "{force: true}` on the node pool");
  }
}

void check_mig(const Node& pool, const NodePool& read, Findings& findings) {
  const Node* plugin = block(&pool, "devicePlugin");
  const Node* flags = block(plugin, "flags");
  if (!read.mig || flags == nullptr || flags->entry("migStrategy") == nullptr) return;
  if (read.device_plugin->mig_strategy == read.mig->strategy) return;
  findings.add(Code::SettingConflict, value_place(*flags, "migStrategy"),
               "devicePlugin.flags.migStrategy and mig.strategy differ",
               "set both to the same value, or remove this one",
               fmt::format("mig is on line {}", key_place(pool, "mig").line));
}

// {min, max} in place of one number.
void finish_nodes(NodePool& pool, const Node& map, Reading& reading) {
  pool.nodes = int_at(&map, "min").value_or(0);
  if (!pool.most_nodes) pool.most_nodes = std::max(1, pool.nodes);
  if (pool.nodes > *pool.most_nodes) {
    reading.findings.add(Code::SettingConflict, value_place(map, "min"), "min is more than max",
                         "min and max are the fewest and the most nodes");
  }
}

void check_spot(NodePool& pool, Findings& findings) {
  if (!pool.spot || pool.capacity_type == CapacityType::Spot) return;
  findings.add(Code::SettingConflict, pool.spot->where, "spot on a pool that is not bought as spot",
               "add `capacityType: spot`, or remove spot");
  pool.spot.reset();
}

void check_layout_changes(const NodePool& pool, Findings& findings) {
  const bool spot = pool.capacity_type == scenarios::CapacityType::Spot;
  if (!pool.mig || pool.mig->changes.empty() || (!pool.most_nodes && !spot)) return;
  findings.add(Code::SettingConflict, pool.mig->config.where,
               "mig.changes on a pool whose nodes come and go",
               "new nodes would start with the first layout: write one number of nodes, without "
               "spot interruptions");
}

void check_healthy_gpus(const NodePool& pool, Findings& findings) {
  if (!pool.allocatable.gpus || !pool.most_nodes) return;
  findings.add(Code::SettingConflict, pool.allocatable.where,
               "allocatable.gpus on a pool whose nodes come and go",
               "new nodes have all of their GPUs: write one number of nodes, or a pool for those "
               "with unhealthy GPUs");
}

void finish_node_pool(NodePool& pool, const Node& map, Reading& reading) {
  pool.name.where = value_place(map, "name");  // also where it is missing
  pool.nodes_where = value_place(map, "nodes");
  pool.daemon_sets_where = value_place(map, "daemonSets");
  if (map.entry("daemonSets") == nullptr) pool.daemon_sets = usual_daemon_sets();
  check_labels(pool, map, reading.findings);
  check_spot(pool, reading.findings);
  check_gpu_sharing(map, pool, reading.findings);
  check_mixed_mps(map, pool, reading.findings);
  check_mig(map, pool, reading.findings);
  check_layout_changes(pool, reading.findings);
  check_healthy_gpus(pool, reading.findings);
}

constexpr Field kTaintFields[] = {
    field<&Taint::key>("key", kGpuTaint, "Key of the taint.").needed().positive(),
    field<&Taint::value>("value", "present", "Value of the taint."),
    field<&Taint::effect>("effect", "NoSchedule", "What happens to pods that do not tolerate it.")
        .needed()
        .one_of(kTaintEffects),
};
}  // namespace

constinit const FieldList kTaint = block<Taint>(kTaintFields);

namespace {

constexpr Field kGpuFields[] = {
    field<&GpuOverrides::time_slice>("timeSlice", "2ms",
                                     "Length of a turn under time-slicing; at most 1h.")
        .positive()
        .within(hours(1))
        .otherwise("the GPU model's"),
    field<&GpuOverrides::switch_cost>(
        "switchCost", "100us",
        "Time lost when the GPU changes from one process to another; at most 1h.")
        .within(hours(1))
        .otherwise("from the GPU model's figures"),
    field<&GpuOverrides::cold_cache>(
        "coldCache", "50%", "Share of the L2 cache that a process refills when its turn begins.")
        .as(T::Percent)
        .otherwise("the GPU model's"),
    field<&GpuOverrides::context_memory>("contextMemory", "320Mi",
                                         "GPU memory of one CUDA context.")
        .otherwise("the GPU model's"),
};
constexpr FieldList kGpu = block<GpuOverrides>(kGpuFields);

constexpr Field kAllocatableFields[] = {
    field<&Allocatable::cpu>("cpu", "3920m", "CPUs of a node for pods.")
        .positive()
        .otherwise("the instance type's"),
    field<&Allocatable::memory>("memory", "14Gi", "Memory of a node for pods.")
        .positive()
        .otherwise("the instance type's"),
    field<&Allocatable::pods>("pods", "58", "Pods that a node holds.")
        .between(1, 10'000)
        .otherwise("the instance type's"),
    field<&Allocatable::gpus>(
        "gpus", "3",
        "GPUs of a node that the device plugin offers, shared or cut as all are: the others are "
        "unhealthy. Of nodes that stay; new ones, of `plan` and `compare` too, have all.")
        .between(1, 16)
        .otherwise("the instance type's"),
};
constexpr FieldList kAllocatable = block<Allocatable>(kAllocatableFields);

constexpr Field kNodesFields[] = {
    field<&NodePool::nodes>("min", "1", "Nodes at the start; the provisioner never goes below.")
        .up_to(10'000)
        .otherwise("0"),
    field<&NodePool::most_nodes>("max", "8", "The most nodes that the provisioner may start.")
        .needed()
        .between(1, 10'000),
};
constexpr FieldList kNodes = block<NodePool, &finish_nodes>(kNodesFields);

constexpr Field kSpotFields[] = {
    field<&Spot::interruptions>("interruptionsPerHour", "0.03",
                                "How often EC2 takes a node back, in times per hour that it runs.")
        .as(T::Number)
        .up_to(3600)
        .otherwise("from the Spot Advisor's bucket"),
    field<&Spot::notice>("notice", "2m",
                         "Between the interruption notice, when pods are drained and a new node is "
                         "asked for, and the end of the node."),
    field<&Spot::falls_back_to_on_demand>("fallback", "on-demand",
                                          "What is bought in the 3 minutes after an interruption, "
                                          "when Karpenter takes the spot offering for exhausted.")
        .one_of(kFallbacks),
};
constexpr FieldList kSpot = block<Spot>(kSpotFields);

constexpr std::string_view kWriteNodes = "write `nodes: 3`";

constexpr Field kNodePoolFields[] = {
    field<&NodePool::name>("name", "v100",
                           "Name of the pool; patches and sweeps address it by this name.")
        .as(T::Name)
        .needed(),
    field<&NodePool::instance_type>("instanceType", "p3.8xlarge",
                                    "EC2 instance type (slicewise get instances).")
        .needed()
        .positive(),
    field<&NodePool::nodes>("nodes", "{min: 1, max: 8}",
                            "Number of nodes, from the start to the end of the run; or {min, max}, "
                            "between which spec.provisioner adds and removes nodes.")
        .as(T::Range)
        .between(1, 10'000)
        .of(kNodes),
    // What Terraform, eksctl and node groups of EKS call it.
    plain(T::Refused, "count", "", kWriteNodes),
    plain(T::Refused, "nodeCount", "", kWriteNodes),
    plain(T::Refused, "size", "", kWriteNodes),
    plain(T::Refused, "desiredSize", "", kWriteNodes),
    plain(T::Refused, "desiredCapacity", "", kWriteNodes),
    field<&NodePool::weight>("weight", "50",
                             "Karpenter: of several NodePools that hold a Pending pod it starts "
                             "nodes of the one with the highest weight; among equals of the one "
                             "whose name is last. Pools with one label karpenter.sh/nodepool are "
                             "the instance types of one, of which it takes the cheapest that holds "
                             "all pods that it puts there.")
        .up_to(100),
    field<&NodePool::consolidation>(
        "consolidationPolicy", "WhenEmpty",
        "Karpenter: which nodes it removes. Of an underutilized one it moves the pods.")
        .one_of(kConsolidationWords)
        .otherwise("provisioner.consolidationPolicy"),
    field<&NodePool::consolidate_after>(
        "consolidateAfter", "5m",
        "Karpenter: how long no pod came or went before it looks at a node.")
        .otherwise("provisioner.consolidateAfter"),
    field<&NodePool::expire_after>(
        "expireAfter", "720h",
        "Karpenter: the life of a node, after which its pods are evicted and it ends.")
        .positive()
        .otherwise("for ever"),
    field<&NodePool::capacity_type>(
        "capacityType", "spot",
        "How the nodes are bought. A Capacity Block is paid for whole where a run ends with its "
        "jobs; with a duration the run says what the shortest one costs that it needs.")
        .one_of(kCapacityTypes),
    field<&NodePool::spot>("spot", "{interruptionsPerHour: 0.03, fallback: on-demand}",
                           "EC2 takes nodes back (capacityType: spot).")
        .of(kSpot)
        .otherwise("as often as the Spot Advisor says"),
    field<&NodePool::device_plugin>(
        "devicePlugin",
        "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: "
        "10}]}}}",
        "Config file of the NVIDIA device plugin, pasted as it is. null or absent: no sharing.")
        .or_null()
        .of(kDevicePlugin),
    field<&NodePool::mig>("mig", "{strategy: mixed, config: all-1g.5gb}",
                          "Partition the GPUs with MIG.")
        .of(kMig),
    field<&NodePool::mps>("mps", "{uncapped: true}",
                          "Settings of MPS beyond those of the device plugin. Needs something that "
                          "uses MPS: devicePlugin.sharing.mps, virtualGpu or nos.")
        .of(kMps),
    field<&NodePool::vgpu>(
        "vgpu", "{policy: fixedShare, perGpu: 4}",
        "NVIDIA vGPU: the hypervisor shares the GPU. In place of devicePlugin.sharing and mig.")
        .of(kVgpu),
    field<&NodePool::virtual_gpu>("virtualGpu", "{perGpu: 10}",
                                  "AWS's virtual GPU device plugin, in place of NVIDIA's: MPS "
                                  "without limits; pods ask for k8s.amazonaws.com/vgpu.")
        .of(kVirtualGpu),
    field<&NodePool::nos>("nos", "{slices: [10gb, 10gb]}",
                          "Partitioning by nos, in place of NVIDIA's device plugin: MPS with "
                          "slices sized by memory; pods ask for nvidia.com/gpu-10gb.")
        .of(kNos),
    field<&NodePool::hami>(
        "hami", "{deviceSplitCount: 10, gpuCorePolicy: force}",
        "HAMi, in place of NVIDIA's device plugin: pods ask for nvidia.com/gpu with "
        "nvidia.com/gpumem (MiB) or gpumem-percentage and nvidia.com/gpucores (percent).")
        .of(kHami),
    field<&NodePool::kai>("kai", "true",
                          "KAI scheduler with its GPU sharing: pods ask for a part of a GPU by the "
                          "annotation gpu-fraction or gpu-memory (MiB), or for nvidia.com/gpu."),
    field<&NodePool::dra>("dra", "true",
                          "NVIDIA's DRA driver in place of the device plugin: pods have GPUs, or "
                          "the MIG devices of `mig` or dynamicMig, by spec.resourceClaims."),
    field<&NodePool::dynamic_mig>(
        "dynamicMig", "{create: 5s, destroy: 5s}",
        "The DRA driver's feature gate DynamicMIG: it makes a MIG device when the first pod of a "
        "claim starts, where the GPU has room for its profile, and destroys it when the last has "
        "gone. Of A100 all GPUs are cut; later GPUs may be claimed whole as well. In place of mig.")
        .of(kDynamicMig),
    field<&NodePool::taints>("taints", "[{key: nvidia.com/gpu, effect: NoSchedule}]",
                             "Taints of the nodes.")
        .of(kTaint),
    field<&NodePool::labels>("labels", "{team: vision}", "Labels of the nodes."),
    field<&NodePool::daemon_sets>(
        "daemonSets", "[{name: aws-node, cpu: 50m}, {name: fluent-bit, cpu: 100m, memory: 128Mi}]",
        "DaemonSets on each node, in place of the usual ones: their pods take CPU, memory and a "
        "place from those of the workloads. [] is none.")
        .of(kDaemonSet)
        .otherwise("aws-node (50m), kube-proxy (100m), nvidia-device-plugin and dcgm-exporter "
                   "(without requests)"),
    field<&NodePool::allocatable>("allocatable", "{cpu: 3920m, memory: 14Gi, pods: 58, gpus: 3}",
                                  "What each node has for pods, those of its DaemonSets among "
                                  "them, as `kubectl describe node` says, where the kubelet keeps "
                                  "more back than EKS does by default, or GPUs are unhealthy.")
        .of(kAllocatable),
    field<&NodePool::gpu>("gpu", "{timeSlice: 2ms}",
                          "Figures of the GPU that replace those of the catalogue.")
        .of(kGpu),
};

}  // namespace

constinit const FieldList kNodePool = block<NodePool, &finish_node_pool>(kNodePoolFields);

}  // namespace slicewise::scenarios
