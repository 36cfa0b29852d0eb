#pragma once

#include <string_view>

#include "fields.hpp"

// The fields of spec.provisioner.
namespace slicewise::scenarios::table {

inline constexpr std::string_view kProvisioners[] = {"Karpenter", "ClusterAutoscaler",
                                                     "ManagedNodeGroup"};

inline constexpr std::string_view kConsolidations[] = {"WhenEmptyOrUnderutilized", "WhenEmpty"};

inline constexpr Field kProvisioner[] = {
    {.name = "kind",
     .type = FieldType::Word,
     .required = true,
     .description = "Who adds and removes nodes. ManagedNodeGroup only replaces what EC2 takes "
                    "back.",
     .example = "kind: Karpenter",
     .words = list(kProvisioners)},
    {.name = "launch",
     .type = FieldType::Duration,
     .default_value = "12s",
     .description = "From the decision to start a node until EC2 bills it.",
     .example = "launch: 12s"},
    {.name = "nodeReady",
     .type = FieldType::Duration,
     .default_value = "40s",
     .description = "From then until the node is Ready.",
     .example = "nodeReady: 40s"},
    {.name = "gpuAllocatable",
     .type = FieldType::Duration,
     .default_value = "36s",
     .description = "From Ready until the device plugin advertises the GPUs: driver, toolkit, "
                    "plugin.",
     .example = "gpuAllocatable: 36s"},
    {.name = "variation",
     .type = FieldType::Percent,
     .default_value = "10%",
     .description = "Coefficient of variation of nodeReady + gpuAllocatable, from node to node.",
     .example = "variation: 10%"},
    {.name = "batchIdle",
     .type = FieldType::Duration,
     .default_value = "1s",
     .description = "Karpenter: it decides when no new Pending pod came for so long.",
     .example = "batchIdle: 1s"},
    {.name = "batchMax",
     .type = FieldType::Duration,
     .default_value = "10s",
     .description = "Karpenter: it decides this long after the first Pending pod at the latest.",
     .example = "batchMax: 10s"},
    {.name = "nodeOverlay",
     .type = FieldType::Boolean,
     .default_value = "false",
     .description = "Karpenter: NodeOverlays tell it what the nodes will advertise. Without, it "
                    "knows nvidia.com/gpu as the number of GPUs, and no other GPU resource.",
     .example = "nodeOverlay: true"},
    {.name = "consolidationPolicy",
     .type = FieldType::Word,
     .default_value = "WhenEmptyOrUnderutilized",
     .description = "Karpenter: which nodes it removes. Of an underutilized one it moves the pods.",
     .example = "consolidationPolicy: WhenEmpty",
     .words = list(kConsolidations)},
    {.name = "consolidateAfter",
     .type = FieldType::Duration,
     .default_value = "0s",
     .description = "Karpenter: how long no pod came or went before it looks at a node.",
     .example = "consolidateAfter: 5m"},
    {.name = "scanInterval",
     .type = FieldType::Duration,
     .default_value = "10s",
     .description = "Cluster Autoscaler: between two looks at pods and nodes.",
     .example = "scanInterval: 10s",
     .least = 1},
    {.name = "unneededTime",
     .type = FieldType::Duration,
     .default_value = "10m",
     .description = "Cluster Autoscaler: how long a node is unneeded before it is removed.",
     .example = "unneededTime: 10m"},
    {.name = "resourceTags",
     .type = FieldType::Boolean,
     .default_value = "false",
     .description = "Cluster Autoscaler: tags of the Auto Scaling group tell it what the nodes "
                    "will advertise. Without, it knows nvidia.com/gpu as the number of GPUs until "
                    "it has seen a node of the pool.",
     .example = "resourceTags: true"},
};

}  // namespace slicewise::scenarios::table
