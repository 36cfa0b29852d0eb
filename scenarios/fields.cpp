#include "fields.hpp"

#include <iterator>
#include <limits>

namespace slicewise::scenarios {
namespace {

using T = FieldType;

template <std::size_t N>
constexpr FieldList list(const Field (&fields)[N]) {
  return {fields, N};
}
template <std::size_t N>
constexpr WordList list(const std::string_view (&words)[N]) {
  return {words, N};
}

constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kApiVersions[] = {"slicewise.dev/v1alpha1"};
constexpr std::string_view kKinds[] = {"Scenario"};
constexpr std::string_view kUntil[] = {"AllJobsDone"};
constexpr std::string_view kFidelities[] = {"auto", "exact"};
constexpr std::string_view kScorePolicies[] = {"LeastAllocated", "MostAllocated"};
constexpr std::string_view kCapacityTypes[] = {"on-demand", "spot", "reserved"};
constexpr std::string_view kPluginVersions[] = {"v1"};
constexpr std::string_view kMigStrategies[] = {"none", "single", "mixed"};
constexpr std::string_view kDeviceLists[] = {"envvar", "volume-mounts", "cdi-annotations",
                                             "cdi-cri"};
constexpr std::string_view kDeviceIds[] = {"uuid", "index"};
constexpr std::string_view kDiscovery[] = {"auto", "nvml", "tegra"};
constexpr std::string_view kAllocationPolicies[] = {"distributed", "packed"};
constexpr std::string_view kTaintEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr std::string_view kTolerationOperators[] = {"Equal", "Exists"};
constexpr std::string_view kWorkloadKinds[] = {"Job", "Deployment", "Service"};
constexpr std::string_view kRestartPolicies[] = {"Never", "OnFailure", "Always"};
constexpr std::string_view kAllocators[] = {"OnDemand", "Greedy", "Capped"};
constexpr std::string_view kDistributions[] = {"Deterministic", "Exponential"};
constexpr std::string_view kProvenances[] = {"Measured", "Catalog", "Assumed"};
constexpr std::string_view kShapes[] = {"Poisson", "Constant"};

// --- nodePools -----------------------------------------------------------------------------------

constexpr Field kSharedResources[] = {
    {.name = "name",
     .type = T::Text,
     .required = true,
     .description = "Resource whose devices are shared; nvidia.com/ is added when missing.",
     .example = "name: nvidia.com/gpu",
     .least = 1},
    {.name = "replicas",
     .type = T::Integer,
     .required = true,
     .description = "Slots that the plugin advertises per device. A slot is a ticket, not a share.",
     .example = "replicas: 10",
     .least = 2,
     .below = Code::ReplicasTooFew},
    {.name = "rename",
     .type = T::Ignored,
     .description = "the plugin offers name.shared with renameByDefault: true and nothing else"},
    {.name = "devices",
     .type = T::Ignored,
     .description = "every device of the node gets the same replicas; use two node pools"},
};

constexpr Field kSharingMode[] = {
    {.name = "renameByDefault",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Advertise nvidia.com/gpu.shared in place of nvidia.com/gpu.",
     .example = "renameByDefault: true"},
    {.name = "failRequestsGreaterThanOne",
     .type = T::Boolean,
     .default_value = "false for timeSlicing, true for mps",
     .description = "Refuse a container that asks for more than one shared replica.",
     .example = "failRequestsGreaterThanOne: true"},
    {.name = "resources",
     .type = T::Blocks,
     .required = true,
     .description = "What is shared, and into how many slots.",
     .example = "resources: [{name: nvidia.com/gpu, replicas: 10}]",
     .children = list(kSharedResources),
     .least = 1},
};

constexpr Field kSharing[] = {
    {.name = "timeSlicing",
     .type = T::Block,
     .description = "Processes take turns on the GPU. No memory limit, no memory isolation.",
     .example = "timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}",
     .children = list(kSharingMode)},
    {.name = "mps",
     .type = T::Block,
     .description = "Processes run side by side under NVIDIA's Multi-Process Service.",
     .example = "mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}",
     .children = list(kSharingMode)},
};

constexpr Field kPluginFlags[] = {
    {.name = "passDeviceSpecs",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Pass device nodes to the kubelet; needed with its CPU manager.",
     .example = "passDeviceSpecs: true"},
    {.name = "deviceListStrategy",
     .type = T::Words,
     .default_value = "envvar",
     .description = "How the container learns its devices.",
     .example = "deviceListStrategy: envvar",
     .words = list(kDeviceLists),
     .least = 1},
    {.name = "deviceIDStrategy",
     .type = T::Word,
     .default_value = "uuid",
     .description = "What the plugin calls a device.",
     .example = "deviceIDStrategy: uuid",
     .words = list(kDeviceIds)},
    {.name = "cdiAnnotationPrefix",
     .type = T::Text,
     .default_value = "cdi.k8s.io/",
     .description = "Prefix of the CDI annotations.",
     .example = "cdiAnnotationPrefix: cdi.k8s.io/"},
    {.name = "nvidiaCTKPath",
     .type = T::Text,
     .default_value = "/usr/bin/nvidia-ctk",
     .description = "Path of nvidia-ctk on the host.",
     .example = "nvidiaCTKPath: /usr/bin/nvidia-ctk"},
    {.name = "containerDriverRoot",
     .type = T::Text,
     .default_value = "/driver-root",
     .description = "Where the driver is mounted in the plugin's container.",
     .example = "containerDriverRoot: /driver-root"},
    {.name = "sharedDevicesAllocationPolicy",
     .type = T::Word,
     .default_value = "distributed",
     .description = "Which GPU a shared slot comes from: the one with the fewest slots in use, or "
                    "the one with the most. Plugin 0.20 and later.",
     .example = "sharedDevicesAllocationPolicy: packed",
     .words = list(kAllocationPolicies)},
};

constexpr Field kGfdFlags[] = {
    {.name = "oneshot",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Label the node once and exit.",
     .example = "oneshot: true"},
    {.name = "noTimestamp",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Leave the timestamp label out.",
     .example = "noTimestamp: true"},
    {.name = "sleepInterval",
     .type = T::Duration,
     .default_value = "60s",
     .description = "Time between two rounds of labelling.",
     .example = "sleepInterval: 60s"},
    {.name = "outputFile",
     .type = T::Text,
     .default_value = "/etc/kubernetes/node-feature-discovery/features.d/gfd",
     .description = "File that node feature discovery reads.",
     .example = "outputFile: /etc/kubernetes/node-feature-discovery/features.d/gfd"},
    {.name = "machineTypeFile",
     .type = T::Text,
     .default_value = "/sys/class/dmi/id/product_name",
     .description = "File that holds the machine type.",
     .example = "machineTypeFile: /sys/class/dmi/id/product_name"},
};

constexpr Field kFlags[] = {
    {.name = "migStrategy",
     .type = T::Word,
     .default_value = "none",
     .description = "How MIG devices are named: none, single (nvidia.com/gpu) or mixed "
                    "(nvidia.com/mig-1g.5gb).",
     .example = "migStrategy: mixed",
     .words = list(kMigStrategies)},
    {.name = "failOnInitError",
     .type = T::Boolean,
     .default_value = "true",
     .description = "Exit when no driver is found.",
     .example = "failOnInitError: false"},
    {.name = "mpsRoot",
     .type = T::Text,
     .description = "Host path of the MPS daemon's files.",
     .example = "mpsRoot: /run/nvidia/mps"},
    {.name = "nvidiaDriverRoot",
     .type = T::Text,
     .default_value = "/",
     .description = "Root of the driver installation on the host.",
     .example = "nvidiaDriverRoot: /run/nvidia/driver"},
    {.name = "nvidiaDevRoot",
     .type = T::Text,
     .description = "Root of the device nodes on the host; the driver root when absent.",
     .example = "nvidiaDevRoot: /"},
    {.name = "gdrcopyEnabled",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Give containers the GDRCopy device.",
     .example = "gdrcopyEnabled: true"},
    {.name = "gdsEnabled",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Give containers the GPUDirect Storage devices.",
     .example = "gdsEnabled: true"},
    {.name = "mofedEnabled",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Give containers the Mellanox devices.",
     .example = "mofedEnabled: true"},
    {.name = "useNodeFeatureAPI",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Publish labels through the NodeFeature API.",
     .example = "useNodeFeatureAPI: true"},
    {.name = "deviceDiscoveryStrategy",
     .type = T::Word,
     .default_value = "auto",
     .description = "How the plugin finds devices.",
     .example = "deviceDiscoveryStrategy: nvml",
     .words = list(kDiscovery)},
    {.name = "plugin",
     .type = T::Block,
     .description = "Flags of the device plugin alone.",
     .example = "plugin: {passDeviceSpecs: true}",
     .children = list(kPluginFlags)},
    {.name = "gfd",
     .type = T::Block,
     .description = "Flags of GPU feature discovery alone.",
     .example = "gfd: {oneshot: false}",
     .children = list(kGfdFlags)},
};

constexpr Field kImex[] = {
    {.name = "channelIDs",
     .type = T::Integers,
     .description = "IMEX channels: [] or [0].",
     .example = "channelIDs: [0]",
     .most = 0},
    {.name = "required",
     .type = T::Boolean,
     .default_value = "false",
     .description = "Fail when the channels are missing.",
     .example = "required: true"},
};

constexpr Field kDevicePlugin[] = {
    {.name = "version",
     .type = T::Word,
     .default_value = "v1",
     .description = "Version of the plugin's config file.",
     .example = "version: v1",
     .words = list(kPluginVersions)},
    {.name = "flags",
     .type = T::Block,
     .description = "The plugin's flags.",
     .example = "flags: {migStrategy: none}",
     .children = list(kFlags)},
    {.name = "sharing",
     .type = T::Block,
     .description = "Time-slicing or MPS, never both. Left out: one pod per GPU.",
     .example = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}}",
     .children = list(kSharing)},
    {.name = "imex",
     .type = T::Block,
     .description = "IMEX channels of multi-node NVLink.",
     .example = "imex: {channelIDs: [0]}",
     .children = list(kImex)},
    {.name = "resources",
     .type = T::Ignored,
     .description = "the plugin has switched custom resource names off"},
};

