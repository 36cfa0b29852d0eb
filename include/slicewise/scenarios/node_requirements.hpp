#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

// What pods and Karpenter require of nodes, by their labels, and whether nodes have it.
namespace slicewise::scenarios {

// Kubernetes' label of a node's type, and Karpenter's of what types are.
inline constexpr std::string_view kInstanceTypeLabel = "node.kubernetes.io/instance-type";
inline constexpr std::string_view kFamilyLabel = "karpenter.k8s.aws/instance-family";
inline constexpr std::string_view kSizeLabel = "karpenter.k8s.aws/instance-size";
inline constexpr std::string_view kGpuNameLabel = "karpenter.k8s.aws/instance-gpu-name";
inline constexpr std::string_view kGpuCountLabel = "karpenter.k8s.aws/instance-gpu-count";
inline constexpr std::string_view kCapacityTypeLabel = "karpenter.sh/capacity-type";
inline constexpr std::string_view kNodePoolLabel = "karpenter.sh/nodepool";
inline constexpr std::string_view kManagedGroupLabel = "eks.amazonaws.com/nodegroup";
inline constexpr std::string_view kManagedCapacityLabel = "eks.amazonaws.com/capacityType";
inline constexpr std::string_view kEksctlGroupLabel = "alpha.eksctl.io/nodegroup-name";
// By which groups of nodes go, each its maker's.
inline constexpr std::array<std::string_view, 3> kGroupLabels = {kNodePoolLabel, kManagedGroupLabel,
                                                                 kEksctlGroupLabel};
inline constexpr std::string_view kArchitectureLabel = "kubernetes.io/arch";
// Of CPUs, by its values.
enum class Architecture : std::uint8_t { Amd64, Arm64 };
inline constexpr std::array<std::string_view, 2> kArchitectures = {"amd64", "arm64"};
// AWS's of GPUs, which the Cluster Autoscaler goes by.
inline constexpr std::string_view kAcceleratorLabel = "k8s.amazonaws.com/accelerator";
// NVIDIA's: the config of the device plugin that a node has, its MIG layout, and what its GPUs are
// and how they are shared.
inline constexpr std::string_view kConfigLabel = "nvidia.com/device-plugin.config";
inline constexpr std::string_view kMigLabel = "nvidia.com/mig.config";
inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kReplicasLabel = "nvidia.com/gpu.replicas";
inline constexpr std::string_view kSharingStrategyLabel = "nvidia.com/gpu.sharing-strategy";

constexpr bool names_group(std::string_view label) {
  return label == kNodePoolLabel || label == kManagedGroupLabel || label == kEksctlGroupLabel;
}

// Who makes nodes: each labels them in its own way. Eksctl: groups that EKS does not manage.
enum class NodeMaker : std::uint8_t { Unknown, Karpenter, AutoMode, ManagedGroup, Eksctl, Other };

// The label by which what a maker writes of its nodes is known here: Karpenter's for what EKS Auto
// Mode says of types, else the label itself; nullopt: it is one of the labels that makers write,
// and this one does not.
std::optional<std::string> label_by(NodeMaker maker, std::string_view label);

// {key, operator, values}, of node affinity and of Karpenter.
struct NodeRequirement {
  std::string key;
  std::string op;
  std::vector<std::string> values;
  SourceLocation where;

  bool operator==(const NodeRequirement& other) const {
    return key == other.key && op == other.op && values == other.values;
  }
};

// Why Kubernetes refuses the values of one whose operator it knows; "" it takes them.
std::string_view mistake_in(const NodeRequirement& requirement);

// What is known of the labels of a node, or of all nodes of a type; nullopt: they have none of that
// key.
using NodeLabels = std::map<std::string, std::optional<std::string>, std::less<>>;

// What Karpenter's labels say that the name of an instance type tells.
NodeLabels labels_of_type(std::string_view name);

// Whether a node whose label this is will do; nullopt: it has none.
bool allows(const NodeRequirement& requirement, std::optional<std::string_view> label);

// ... and one with these labels. What is not known of it does not stand in the way.
bool fulfils(const NodeLabels& labels, const NodeRequirement& requirement);

// Whether "NVIDIA-A10G" is the product of the GPU "a10g".
bool names_gpu(std::string_view text, const std::string& gpu);

// Whether nodes may have labels for which the requirement holds: those that are known of them, of
// others one of the values that `made_with` leaves (Karpenter gives a node one). What neither says
// does not stand in the way where programs set it, but for labels of other makers of nodes, which
// are there where `made_with` says so.
bool may_fulfil(const NodeLabels& known, std::span<const NodeRequirement> made_with,
                const NodeRequirement& wanted, NodeMaker maker);

}  // namespace slicewise::scenarios
