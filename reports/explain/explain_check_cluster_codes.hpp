#pragma once

#include <array>

#include "explain_check_codes.hpp"
#include "explain_plan_codes.hpp"
#include "explain_topics.hpp"

// Codes of `slicewise check` about MIG, pods, autoscalers, metrics and DRA, in the order of
// codes.hpp.
namespace slicewise::reports {

inline constexpr std::string_view kMigParted = "https://github.com/NVIDIA/mig-parted";
inline constexpr std::string_view kBottlerocketPlugin =
    "https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/";
inline constexpr std::string_view kDraDriver =
    "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu";
inline constexpr std::string_view kDcgmCounters =
    "https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv";

inline constexpr std::array kCheckClusterCodes = {
    CodeExplanation{
        Code::MigFileInvalid,
        "mig-parted reads its file strictly, and as a whole: one entry that it cannot read "
        "disables every config of the file, so each value of nvidia.com/mig.config fails.",
        "unexpected field: X | missing required field: devices | invalid format for '1g.5gb.me'",
        "Correct the entry; nvidia-mig-parted assert --valid-config -f FILE -c NAME needs no GPU.",
        kMigParted},
    CodeExplanation{
        Code::MigManagerConfig,
        "mig-manager mounts one key of its ConfigMap, config.yaml, and the operator allows two "
        "values of migManager.config.default: none, or all-disabled.",
        "Unsupported value: supported values: \"all-disabled\", \"\"",
        "Rename the key to config.yaml; choose other layouts by the node label "
        "nvidia.com/mig.config.",
        "https://github.com/NVIDIA/gpu-operator"},
    CodeExplanation{
        Code::MigDrainFirst,
        "When the label nvidia.com/mig.config changes, mig-manager stops NVIDIA's own pods and "
        "waits for them, but it evicts no pod of yours: one that holds the GPU makes the change "
        "fail or hang.",
        "nvidia.com/mig.config.state=failed",
        "kubectl cordon and drain the node before the label changes; set the label in the NodePool "
        "so that new nodes have it before any pod comes.",
        "https://github.com/NVIDIA/gpu-operator/issues/1310"},
    CodeExplanation{
        Code::MigNeedsReboot,
        "Switching the MIG mode of an A100 needs a reset of the GPU, which a virtual machine often "
        "may not do. mig-manager reboots the node instead, if it is allowed to. Hopper and later "
        "need no reset.",
        "Resetting GPU ... is not supported", "Set WITH_REBOOT=true in migManager.env.",
        "https://github.com/NVIDIA/gpu-operator/issues/1606"},
    CodeExplanation{
        Code::MigGpuInUse,
        "Nothing may hold the GPU while its MIG mode changes: nvidia-persistenced, a DCGM host "
        "engine, the module nvidia_drm. The operator stops the host's services when the driver is "
        "on the host and it knows so.",
        "In use by another client",
        "Let the operator stop them (WITH_SHUTDOWN_HOST_GPU_CLIENTS=true), or stop them in the "
        "node's start-up.",
        "https://github.com/NVIDIA/gpu-operator/issues/118"},
    CodeExplanation{
        Code::MigComputeInstance,
        "A name such as 1c.3g.20gb is a compute instance inside a GPU instance. The device plugin "
        "has no resource name for it and stops.",
        "MIG profile '1c.3g.20gb' does not match any resource patterns",
        "Use GPU instances only: 1g, 2g, 3g, 4g, 7g.", kDevicePlugin},
    CodeExplanation{
        Code::BottlerocketMig,
        "Bottlerocket partitions all GPUs of a model alike (strategy single), by a key per model "
        "such as \"a100.40gb\". A model without its key gets the profile for 1 instance, mixed "
        "layouts do not exist, and MPS together with MIG is refused.",
        "MpsMigConflict",
        "One profile for the model of the node, and time-slicing or MPS on nodes without MIG.",
        "https://github.com/bottlerocket-os/bottlerocket/issues/4483"},
    CodeExplanation{
        Code::MigTwoDevices,
        "Each MIG resource has a plugin of its own, and both set NVIDIA_VISIBLE_DEVICES: the "
        "container sees only one of the devices. CUDA uses one MIG device per process anyway.",
        "", "One MIG device per container.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/728"},
    CodeExplanation{
        Code::MigNameDrift,
        "The memory in a profile's name is rounded by the driver: driver 510 called the largest "
        "instance of an 80 GB board 7g.79gb, later ones 7g.80gb. A name of another driver is "
        "refused when it is applied.",
        "Unsupported MIG Device specified 7g.80gb, expected 7g.79gb",
        "Use the names of the driver in the node's image; the label "
        "nvidia.com/mig-<profile>.count shows them.",
        "https://github.com/NVIDIA/gpu-operator/issues/351"},
    CodeExplanation{
        Code::MigDevicesUnlisted,
        "The config names some GPUs of the node and says nothing about the others. Such a config "
        "was reported to fail where one that names all GPUs worked; the cause is not known.",
        "", "Add an entry with the remaining devices and mig-enabled: false.",
        "https://github.com/NVIDIA/mig-parted/issues/157"},
    CodeExplanation{
        Code::TwoGpuContainers,
        "Requests of the containers of a pod are added: two containers with one replica each take "
        "two units, on the same GPU or on two. Karpenter looks for an instance type with two GPUs.",
        "",
        "Put the GPU work in one container, or tell Karpenter with a NodeOverlay how many units a "
        "node has.",
        "https://github.com/aws/karpenter-provider-aws/issues/9070"},
    CodeExplanation{
        Code::TaintNotTolerated,
        "The nodes with the GPUs have a taint that the pod does not tolerate: the scheduler passes "
        "over them and the pod stays Pending. eksdemo and most guides taint GPU nodes with "
        "nvidia.com/gpu.",
        "0/1 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: true}.",
        "Add the toleration to the pod: key nvidia.com/gpu, operator Exists, effect NoSchedule.",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"},
    CodeExplanation{
        Code::NodeSelectorUnmet,
        "No node pool that was read has the labels that the pod selects, so it stays Pending if "
        "these are all nodes there are.",
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
        "Give the pool the label, or correct the selector; check other node files together with "
        "this one.",
        "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"},
    CodeExplanation{
        Code::PodTooLarge,
        "One pod asks for more CPU, memory or GPUs than the largest node of the pools that were "
        "read offers to pods after what the system keeps. It stays Pending for ever, and no "
        "autoscaler helps.",
        "0/1 nodes are available: 1 Insufficient cpu.",
        "Lower the request, or use a larger instance type (slicewise get instances).",
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"},
    CodeExplanation{
        Code::OverlayNotPinned,
        "The capacity of a NodeOverlay is an absolute number that replaces what Karpenter knew. If "
        "its requirements match instance types with different numbers of GPUs, it is wrong for "
        "most of them: \"4\" is right for one GPU in four replicas, and a quarter of what a type "
        "with four GPUs offers.",
        "",
        "Pin karpenter.k8s.aws/instance-gpu-count, or one instance type, in the requirements, and "
        "write one overlay for each.",
        kKarpenterOverlays},
    CodeExplanation{
        Code::NodePoolLimitUnits,
        "The limits of a NodePool count what Karpenter takes a node's capacity to be: with a "
        "NodeOverlay the replicas, without one the GPUs. A limit meant in GPUs stops the pool "
        "after a fraction of them.",
        "all available instance types exceed limits for nodepool",
        "Write the limit in advertised units: GPUs x replicas.",
        "https://github.com/aws/karpenter-provider-aws/issues/8068"},
    CodeExplanation{
        Code::AutoscalerBurst,
        "From zero nodes the cluster-autoscaler takes a GPU node to hold one unit and starts a "
        "node for each pending pod, though each would hold several; it removes the surplus later.",
        "",
        "Keep the group's maximum low, label the group k8s.amazonaws.com/accelerator, and tag the "
        "ASG with k8s.io/cluster-autoscaler/node-template/resources/<resource>.",
        "https://github.com/kubernetes/autoscaler/issues/3164"},
    CodeExplanation{
        Code::GpuCountZero,
        "g6f and gr6f have a part of an L4. The EC2 API says 0 GPUs, so autoscalers never choose "
        "them for pods that ask for nvidia.com/gpu.",
        "", "Add a NodeOverlay with capacity nvidia.com/gpu: \"1\" for these types.",
        "https://karpenter.sh/docs/concepts/nodeoverlays/"},
    CodeExplanation{
        Code::ReplicasOneGpu,
        "Slots are not GPUs: the replicas of one model may land on one physical GPU or on several, "
        "and ties are broken at random. Two copies on one GPU share its fate and its speed, and "
        "leave another GPU idle. Spreading pods over nodes does not separate GPUs of one node.",
        "",
        "One GPU per node, or whole GPUs for models that must not share; "
        "sharedDevicesAllocationPolicy chooses only between spreading and packing.",
        "https://github.com/NVIDIA/gpu-operator/issues/386"},
    CodeExplanation{
        Code::HostIpcNotNeeded,
        "NVIDIA's device plugin mounts the MPS pipe and a /dev/shm of its own into the container. "
        "hostIPC is needed by nos and by AWS's virtual GPU plugin only, and opens the host's "
        "shared memory to the pod.",
        "", "Remove hostIPC.", kDevicePlugin},
    CodeExplanation{
        Code::MpsUsersDiffer,
        "An MPS server serves one user at a time. Clients of another user wait until the last "
        "client of the first has gone.",
        "", "Run all pods of the node's MPS resource under one user (runAsUser).",
        "https://docs.nvidia.com/deploy/mps/"},
    CodeExplanation{
        Code::VisibleDevicesSet,
        "The device plugin tells the container runtime which GPU a container gets by "
        "NVIDIA_VISIBLE_DEVICES. A pod that sets it, to all for example, sees every GPU of the "
        "node and bypasses sharing; CUDA_VISIBLE_DEVICES, which only hides devices, is a "
        "warning: 1 names a device that a container with one GPU does not have.",
        "CUDA error: no CUDA-capable device is detected",
        "Remove the variable and ask for nvidia.com/gpu.", kDevicePlugin},
    CodeExplanation{
        Code::DcgmWholeGpu,
        "DCGM measures GPUs, not pods. While pods share a GPU, its value is credited to one of "
        "them, or with KUBERNETES_VIRTUAL_GPUS=true to each of them in full. A sum over pods "
        "counts the GPU several times; nothing splits it.",
        "",
        "Set KUBERNETES_VIRTUAL_GPUS=true to see every pod, and take the maximum by GPU, never the "
        "sum over pods.",
        "https://github.com/NVIDIA/dcgm-exporter/issues/587"},
    CodeExplanation{
        Code::DcgmResourceNames,
        "The exporter maps GPUs to pods for nvidia.com/gpu and MIG resources. Pods that hold a "
        "renamed resource have no pod labels on their metrics.",
        "", "Set NVIDIA_RESOURCE_NAMES=nvidia.com/gpu.shared in the exporter's env.",
        "https://github.com/NVIDIA/dcgm-exporter/issues/151"},
    CodeExplanation{
        Code::MetricNotExported,
        "The metric is commented out in the exporter's default list, so a rule, a dashboard or an "
        "autoscaler that asks for it sees nothing: DCGM_FI_PROF_SM_ACTIVE and "
        "DCGM_FI_PROF_SM_OCCUPANCY.",
        "", "Give the exporter a ConfigMap with its own list of counters.", kDcgmCounters},
    CodeExplanation{
        Code::MetricAbsentOnMig,
        "A GPU in MIG mode has no utilisation counter: DCGM_FI_DEV_GPU_UTIL is missing, and what "
        "scales or alerts on it never fires.",
        "", "Use DCGM_FI_PROF_GR_ENGINE_ACTIVE with the label GPU_I_ID.",
        "https://github.com/NVIDIA/dcgm-exporter/issues/201"},
    CodeExplanation{
        Code::ReplicasReadAsGpus,
        "The label nvidia.com/gpu.count is the number of physical GPUs, nvidia.com/gpu.replicas "
        "the tickets for each, and nvidia.com/gpu.memory the memory of the whole GPU. A selector "
        "that takes one for the other chooses the wrong nodes.",
        "", "Units on a node = count x replicas; a replica has no memory of its own.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/732"},
    CodeExplanation{
        Code::DraGateOff,
        "Sharing settings of a claim need a feature gate of NVIDIA's DRA driver, and all of them "
        "are off by default: the pod stays in ContainerCreating.",
        "\"TimeSlicing\" is selected as the GPU sharing strategy, but the \"TimeSlicingSettings\" "
        "feature gate is not enabled",
        "Helm values of the driver: featureGates.TimeSlicingSettings, MPSSupport, DynamicMIG, "
        "ConsumableShares: true.",
        kDraDriver},
    CodeExplanation{
        Code::DraOverrideMissing,
        "The chart of the DRA driver refuses to hand out GPUs unless it is told that nothing else "
        "does.",
        "", "Set gpuResourcesEnabledOverride: true, and take the device plugin off these nodes.",
        kDraDriver},
    CodeExplanation{
        Code::DraTemplateNotShared,
        "A ResourceClaimTemplate makes a claim for each pod, and each claim gets a GPU of its own: "
        "the sharing settings in it apply to the containers of one pod only.",
        "", "Create one ResourceClaim and name it in each pod (resourceClaimName).", kDraDriver},
    CodeExplanation{
        Code::DraWithDevicePlugin,
        "The device plugin and the DRA driver each hand out the GPUs of the node and do not know "
        "of each other: two pods are given the same GPU as if it were theirs alone.",
        "", "One of the two per node; keep them apart by node labels.",
        "https://karpenter.sh/docs/tasks/dra/"},
    CodeExplanation{
        Code::DraGatesExclude,
        "Feature gates of the DRA driver exclude each other: DynamicMIG with MPSSupport, and "
        "MPSSupport with ConsumableShares. Consumable shares do not limit memory.",
        "", "Keep one of the two.", kDraDriver},
    CodeExplanation{
        Code::DraParameterUnknown,
        "The driver decodes the opaque parameters strictly. Without its webhook nobody looks at "
        "them before the pod is placed; then preparing the claim fails, and the pod stays in "
        "ContainerCreating.",
        "strict decoding error: unknown field \"X\"",
        "Use the fields of GpuConfig and MigDeviceConfig (resource.nvidia.com/v1beta1).",
        kDraDriver},
    CodeExplanation{
        Code::KindNotChecked,
        "The document is of a kind that check has no rules for. It was read for its syntax only.",
        "", "Nothing to do; slicewise explain check lists what is read.",
        "slicewise explain check"},
};

}  // namespace slicewise::reports
