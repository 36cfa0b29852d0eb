#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// The device plugin's own config file: nodePools[].devicePlugin. What slicewise does not simulate
// it carries to exports as it is.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kPluginVersions[] = {"v1"};
constexpr Word kDeviceLists[] = {"envvar", "volume-mounts", "cdi-annotations", "cdi-cri"};
constexpr Word kDeviceIds[] = {"uuid", "index"};
constexpr Word kDiscovery[] = {"auto", "nvml", "tegra"};
constexpr Word kAllocationPolicies[] = {{"distributed", AllocationPolicy::Distributed},
                                        {"packed", AllocationPolicy::Packed}};

// The plugin's own spelling of a value that slicewise only carries to the export.
std::string as_written(const Node& node) {
  if (node.kind == Node::Kind::List) {
    std::string text = "[";
    for (const NodePtr& item : node.items) {
      if (text.size() > 1) text += ", ";
      text += as_written(*item);
    }
    return text + "]";
  }
  return node.quoted ? in_quotes(node.text) : node.text;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
void collect_flags(const Node& node, const std::string& path,
                   std::vector<std::pair<std::string, std::string>>& flags) {
  for (const Entry& entry : node.entries) {
    const std::string name = path + "." + entry.key;
    if (name == "flags.migStrategy" || name == "flags.plugin.sharedDevicesAllocationPolicy") {
      continue;
    }
    if (entry.value->kind == Node::Kind::Map) {
      collect_flags(*entry.value, name, flags);
    } else {
      flags.emplace_back(name, as_written(*entry.value));
    }
  }
}

std::string with_prefix(const std::string& name) {
  return name.find('/') == std::string::npos ? "nvidia.com/" + name : name;
}

// The same spelling twice is a NAME_DUPLICATE already; here `gpu` beside `nvidia.com/gpu`.
void check_shared_twice(const std::vector<SharedResource>& resources, Findings& findings) {
  for (std::size_t i = 0; i < resources.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const Located<std::string>& first = resources[k].name;
      const Located<std::string>& second = resources[i].name;
      if (first.value != second.value || first.where.length == second.where.length) continue;
      findings.add(Code::NameDuplicate, second.where,
                   fmt::format("{} is shared twice", second.value),
                   "the device plugin adds nvidia.com/ when the prefix is missing",
                   fmt::format("first on line {}", first.where.line));
    }
  }
}

void finish_shared_resource(SharedResource& resource, const Node& map, Reading& /*reading*/) {
  if (!resource.name.value.empty()) resource.name.value = with_prefix(resource.name.value);
  resource.replicas_where = value_place(map, "replicas");
}

void finish_sharing(PluginSharing& sharing, const Node& /*map*/, Reading& reading) {
  std::erase_if(sharing.resources,
                [](const SharedResource& resource) { return resource.name.value.empty(); });
  check_shared_twice(sharing.resources, reading.findings);
}

void finish_device_plugin(DevicePlugin& plugin, const Node& map, Reading& reading) {
  if (const Node* flags = block(&map, "flags")) collect_flags(*flags, "flags", plugin.other_flags);
  if (const Node* imex = block(&map, "imex")) collect_flags(*imex, "imex", plugin.other_flags);
  const Node* sharing = block(&map, "sharing");
  if (plugin.mps && !boolean_at(block(sharing, "mps"), "failRequestsGreaterThanOne")) {
    plugin.mps->fail_requests_greater_than_one = true;
  }
  if (!is_set(sharing, "mps") || !is_set(sharing, "timeSlicing")) return;
  reading.findings.add(
      Code::MpsWithTimeSlicing, key_place(*sharing, "mps"), "timeSlicing and mps on one node pool",
      "keep one: the device plugin would take mps and say nothing",
      fmt::format("timeSlicing is on line {}", key_place(*sharing, "timeSlicing").line));
}

