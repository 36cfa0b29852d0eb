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
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/scenario.hpp"

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

struct KeyValue {
  std::string key;
  std::string value;
  SourceLocation key_where;
  SourceLocation where;  // of the value
};

// What a container asks for: of an extended resource, CPU in millicores, memory in bytes.
struct ResourceAmount {
  std::string resource;
  std::int64_t amount = 0;
  SourceLocation where;  // of the value
};

struct ContainerFile {
  std::string name;
  std::string image;
  std::string command;  // command and args, with spaces between
  bool is_init = false;
  bool restarts_always = false;           // of an init container: a sidecar
  bool is_probed = false;                 // something asks whether it answers
  std::optional<std::string> user;        // runAsUser
  std::vector<ResourceAmount> amounts;    // limits; of CPU and memory requests, where there are
  std::optional<std::int64_t> cpu_limit;  // in millicores
  std::vector<KeyValue> env;
  SourceLocation where;
};

// Amounts by resource name.
using Amounts = std::map<std::string, std::int64_t, std::less<>>;
inline constexpr std::int64_t kMostAmount = 1'000'000'000'000'000'000;

// Adds without overflow.
void add_amounts(Amounts& sum, const Amounts& more);

struct ContainerAmounts {
  Amounts amounts;
  bool is_init = false;
  bool restarts_always = false;  // of an init container
};

// What the scheduler reserves: containers run together, init containers before them one by one, and
// those that always restart stay.
Amounts reserved_amounts(const std::vector<ContainerAmounts>& containers);

// What pods are there for, where the kind of their object says it.
enum class PodPurpose : std::uint8_t {
  Unsaid,  // of a Deployment: either
  Serves,
  Works,  // and does not end: what it works on is somewhere else
  Ends,
};

// How many pods there are at a time, as an autoscaler sees to it. Its figures in a scenario's
// words.
struct ScalingFile {
  std::int64_t fewest = 1;
  std::int64_t most = 1;
  std::string metric;  // "Queue"; "" one that is not simulated
  std::string target;  // "4", "12/s", "70%"; "" when the file does not say
  std::string seen;    // what the file calls the metric; "" there is none
  // Resources (value) that are targets as shares of what is requested; key: the container, "" all.
  std::vector<KeyValue> shares;
  std::vector<ReplicaWindow> windows;  // of KEDA's cron scaler
  std::string by;                      // "HorizontalPodAutoscaler/asr"; "" one that KEDA has made
  bool lets_others = false;            // scale the same pods, as its annotations say
  std::string every;  // syncPeriod, cooldown, scaleDownWindow, scaleUpWindow; "" unsaid
  std::string cooldown;
  std::string down_window;
  std::string up_window;
  SourceLocation where;
};

// When a CronJob makes its Jobs, as it is written.
struct CronFile {
  std::string schedule;
  std::string time_zone;
  std::string policy;
  std::string deadline_seconds;
  bool suspend = false;
};

