#include <algorithm>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// How a node pool shares its GPUs, apart from the device plugin's own file: nodePools[].mig, .mps,
// .vgpu, .virtualGpu, .nos, .hami, .kai and .dra.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kVgpuPolicies[] = {{"bestEffort", VgpuSettings::Policy::BestEffort},
                                  {"equalShare", VgpuSettings::Policy::EqualShare},
                                  {"fixedShare", VgpuSettings::Policy::FixedShare}};
constexpr Word kCorePolicies[] = {{"default", Hami::CorePolicy::Default},
                                  {"force", Hami::CorePolicy::Force},
                                  {"disable", Hami::CorePolicy::Disable}};
constexpr Word kPackings[] = {{"binpack", Hami::Packing::Binpack},
                              {"spread", Hami::Packing::Spread}};

// What mig-parted itself refuses; one such entry makes its whole file unreadable.
void check_mig_parted(MigPartedEntry& entry, const Node& node, Reading& reading) {
  const Entry* devices = node.entry("mig-devices");
  const auto enabled = boolean_at(&node, "mig-enabled");
  if (enabled == true && devices == nullptr) {
    reading.findings.add(
        Code::FieldMissing, node.where,
        "\"mig-devices\" is missing: mig-parted stops with \"missing required field 'mig-devices' "
        "when 'mig-enabled' is true\"",
        "add `mig-devices: {\"1g.5gb\": 7}`, or `mig-devices: {}` for no instances");
  }
  if (entry.mig_devices.empty()) return;
  if (enabled == false) {
    reading.findings.add(Code::SettingConflict, devices->key_where,
                         "mig-devices with mig-enabled false: mig-parted stops with \"MIG devices "
                         "included when 'mig-enabled' is false\"",
                         "remove mig-devices, or write `mig-enabled: true`");
  }
  const bool none =
      std::ranges::all_of(entry.mig_devices, [](const auto& device) { return device.second == 0; });
  if (none) {
    reading.findings.add(Code::ValueRange, devices->key_where,
                         "mig-devices without an instance: mig-parted stops with \"all counts for "
                         "all MigProfiles are 0\"",
                         "raise a count, or write `mig-devices: {}` for no instances");
  }
}

void check_order(const Node& before, const Node& change, Findings& findings) {
  const auto first = duration_at(&before, "at");
  const auto second = duration_at(&change, "at");
  if (!first || !second || *first < *second) return;
  const SourceLocation where = value_place(change, "at");
  findings.add(Code::SettingConflict, where,
               *first == *second ? "two changes of the layout at the same time"
                                 : "changes of the layout that are not in order of time",
               "list the changes by their time, one for each",
               fmt::format("the change before is on line {}", value_place(before, "at").line));
}

void check_changes(MigLayout& /*layout*/, const Node& map, Reading& reading) {
  const Node* list = blocks(&map, "changes");
  for (std::size_t i = 1; list != nullptr && i < list->items.size(); ++i) {
    check_order(*list->items[i - 1], *list->items[i], reading.findings);
  }
}

void check_mps(MpsSettings& mps, const Node& map, Reading& reading) {
  if (mps.server_memory > gibibytes(2)) {
    reading.findings.add(Code::ValueRange, value_place(map, "serverMemory"),
                         "serverMemory is more than 2Gi",
                         "the server itself takes tens of MiB; what its clients hold is gpuMemory");
  }
  if (!mps.uncapped || !mps.active_threads) return;
  reading.findings.add(Code::SettingConflict, key_place(map, "activeThreads"),
                       "uncapped and activeThreads are both set",
                       "uncapped is an active thread percentage of 100: keep one",
                       fmt::format("uncapped is on line {}", key_place(map, "uncapped").line));
}

bool uses_mps(const Node& pool) {
  return is_set(block(block(&pool, "devicePlugin"), "sharing"), "mps") ||
         is_set(&pool, "virtualGpu") || is_set(&pool, "nos");
}

// Ways to divide a GPU that take the place of each other.
class Exclusive {
 public:
  Exclusive(const Node& pool, Findings& findings) : pool_(pool), findings_(findings) {}