constexpr Field kMig[] = {
    {.name = "strategy",
     .type = T::Word,
     .default_value = "single",
     .description = "How the plugin names the instances.",
     .example = "strategy: mixed",
     .words = list(kMigStrategies)},
    {.name = "config",
     .type = T::Text,
     .required = true,
     .description = "Layout: a value of the node label nvidia.com/mig.config.",
     .example = "config: all-1g.5gb",
     .least = 1},
};

constexpr Field kTaint[] = {
    {.name = "key",
     .type = T::Text,
     .required = true,
     .description = "Key of the taint.",
     .example = "key: nvidia.com/gpu",
     .least = 1},
    {.name = "value",
     .type = T::Text,
     .description = "Value of the taint.",
     .example = "value: present"},
    {.name = "effect",
     .type = T::Word,
     .required = true,
     .description = "What happens to pods that do not tolerate it.",
     .example = "effect: NoSchedule",
     .words = list(kTaintEffects)},
};

constexpr Field kGpu[] = {
    {.name = "timeSlice",
     .type = T::Duration,
     .default_value = "the GPU model's",
     .description = "Length of a turn under time-slicing.",
     .example = "timeSlice: 2ms",
     .least = 1},
    {.name = "switchCost",
     .type = T::Duration,
     .default_value = "from the GPU model's figures",
     .description = "Time lost when the GPU changes from one process to another.",
     .example = "switchCost: 100us"},
    {.name = "coldCache",
     .type = T::Percent,
     .default_value = "the GPU model's",
     .description = "Share of the L2 cache that a process refills when its turn begins.",
     .example = "coldCache: 50%"},
    {.name = "contextMemory",
     .type = T::Bytes,
     .default_value = "the GPU model's",
     .description = "GPU memory of one CUDA context.",
     .example = "contextMemory: 320Mi"},
};

