#pragma once

#include <string_view>

#include "fields.hpp"
#include "fields_llm.hpp"
#include "fields_measured.hpp"
#include "fields_node_pool.hpp"
#include "fields_notebooks.hpp"
#include "fields_serving.hpp"
#include "fields_slo.hpp"
#include "fields_traffic.hpp"

// The fields of workloads[].
namespace slicewise::scenarios::table {

inline constexpr std::string_view kTolerationOperators[] = {"Equal", "Exists"};

inline constexpr std::string_view kWorkloadKinds[] = {"Job", "Deployment", "Service", "Notebook"};

inline constexpr std::string_view kRestartPolicies[] = {"Never", "OnFailure", "Always"};

inline constexpr std::string_view kAllocators[] = {"OnDemand", "Greedy", "Capped"};

inline constexpr std::string_view kHostPhases[] = {"Overlapped", "Serial"};

// For `explain`; the checks take any extended resource.
inline constexpr Field kResourceNames[] = {
    {.name = "cpu",
     .type = FieldType::Cpu,
     .description = "vCPUs of the container: a share of the node, in whole or thousandths (m).",
     .example = "cpu: 500m"},
    {.name = "memory",
     .type = FieldType::Bytes,
     .description = "Host memory of the container; the memory of the GPU is gpuMemory.",
     .example = "memory: 4Gi"},
    {.name = "nvidia.com/gpu",
     .type = FieldType::Integer,
     .description = "GPUs or replicas of a shared GPU, in whole units; a renamed or MIG resource "
                    "(nvidia.com/gpu.shared, nvidia.com/mig-1g.5gb) is written the same way.",
     .example = "nvidia.com/gpu: 1"},
};

inline constexpr Field kResources[] = {
    {.name = "requests",
     .type = FieldType::Resources,
     .description = "What the scheduler reserves: cpu, memory and extended resources.",
     .example = "requests: {cpu: 500m, memory: 4Gi}",
     .children = list(kResourceNames)},
    {.name = "limits",
     .type = FieldType::Resources,
     .description = "The most a container may use. A limit without a request is the request too.",
     .example = "limits: {nvidia.com/gpu: 1}",
     .children = list(kResourceNames)},
};

inline constexpr Field kToleration[] = {
    {.name = "key",
     .type = FieldType::Text,
     .description = "Key of the taint; all keys when absent.",
     .example = "key: nvidia.com/gpu"},
    {.name = "operator",
     .type = FieldType::Word,
     .default_value = "Equal",
     .description = "Equal compares the value, Exists does not.",
     .example = "operator: Exists",
     .words = list(kTolerationOperators)},
    {.name = "value",
     .type = FieldType::Text,
     .description = "Value of the taint.",
     .example = "value: present"},
    {.name = "effect",
     .type = FieldType::Word,
     .description = "Effect; all effects when absent.",
     .example = "effect: NoSchedule",
     .words = list(kTaintEffects)},
};

inline constexpr Field kVariable[] = {
    {.name = "name",
     .type = FieldType::Text,
     .required = true,
     .description = "Name of the variable.",
     .example = "name: TF_FORCE_GPU_ALLOW_GROWTH",
     .least = 1},
    {.name = "value",
     .type = FieldType::Text,
     .description = "Its value, always text.",
     .example = "value: \"true\""},
};

inline constexpr Field kPodTemplate[] = {
    {.name = "resources",
     .type = FieldType::Block,
     .description = "The container's resources block.",
     .example = "resources: {requests: {cpu: 500m}, limits: {nvidia.com/gpu: 1}}",
     .children = list(kResources)},
    {.name = "tolerations",
     .type = FieldType::Blocks,
     .description = "Taints that the pods tolerate.",
     .example = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]",
     .children = list(kToleration)},
    {.name = "nodeSelector",
     .type = FieldType::Labels,
     .description = "Node labels that the pods need.",
     .example = "nodeSelector: {team: vision}"},
    {.name = "env",
     .type = FieldType::Environment,
     .description = "Environment variables, as a mapping or as Kubernetes' list.",
     .example = "env: {TF_FORCE_GPU_ALLOW_GROWTH: \"true\"}",
     .children = list(kVariable)},
};

