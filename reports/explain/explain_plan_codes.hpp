#pragma once

#include <array>

#include "explain_topics.hpp"

// Codes about plans and about nodes that come and go, in the order of codes.hpp.
namespace slicewise::reports {

inline constexpr std::string_view kKarpenterOverlays =
    "https://karpenter.sh/docs/concepts/nodeoverlays/";

inline constexpr std::array kPlanCodes = {
    CodeExplanation{
        Code::PolicyFailed,
        "The scenario states a policy, and the result or the plan does not keep it. A policy of "
        "severity Deny makes the exit code 99; others only warn.",
        "", "Change the configuration, or the policy if it asks for too much.",
        "slicewise explain exit-codes"},
    CodeExplanation{
        Code::IsolationTooWeak,
        "The scenario requires that namespaces do not share memory or faults, and this way of "
        "sharing does not give that: time-slicing limits no memory, and the clients of one MPS "
        "server die together.",
        "", "Use MIG or whole GPUs for these namespaces, or give each namespace its own node pool.",
        "slicewise explain sharing"},
    CodeExplanation{Code::PlanStale,
                    "A plan, and the journal of one, records which scenario file it was made from. "
                    "The file has "
                    "changed since, so its figures may no longer hold.",
                    "", "Make the plan again, or name the file that it was made from.",
                    "slicewise --help"},
    CodeExplanation{
        Code::ResultStale,
        "A stored result, or a plan, records which scenario, prices and seed it was computed with. "
        "`slicewise report` simulates that again to draw what the document does not hold, and "
        "found other figures: the scenario or the price file has changed since, or another version "
        "of slicewise wrote the document.",
        "", "Run it again, or take the files and the slicewise of that time.",
        "slicewise report --help"},
    CodeExplanation{
        Code::NodeLimitReached,
        "Pods waited although the provisioner would have started another node: the pool had as "
        "many as it may have. The cluster-autoscaler stops at the group's maximum, Karpenter at "
        "the limits of the NodePool.",
        "all available instance types exceed limits for nodepool",
        "Raise the maximum, or share each GPU between more pods.",
        "https://karpenter.sh/docs/concepts/nodepools/#speclimits"},
    CodeExplanation{
        Code::KarpenterOverprovisions,
        "Karpenter counts the GPUs that EC2 reports for an instance type. It does not know that "
        "the device plugin will advertise several replicas of each, so it starts one GPU for each "
        "pending pod, and removes the surplus later, if consolidation is on.",
        "",
        "Tell it with a NodeOverlay: capacity of the shared resource = GPUs x replicas, for the "
        "instance types with that many GPUs. It needs Karpenter 1.7 and the feature gate "
        "NodeOverlay.",
        "https://github.com/kubernetes-sigs/karpenter/issues/729"},
    CodeExplanation{
        Code::NodesNeverLaunched,
        "The pods ask for a resource that no instance type has in the autoscaler's books: a "
        "renamed one, or a MIG profile. It starts nothing, and the pods stay Pending although a "
        "new node would offer it.",
        "no instance type has enough resources",
        "Add a NodeOverlay with that resource (Karpenter), an ASG tag "
        "k8s.io/cluster-autoscaler/node-template/resources/... (cluster-autoscaler), or keep the "
        "name nvidia.com/gpu.",
        kKarpenterOverlays},
    CodeExplanation{
        Code::SpotInterrupted,
        "EC2 took spot nodes back during the run, two minutes after its notice. The pods on them "
        "ended and were scheduled again elsewhere.",
        "", "Nothing to do if the objectives hold; else mix in on-demand nodes.",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html"},
    CodeExplanation{
        Code::GangAcrossSlowLinks,
        "A pod with several GPUs was given some that no NVLink connects: what they send to each "
        "other goes over PCIe and the host. On p3 the GPUs form a hybrid cube mesh in which not "
        "every pair has a link.",
        "",
        "Ask for as many GPUs as a fully connected group has (4 on p3), or use a type with "
        "NVSwitch (p4d, p5).",
        "https://aws.amazon.com/ec2/instance-types/p3/"},
};

}  // namespace slicewise::reports
