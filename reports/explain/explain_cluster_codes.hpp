#pragma once

#include <array>

#include "explain_topics.hpp"

// Codes about what a cluster does with the configuration, in the order of codes.hpp.
namespace slicewise::reports {

inline constexpr std::string_view kExtendedResources =
    "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
    "#extended-resources";

inline constexpr std::array kClusterCodes = {
    CodeExplanation{
        Code::ResourceNameMismatch,
        "The pod asks for a resource that no node advertises, so it stays Pending for ever. With "
        "renameByDefault the device plugin advertises nvidia.com/gpu.shared and no longer "
        "nvidia.com/gpu; Bottlerocket renames unless told otherwise.",
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
        "Ask for the name that the pool advertises, or set renameByDefault to match.",
        "https://github.com/bottlerocket-os/bottlerocket/issues/4250"},
    CodeExplanation{
        Code::RequestTooLarge,
        "The scheduler binds the pod, then the kubelet rejects it: with "
        "failRequestsGreaterThanOne a container may hold one shared replica. The pod is Failed; a "
        "controller creates the next one, which fails alike.",
        "UnexpectedAdmissionError: ... invalid request: maximum request size for shared resources "
        "is 1; found 2",
        "Ask for 1. Two replicas would not give twice the compute.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/929"},
    CodeExplanation{
        Code::RequestNoEffect,
        "Without failRequestsGreaterThanOne a container gets the replicas it asks for, but they "
        "are tickets to the same GPU (or to two): its share of the GPU's time does not grow, and "
        "other pods find fewer tickets.",
        "", "Ask for 1, and set failRequestsGreaterThanOne: true so that nobody is misled.",
        "https://github.com/NVIDIA/gpu-operator/issues/386"},
    CodeExplanation{
        Code::ExtendedResourceInteger,
        "The API server refuses the pod: extended resources are integers, and the limit must "
        "equal the request. There is no half of an nvidia.com/gpu.",
        "Invalid value: must be an integer",
        "Ask for 1 of a shared resource instead: time-slicing, MPS or a MIG profile decide what "
        "it stands for.",
        kExtendedResources},
    CodeExplanation{Code::InputMissing,
                    "The simulation needs a figure that is neither in the scenario nor in the "
                    "catalogue. It is not invented.",
                    "",
                    "Measure it, take it from a profile, or write an estimate with provenance: "
                    "Assumed; the report then says so.",
                    "slicewise explain spec.workloads"},
    CodeExplanation{Code::RunNeverEnds,
                    "Deployments and services run for ever, and the scenario gives no end.", "",
                    "Set spec.duration, or spec.until to AllJobsDone when there are jobs.",
                    "slicewise explain spec.duration"},
    CodeExplanation{
        Code::GpuMemGreedy,
        "TensorFlow by default maps nearly all memory of each GPU it sees when it starts. The "
        "first process on a shared GPU takes it; those that come later find none and die. "
        "Time-slicing sets no limit.",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "Set TF_FORCE_GPU_ALLOW_GROWTH=true in the pod (allocator: OnDemand), or a fixed limit in "
        "the program (allocator: Capped).",
        "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth ; "
        "https://github.com/NVIDIA/k8s-device-plugin/issues/461"},
    CodeExplanation{
        Code::GpuNotRequested,
        "A container sees GPUs without asking for one when its image sets NVIDIA_VISIBLE_DEVICES, "
        "as CUDA images do. The scheduler does not count it: pods pile up on GPU 0, take turns "
        "with whoever was given that GPU, and run out of its memory while other GPUs are idle.",
        "CUDA out of memory", "Ask for nvidia.com/gpu: 1 and share GPUs with the device plugin.",
        "https://github.com/NVIDIA/k8s-device-plugin"},
    CodeExplanation{Code::MpsPerProcessLimits,
                    "The MPS daemon limits memory and threads of each client process. A pod with "
                    "several CUDA processes (Triton, torch DataParallel, Ray) gets the share of a "
                    "replica once for each of them.",
                    "", "One CUDA process per pod, or fewer replicas.",
                    "https://github.com/NVIDIA/k8s-device-plugin/issues/720"},
    CodeExplanation{
        Code::GpuOom,
        "The processes on one GPU need more memory than it has. The allocation that does not fit "
        "fails, that container exits, and the kubelet restarts it after 10 s, 20 s, 40 s and so "
        "on up to 5 min: CrashLoopBackOff. The node's own memory is not involved, so the pod does "
        "not show OOMKilled.",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "Fewer replicas per GPU, a GPU with more memory, or a memory limit in the framework. The "
        "sum of the peaks plus a CUDA context per process must fit.",
        "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy ; "
        "https://github.com/aws/karpenter-provider-aws/issues/3376"},
    CodeExplanation{
        Code::CrashLoopBackOff,
        "A container ended, well or badly, and the kubelet restarts it: at once the first time, "
        "then after 10 s doubling to 5 min; 10 minutes without an end start over. A Deployment "
        "restarts containers that complete, too, so training in a Deployment waits between runs "
        "while it holds its share of the GPU.",
        "Back-off restarting failed container", "Run work that completes as a Job.",
        "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy"},
    CodeExplanation{
        Code::PodPending,
        "The kube-scheduler found no node that has all the pod asks for. It tries again when "
        "something changes, a pod that ends for example.",
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
        "Share the GPUs, add nodes, or lower the request that the message names.",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/"},
    CodeExplanation{
        Code::FaultShared,
        "A fatal GPU fault (an Xid such as an illegal address) ends the process that caused it. "
        "Under MPS the clients of the GPU share one server, and all of them are torn down with it.",
        "CUDA error: an illegal memory access was encountered",
        "Time-slicing and MIG confine a fault to its process; keep code that crashes off shared "
        "MPS servers.",
        "https://docs.nvidia.com/deploy/mps/"},
    CodeExplanation{
        Code::HostCpuOversubscribed,
        "The pods on a node want more vCPUs than it has, so their data loading slows down and the "
        "GPU waits. Ten pods that share one GPU still need ten times the CPU of one. Nothing is "
        "logged.",
        "",
        "An instance type with more vCPUs per GPU, fewer replicas, or CPU requests that tell the "
        "scheduler the truth.",
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"},
    CodeExplanation{
        Code::CpuLimitThrottles,
        "The pod uses more CPU than its limit, so the kernel stops it for the rest of each period "
        "(100 ms) although the node may have idle vCPUs. Nothing is logged; the metric "
        "container_cpu_cfs_throttled_seconds_total grows.",
        "", "Raise or remove the CPU limit; keep the request.",
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
        "#how-pods-with-resource-limits-are-run"},
    CodeExplanation{Code::ObjectiveMissed,
                    "A figure of a workload is above the limit that the scenario sets.", "",
                    "Fewer tenants per GPU, more nodes, or a faster GPU. The table says what the "
                    "workload is bound by.",
                    "slicewise explain spec.workloads"},
    CodeExplanation{
        Code::QueueUnstable,
        "Requests arrive faster than they can be served. The queue grows as long as the run "
        "lasts, so latencies depend on its length and mean nothing else. With time-slicing the "
        "switches count, too: the sum of rate x GPU time x (1 + switch / turn) must stay below 1.",
        "", "More GPUs, fewer tenants per GPU, or less load.", "slicewise explain time-slicing"},
    CodeExplanation{
        Code::RequestsRefused,
        "Requests arrived while no replica of the Service was ready: its pods were Pending, pulled "
        "their image, loaded the model or had died. A Kubernetes Service without endpoints refuses "
        "the connection, so these requests have no latency; they count as not served.",
        "connect: connection refused",
        "More replicas, a shorter start-up, or a warmup longer than the start-up when only the "
        "steady state matters.",
        "Kubernetes documentation, Service: traffic goes to ready endpoints only"},
    CodeExplanation{
        Code::RequestsDropped,
        "Requests met a full queue or waited longer than their time-out, and all "
        "their retries did as well. They have no latency, so the quantiles look better than what "
        "users saw; they count against availability and as not served in time.",
        "HTTP 429 or 503 (queue full), 504 (timed out)",
        "More replicas or GPUs, larger batches, or less load. A longer queue turns refusals into "
        "late answers.",
        "slicewise explain serving"},
    CodeExplanation{
        Code::SampleTooSmall,
        "An objective is on the 99.9th percentile, and fewer than 10,000 requests were answered: "
        "the figure is one of the ten slowest of them, and another seed gives another one.",
        "", "A longer run or more replications; or judge the 99th percentile.",
        "slicewise explain serving"},
    CodeExplanation{
        Code::AutoscalerAtMax,
        "The autoscaler reached its largest number of replicas. From then on it cannot follow the "
        "load: queues grow as if there were no autoscaler.",
        "the desired replica count is more than the maximum replica count",
        "Raise the maximum and give the nodes GPUs for it, or share each GPU among more replicas.",
        "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/"},
    CodeExplanation{
        Code::KvCachePreempted,
        "The running sequences outgrew the pool of the KV cache. The server throws the youngest "
        "out and computes it again from its prompt later: the first token is kept, the rest comes "
        "late, and the GPU does the work twice.",
        "Sequence group is preempted by PreemptionMode.RECOMPUTE mode because there is not enough "
        "KV cache space.",
        "More memory for the cache, fewer sequences at once, or a smaller model; a pod that "
        "shares its GPU has less memory for the cache.",
        "https://docs.vllm.ai/en/latest/configuration/optimization.html"},
    CodeExplanation{
        Code::KernelPreempted,
        "measured.longestKernel changes nothing here. GPUs since Pascal stop a kernel in the "
        "middle "
        "when its turn is over, so under time-slicing a neighbour waits for a turn, not for a "
        "kernel; MIG instances do not meet; under MPS the law of measured pairs holds what a long "
        "kernel costs. No GPU of the catalogue is older.",
        "", "Remove it, or keep it as a remark.",
        "NVIDIA, Pascal tuning guide: compute preemption at instruction level"},
    CodeExplanation{Code::InstanceRetired,
                    "AWS has retired this instance type. It can be simulated, to "
                    "understand an older example, but not rented.",
                    "", "Plan with a current type: slicewise get instances.",
                    "slicewise get instances -o wide: date and source"},
    CodeExplanation{Code::InputAssumed,
                    "An input of the simulation is a guess. The result is as good as the guess.",
                    "", "Measure it in a run on one GPU alone, and write provenance: Measured.",
                    "slicewise explain not-modelled"},
    CodeExplanation{
        Code::ProfileScaled,
        "The profile was measured on another GPU model; its times were scaled by the speed of the "
        "two. Such a figure is an estimate.",
        "", "Measure the workload on the GPU you will use.", "slicewise get profiles -o wide"},
    CodeExplanation{Code::PriceDerived,
                    "No price is recorded for this size; it was derived from another size of the "
                    "family, whose prices are proportional.",
                    "", "Bring the real price with --prices FILE.",
                    "slicewise get instances -o wide"},
    CodeExplanation{Code::MpsUnevenSplit,
                    "The plugin gives each MPS client floor(100 / replicas) percent of the threads "
                    "and floor(memory / replicas) MiB, by integer division.",
                    "", "Replicas that divide 100 (4, 5, 10, 20) leave nothing over.",
                    "https://github.com/NVIDIA/k8s-device-plugin"},
    CodeExplanation{Code::MigSlicesUnused,
                    "The instances of this layout do not use all slices of the GPU: a 3g takes "
                    "four of the eight memory slices but three of the seven compute slices.",
                    "", "slicewise get mig-profiles --gpu NAME shows what fits beside them.",
                    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"},
    CodeExplanation{
        Code::VgpuNotOnEks,
        "NVIDIA vGPU divides a GPU between virtual machines in the hypervisor. EC2 offers it as "
        "g6f and gr6f only; on other types the figures are for comparison.",
        "", "For EKS take time-slicing, MPS, MIG, or a g6f instance.",
        "https://aws.amazon.com/ec2/instance-types/g6/"},
    CodeExplanation{Code::SweepSkipped,
                    "A path of the sweep does not exist in this variant (its patch removed it), so "
                    "the variant runs once, without that sweep.",
                    "", "Nothing to do, if you meant it.", "slicewise explain spec.sweep"},
};

}  // namespace slicewise::reports