constexpr Field kNodePool[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the pool; patches and sweeps address it by this name.",
     .example = "name: v100"},
    {.name = "instanceType",
     .type = T::Text,
     .required = true,
     .description = "EC2 instance type (slicewise get instances).",
     .example = "instanceType: p3.8xlarge",
     .least = 1},
    {.name = "nodes",
     .type = T::Integer,
     .default_value = "1",
     .description = "Number of nodes, from the start to the end of the run.",
     .example = "nodes: 2",
     .least = 1,
     .most = 10'000},
    {.name = "capacityType",
     .type = T::Word,
     .default_value = "on-demand",
     .description = "How the nodes are bought.",
     .example = "capacityType: spot",
     .words = list(kCapacityTypes)},
    {.name = "devicePlugin",
     .type = T::Block,
     .nullable = true,
     .description = "Config file of the NVIDIA device plugin, pasted as it is. null or absent: "
                    "no sharing.",
     .example = "devicePlugin: {version: v1, sharing: {timeSlicing: {resources: [{name: "
                "nvidia.com/gpu, replicas: 10}]}}}",
     .children = list(kDevicePlugin)},
    {.name = "mig",
     .type = T::Block,
     .description = "Partition the GPUs with MIG.",
     .example = "mig: {strategy: mixed, config: all-1g.5gb}",
     .children = list(kMig)},
    {.name = "taints",
     .type = T::Blocks,
     .description = "Taints of the nodes.",
     .example = "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]",
     .children = list(kTaint)},
    {.name = "labels",
     .type = T::Labels,
     .description = "Labels of the nodes.",
     .example = "labels: {team: vision}"},
    {.name = "gpu",
     .type = T::Block,
     .description = "Figures of the GPU that replace those of the catalogue.",
     .example = "gpu: {timeSlice: 2ms}",
     .children = list(kGpu)},
};

