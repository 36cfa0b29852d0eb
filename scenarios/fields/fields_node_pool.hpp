#pragma once

#include <string_view>

#include "fields.hpp"
#include "fields_device_plugin.hpp"
#include "fields_gpu_sharing.hpp"

// The fields of nodePools[].
namespace slicewise::scenarios::table {

inline constexpr std::string_view kCapacityTypes[] = {"on-demand", "spot", "reserved"};

inline constexpr std::string_view kTaintEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

inline constexpr Field kTaint[] = {
    {.name = "key",
     .type = FieldType::Text,
     .required = true,
     .description = "Key of the taint.",
     .example = "key: nvidia.com/gpu",
     .least = 1},
    {.name = "value",
     .type = FieldType::Text,
     .description = "Value of the taint.",
     .example = "value: present"},
    {.name = "effect",
     .type = FieldType::Word,
     .required = true,
     .description = "What happens to pods that do not tolerate it.",
     .example = "effect: NoSchedule",
     .words = list(kTaintEffects)},
};

inline constexpr Field kGpu[] = {
    {.name = "timeSlice",
     .type = FieldType::Duration,
     .default_value = "the GPU model's",
     .description = "Length of a turn under time-slicing.",
     .example = "timeSlice: 2ms",
     .least = 1},
    {.name = "switchCost",
     .type = FieldType::Duration,
     .default_value = "from the GPU model's figures",
     .description = "Time lost when the GPU changes from one process to another.",
     .example = "switchCost: 100us"},
    {.name = "coldCache",
     .type = FieldType::Percent,
     .default_value = "the GPU model's",
     .description = "Share of the L2 cache that a process refills when its turn begins.",
     .example = "coldCache: 50%"},
    {.name = "contextMemory",
     .type = FieldType::Bytes,
     .default_value = "the GPU model's",
     .description = "GPU memory of one CUDA context.",
     .example = "contextMemory: 320Mi"},
};

inline constexpr Field kNodes[] = {
    {.name = "min",
     .type = FieldType::Integer,
     .default_value = "0",
     .description = "Nodes at the start; the provisioner never goes below.",
     .example = "min: 1",
     .most = 10'000},
    {.name = "max",
     .type = FieldType::Integer,
     .required = true,
     .description = "The most nodes that the provisioner may start.",
     .example = "max: 8",
     .least = 1,
     .most = 10'000},
};

inline constexpr std::string_view kFallbacks[] = {"none", "on-demand"};

inline constexpr Field kSpot[] = {
    {.name = "interruptionsPerHour",
     .type = FieldType::Number,
     .default_value = "from the Spot Advisor's bucket",
     .description = "How often EC2 takes a node back, in times per hour that it runs.",
     .example = "interruptionsPerHour: 0.03",
     .most = 3600},
    {.name = "notice",
     .type = FieldType::Duration,
     .default_value = "2m",
     .description =
         "Between the interruption notice, when pods are drained and a new node is asked "
         "for, and the end of the node.",
     .example = "notice: 2m"},
    {.name = "fallback",
     .type = FieldType::Word,
     .default_value = "none",
     .description = "What is bought in the 3 minutes after an interruption, when Karpenter takes "
                    "the spot offering for exhausted.",
     .example = "fallback: on-demand",
     .words = list(kFallbacks)},
};

inline constexpr Field kNodePool[] = {
    {.name = "name",
     .type = FieldType::Name,
     .required = true,
     .description = "Name of the pool; patches and sweeps address it by this name.",
     .example = "name: v100"},
    {.name = "instanceType",
     .type = FieldType::Text,
     .required = true,
     .description = "EC2 instance type (slicewise get instances).",
     .example = "instanceType: p3.8xlarge",
     .least = 1},
    {.name = "nodes",
     .type = FieldType::Range,
     .default_value = "1",
     .description = "Number of nodes, from the start to the end of the run; or {min, max}, "
                    "between which spec.provisioner adds and removes nodes.",
     .example = "nodes: {min: 1, max: 8}",
     .children = list(kNodes),
     .least = 1,
     .most = 10'000},
    {.name = "capacityType",
     .type = FieldType::Word,
     .default_value = "on-demand",
     .description = "How the nodes are bought.",
     .example = "capacityType: spot",
     .words = list(kCapacityTypes)},
    {.name = "spot",
     .type = FieldType::Block,
     .description = "EC2 takes nodes back (capacityType: spot). Absent: it never does.",
     .example = "spot: {interruptionsPerHour: 0.03, fallback: on-demand}",
     .children = list(kSpot)},
    {.name = "devicePlugin",
     .type = FieldType::Block,
     .nullable = true,
     .description = "Config file of the NVIDIA device plugin, pasted as it is. null or absent: "
                    "no sharing.",
     .example = "devicePlugin: {version: v1, sharing: {timeSlicing: {resources: [{name: "
                "nvidia.com/gpu, replicas: 10}]}}}",
     .children = list(kDevicePlugin)},
    {.name = "mig",
     .type = FieldType::Block,
     .description = "Partition the GPUs with MIG.",
     .example = "mig: {strategy: mixed, config: all-1g.5gb}",
     .children = list(kMig)},
    {.name = "mps",
     .type = FieldType::Block,
     .description = "Settings of MPS beyond those of the device plugin. Needs something that uses "
                    "MPS: devicePlugin.sharing.mps, virtualGpu or nos.",
     .example = "mps: {uncapped: true}",
     .children = list(kMps)},
    {.name = "vgpu",
     .type = FieldType::Block,
     .description = "NVIDIA vGPU: the hypervisor shares the GPU. In place of devicePlugin.sharing "
                    "and mig.",
     .example = "vgpu: {policy: fixedShare, perGpu: 4}",
     .children = list(kVgpu)},
    {.name = "virtualGpu",
     .type = FieldType::Block,
     .description = "AWS's virtual GPU device plugin, in place of NVIDIA's: MPS without limits; "
                    "pods ask for k8s.amazonaws.com/vgpu.",
     .example = "virtualGpu: {perGpu: 10}",
     .children = list(kVirtualGpu)},
    {.name = "nos",
     .type = FieldType::Block,
     .description = "Partitioning by nos, in place of NVIDIA's device plugin: MPS with slices "
                    "sized by memory; pods ask for nvidia.com/gpu-10gb.",
     .example = "nos: {slices: [10gb, 10gb]}",
     .children = list(kNos)},
    {.name = "taints",
     .type = FieldType::Blocks,
     .description = "Taints of the nodes.",
     .example = "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]",
     .children = list(kTaint)},
    {.name = "labels",
     .type = FieldType::Labels,
     .description = "Labels of the nodes.",
     .example = "labels: {team: vision}"},
    {.name = "gpu",
     .type = FieldType::Block,
     .description = "Figures of the GPU that replace those of the catalogue.",
     .example = "gpu: {timeSlice: 2ms}",
     .children = list(kGpu)},
};

}  // namespace slicewise::scenarios::table