  void check() {
    if (const Node* sharing = block(block(&pool_, "devicePlugin"), "sharing");
        is_set(sharing, "timeSlicing") || is_set(sharing, "mps")) {
      refuse("vgpu", "devicePlugin", "devicePlugin.sharing", kUnderThePlugin);
    }
    for (const std::string_view other : {"mig", "virtualGpu", "nos"}) {
      refuse("vgpu", other, other, kUnderThePlugin);
    }
    for (const std::string_view other : {"devicePlugin", "mig", "nos"}) {
      refuse("virtualGpu", other, other,
             "AWS's virtual GPU device plugin takes the place of NVIDIA's and knows no MIG: keep "
             "one of the two");
    }
    for (const std::string_view other : {"devicePlugin", "mig"}) {
      refuse(
          "nos", other, other,
          "nos brings its own device plugin and cuts a node by MPS or by MIG: keep one of the two");
    }
    for (const std::string_view other :
         {"devicePlugin", "mig", "vgpu", "virtualGpu", "nos", "mps"}) {
      refuse("hami", other, other,
             "HAMi brings its own device plugin, which replicates whole GPUs: keep one of the two");
    }
    if (boolean_at(&pool_, "kai") == true) check_kai();
    refuse("dynamicMig", "mig", "mig",
           "the driver's gate DynamicMIG makes the devices that claims ask for, and a layout is "
           "made beforehand: keep one of the two");
    if (boolean_at(&pool_, "dra") != true) {
      if (!is_set(&pool_, "dynamicMig")) return;
      return findings_.add(Code::SettingConflict, key_place(pool_, "dynamicMig"),
                           "dynamicMig on a node pool without NVIDIA's DRA driver",
                           "dra: true, which makes MIG devices for spec.resourceClaims");
    }
    for (const std::string_view other :
         {"devicePlugin", "vgpu", "virtualGpu", "nos", "mps", "hami"}) {
      refuse(
          "dra", other, other,
          "claims of the DRA driver say how pods share: never beside a device plugin on one node");
    }
  }

 private:
  // `dra: false` is what a pool without it says.
  void check_kai() {
    constexpr std::string_view kWhole =
        "KAI gives away parts of whole GPUs, as NVIDIA's plugin offers them by default: keep one "
        "of the two";
    for (const std::string_view other :
         {"devicePlugin", "vgpu", "virtualGpu", "nos", "hami", "mig", "mps"}) {
      refuse("kai", other, other, kWhole);
    }
    if (boolean_at(&pool_, "dra") == true) refuse("kai", "dra", "dra", kWhole);
  }

  static constexpr std::string_view kUnderThePlugin =
      "with vGPU the hypervisor divides the GPU and each node sees a whole one: keep one of the "
      "two";

  void refuse(std::string_view key, std::string_view other, std::string_view shown,
              std::string_view help) {
    if (!is_set(&pool_, key) || !is_set(&pool_, other)) return;
    findings_.add(Code::SettingConflict, key_place(pool_, key),
                  fmt::format("{} and {} on one node pool", key, shown), std::string(help),
                  fmt::format("{} is on line {}", other, key_place(pool_, other).line));
  }

  const Node& pool_;
  Findings& findings_;
};

constexpr Field kMigPartedEntryFields[] = {
    field<&MigPartedEntry::devices>("devices", "all", "GPUs of the node that the entry is for.")
        .as(T::Devices)
        .needed(),
    field<&MigPartedEntry::mig_enabled>("mig-enabled", "true", "MIG mode of these GPUs.").needed(),
    field<&MigPartedEntry::mig_devices>(
        "mig-devices", "{\"1g.5gb\": 2, \"2g.10gb\": 1, \"3g.20gb\": 1}",
        "How many instances of each profile a GPU is cut into; {} switches MIG on and makes none. "
        "Needed when mig-enabled is true.")
        .as(T::MigDevices),
    plain(T::Refused, "device-filter", "",
          "the instance type decides here which GPUs the node has: keep the entries for that GPU "
          "and remove device-filter from them"),
};
constexpr FieldList kMigPartedEntry =
    block<MigPartedEntry, &check_mig_parted>(kMigPartedEntryFields);

constexpr Field kMigChangeFields[] = {
    field<&MigChange::at>("at", "2h", "Time from the start of the run.").needed().positive(),
    field<&MigChange::config>("config", "all-3g.20gb", "The layout from then on.")
        .needed()
        .positive(),
};
constexpr FieldList kMigChange = block<MigChange>(kMigChangeFields);

constexpr Field kMigChangeTimesFields[] = {
    field<&MigChangeTimes::drain>("drain", "30s", "Time that the pods of the node get to end."),
    field<&MigChangeTimes::destroy>("destroy", "5s", "Time to destroy the old instances."),
    field<&MigChangeTimes::create>("create", "5s", "Time to create the new instances."),
    field<&MigChangeTimes::plugin_restart>(
        "pluginRestart", "30s", "Time until the device plugin offers the new instances."),
};
constexpr FieldList kMigChangeTimes = block<MigChangeTimes>(kMigChangeTimesFields);