// --- workloads -----------------------------------------------------------------------------------

constexpr Field kResources[] = {
    {.name = "requests",
     .type = T::Resources,
     .description = "What the scheduler reserves: cpu, memory and extended resources.",
     .example = "requests: {cpu: 500m, memory: 4Gi}"},
    {.name = "limits",
     .type = T::Resources,
     .description = "The most a container may use. A limit without a request is the request too.",
     .example = "limits: {nvidia.com/gpu: 1}"},
};

constexpr Field kToleration[] = {
    {.name = "key",
     .type = T::Text,
     .description = "Key of the taint; all keys when absent.",
     .example = "key: nvidia.com/gpu"},
    {.name = "operator",
     .type = T::Word,
     .default_value = "Equal",
     .description = "Equal compares the value, Exists does not.",
     .example = "operator: Exists",
     .words = list(kTolerationOperators)},
    {.name = "value",
     .type = T::Text,
     .description = "Value of the taint.",
     .example = "value: present"},
    {.name = "effect",
     .type = T::Word,
     .description = "Effect; all effects when absent.",
     .example = "effect: NoSchedule",
     .words = list(kTaintEffects)},
};

constexpr Field kVariable[] = {
    {.name = "name",
     .type = T::Text,
     .required = true,
     .description = "Name of the variable.",
     .example = "name: TF_FORCE_GPU_ALLOW_GROWTH",
     .least = 1},
    {.name = "value",
     .type = T::Text,
     .description = "Its value, always text.",
     .example = "value: \"true\""},
};

constexpr Field kPodTemplate[] = {
    {.name = "resources",
     .type = T::Block,
     .description = "The container's resources block.",
     .example = "resources: {requests: {cpu: 500m}, limits: {nvidia.com/gpu: 1}}",
     .children = list(kResources)},
    {.name = "tolerations",
     .type = T::Blocks,
     .description = "Taints that the pods tolerate.",
     .example = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]",
     .children = list(kToleration)},
    {.name = "nodeSelector",
     .type = T::Labels,
     .description = "Node labels that the pods need.",
     .example = "nodeSelector: {team: vision}"},
    {.name = "env",
     .type = T::Environment,
     .description = "Environment variables, as a mapping or as Kubernetes' list.",
     .example = "env: {TF_FORCE_GPU_ALLOW_GROWTH: \"true\"}",
     .children = list(kVariable)},
};