inline constexpr Field kGpuMemory[] = {
    {.name = "allocator",
     .type = FieldType::Word,
     .default_value = "OnDemand",
     .description = "OnDemand takes what it needs, Greedy (TensorFlow's default) maps the whole "
                    "GPU at start, Capped keeps to a set limit.",
     .example = "allocator: Greedy",
     .words = list(kAllocators)},
    {.name = "resident",
     .type = FieldType::Bytes,
     .default_value = "0",
     .description = "GPU memory after start-up, without the CUDA context.",
     .example = "resident: 1400Mi"},
    {.name = "peak",
     .type = FieldType::Bytes,
     .default_value = "resident",
     .description = "The most GPU memory it ever holds.",
     .example = "peak: 3000Mi"},
};

inline constexpr Field kStartup[] = {
    {.name = "imagePull",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Time to pull the image, for the first pod on a node.",
     .example = "imagePull: 40s"},
    {.name = "modelLoad",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Time from container start to ready, every start.",
     .example = "modelLoad: 12s"},
};

inline constexpr Field kAllReduce[] = {
    {.name = "bytesPerStep",
     .type = FieldType::Bytes,
     .required = true,
     .description = "What each GPU of the pod contributes to a step: the size of the gradients. "
                    "It takes bytes / rate of the links between the GPUs that the pod was given, "
                    "on top of the measured unit and not beside it.",
     .example = "bytesPerStep: 98Mi"},
};

inline constexpr Field kWork[] = {
    {.name = "units",
     .type = FieldType::Integer,
     .required = true,
     .description = "Units of work of one pod: epochs, files, ...",
     .example = "units: 100",
     .least = 1},
    {.name = "unitName",
     .type = FieldType::Text,
     .default_value = "unit",
     .description = "What a unit is called in reports.",
     .example = "unitName: epoch",
     .least = 1},
    {.name = "stepsPerUnit",
     .type = FieldType::Integer,
     .description = "GPU bursts in a unit, such as training steps in an epoch.",
     .example = "stepsPerUnit: 1563",
     .least = 1},
    {.name = "hostPhase",
     .type = FieldType::Word,
     .default_value = "Overlapped",
     .description = "Overlapped: the host prepares the next steps while the GPU works (data "
                    "loaders, asynchronous launches). Serial: the two take turns.",
     .example = "hostPhase: Serial",
     .words = list(kHostPhases)},
    {.name = "allReduce",
     .type = FieldType::Block,
     .description = "Gradients that the GPUs of a pod with several add up at the end of each step. "
                    "Absent: the measured unit has them in it, whatever GPUs the pod gets. Needs "
                    "stepsPerUnit.",
     .example = "allReduce: {bytesPerStep: 98Mi}",
     .children = list(kAllReduce)},
};

