#pragma once

#include <array>

#include "explain_topics.hpp"

// Codes of `slicewise check` about the device plugin: its file, the chart and the labels that
// choose it. In the order of codes.hpp.
namespace slicewise::reports {

inline constexpr std::string_view kDevicePlugin = "https://github.com/NVIDIA/k8s-device-plugin";

inline constexpr std::array kCheckCodes = {
    CodeExplanation{
        Code::MpsWithMixed,
        "The device plugin shares whole GPUs by MPS, under the name nvidia.com/gpu alone. With "
        "migStrategy mixed it stops at start, and the node offers no GPU.",
        "using --mig-strategy=mixed is not supported with MPS",
        "Use time-slicing for MIG devices, or migStrategy none on the nodes with MPS.",
        kDevicePlugin},
    CodeExplanation{
        Code::MpsRootMissing,
        "The plugin and the MPS control daemon meet in a directory of the host. The Helm chart "
        "passes it (mps.root); a static manifest has to do so itself, or the plugin stops.",
        "using MPS requires --mps-root to be specified",
        "Set mpsRoot under flags, or the variable MPS_ROOT of the container, and run the control "
        "daemon as well; best take the chart.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1132"},
    CodeExplanation{
        Code::MpsContextTight,
        "Each MPS client may allocate memory / replicas. The CUDA context and the libraries of the "
        "process, some hundred MiB, come out of it before the first tensor. That a share below "
        "1 GiB is too small for most frameworks is an inference from reports, not a measurement.",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory", "Fewer replicas, or a GPU with more memory.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1118"},
    CodeExplanation{
        Code::GpuMemUnlimited,
        "A time-sliced replica is a ticket, not a part of the memory: any pod may allocate all "
        "that is left, and the pod that comes next fails. The sum of all footprints on a GPU must "
        "fit its memory, and nothing enforces it.",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "Limit each program itself (TF_FORCE_GPU_ALLOW_GROWTH, --gpu-memory-utilization, "
        "torch.cuda.set_per_process_memory_fraction), or use MPS or MIG.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1119"},
    CodeExplanation{
        Code::FailRequestsUnset,
        "With failRequestsGreaterThanOne false, the default of time-slicing, a pod that asks for 2 "
        "gets two tickets to one GPU and no more compute or memory than with one. Its owner thinks "
        "it has two GPUs, and other pods find fewer tickets.",
        "", "Set failRequestsGreaterThanOne: true: such pods are then refused with a reason.",
        "https://github.com/NVIDIA/gpu-operator/issues/386"},
    CodeExplanation{
        Code::PluginTooOld,
        "The setting came with a later version of the device plugin; this one reads the file and "
        "ignores it. sharedDevicesAllocationPolicy needs 0.20.0. From 0.15 to 0.19 MPS always "
        "refuses requests above one, whatever failRequestsGreaterThanOne says. MPS itself needs "
        "0.15.",
        "", "Use version 0.20.0 of the plugin, or drop the setting.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1695"},
    CodeExplanation{
        Code::SharedResourceAbsent,
        "The config shares a resource that the nodes do not have under this migStrategy, so it has "
        "no effect and nothing is logged: nvidia.com/mig-... exists with mixed only, and on a node "
        "that is all MIG under mixed there is no nvidia.com/gpu to share.",
        "",
        "Name the resources that the nodes advertise: one entry per MIG profile with mixed, "
        "nvidia.com/gpu with none and single.",
        kDevicePlugin},
    CodeExplanation{
        Code::PluginConfigUnknown,
        "The name given by config.default or by the label nvidia.com/device-plugin.config is no "
        "key of the configs. The chart does not notice; the plugin's init container does and "
        "crashes again and again, so that the node offers no GPU.",
        "specified config X does not exist", "Use one of the keys, or add the missing one.",
        kDevicePlugin},
    CodeExplanation{
        Code::PluginConfigAmbiguous,
        "There are several configs, none is called default and no default is chosen. The chart "
        "refuses its own map; with an external ConfigMap the init container crashes on each node "
        "without a label.",
        "A default config must be provided when more than one configuration is set in "
        "'config.map'. | no config was set, no default was provided, and all fallbacks failed",
        "Set config.default to the key that nodes without a label should use.", kDevicePlugin},
    CodeExplanation{Code::OperatorDefaultMissing,
                    "The GPU Operator falls back to an empty config: a node without the label "
                    "nvidia.com/device-plugin.config shares nothing, and no message says so.",
                    "", "Set devicePlugin.config.default, or label every node.",
                    "https://github.com/NVIDIA/gpu-operator/issues/412"},
    CodeExplanation{
        Code::ConfigMapMissing,
        "The plugin mounts its ConfigMap by name from its own namespace. With another name or in "
        "another namespace the pod waits for it for ever.",
        "MountVolume.SetUp failed for volume \"available-configs\" : configmap \"X\" not found",
        "Create the ConfigMap in the namespace of the release, under the name in the values.",
        "https://github.com/NVIDIA/gpu-operator/issues/412"},
    CodeExplanation{
        Code::ChartConfigInvalid,
        "The Helm chart stops with these values: config.name together with config.map, an entry of "
        "the map that is an object instead of text, or (operator) config.create without data or "
        "name.",
        "Only one of 'config.name' or 'config.map' should ever be set for a given deployment.",
        "Keep one of the two, and write each entry of the map as a block of text (`|` after its "
        "name).",
        "https://github.com/NVIDIA/k8s-device-plugin/tree/main/deployments/helm"},
    CodeExplanation{
        Code::ConfigNotReloaded,
        "The plugin reads its file when it starts and when the node's label changes. A changed "
        "ConfigMap of your own reaches the pod, but nothing reads it; only configs that are part "
        "of the Helm values restart the pods.",
        "", "After a change: kubectl rollout restart daemonset, in the namespace of the plugin.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/615"},
    CodeExplanation{
        Code::TwoDevicePlugins,
        "Two device plugins register the same resource at one kubelet: the later one wins, counts "
        "jump, and with MPS the GPUs are busy. Bottlerocket and EKS Auto Mode bring a plugin of "
        "their own, eksctl installs a static one for GPU nodes unless told not to, and the GPU "
        "Operator deploys one.",
        "",
        "Keep one. eksctl: --install-nvidia-plugin=false; operator: "
        "devicePlugin.enabled=false; on Bottlerocket use its settings instead of the chart.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/990"},
    CodeExplanation{
        Code::PluginNotScheduled,
        "Since 0.15 the chart's DaemonSet selects nodes by a label: "
        "feature.node.kubernetes.io/pci-10de.present, or nvidia.com/gpu.present. Without Node "
        "Feature Discovery nobody sets it, and the DaemonSet has no pods. The EKS AMI for AL2023 "
        "sets it from Kubernetes 1.35 on.",
        "",
        "Label the node group or NodePool with nvidia.com/gpu.present: \"true\" (quoted), or "
        "set gfd.enabled=true.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/708"},
    CodeExplanation{
        Code::MpsNotCapable,
        "The MPS control daemon runs on nodes with the label nvidia.com/mps.capable=true only. GPU "
        "Feature Discovery sets it when the node's config has sharing.mps; without either, the "
        "plugin waits for a daemon that never comes, and the node offers no GPU.",
        "error waiting for MPS daemon", "Set gfd.enabled=true, or label the nodes yourself.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/762"},
    CodeExplanation{
        Code::MpsOnSelinux,
        "The chart's MPS daemon shares files with its clients in a directory of the host, which "
        "SELinux denies on Bottlerocket.",
        "avc: denied",
        "On Bottlerocket set device-sharing-strategy = \"mps\" in its own settings; that needs a "
        "recent version (documented in 1.54).",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1105"},
    CodeExplanation{
        Code::ProductLabelShared,
        "GPU Feature Discovery appends -SHARED to the label nvidia.com/gpu.product while GPUs are "
        "shared under their own name, and does not when renameByDefault is true. A nodeSelector "
        "with the other form matches no node.",
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
        "Select by a label of your own, or by both forms (In [X, X-SHARED]).", kDevicePlugin},
    CodeExplanation{
        Code::NodeLabelWrong,
        "Labels are matched to the letter: nvidia.com/device-plugin.config chooses a config of "
        "the device plugin, nvidia.com/mig.config a layout of mig-manager. Neither stands in for "
        "the other, and a misspelt one changes nothing without any message.",
        "", "Use the name in the message.", kDevicePlugin},
    CodeExplanation{
        Code::ChartNamespace,
        "The chart refuses the namespace default, unless allowDefaultNamespace is true, and a "
        "value called namespace.",
        "Running in the 'default' namespace is not recommended.",
        "helm upgrade -i nvdp nvdp/nvidia-device-plugin -n nvidia-device-plugin "
        "--create-namespace; to override the namespace in values: namespaceOverride.",
        "https://github.com/NVIDIA/k8s-device-plugin/tree/main/deployments/helm"},
    CodeExplanation{
        Code::MigMonitorMissing,
        "A container needs NVIDIA_MIG_MONITOR_DEVICES=all to see the MIG devices of all GPUs. The "
        "chart sets it when a MIG strategy is chosen; static manifests do not.",
        "", "Take the chart with migStrategy, or set the variable and the capability SYS_ADMIN.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/229"},
};

}  // namespace slicewise::reports