constexpr Field kGpuMemory[] = {
    {.name = "allocator",
     .type = T::Word,
     .default_value = "OnDemand",
     .description = "OnDemand takes what it needs, Greedy (TensorFlow's default) maps the whole "
                    "GPU at start, Capped keeps to a set limit.",
     .example = "allocator: Greedy",
     .words = list(kAllocators)},
    {.name = "resident",
     .type = T::Bytes,
     .default_value = "0",
     .description = "GPU memory after start-up, without the CUDA context.",
     .example = "resident: 1400Mi"},
    {.name = "peak",
     .type = T::Bytes,
     .default_value = "resident",
     .description = "The most GPU memory it ever holds.",
     .example = "peak: 3000Mi"},
};

constexpr Field kStartup[] = {
    {.name = "imagePull",
     .type = T::Duration,
     .default_value = "0",
     .description = "Time to pull the image, for the first pod on a node.",
     .example = "imagePull: 40s"},
    {.name = "modelLoad",
     .type = T::Duration,
     .default_value = "0",
     .description = "Time from container start to ready, every start.",
     .example = "modelLoad: 12s"},
};

constexpr Field kWork[] = {
    {.name = "units",
     .type = T::Integer,
     .required = true,
     .description = "Units of work of one pod: epochs, files, ...",
     .example = "units: 100",
     .least = 1},
    {.name = "unitName",
     .type = T::Text,
     .default_value = "unit",
     .description = "What a unit is called in reports.",
     .example = "unitName: epoch",
     .least = 1},
    {.name = "stepsPerUnit",
     .type = T::Integer,
     .description = "GPU bursts in a unit, such as training steps in an epoch.",
     .example = "stepsPerUnit: 1563",
     .least = 1},
};

constexpr Field kRequestTime[] = {
    {.name = "mean",
     .type = T::Duration,
     .description = "Mean GPU time of a request.",
     .example = "mean: 31ms",
     .least = 1},
    {.name = "distribution",
     .type = T::Word,
     .default_value = "Deterministic",
     .description = "How it varies around the mean.",
     .example = "distribution: Exponential",
     .words = list(kDistributions)},
    {.name = "p50",
     .type = T::Duration,
     .description = "Median; with p99, a log-normal law.",
     .example = "p50: 31ms",
     .least = 1},
    {.name = "p99",
     .type = T::Duration,
     .description = "99th percentile.",
     .example = "p99: 44ms",
     .least = 1},
};

constexpr Field kMeasured[] = {
    {.name = "device",
     .type = T::Text,
     .default_value = "the pool's own GPU",
     .description = "GPU model on which the figures hold (slicewise get gpus).",
     .example = "device: V100-SXM2-16GB",
     .least = 1},
    {.name = "unitTime",
     .type = T::Duration,
     .description = "Wall time of a work unit, one pod alone on one GPU.",
     .example = "unitTime: 18s",
     .least = 1},
    {.name = "unitTimeVariation",
     .type = T::Percent,
     .default_value = "0%",
     .description = "Coefficient of variation of unitTime between pods.",
     .example = "unitTimeVariation: 5%"},
    {.name = "gpuBusy",
     .type = T::Percent,
     .description = "Share of the time in which some kernel runs (nvidia-smi's utilization).",
     .example = "gpuBusy: 38%"},
    {.name = "smActive",
     .type = T::Percent,
     .description = "Share of the time in which an SM is busy, averaged over the SMs (DCGM).",
     .example = "smActive: 21%"},
    {.name = "cpu",
     .type = T::Cpu,
     .description = "Host CPU that a running pod uses on average.",
     .example = "cpu: 2600m"},
    {.name = "requestGpuTime",
     .type = T::RequestTime,
     .description = "GPU time of one request of a Service, alone on the GPU.",
     .example = "requestGpuTime: {p50: 31ms, p99: 44ms}",
     .children = list(kRequestTime),
     .least = 1},
    {.name = "bandwidthShare",
     .type = T::Percent,
     .description = "Share of the work that memory bandwidth limits, not the SMs.",
     .example = "bandwidthShare: 30%"},
    {.name = "provenance",
     .type = T::Word,
     .default_value = "Assumed",
     .description = "Where the figures come from; reports count them.",
     .example = "provenance: Measured",
     .words = list(kProvenances)},
};