constexpr Field kNosMigFields[] = {
    field<&NosMig::window_timeout>(
        "batchWindowTimeout", "60s",
        "A batch of Pending pods is looked at so long after its first pod at the latest "
        "(batchWindowTimeoutSeconds of nos' chart).")
        .positive(),
    field<&NosMig::window_idle>("batchWindowIdle", "10s",
                                "... or so long after its last one (batchWindowIdleSeconds).")
        .positive(),
};
constexpr FieldList kNosMig = block<NosMig>(kNosMigFields);

constexpr Field kMigFields[] = {
    field<&MigLayout::strategy>("strategy", "mixed", "How the plugin names the instances.")
        .one_of(kMigStrategies),
    field<&MigLayout::config>(
        "config", "all-1g.5gb",
        "Layout: a value of the node label nvidia.com/mig.config, or a name of configs.")
        .needed()
        .positive(),
    field<&MigLayout::configs>(
        "configs",
        "{custom: [{devices: all, mig-enabled: true, mig-devices: {\"1g.5gb\": 2, \"2g.10gb\": 1, "
        "\"3g.20gb\": 1}}]}",
        "Layouts of your own: mig-configs of a mig-parted file, pasted as they are.")
        .positive()
        .of(kMigPartedEntry),
    field<&MigLayout::changes>("changes", "[{at: 2h, config: all-3g.20gb}]",
                               "Other layouts during the run, in order of time.")
        .of(kMigChange),
    field<&MigLayout::change_times>("changeTimes",
                                    "{drain: 30s, destroy: 5s, create: 5s, pluginRestart: 30s}",
                                    "How long a node is out of service when its layout changes: "
                                    "the sum of the four. Assumed, nobody publishes them.")
        .of(kMigChangeTimes),
    field<&MigLayout::nos>(
        "nos", "{batchWindowTimeout: 60s, batchWindowIdle: 10s}",
        "nos cuts the GPUs anew for pods that stay Pending, without touching instances in use; "
        "config is what there is at the start, all-7g.40gb as nos itself begins. For A100. A "
        "node's free instances are gone for destroy, create and pluginRestart of changeTimes.")
        .of(kNosMig),
};

constexpr Field kMpsFields[] = {
    field<&MpsSettings::uncapped>(
        "uncapped", "true",
        "Active thread percentage of 100 for every client. The device plugin sets 100 / replicas, "
        "so that a lone pod cannot borrow idle SMs."),
    field<&MpsSettings::active_threads>(
        "activeThreads", "30%", "Active thread percentage: the most SMs that one client may use.")
        .as(T::Percent)
        .positive()
        .otherwise("100 / replicas, rounded down, under the device plugin"),
    field<&MpsSettings::client_limit>("clientLimit", "48",
                                      "CUDA contexts that one GPU's MPS server takes; that of a "
                                      "MIG instance in proportion to its compute slices.")
        .between(1, 1'000)
        .otherwise("from the GPU model and its CUDA version"),
    field<&MpsSettings::server_memory>("serverMemory", "30Mi",
                                       "GPU memory of the MPS server itself."),
    field<&MpsSettings::force>("force", "true",
                               "Simulate what the hardware can do and the device plugin refuses: "
                               "MPS on MIG instances. A warning says so."),
};

constexpr Field kVgpuFields[] = {
    field<&VgpuSettings::policy>("policy", "fixedShare",
                                 "Scheduler of the hypervisor: turns for the busy vGPUs, equal "
                                 "turns for all that run, or a fixed share for each that could.")
        .one_of(kVgpuPolicies)
        .otherwise("bestEffort; fixedShare on g6f and gr6f, also without this block"),
    field<&VgpuSettings::per_gpu>("perGpu", "4", "vGPUs that the GPU is divided into.")
        .between(1, 64)
        .otherwise("one over the instance type's fraction of a GPU"),
    field<&VgpuSettings::slice>("slice", "2ms", "Length of a turn; at most 1h.")
        .positive()
        .within(hours(1))
        .otherwise("2ms, or 1ms for more than 8 vGPUs"),
};

constexpr Field kVirtualGpuFields[] = {
    field<&VirtualGpuPlugin::per_gpu>(
        "perGpu", "10", "Virtual GPUs that the plugin advertises per GPU (its flag --vgpu).")
        .between(1, 48),
};

constexpr Field kDynamicMigFields[] = {
    field<&DynamicMig::create>("create", "5s",
                               "Time to make one device, before the pod pulls its image; one "
                               "after the other on a node. Assumed, nobody publishes it."),
    field<&DynamicMig::destroy>("destroy", "5s",
                                "Time to destroy it, after which its slices are free. Assumed."),
};

constexpr Field kHamiFields[] = {
    field<&Hami::split_count>("deviceSplitCount", "10", "Pods that a GPU takes at the most.")
        .between(1, 100),
    field<&Hami::memory_scaling>(
        "deviceMemoryScaling", "1",
        "What the scheduler gives away of a GPU's memory, as a multiple of it. Beyond 1 HAMi pages "
        "to the host's, which is not simulated.")
        .as(T::Number)
        .between(0, 10),
    field<&Hami::core_scaling>("deviceCoreScaling", "1",
                               "What the scheduler gives away of a GPU's time, as a multiple of "
                               "it; gpucores: 100 keeps others off the GPU only at 1.")
        .as(T::Number)
        .between(0, 10),
    field<&Hami::core_policy>(
        "gpuCorePolicy", "force",
        "When gpucores limit a pod: while others work on its GPU, always, or never.")
        .one_of(kCorePolicies),
    field<&Hami::nodes>("nodeSchedulerPolicy", "binpack", "Which nodes are filled first.")
        .one_of(kPackings),
    field<&Hami::gpus>("gpuSchedulerPolicy", "spread", "Which GPUs of a node are filled first.")
        .one_of(kPackings),
};

constexpr Field kNosFields[] = {
    field<&NosPartitioning::slices>("slices", "[10gb, 10gb]",
                                    "Slices of each GPU, by their memory.")
        .as(T::MemorySlices)
        .needed()
        .positive(),
};

// One partitioner cuts the GPUs of all nodes, where the plugin offers MIG devices by profile.
void check_nos_mig(const Node& pool, const MigLayout& mig, bool comes_and_goes,
                   Findings& findings) {
  const SourceLocation& where = mig.nos->where;
  if (mig.strategy != MigStrategy::Mixed) {
    findings.add(Code::SettingConflict, where, "mig.nos without mig.strategy mixed",
                 "nos reads MIG devices by their profile: write `strategy: mixed`");
  }
  const Node* const sharing = block(block(&pool, "devicePlugin"), "sharing");
  if (is_set(sharing, "timeSlicing") || is_set(sharing, "mps") ||
      boolean_at(&pool, "dra") == true) {
    findings.add(Code::SettingConflict, where, "mig.nos on a node pool that shares MIG devices",
                 "nos counts a MIG device as one pod's: leave devicePlugin.sharing and dra out");
  }
  if (!mig.changes.empty()) {
    findings.add(Code::SettingConflict, where, "mig.nos and mig.changes on one node pool",
                 "nos finds the layout by what waits: leave mig.changes out");
  }
  if (!comes_and_goes) return;
  findings.add(Code::StrategyNotModelled, where, "nos on nodes that come and go is not simulated",
               "write one number of nodes, without spot");
}

}  // namespace