// Pods that one object makes, all alike. An object of several kinds of pods makes one of each.
struct PodFile {
  std::string kind;              // of the object: "Deployment"
  std::string object;            // its name
  std::string name;              // of these pods: the object's, and what tells them from its others
  std::string space;             // namespace, "" when the file does not say
  SourceLocation where;          // of the name
  SourceLocation object_where;   // where the object begins
  std::int64_t copies = 1;       // replicas, parallelism
  std::int64_t completions = 1;  // of a Job
  std::optional<std::int64_t> backoff_limit;
  std::optional<CronFile> cron;
  PodPurpose purpose = PodPurpose::Unsaid;  // by the kind of the object
  bool works_together = false;              // one of these pods alone is of no use
  bool is_step = false;                     // others of the object run before or after them
  bool is_served = false;                   // by a Service with an address
  bool is_never_evicted = false;            // PodDisruptionBudgets let none of these pods go
  std::optional<DisruptionBudget> budget;   // of these pods alone
  std::optional<ScalingFile> scaling;
  std::vector<KeyValue> annotations;         // of the pods
  std::vector<KeyValue> object_annotations;  // of the object that makes them
  std::vector<ContainerFile> containers;
  bool asks_as_one = false;    // for CPU and memory, by what its spec says of the pod as a whole
  std::string not_quantified;  // a resource of which the files ask for no quantity; "" none
  std::vector<Toleration> tolerations;
  std::vector<KeyValue> node_selector;
  // One of these lists has to hold; one without requirements never does.
  std::vector<std::vector<NodeRequirement>> affinity;
  std::vector<KeyValue> labels;                       // of the pods
  std::vector<PodAffinityTerm> anti_affinity;         // required, by node
  std::optional<SourceLocation> other_anti_affinity;  // a required one that is not among these
  PodPreferences preferences{};
  std::optional<SourceLocation> spread;  // a topologySpreadConstraint by node, or podAntiAffinity
  std::optional<SourceLocation> host_ipc;
  std::optional<std::string> user;
  std::vector<KeyValue> claims;  // resourceClaimName and resourceClaimTemplateName
  std::string scheduler;
  std::string restart_policy;
  std::int64_t priority = 0;
  std::string priority_class;
  bool never_preempts = false;
  Located<std::string> queue;  // of Kueue, by a label of the object
  bool is_system = false;      // part of the GPU software: it may see all GPUs
  // Of objects that a cluster holds, beside those that people wrote.
  std::string owner;       // what made it, "Deployment/asr"; "" nobody did
  bool has_ended = false;  // a pod or Job that runs no more
  std::string held_by;     // "suspend: true": its pods run when somebody takes it away; "" nothing
  bool lacks_template = false;  // what it tolerates and selects is in a runtime that is not here
};

Amounts reserved_amounts(const PodFile& pod);

// By a resource, a claim or an annotation of KAI.
bool asks_for_gpu(const PodFile& pod);

// Of an object that names none, too.
inline std::string_view namespace_of(std::string_view written) {
  return written.empty() ? std::string_view("default") : written;
}

// What made an object: "Deployment/asr" rather than its ReplicaSet, "CronJob/nightly" rather than
// one of its Jobs; "" without a kind or a name. `template_hash`: the label pod-template-hash.
std::string controller_of(std::string kind, std::string name, std::string_view template_hash);

// What no manifest of Kubernetes says of a pod, as annotations of it: read as the fields of a
// scenario's workload are.
inline constexpr std::string_view kMemoryAnnotation = "slicewise.dev/gpu-memory";  // of a process
inline constexpr std::string_view kProfileAnnotation = "slicewise.dev/profile";
inline constexpr std::string_view kGpuTimeAnnotation = "slicewise.dev/request-gpu-time";  // p50
inline constexpr std::string_view kTrafficAnnotation = "slicewise.dev/traffic";           // 12/s
inline constexpr std::string_view kUtilAnnotation = "slicewise.dev/gpu-util";
// Kueue's: with how many of its pods at a time a Job will do (partial admission).
inline constexpr std::string_view kLeastParallelism = "kueue.x-k8s.io/job-min-parallelism";
// Of the pods, else of the object that makes them; nullptr: it has none.
const KeyValue* annotation_of(const PodFile& pod, std::string_view key);

// Whether a scheduler places the pods that reads KAI's annotations.
bool is_placed_by_kai(const PodFile& pod);

// The program that trains which a container starts, by its command: "torchrun", "train.py"; ""
// none.
std::string training_program(const ContainerFile& container);

// What the pods of a kind are for: "RayService" serves.
PodPurpose purpose_of_kind(std::string_view kind);

// What operators' APIs call the objects that make pods and are read: "jobsets.jobset.x-k8s.io".
std::set<std::string> resources_with_pods();

// The settings of the device plugin and of mig-manager: ConfigMaps, by namespace and name, that
// those mount which are among the objects of a list that kubectl printed in JSON.
std::set<std::pair<std::string, std::string>> config_maps_of_gpu_software(const SourceText& list);

// The first Pod of such a list that runs the image, by namespace and name; nullopt when none does.
std::optional<std::pair<std::string, std::string>> pod_that_runs(std::string_view image,
                                                                 const SourceText& list);

