#pragma once

// Topics of `slicewise explain` about nodes that come and go. Layout: explain_topics.hpp.
namespace slicewise::reports {

inline constexpr const char* kAutoscalingNodes = R"(
A pool with nodes: {min: 1, max: 8} grows and shrinks; spec.provisioner says who does it and how long a new node takes. A pool with one number keeps its nodes.
  Pending -> decision -> launch -> Ready -> GPU allocatable -> bound -> image pull -> model load
  Karpenter              1 s without a new Pending pod, 10 s at most
  Cluster Autoscaler     every 10 s, when the oldest Pending pod with a GPU is 30 s old
  launch                 12 s; from then on EC2 bills the node
  nodeReady              40 s
  gpuAllocatable         36 s: driver, toolkit, device plugin
The last three were measured once, on g6e.2xlarge with the GPU operator, and count as Assumed; nodes vary by 10 % (variation).
What it knows. Both know nvidia.com/gpu of a node that they have not seen as the number of whole GPUs, and EC2 says 0 for g6f. With time-slicing x4 under that name Karpenter starts one node per pod, the first that is there takes four pods, and the others are removed again: KARPENTER_OVERPROVISIONS. For a renamed resource, a MIG slice or vGPU no node is ever started: NODES_NEVER_LAUNCHED. nodeOverlay: true (Karpenter) and resourceTags: true (ASG tags) tell them; once the Cluster Autoscaler has seen a node of the pool it knows. Without the label k8s.amazonaws.com/accelerator on the pool it takes a Ready node whose GPUs are not there yet for one without, and starts another.
What goes. Karpenter looks every 10 s at nodes where no pod came or went for consolidateAfter + 15 s: the empty ones go, and (WhenEmptyOrUnderutilized) the one with the fewest pods that fit elsewhere. They are evicted and start over. The Cluster Autoscaler removes nodes with less than half of their tickets in use whose pods fit elsewhere, after 10 minutes, and none within 10 minutes of starting one. A node with pods ends 30 s after the eviction. min is never undercut.
Spot. spot: {interruptionsPerHour: 0.03} takes each node back after an exponential time; without a rate, the middle of the Spot Advisor's monthly bucket. At the notice (2 minutes before the end) pods are evicted and the node is replaced: by Karpenter or the Cluster Autoscaler where pods are Pending, at once by a pool with a fixed number (a managed node group). fallback: on-demand buys on-demand in the 3 minutes after an interruption, as long as Karpenter takes the offering for exhausted. Karpenter ends the node itself when it is drained; else EC2 does, and charges nothing for one that it takes back in its first hour. Without spot: nodes are never taken back.
The bill. Each node costs from launch to end, 60 s at least. cold start: launch to GPU, image pull and model load on an idle GPU; thrash: the whole of a node that was started without need, but for work done on it; slicewise explain cost.
Sources: https://karpenter.sh/docs/concepts/disruption/ ; https://github.com/kubernetes-sigs/karpenter/issues/729 ; https://github.com/kubernetes/autoscaler/issues/9126 ; https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-for-interrupted-spot-instances.html ; https://github.com/awslabs/data-on-eks)";

}  // namespace slicewise::reports