constinit const FieldList kMig = block<MigLayout, &check_changes>(kMigFields);
constinit const FieldList kMps = block<MpsSettings, &check_mps>(kMpsFields);
constinit const FieldList kVgpu = block<VgpuSettings>(kVgpuFields);
constinit const FieldList kVirtualGpu = block<VirtualGpuPlugin>(kVirtualGpuFields);
constinit const FieldList kDynamicMig = block<DynamicMig>(kDynamicMigFields);
constinit const FieldList kNos = block<NosPartitioning>(kNosFields);
constinit const FieldList kHami = block<Hami>(kHamiFields);

void check_gpu_sharing(const Node& pool, const NodePool& read, Findings& findings) {
  if (read.mps && !uses_mps(pool)) {
    findings.add(
        Code::SettingConflict, read.mps->where, "mps settings on a node pool without MPS",
        "they would be ignored: set devicePlugin.sharing.mps, virtualGpu or nos, or remove them");
  }
  Exclusive(pool, findings).check();
  const bool changes = read.mig && !read.mig->changes.empty();
  const bool comes_and_goes = read.most_nodes || read.capacity_type == CapacityType::Spot;
  if ((read.hami || read.kai) && comes_and_goes) {
    findings.add(Code::StrategyNotModelled, key_place(pool, read.hami ? "hami" : "kai"),
                 fmt::format("parts of GPUs by {} on nodes that come and go are not simulated",
                             read.hami ? "HAMi" : "KAI"),
                 "write one number of nodes, without spot");
  }
  if (read.dra && changes) {
    findings.add(Code::StrategyNotModelled, key_place(pool, "dra"),
                 "claims of DRA under MIG layouts that change are not simulated",
                 "leave mig.changes out");
  }
  if (read.mig && read.mig->nos) check_nos_mig(pool, *read.mig, comes_and_goes, findings);
  if (read.dynamic_mig && comes_and_goes) {
    findings.add(Code::StrategyNotModelled, read.dynamic_mig->where,
                 "MIG devices on demand on nodes that come and go are not simulated",
                 "write one number of nodes, without spot");
  }
}

}  // namespace slicewise::scenarios
