#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/cluster_queue.hpp"
#include "slicewise/scenarios/node_pool.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/pod_file.hpp"
#include "slicewise/scenarios/resource_claim.hpp"

// The files that set up a cluster with GPUs, as plain data: what their own formats say. What they
// mean together, and on which GPUs, is judged by sim::lint; `import k8s` makes a scenario of them.
namespace slicewise::scenarios {

struct Node;  // of a document, as it was written

// "0.20.0" of the device plugin; patches do not matter to any rule.
struct PluginVersion {
  int major = 0;
  int minor = 20;
  friend auto operator<=>(const PluginVersion&, const PluginVersion&) = default;
};
std::optional<PluginVersion> plugin_version(std::string_view text);

// What operators' APIs call the objects that make pods and are read: "jobsets.jobset.x-k8s.io".
std::set<std::string> resources_with_pods();

// The settings of the device plugin and of mig-manager: ConfigMaps, by namespace and name, that
// those mount which are among the objects of a list that kubectl printed in JSON.
std::set<std::pair<std::string, std::string>> config_maps_of_gpu_software(const SourceText& list);

// The first Pod of such a list that runs the image, by namespace and name; nullopt when none does.
std::optional<std::pair<std::string, std::string>> pod_that_runs(std::string_view image,
                                                                 const SourceText& list);

enum class FileSharing : std::uint8_t { None, TimeSlicing, Mps };

struct ReplicatedResource {
  std::string name;  // with nvidia.com/
  std::int64_t replicas = 0;
  SourceLocation where;           // of the name
  SourceLocation replicas_where;  // of the number
};

// A configuration file of the device plugin. Bottlerocket's settings read as one.
struct PluginConfigFile {
  std::string key;  // in its ConfigMap or map; "" for a file
  SourceLocation where;
  std::string strategy;  // migStrategy, "" when it is not given
  SourceLocation strategy_where;
  FileSharing sharing = FileSharing::None;
  SourceLocation sharing_where;
  std::vector<ReplicatedResource> resources;
  bool renames = false;
  std::optional<bool> refuses_several;  // failRequestsGreaterThanOne
  bool has_mps_root = false;
  std::shared_ptr<const Node> document;  // nullptr for Bottlerocket
};

// What DaemonSets of a chart tolerate: `path` in its values, whose list replaces the chart's own.
struct TolerationList {
  std::string_view path;
  std::vector<Toleration> list;
};

// Helm values: of the device plugin's chart, of the GPU Operator, or of the DRA driver.
struct ChartValues {
  enum class Chart : std::uint8_t { DevicePlugin, GpuOperator, Dra };
  Chart chart = Chart::DevicePlugin;
  SourceLocation where;
  bool deploys_plugin = true;
  Located<std::string> config_map;  // external ConfigMap
  Located<std::string> default_key;
  std::optional<SourceLocation> map_where;  // of config.map or config.data
  std::vector<std::string> keys;            // of config.map or config.data
  bool has_fallback = false;                // fallbackStrategies was changed
  bool discovers = false;                   // GFD or NFD label the nodes
  bool places = false;                      // affinity of its own, of the DRA driver nodeSelector
  std::vector<KeyValue> selector;           // nodeSelector
  std::string strategy;                     // migStrategy, mig.strategy; "" left to the configs
  SourceLocation strategy_where;
  std::vector<TolerationList> tolerations;
  bool manages_mig = false;
  bool reboots = false;               // WITH_REBOOT=true
  std::map<std::string, bool> gates;  // featureGates of the DRA driver
  // Of the plugin's chart, as the commands in its comments have it: the release, with its
  // namespace, and DaemonSets that go.
  std::string release;
  std::set<std::string> takes_away;
};

// The charts' own: first of what serves the GPUs, then of the worker of Node Feature Discovery.
std::vector<TolerationList> usual_tolerations(ChartValues::Chart chart);

struct ConfigMapFile {
  std::string name;
  std::string space;
  std::vector<std::string> keys;
  SourceLocation where;
  SourceLocation space_where;
};

// A NodePool, a node group of eksctl, or a Node.
struct NodeGroupFile {
  enum class Kind : std::uint8_t { NodePool, NodeGroup, Node };
  Kind kind = Kind::NodePool;
  NodeMaker maker = NodeMaker::Unknown;
  std::string name;
  SourceLocation where;         // of the name
  SourceLocation object_where;  // where it begins
  std::vector<KeyValue> labels;
  std::vector<Taint> taints;
  std::vector<Located<std::string>> types;    // instance types
  std::vector<NodeRequirement> requirements;  // and what it labels its nodes with by itself
  std::vector<ResourceAmount> limits;
  std::optional<std::vector<ResourceAmount>>
      allocatable;  // of a Node that says it, amounts as above
  std::string node_class;
  bool is_bottlerocket = false;
  bool may_have_efa = true;                      // interfaces of the Elastic Fabric Adapter
  std::optional<Bytes> disk;                     // the largest volume that pods may write to
  bool labels_gpus = false;                      // the image sets nvidia.com/gpu.present
  std::optional<PluginConfigFile> bottlerocket;  // its settings of the device plugin
  std::vector<KeyValue> bottlerocket_mig;        // profile by GPU model
  bool bottlerocket_partitions = false;
  SourceLocation bottlerocket_where;
  bool scales = false;                 // may start from no node, by the cluster-autoscaler
  std::optional<std::int64_t> nodes;   // desiredCapacity, replicas of a static NodePool
  std::optional<std::int64_t> fewest;  // minSize, or the annotation of an exported NodePool
  std::optional<std::int64_t> most;    // maxSize, limits.nodes
  bool is_spot = false;                // of a node group; a NodePool requires a capacity type
  std::optional<std::int64_t> weight;  // of a NodePool
  std::string consolidation;           // disruption.consolidationPolicy of a NodePool
  std::string consolidates_after;
  std::string expires_after;
  bool is_kept = false;  // a budget of 0 nodes at all times and for all reasons: none is taken away
  bool has_budgets = false;       // others that say how many at once, or when
  bool has_reservations = false;  // its EC2NodeClass selects capacity reservations
};

// The label of that key; nullptr when the group has none.
const KeyValue* label_of(const NodeGroupFile& group, std::string_view key);

// What a Node says that it has of a resource; nullopt: it does not say it.
std::optional<std::int64_t> allocatable_of(const NodeGroupFile& group, std::string_view resource);

// An EC2NodeClass.
struct NodeClassFile {
  std::string name;
  bool is_used = false;  // by a NodePool
};

struct NodeOverlayFile {
  std::string name;
  SourceLocation where;         // of the name
  SourceLocation object_where;  // where it begins
  std::vector<NodeRequirement> requirements;
  std::vector<ResourceAmount> capacity;
};

// A device of a ResourceSlice of NVIDIA's driver.
struct SliceDevice {
  std::string node;
  DraDevice device;
  std::string gpu;              // UUID of the one that it is, or is a part of; "" not known
  bool takes_counters = false;  // of its GPU, which may have others in its place
};

// A config of mig-parted.
struct MigPartFile {
  std::vector<std::string> filters;                  // device-filter
  std::optional<std::vector<std::int64_t>> devices;  // nullopt: all
  bool enabled = false;
  std::vector<ResourceAmount> counts;  // by profile
  SourceLocation where;
};
struct MigConfigFile {
  std::string name;
  SourceLocation where;
  std::vector<MigPartFile> parts;
  std::shared_ptr<const Node> document;  // the list of parts
};

struct ResourceFlavorFile {
  ResourceFlavor flavor;
  std::vector<Toleration> tolerations;  // that Kueue gives to pods that are admitted to it
};

struct ClusterQueueFile {
  ClusterQueue queue;
  bool is_sound = false;  // what a scenario is held to, it holds
};

// Of Kueue: where Jobs of a namespace wait for the quota of a ClusterQueue.
struct LocalQueueFile {
  std::string name;
  std::string space;
  std::string cluster_queue;
};

// A ResourceClaim, ResourceClaimTemplate or DeviceClass.
struct ClaimFile {
  std::string kind;
  std::string space;
  ResourceClaim claim;                // what a scenario says of it
  Located<std::string> device_class;  // of its request
  Located<std::string> refused;       // what of it no scenario can say; "" nothing
};

struct DraSharingFile {
  std::string claim;  // name of the object
  bool is_template = false;
  std::string strategy;  // TimeSlicing, MPS
  SourceLocation where;
};

// A metric of DCGM that some text asks for.
struct MetricUse {
  std::string metric;
  bool sums_by_pod = false;
  SourceLocation where;
};

// A DaemonSet that runs the device plugin. Names have their namespaces.
struct PluginDaemonFile {
  std::string name;
  std::string release;        // of Helm, that keeps it; "" none
  std::string chart_version;  // "0.17.1"
  bool is_of_operator = false;
  SourceLocation where;
};

// A DaemonSet that runs AWS's virtual GPU device plugin, and MPS beside it.
struct VirtualGpuDaemonFile {
  std::int64_t per_gpu = 10;        // --vgpu
  std::int64_t active_threads = 0;  // in percent, of every client; 0: no limit
  SourceLocation where;
};

struct DcgmFile {
  SourceLocation where;
  bool attributes_to_all = false;  // KUBERNETES_VIRTUAL_GPUS
  bool names_resources = false;    // NVIDIA_RESOURCE_NAMES
};

struct ClusterFiles {
  std::vector<PodFile> pods;
  std::vector<PluginConfigFile> configs;
  std::vector<ChartValues> charts;
  // Of the charts of Karpenter and the Cluster Autoscaler: "batchIdleDuration", "scan-interval".
  std::vector<KeyValue> node_clocks;
  std::vector<ConfigMapFile> config_maps;
  // PersistentVolumeClaims, by namespace and name, that one node at a time can mount.
  std::set<std::pair<std::string, std::string>> volumes_of_one_node;
  std::vector<NodeGroupFile> groups;
  std::vector<NodeClassFile> node_classes;
  std::vector<NodeOverlayFile> overlays;
  std::vector<MigConfigFile> mig_configs;
  std::vector<ResourceFlavorFile> flavors;
  std::vector<ClusterQueueFile> cluster_queues;
  std::vector<KaiQueue> kai_queues;
  std::vector<LocalQueueFile> local_queues;
  std::vector<DraSharingFile> dra;
  std::vector<ClaimFile> claims;
  std::vector<SliceDevice> devices;
  std::vector<MetricUse> metrics;
  std::vector<std::string> counters;  // metrics that an exporter's own list switches on
  std::vector<DcgmFile> exporters;
  std::vector<PluginDaemonFile> plugin_daemons;
  std::vector<VirtualGpuDaemonFile> virtual_gpus;
  std::optional<SourceLocation> eksctl_installs;  // a device plugin of its own, for these nodes
  std::vector<std::size_t> scenarios;             // which of the sources are scenario files
  std::vector<std::size_t> replays;               // ... and which are of kind Replay
  std::string region;                             // of a ClusterConfig
  std::int64_t objects = 0;
  std::int64_t held_to_schema = 0;                  // of these
  std::vector<Located<std::string>> left_alone;     // what an object is of which nothing was kept
  std::vector<Located<std::string>> not_simulated;  // what was understood and no scenario can say
  Diagnostics unreadable;                           // what is no YAML, JSON or TOML
  Diagnostics problems;  // that, and what is wrong with each document by itself
};

// Reads the documents of all files; what cannot be read is in `problems`, and the rest is kept.
// Scenario files of slicewise are left to read_scenario_file, files of kind Replay to
// read_replay_file. Never throws on any bytes.
ClusterFiles read_cluster_files(std::span<const SourceText> sources, PluginVersion version);

// Those that another object of the files makes: a dump has both, and counts them twice.
std::set<const PodFile*> made_by_others(const ClusterFiles& files);

// In which Jobs of the object wait that makes the pods, by their LocalQueue; nullptr: in none that
// is here.
const ClusterQueueFile* cluster_queue_of(const ClusterFiles& files, const PodFile& pod);

// What the pods of DaemonSets ask for on a node: the usual ones, as the files have them where they
// do, and of others those that may run there.
using RunsOnNode = std::function<bool(const PodFile& daemon)>;
std::vector<DaemonSet> daemon_sets_of(const ClusterFiles& files, const RunsOnNode& runs_there);

// The config that the plugin uses on nodes with this label nvidia.com/device-plugin.config
// (nullptr: without one), as its config manager chooses: label, default, a config called
// default, the only one.
struct ChosenConfig {
  const PluginConfigFile* config = nullptr;
  bool is_known = false;  // a null config then means: no sharing
};
ChosenConfig chosen_config(const ClusterFiles& files, const KeyValue* label);

// Whether Karpenter applies the overlay to nodes of the group of a type with these labels.
bool is_for(const NodeOverlayFile& overlay, const NodeGroupFile& group, const NodeLabels& of_type);

// ... and one of them says that such nodes have GPUs.
bool overlay_gives_gpus(const ClusterFiles& files, const NodeGroupFile& group,
                        const NodeLabels& of_type);

// Labels that programs set, so that the files need not show them.
bool is_set_by_others(std::string_view label);

// ... on nodes that have joined (GPU Feature Discovery): who starts nodes does not know them
// before.
bool is_late_label(std::string_view label);

// Whether it has GPUs of NVIDIA's, by the form of the name: "g5.2xlarge", "p4d.24xlarge",
// "gr6.4xlarge", not "m6i.large" or "g4ad.xlarge".
bool is_gpu_type(std::string_view instance_type);

// The chart that deploys the device plugin; nullptr when none does.
const ChartValues* plugin_chart(const ClusterFiles& files);

}  // namespace slicewise::scenarios
