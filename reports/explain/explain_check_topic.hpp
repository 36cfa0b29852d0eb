#pragma once

// What `slicewise explain check` says.
namespace slicewise::reports {

inline constexpr const char* kCheckTopic = R"(
slicewise check -f FILE... reads files as they are given to kubectl, helm and eksctl, and says what the cluster will do with them, without a cluster and without a simulation. All files of one call are judged together: pods against node pools, labels against the plugin's configs.
WHAT IS READ. Pods and what makes pods (Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, CronJob); ConfigMaps that hold configs of the device plugin, of mig-parted or of dcgm-exporter; these files themselves; Helm values of the device plugin, the GPU Operator, the DRA driver and dcgm-exporter; Karpenter's NodePool, EC2NodeClass and NodeOverlay; eksctl's ClusterConfig; Nodes; Bottlerocket user data; DRA claims and classes; the metrics that expressions ask for (PrometheusRule, dashboards); scenario files and files of kind Replay of slicewise. Other kinds are named in a KIND_NOT_CHECKED note.
WHAT CANNOT BE SEEN. What is not among the files: nodes, labels and taints that others set, webhooks that change pods, files of a running cluster. A resource, a selector or a ConfigMap is judged missing only when files of the other side are there. How much GPU memory a pod needs is known for few programs; the ledger counts those, of all pods that may meet on one GPU, and says nothing of others. Whether a host process holds a GPU, which driver names a profile, whether a GPU may be reset, and in which order replicas are placed show on the node only: such rules are notes where their conditions are met.
Exit codes: 0 without errors, 3 with errors (with --strict also with warnings), 5 when a file cannot be read.
Every finding has a code: slicewise explain CODE.)";

}  // namespace slicewise::reports