inline constexpr Field kWorkload[] = {
    {.name = "name",
     .type = FieldType::Name,
     .required = true,
     .description = "Name of the workload; patches and sweeps address it by this name.",
     .example = "name: cifar10"},
    {.name = "kind",
     .type = FieldType::Word,
     .default_value = "Job",
     .description = "Job runs to completion, Deployment restarts what completes, Service answers "
                    "requests, Notebook is opened by its users.",
     .example = "kind: Job",
     .words = list(kWorkloadKinds)},
    {.name = "namespace",
     .type = FieldType::Name,
     .default_value = "default",
     .description = "Kubernetes namespace of the pods.",
     .example = "namespace: team-a"},
    {.name = "count",
     .type = FieldType::Integer,
     .default_value = "1",
     .description = "Number of Jobs, one pod each (kind Job only).",
     .example = "count: 20",
     .least = 0,
     .most = 1'000'000},
    {.name = "replicas",
     .type = FieldType::Integer,
     .default_value = "1",
     .description = "Number of pods (kinds Deployment and Service); with autoscaling, at the "
                    "start.",
     .example = "replicas: 4",
     .least = 0,
     .most = 1'000'000},
    {.name = "restartPolicy",
     .type = FieldType::Word,
     .default_value = "OnFailure for a Job, Always otherwise",
     .description = "What the kubelet does with a container that ends.",
     .example = "restartPolicy: Never",
     .words = list(kRestartPolicies)},
    {.name = "backoffLimit",
     .type = FieldType::Integer,
     .default_value = "6",
     .description = "Failures after which a Job is given up (kind Job only).",
     .example = "backoffLimit: 4"},
    {.name = "priority",
     .type = FieldType::Integer,
     .default_value = "0",
     .description = "Scheduling priority; higher goes first.",
     .example = "priority: 1000",
     .least = -2'147'483'648,
     .most = 1'000'000'000},
    {.name = "batch",
     .type = FieldType::Integer,
     .default_value = "as measured",
     .description = "Items in one step or request. Another batch than measured.batch (or the "
                    "profile's) changes the GPU work in proportion; the fixed part stays.",
     .example = "batch: 16",
     .least = 1,
     .most = 1'000'000},
    {.name = "processesPerPod",
     .type = FieldType::Integer,
     .default_value = "1",
     .description = "CUDA processes of a pod. Each has a context, and gpuMemory, of its own and is "
                    "a client of MPS.",
     .example = "processesPerPod: 2",
     .least = 1,
     .most = 64},
    {.name = "faults",
     .type = FieldType::Rate,
     .default_value = "none",
     .description = "Fatal GPU faults (Xid) of a running pod. Under MPS a fault of one client ends "
                    "all clients of the GPU.",
     .example = "faults: 0.01/h"},
    {.name = "submitAt",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "When the first pod is submitted.",
     .example = "submitAt: 10m"},
    {.name = "submitInterval",
     .type = FieldType::Duration,
     .default_value = "0",
     .description = "Time between the submissions of two pods; 0 submits all at once.",
     .example = "submitInterval: 30s"},
    {.name = "profile",
     .type = FieldType::Text,
     .description = "Workload profile of the catalogue (slicewise get profiles).",
     .example = "profile: resnet-50-inference/a100-80gb/b8",
     .least = 1},
    {.name = "podTemplate",
     .type = FieldType::Block,
     .description = "The pod, as in Kubernetes.",
     .example = "podTemplate: {resources: {limits: {nvidia.com/gpu: 1}}}",
     .children = list(kPodTemplate)},
    {.name = "gpuMemory",
     .type = FieldType::Block,
     .description = "GPU memory of one process.",
     .example = "gpuMemory: {allocator: OnDemand, resident: 1400Mi}",
     .children = list(kGpuMemory)},
    {.name = "startup",
     .type = FieldType::Block,
     .description = "Times before a pod does useful work.",
     .example = "startup: {imagePull: 40s, modelLoad: 12s}",
     .children = list(kStartup)},
    {.name = "work",
     .type = FieldType::Block,
     .description = "Work of one pod of a Job, or of one life of a Deployment's container.",
     .example = "work: {units: 100, unitName: epoch}",
     .children = list(kWork)},
    {.name = "measured",
     .type = FieldType::Block,
     .description = "How one pod behaves alone on one whole GPU.",
     .example = "measured: {unitTime: 18s, gpuBusy: 38%, provenance: Assumed}",
     .children = list(kMeasured)},
    {.name = "traffic",
     .type = FieldType::Block,
     .description = "Requests of a Service; not needed when a pipeline sends them.",
     .example = "traffic: {shape: Poisson, mean: 12/s}",
     .children = list(kTraffic)},
    {.name = "serving",
     .type = FieldType::Block,
     .description = "How the pods of a Service answer.",
     .example = "serving: {concurrency: 4, queueLimit: 100, timeout: 2s}",
     .children = list(kServing)},
    {.name = "llm",
     .type = FieldType::Block,
     .description = "The Service serves a language model with continuous batching.",
     .example = "llm: {model: llama-3-8b-fp16/a10g, tokens: {input: 600, output: 200}}",
     .children = list(kLlm)},
    {.name = "autoscaling",
     .type = FieldType::Block,
     .description = "Replicas of a Service follow its load (HPA, KEDA).",
     .example = "autoscaling: {min: 1, max: 8, metric: Queue, target: 4}",
     .children = list(kAutoscaling)},
    {.name = "notebooks",
     .type = FieldType::Block,
     .description = "The users of a Notebook and what they do.",
     .example = "notebooks: {users: 60, length: {p50: 2h, p95: 7h}, peaksAt: [\"09:30\"], "
                "interval: {p50: 45s, p95: 12m}, gpuTime: {p50: 2s, p95: 40s}}",
     .children = list(kNotebooks)},
    {.name = "slo",
     .type = FieldType::Block,
     .description = "Objectives; a run that misses one exits with 99.",
     .example = "slo: {latencyP99: 500ms}",
     .children = list(kSlo)},
};

}  // namespace slicewise::scenarios::table