// How a container starts vLLM, by its command; nullopt: it runs another program.
// Source: github.com/vllm-project/vllm docs, engine arguments.
struct VllmArguments {
  std::string model;           // "meta-llama/Meta-Llama-3-8B-Instruct"; "" its command does not say
  int memory_hundredths = 90;  // of the GPU
  std::optional<std::int64_t> max_sequences{};
  std::optional<std::int64_t> max_batched_tokens{};
  // GPUs of a copy of the model, which share its layers, times stages; copies. nullopt: no number
  // is written, as where a variable of the shell says it.
  std::optional<std::int64_t> tensor_parallel_size = 1;
  std::optional<std::int64_t> pipeline_parallel_size = 1;
  std::optional<std::int64_t> data_parallel_size = 1;
  bool spans_pods = false;   // by Ray or --nnodes
  std::string quantization;  // "FP8", "INT4"; "": as the model is, or in another way
  bool has_fp8_cache = false;
  bool prefix_caching = true;  // as vLLM's V1 engine has it where nobody says otherwise
  std::optional<std::int64_t> block_size{};
  bool serves_adapters = false;  // LoRA adapters on the model
  bool can_sleep = false;        // vLLM's --enable-sleep-mode
};
std::optional<VllmArguments> vllm_arguments(const ContainerFile& container);

// How a container starts a server of language models that batches as vLLM does, in vLLM's words.
// Sources: the launchers' arguments in docs.sglang.io and
// huggingface.co/docs/text-generation-inference, kserve/kserve python/huggingfaceserver, NVIDIA's
// NIM for LLMs (docs.nvidia.com/nim).
inline constexpr std::string_view kVllm = "vLLM";
struct ModelServer {
  std::string_view program;  // kVllm, "SGLang"
  VllmArguments arguments;
};
std::optional<ModelServer> model_server(const ContainerFile& container);

// TensorFlow maps all free GPU memory when it starts, unless it is told otherwise.
bool maps_all_memory(const ContainerFile& container);

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
  bool selects = false;                     // nodeSelector
  std::string strategy;                     // migStrategy, mig.strategy; "" left to the configs
  SourceLocation strategy_where;
  std::vector<TolerationList> tolerations;
  bool manages_mig = false;
  bool reboots = false;               // WITH_REBOOT=true
  std::map<std::string, bool> gates;  // featureGates of the DRA driver
  std::string mig_config_map;         // of mig-manager
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

struct DcgmFile {
  SourceLocation where;
  bool attributes_to_all = false;  // KUBERNETES_VIRTUAL_GPUS
  bool names_resources = false;    // NVIDIA_RESOURCE_NAMES
};

struct ClusterFiles {
  std::vector<PodFile> pods;
  std::vector<PluginConfigFile> configs;
  std::vector<ChartValues> charts;
  std::vector<ConfigMapFile> config_maps;
  std::vector<NodeGroupFile> groups;
  std::vector<NodeClassFile> node_classes;
  std::vector<NodeOverlayFile> overlays;
  std::vector<MigConfigFile> mig_configs;
  std::vector<ResourceFlavorFile> flavors;
  std::vector<ClusterQueueFile> cluster_queues;
  std::vector<LocalQueueFile> local_queues;
  std::vector<DraSharingFile> dra;
  std::vector<ClaimFile> claims;
  std::vector<PublishedDevice> devices;
  std::vector<MetricUse> metrics;
  std::vector<std::string> counters;  // metrics that an exporter's own list switches on
  std::vector<DcgmFile> exporters;
  std::optional<SourceLocation> static_plugin;    // a DaemonSet of the device plugin
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

// Pods of DaemonSets and static ones keep no node.
bool goes_with_node(const PodFile& pod);

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

// Whether it has GPUs of NVIDIA's, by the form of the name: "g5.2xlarge", "p4d.24xlarge",
// "gr6.4xlarge", not "m6i.large" or "g4ad.xlarge".
bool is_gpu_type(std::string_view instance_type);

// The chart that deploys the device plugin; nullptr when none does.
const ChartValues* plugin_chart(const ClusterFiles& files);

}  // namespace slicewise::scenarios