constexpr Field kTraffic[] = {
    {.name = "shape",
     .type = T::Word,
     .default_value = "Poisson",
     .description = "Poisson arrives at random, Constant at equal distances.",
     .example = "shape: Poisson",
     .words = list(kShapes)},
    {.name = "mean",
     .type = T::Rate,
     .required = true,
     .description = "Requests of the whole Service, over all replicas.",
     .example = "mean: 12/s"},
};

constexpr Field kSlo[] = {
    {.name = "latencyP50",
     .type = T::Duration,
     .description = "Median latency of a request.",
     .example = "latencyP50: 80ms",
     .least = 1},
    {.name = "latencyP95",
     .type = T::Duration,
     .description = "95th percentile of the latency of a request.",
     .example = "latencyP95: 300ms",
     .least = 1},
    {.name = "latencyP99",
     .type = T::Duration,
     .description = "99th percentile of the latency of a request.",
     .example = "latencyP99: 500ms",
     .least = 1},
    {.name = "completionP95",
     .type = T::Duration,
     .description = "95th percentile of the time from submission to completion of a pod.",
     .example = "completionP95: 2h",
     .least = 1},
    {.name = "waitP95",
     .type = T::Duration,
     .description = "95th percentile of the time a pod is Pending.",
     .example = "waitP95: 10m",
     .least = 1},
};

constexpr Field kWorkload[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the workload; patches and sweeps address it by this name.",
     .example = "name: cifar10"},
    {.name = "kind",
     .type = T::Word,
     .default_value = "Job",
     .description = "Job runs to completion, Deployment restarts what completes, Service answers "
                    "requests.",
     .example = "kind: Job",
     .words = list(kWorkloadKinds)},
    {.name = "namespace",
     .type = T::Name,
     .default_value = "default",
     .description = "Kubernetes namespace of the pods.",
     .example = "namespace: team-a"},
    {.name = "count",
     .type = T::Integer,
     .default_value = "1",
     .description = "Number of Jobs, one pod each (kind Job only).",
     .example = "count: 20",
     .least = 1,
     .most = 1'000'000},
    {.name = "replicas",
     .type = T::Integer,
     .default_value = "1",
     .description = "Number of pods (kinds Deployment and Service).",
     .example = "replicas: 4",
     .least = 1,
     .most = 1'000'000},
    {.name = "restartPolicy",
     .type = T::Word,
     .default_value = "OnFailure for a Job, Always otherwise",
     .description = "What the kubelet does with a container that ends.",
     .example = "restartPolicy: Never",
     .words = list(kRestartPolicies)},
    {.name = "backoffLimit",
     .type = T::Integer,
     .default_value = "6",
     .description = "Failures after which a Job is given up (kind Job only).",
     .example = "backoffLimit: 4"},
    {.name = "priority",
     .type = T::Integer,
     .default_value = "0",
     .description = "Scheduling priority; higher goes first.",
     .example = "priority: 1000",
     .least = -2'147'483'648,
     .most = 1'000'000'000},
    {.name = "submitAt",
     .type = T::Duration,
     .default_value = "0",
     .description = "When the first pod is submitted.",
     .example = "submitAt: 10m"},
    {.name = "submitInterval",
     .type = T::Duration,
     .default_value = "0",
     .description = "Time between the submissions of two pods; 0 submits all at once.",
     .example = "submitInterval: 30s"},
    {.name = "profile",
     .type = T::Text,
     .description = "Workload profile of the catalogue (slicewise get profiles).",
     .example = "profile: resnet-50-inference/a100-80gb/b8",
     .least = 1},
    {.name = "podTemplate",
     .type = T::Block,
     .description = "The pod, as in Kubernetes.",
     .example = "podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}",
     .children = list(kPodTemplate)},
    {.name = "gpuMemory",
     .type = T::Block,
     .description = "GPU memory of one process.",
     .example = "gpuMemory: {allocator: OnDemand, resident: 1400Mi}",
     .children = list(kGpuMemory)},
    {.name = "startup",
     .type = T::Block,
     .description = "Times before a pod does useful work.",
     .example = "startup: {imagePull: 40s, modelLoad: 12s}",
     .children = list(kStartup)},
    {.name = "work",
     .type = T::Block,
     .description = "Work of one pod of a Job, or of one life of a Deployment's container.",
     .example = "work: {units: 100, unitName: epoch}",
     .children = list(kWork)},
    {.name = "measured",
     .type = T::Block,
     .description = "How one pod behaves alone on one whole GPU.",
     .example = "measured: {unitTime: 18s, gpuBusy: 38%, provenance: Assumed}",
     .children = list(kMeasured)},
    {.name = "traffic",
     .type = T::Block,
     .description = "Requests of a Service.",
     .example = "traffic: {shape: Poisson, mean: 12/s}",
     .children = list(kTraffic)},
    {.name = "slo",
     .type = T::Block,
     .description = "Objectives; a run that misses one exits with 99.",
     .example = "slo: {latencyP99: 500ms}",
     .children = list(kSlo)},
};