constexpr Field kSharedResourcesFields[] = {
    field<&SharedResource::name>(
        "name", kGpuResource,
        "Resource whose devices are shared; nvidia.com/ is added when missing.")
        .needed()
        .positive(),
    field<&SharedResource::replicas>(
        "replicas", "10",
        "Slots that the plugin advertises per device. A slot is a ticket, not a share.")
        .needed()
        .from(2, Code::ReplicasTooFew)
        .up_to(10'000),
    plain(T::Ignored, "rename", "",
          "the plugin offers name.shared with renameByDefault: true and nothing else"),
    plain(T::Ignored, "devices", "",
          "every device of the node gets the same replicas; use two node pools"),
};
constexpr FieldList kSharedResources =
    block<SharedResource, &finish_shared_resource>(kSharedResourcesFields);

constexpr Field kSharingModeFields[] = {
    field<&PluginSharing::rename_by_default>(
        "renameByDefault", "true", "Advertise nvidia.com/gpu.shared in place of nvidia.com/gpu."),
    field<&PluginSharing::fail_requests_greater_than_one>(
        "failRequestsGreaterThanOne", "true",
        "Refuse a container that asks for more than one shared replica.")
        .otherwise("true for mps, and for timeSlicing where no pod asks for more, else false"),
    field<&PluginSharing::resources>("resources", "[{name: nvidia.com/gpu, replicas: 10}]",
                                     "What is shared, and into how many slots.")
        .needed()
        .positive()
        .of(kSharedResources),
};
constexpr FieldList kSharingMode = block<PluginSharing, &finish_sharing>(kSharingModeFields);

constexpr Field kSharingFields[] = {
    field<&DevicePlugin::time_slicing>(
        "timeSlicing", "{resources: [{name: nvidia.com/gpu, replicas: 10}]}",
        "Processes take turns on the GPU. No memory limit, no memory isolation.")
        .of(kSharingMode),
    field<&DevicePlugin::mps>("mps", "{resources: [{name: nvidia.com/gpu, replicas: 4}]}",
                              "Processes run side by side under NVIDIA's Multi-Process Service.")
        .of(kSharingMode),
};
constexpr FieldList kSharing = block<DevicePlugin>(kSharingFields);

constexpr Field kPluginFlagsFields[] = {
    plain(T::Boolean, "passDeviceSpecs", "true",
          "Pass device nodes to the kubelet; needed with its CPU manager.")
        .otherwise("false"),
    plain(T::Words, "deviceListStrategy", "envvar", "How the container learns its devices.")
        .positive()
        .one_of(kDeviceLists)
        .otherwise("envvar"),
    plain(T::Word, "deviceIDStrategy", "uuid", "What the plugin calls a device.")
        .one_of(kDeviceIds)
        .otherwise("uuid"),
    plain(T::Text, "cdiAnnotationPrefix", "cdi.k8s.io/", "Prefix of the CDI annotations.")
        .otherwise("cdi.k8s.io/"),
    plain(T::Text, "nvidiaCTKPath", "/usr/bin/nvidia-ctk", "Path of nvidia-ctk on the host.")
        .otherwise("/usr/bin/nvidia-ctk"),
    plain(T::Text, "containerDriverRoot", "/driver-root",
          "Where the driver is mounted in the plugin's container.")
        .otherwise("/driver-root"),
    field<&DevicePlugin::allocation_policy>(
        "sharedDevicesAllocationPolicy", "packed",
        "Which GPU a shared slot comes from: the one with the fewest slots in use, or the one with "
        "the most. Plugin 0.20 and later.")
        .one_of(kAllocationPolicies),
};
constexpr FieldList kPluginFlags = block<DevicePlugin>(kPluginFlagsFields);

constexpr Field kGfdFlagsFields[] = {
    plain(T::Boolean, "oneshot", "true", "Label the node once and exit.").otherwise("false"),
    plain(T::Boolean, "noTimestamp", "true", "Leave the timestamp label out.").otherwise("false"),
    plain(T::Duration, "sleepInterval", "60s", "Time between two rounds of labelling.")
        .otherwise("60s"),
    plain(T::Text, "outputFile", "/etc/kubernetes/node-feature-discovery/features.d/gfd",
          "File that node feature discovery reads.")
        .otherwise("/etc/kubernetes/node-feature-discovery/features.d/gfd"),
    plain(T::Text, "machineTypeFile", "/sys/class/dmi/id/product_name",
          "File that holds the machine type.")
        .otherwise("/sys/class/dmi/id/product_name"),
};
constexpr FieldList kGfdFlags = list(kGfdFlagsFields);

constexpr Field kFlagsFields[] = {
    field<&DevicePlugin::mig_strategy>("migStrategy", "mixed",
                                       "How MIG devices are named: none, single (nvidia.com/gpu) "
                                       "or mixed (nvidia.com/mig-1g.5gb).")
        .one_of(kMigStrategies),
    plain(T::Boolean, "failOnInitError", "false", "Exit when no driver is found.")
        .otherwise("true"),
    plain(T::Text, "mpsRoot", "/run/nvidia/mps", "Host path of the MPS daemon's files."),
    plain(T::Text, "nvidiaDriverRoot", "/run/nvidia/driver",
          "Root of the driver installation on the host.")
        .otherwise("/"),
    plain(T::Text, "nvidiaDevRoot", "/",
          "Root of the device nodes on the host; the driver root when absent."),
    plain(T::Boolean, "gdrcopyEnabled", "true", "Give containers the GDRCopy device.")
        .otherwise("false"),
    plain(T::Boolean, "gdsEnabled", "true", "Give containers the GPUDirect Storage devices.")
        .otherwise("false"),
    plain(T::Boolean, "mofedEnabled", "true", "Give containers the Mellanox devices.")
        .otherwise("false"),
    plain(T::Boolean, "useNodeFeatureAPI", "true",
          "Publish labels through the NodeFeature API (by default since v0.19.0).")
        .otherwise("true"),
    plain(T::Word, "deviceDiscoveryStrategy", "nvml", "How the plugin finds devices.")
        .one_of(kDiscovery)
        .otherwise("auto"),
    inner("plugin", "{passDeviceSpecs: true}", "Flags of the device plugin alone.")
        .of(kPluginFlags),
    plain(T::Block, "gfd", "{oneshot: false}", "Flags of GPU feature discovery alone.")
        .of(kGfdFlags),
};
constexpr FieldList kFlags = block<DevicePlugin>(kFlagsFields);

constexpr Field kImexFields[] = {
    plain(T::Integers, "channelIDs", "[0]", "IMEX channels: [] or [0].").up_to(0),
    plain(T::Boolean, "required", "true", "Fail when the channels are missing.").otherwise("false"),
};
constexpr FieldList kImex = list(kImexFields);

constexpr Field kDevicePluginFields[] = {
    plain(T::Word, "version", "v1", "Version of the plugin's config file.")
        .one_of(kPluginVersions)
        .otherwise("v1"),
    inner("flags", "{migStrategy: none}", "The plugin's flags.").of(kFlags),
    inner("sharing", "{timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}}",
          "Time-slicing or MPS, never both. Left out: one pod per GPU.")
        .of(kSharing),
    plain(T::Block, "imex", "{channelIDs: [0]}", "IMEX channels of multi-node NVLink.").of(kImex),
    plain(T::Ignored, "resources", "", "the plugin has switched custom resource names off"),
};

}  // namespace

constinit const FieldList kDevicePlugin =
    block<DevicePlugin, &finish_device_plugin>(kDevicePluginFields);

}  // namespace slicewise::scenarios
