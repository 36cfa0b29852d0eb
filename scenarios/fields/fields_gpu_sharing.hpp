#pragma once

#include <string_view>

#include "fields.hpp"
#include "fields_device_plugin.hpp"

// How a node pool shares its GPUs, apart from the device plugin's own file: nodePools[].mig, .mps,
// .vgpu, .virtualGpu and .nos.
namespace slicewise::scenarios::table {

// The keys are those of mig-parted, so that its files can be pasted.
inline constexpr Field kMigPartedEntry[] = {
    {.name = "devices",
     .type = FieldType::Devices,
     .required = true,
     .description = "GPUs of the node that the entry is for.",
     .example = "devices: all"},
    {.name = "mig-enabled",
     .type = FieldType::Boolean,
     .required = true,
     .description = "MIG mode of these GPUs.",
     .example = "mig-enabled: true"},
    {.name = "mig-devices",
     .type = FieldType::MigDevices,
     .description = "How many instances of each profile a GPU is cut into; {} switches MIG on and "
                    "makes none. Needed when mig-enabled is true.",
     .example = "mig-devices: {\"1g.5gb\": 2, \"2g.10gb\": 1, \"3g.20gb\": 1}"},
    {.name = "device-filter",
     .type = FieldType::Refused,
     .description = "the instance type decides here which GPUs the node has: keep the entries for "
                    "that GPU and remove device-filter from them"},
};

inline constexpr Field kMigChange[] = {
    {.name = "at",
     .type = FieldType::Duration,
     .required = true,
     .description = "Time from the start of the run.",
     .example = "at: 2h",
     .least = 1},
    {.name = "config",
     .type = FieldType::Text,
     .required = true,
     .description = "The layout from then on.",
     .example = "config: all-3g.20gb",
     .least = 1},
};

inline constexpr Field kMigChangeTimes[] = {
    {.name = "drain",
     .type = FieldType::Duration,
     .default_value = "30s",
     .description = "Time that the pods of the node get to end.",
     .example = "drain: 30s"},
    {.name = "destroy",
     .type = FieldType::Duration,
     .default_value = "5s",
     .description = "Time to destroy the old instances.",
     .example = "destroy: 5s"},
    {.name = "create",
     .type = FieldType::Duration,
     .default_value = "5s",
     .description = "Time to create the new instances.",
     .example = "create: 5s"},
    {.name = "pluginRestart",
     .type = FieldType::Duration,
     .default_value = "30s",
     .description = "Time until the device plugin offers the new instances.",
     .example = "pluginRestart: 30s"},
};

inline constexpr Field kMig[] = {
    {.name = "strategy",
     .type = FieldType::Word,
     .default_value = "single",
     .description = "How the plugin names the instances.",
     .example = "strategy: mixed",
     .words = list(kMigStrategies)},
    {.name = "config",
     .type = FieldType::Text,
     .required = true,
     .description =
         "Layout: a value of the node label nvidia.com/mig.config, or a name of configs.",
     .example = "config: all-1g.5gb",
     .least = 1},
    {.name = "configs",
     .type = FieldType::BlocksByName,
     .description = "Layouts of your own: mig-configs of a mig-parted file, pasted as they are.",
     .example = "configs: {custom: [{devices: all, mig-enabled: true, mig-devices: {\"1g.5gb\": 2, "
                "\"2g.10gb\": 1, \"3g.20gb\": 1}}]}",
     .children = list(kMigPartedEntry),
     .least = 1},
    {.name = "changes",
     .type = FieldType::Blocks,
     .description = "Other layouts during the run, in order of time.",
     .example = "changes: [{at: 2h, config: all-3g.20gb}]",
     .children = list(kMigChange)},
    {.name = "changeTimes",
     .type = FieldType::Block,
     .description =
         "How long a node is out of service when its layout changes: the sum of the four. "
         "Assumed, nobody publishes them.",
     .example = "changeTimes: {drain: 30s, destroy: 5s, create: 5s, pluginRestart: 30s}",
     .children = list(kMigChangeTimes)},
};

inline constexpr Field kMps[] = {
    {.name = "uncapped",
     .type = FieldType::Boolean,
     .default_value = "false",
     .description = "Active thread percentage of 100 for every client. The device plugin sets "
                    "100 / replicas, so that a lone pod cannot borrow idle SMs.",
     .example = "uncapped: true"},
    {.name = "activeThreads",
     .type = FieldType::Percent,
     .default_value = "100 / replicas, rounded down, under the device plugin",
     .description = "Active thread percentage: the most SMs that one client may use.",
     .example = "activeThreads: 30%",
     .least = 1},
    {.name = "clientLimit",
     .type = FieldType::Integer,
     .default_value = "from the GPU model and its CUDA version",
     .description = "CUDA contexts that one GPU's MPS server takes.",
     .example = "clientLimit: 48",
     .least = 1,
     .most = 1'000},
    {.name = "serverMemory",
     .type = FieldType::Bytes,
     .default_value = "30Mi",
     .description = "GPU memory of the MPS server itself.",
     .example = "serverMemory: 30Mi"},
    {.name = "force",
     .type = FieldType::Boolean,
     .default_value = "false",
     .description = "Simulate what the hardware can do and the device plugin refuses: MPS on MIG "
                    "instances. A warning says so.",
     .example = "force: true"},
};

inline constexpr std::string_view kVgpuPolicies[] = {"bestEffort", "equalShare", "fixedShare"};

inline constexpr Field kVgpu[] = {
    {.name = "policy",
     .type = FieldType::Word,
     .default_value = "bestEffort; fixedShare on g6f and gr6f, also without this block",
     .description = "Scheduler of the hypervisor: turns for the busy vGPUs, equal turns for all "
                    "that run, or a fixed share for each that could.",
     .example = "policy: fixedShare",
     .words = list(kVgpuPolicies)},
    {.name = "perGpu",
     .type = FieldType::Integer,
     .default_value = "one over the instance type's fraction of a GPU",
     .description = "vGPUs that the GPU is divided into.",
     .example = "perGpu: 4",
     .least = 1,
     .most = 64},
    {.name = "slice",
     .type = FieldType::Duration,
     .default_value = "2ms, or 1ms for more than 8 vGPUs",
     .description = "Length of a turn.",
     .example = "slice: 2ms",
     .least = 1},
};

inline constexpr Field kVirtualGpu[] = {
    {.name = "perGpu",
     .type = FieldType::Integer,
     .default_value = "10",
     .description = "Virtual GPUs that the plugin advertises per GPU (its flag --vgpu).",
     .example = "perGpu: 10",
     .least = 1,
     .most = 48},
};

inline constexpr Field kNos[] = {
    {.name = "slices",
     .type = FieldType::MemorySlices,
     .required = true,
     .description = "Slices of each GPU, by their memory.",
     .example = "slices: [10gb, 10gb]",
     .least = 1},
};

}  // namespace slicewise::scenarios::table