// --- the file ------------------------------------------------------------------------------------

constexpr Field kVariant[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the variant.",
     .example = "name: after"},
    {.name = "description",
     .type = T::Text,
     .description = "What it shows, for reports.",
     .example = "description: Time-slicing x10, 20 pods."},
    {.name = "patch",
     .type = T::Patch,
     .description = "Part of spec. Mappings merge, lists merge by name (other lists replace), "
                    "null removes.",
     .example = "patch: {workloads: [{name: cifar10, count: 20}]}"},
};

constexpr Field kScheduler[] = {
    {.name = "scorePolicy",
     .type = T::Word,
     .default_value = "LeastAllocated",
     .description = "kube-scheduler's NodeResourcesFit: spread pods, or pack them.",
     .example = "scorePolicy: MostAllocated",
     .words = list(kScorePolicies)},
};

constexpr Field kSpec[] = {
    {.name = "region",
     .type = T::Text,
     .default_value = "us-east-1",
     .description = "AWS region, for prices.",
     .example = "region: us-east-1",
     .least = 1},
    {.name = "duration",
     .type = T::Duration,
     .description = "Simulated time. Absent: until every Job is done.",
     .example = "duration: 24h",
     .least = 1},
    {.name = "until",
     .type = T::Word,
     .default_value = "AllJobsDone, unless duration is set",
     .description = "End of the run, in place of duration.",
     .example = "until: AllJobsDone",
     .words = list(kUntil)},
    {.name = "warmup",
     .type = T::Duration,
     .default_value = "0",
     .description = "Start of the run that latency figures leave out.",
     .example = "warmup: 10m"},
    {.name = "seed",
     .type = T::Integer,
     .default_value = "42",
     .description = "Seed of the random streams.",
     .example = "seed: 42",
     .most = kAnyInteger},
    {.name = "replications",
     .type = T::Integer,
     .default_value = "5",
     .description = "Independent runs behind the 95 % intervals.",
     .example = "replications: 10",
     .least = 1,
     .most = 100'000},
    {.name = "fidelity",
     .type = T::Word,
     .default_value = "auto",
     .description = "exact simulates every GPU burst, auto only where it matters.",
     .example = "fidelity: exact",
     .words = list(kFidelities)},
    {.name = "scheduler",
     .type = T::Block,
     .description = "Settings of kube-scheduler.",
     .example = "scheduler: {scorePolicy: MostAllocated}",
     .children = list(kScheduler)},
    {.name = "nodePools",
     .type = T::Blocks,
     .required = true,
     .description = "Groups of equal nodes.",
     .example = "nodePools: [{name: v100, instanceType: p3.8xlarge}]",
     .children = list(kNodePool),
     .least = 1},
    {.name = "workloads",
     .type = T::Blocks,
     .required = true,
     .description = "What runs.",
     .example = "workloads: [{name: cifar10, kind: Job, count: 5}]",
     .children = list(kWorkload),
     .least = 1},
    {.name = "variants",
     .type = T::Blocks,
     .description = "Changes to spec, each simulated on its own in place of spec itself.",
     .example = "variants: [{name: before, patch: {nodePools: [{name: v100, devicePlugin: "
                "null}]}}]",
     .children = list(kVariant),
     .least = 1},
    {.name = "sweep",
     .type = T::Sweep,
     .description = "Dotted paths below spec and the values each takes; every combination is "
                    "simulated, for every variant.",
     .example = "sweep: {nodePools.v100.instanceType: [p3.8xlarge, g5.12xlarge]}"},
};

constexpr Field kMetadata[] = {
    {.name = "name",
     .type = T::Name,
     .required = true,
     .description = "Name of the scenario.",
     .example = "name: aws-cifar10"},
    {.name = "labels",
     .type = T::Labels,
     .description = "For your own use.",
     .example = "labels: {team: vision}"},
    {.name = "annotations",
     .type = T::Labels,
     .description = "For your own use; reports carry it.",
     .example = "annotations: {slicewise.dev/source: https://example.com}"},
};

constexpr Field kTop[] = {
    {.name = "apiVersion",
     .type = T::Word,
     .required = true,
     .description = "Version of the file format.",
     .example = "apiVersion: slicewise.dev/v1alpha1",
     .words = list(kApiVersions),
     .wrong_word = Code::ApiVersionUnknown},
    {.name = "kind",
     .type = T::Word,
     .required = true,
     .description = "What the file holds.",
     .example = "kind: Scenario",
     .words = list(kKinds),
     .wrong_word = Code::ApiVersionUnknown},
    {.name = "metadata",
     .type = T::Block,
     .required = true,
     .description = "Name and notes.",
     .example = "metadata: {name: aws-cifar10}",
     .children = list(kMetadata)},
    {.name = "spec",
     .type = T::Block,
     .required = true,
     .description = "What is simulated.",
     .example = "spec: {nodePools: [...], workloads: [...]}",
     .children = list(kSpec)},
};

constexpr Field kScenario = {.name = "scenario",
                             .type = T::Block,
                             .description = "A scenario for slicewise.",
                             .children = list(kTop)};

std::string joined(const WordList& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace

const Field* FieldList::find(std::string_view name) const {
  for (const Field& field : *this) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Field& scenario_field() { return kScenario; }

const Field& spec_field() { return kTop[3]; }

std::string type_text(const Field& field) {
  switch (field.type) {
    case T::Block:
      return "mapping";
    case T::Blocks:
      return "list of mappings";
    case T::Text:
      return "text";
    case T::Name:
      return "name (lower-case letters, digits and -)";
    case T::Word:
      return "one of: " + joined(field.words);
    case T::Words:
      return "one or a list of: " + joined(field.words);
    case T::Boolean:
      return "true or false";
    case T::Integer:
      return "whole number";
    case T::Integers:
      return "list of whole numbers";
    case T::Bytes:
      return "quantity of bytes (8Gi, 3000Mi, 16G)";
    case T::Cpu:
      return "quantity of CPU (500m, 2)";
    case T::Duration:
      return "duration (2ms, 1m30s, 24h)";
    case T::Percent:
      return "percentage (38%)";
    case T::Rate:
      return "rate (12/s)";
    case T::Labels:
      return "mapping of text to text";
    case T::Resources:
      return "mapping of resource names to quantities";
    case T::Environment:
      return "mapping of text to text, or list of {name, value}";
    case T::RequestTime:
      return "duration, {mean, distribution} or {p50, p99}";
    case T::Patch:
      return "part of spec";
    case T::Sweep:
      return "mapping of paths to lists of values";
    case T::Ignored:
      return "ignored by the device plugin, refused here";
  }
  return "";
}

}  // namespace slicewise::scenarios
