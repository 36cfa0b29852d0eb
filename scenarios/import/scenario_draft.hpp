#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/units.hpp"

#include "draft_sharing.hpp"

// A scenario on its way from manifests or pods to a file that runs as it is: what the source does
// not say is filled in, marked Assumed, with a TODO comment on its line.
namespace slicewise::scenarios {

class ImportReport;

using DraftLabels = std::vector<std::pair<std::string, std::string>>;

// Of the run, where a CronJob is seldom due.
inline constexpr Duration kLongestDraft = hours(24) * 365;

struct DraftPool {
  std::string name;
  NodeMaker maker = NodeMaker::Unknown;
  std::string instance_type;
  bool type_is_assumed = false;
  std::int64_t nodes = 1;                  // at least
  std::optional<std::int64_t> most_nodes;  // the provisioner adds nodes up to it
  std::optional<std::size_t> limit;        // of the provisioner's, that it is under with others
  bool nodes_are_assumed = true;
  std::int64_t weight = 0;
  std::optional<Consolidation> consolidation{};  // where it is not the provisioner's
  std::optional<Duration> consolidate_after{};   // likewise
  std::optional<Duration> expire_after{};
  std::string capacity_type;  // "" on demand
  bool falls_back = false;    // from spot to on demand
  DraftLabels labels;
  std::vector<NodeRequirement> made_with;  // other labels that its nodes may have
  std::vector<Taint> taints;
  bool is_in_files = true;                // else of what its pods need
  bool is_told = false;                   // the files say what its nodes offer: nothing else
  bool offers_nothing = false;            // ... none of their GPUs
  std::vector<DaemonSet> daemon_sets{};   // none: the usual ones
  Allocatable allocatable{};              // where it is not the instance type's
  std::vector<std::string> node_names{};  // of nodes that are there
  DraftSharing sharing;
  bool sharing_is_assumed = false;
  bool sharing_is_guessed = false;  // by the numbers of what its nodes offer
};

// A language model that is served, in vLLM's words.
struct DraftLlm {
  ModelServer server;
  std::string model;         // of the catalogue
  std::string quantization;  // of its weights: "FP8"; "" as the model is
  std::optional<std::int64_t> max_model_len;
};

struct DraftWorkload {
  enum class Kind : std::uint8_t { Job, Deployment, Service, Notebook };

  std::string name;
  std::string space;
  std::string comment;  // where it comes from
  Kind kind = Kind::Service;
  std::string object_kind;  // of what makes its pods; "" nobody says
  std::string object_name;
  std::string_view object_group;  // of its kind, where Kubernetes has one that is called the same
  std::vector<std::string> containers;  // of a pod, the one that asks for the GPU first
  std::int64_t pods = 1;
  std::optional<std::int64_t> parallelism;  // of them, at a time
  std::string gang;  // the object whose pods work together; "" each by itself
  std::string step;  // what its pods are called among those of its object
  std::vector<StartDependency> starts_after{};    // steps of its object
  std::string part_of{};                          // what fails as a whole; "" each Job is one
  std::optional<std::int64_t> min_parallelism{};  // of it
  std::vector<StartPlace> starts_on{};            // where its pods are
  std::optional<ScalingFile> scaling;  // absent: as many pods as are written are simulated
  std::string scaled_by;               // "HorizontalPodAutoscaler/asr", simulated or not
  std::int64_t cpu_milli = 0;
  std::int64_t cpu_limit_milli = 0;  // 0 none
  std::int64_t memory_bytes = 0;
  std::string resource;  // of the GPU
  std::string claim;     // of ScenarioDraft::claims, in place of it
  std::string queue{};   // of ScenarioDraft::cluster_queues; "" none
  std::int64_t gpus = 1;
  std::vector<std::pair<std::string, std::int64_t>> parts;  // of each, that HAMi is asked for
  bool asks_kai = false;                                    // for a part, by its annotations
  std::int64_t priority = 0;
  bool never_preempts = false;
  bool stays_pending = false;  // no node offers what its pods ask for
  std::string restart_policy;
  std::optional<std::int64_t> backoff_limit;
  bool ignores_disruptions = false;
  std::optional<CronFile> cron;
  std::vector<Toleration> tolerations;
  bool lacks_template = false;  // others that no file has may be among these
  DraftLabels node_selector;
  std::vector<NodeTerm> node_affinity{};               // as it is written, beside the selector
  std::vector<NodeRequirement> nodes;                  // that it runs on, by their labels
  std::vector<std::vector<NodeRequirement>> either{};  // one of these lists has to hold, too
  std::vector<Architecture> architectures{};  // that its images are built for; empty: nobody says
  DraftLabels labels;
  std::vector<PodAffinityTerm> pod_affinity{};
  std::vector<PodAffinityTerm> anti_affinity{};
  std::vector<Located<std::string>> host_ports{};
  PodPreferences preferences{};
  std::optional<DisruptionBudget> budget{};
  DraftLabels annotations;
  DraftLabels environment;
  std::optional<Bytes> gpu_memory;    // of a process
  std::optional<Bytes> mig_memory{};  // of the MIG instance that a process has to itself: the most
  std::string memory_from{};          // who says so, for a remark: "vLLM reserves 90 % of the GPU"
  std::optional<ModelServer> model_server{};  // that reserves memory, whatever model it has
  bool is_greedy = false;                     // it maps all that is free
  bool uses_gpu = true;
  std::string profile;   // of the catalogue, "" none
  std::string gpu_time;  // of a request, "30ms"
  std::string traffic;   // "12/s"
  std::string traffic_from = "as annotated";
  bool memory_is_measured = false;
  std::optional<std::int32_t> gpu_permille;  // while it ran
  std::optional<std::int32_t> sm_permille;   // likewise
  std::optional<Duration> run_time;          // of a Job, on average
  std::optional<Duration> startup{};         // of a container on its node, on average
  std::optional<DraftLlm> llm{};
};

struct ScenarioDraft {
  std::string name;
  std::string made_by;  // "import k8s"
  std::string region;   // "" us-east-1
  std::optional<Provisioner> provisioner;
  std::vector<DraftPool> pools;
  std::vector<DraftWorkload> workloads;
  std::vector<ResourceClaim> claims{};
  std::vector<ResourceFlavor> flavors{};
  std::vector<ClusterQueue> cluster_queues{};
  std::vector<KaiQueue> kai_queues{};
  GpuSoftware software{};
  DraftSharing sharing{};           // of nodes that no file has
  bool driver_makes_mig = false;    // ... for claims: gate DynamicMIG
  bool has_all_nodes = false;       // of a cluster: none are made up for what pods select
  std::set<std::string> offered{};  // resources that these nodes say they have
};

ScenarioText written(const ScenarioDraft& draft);

// The workload that a step of the same object is; nullptr: it is none.
const DraftWorkload* step_of(const ScenarioDraft& draft, const DraftWorkload& of,
                             std::string_view step);

// The workloads that the pods of a trace were, with the figures that it has of them.
std::vector<DraftWorkload> workloads_seen(const Imported& imported);

// The pool of the draft that the workload's pods may run on first; nullptr none.
const DraftPool* pool_of(const ScenarioDraft& draft, const DraftWorkload& workload,
                         const ImportOptions& options);

// What the pods require of the labels of nodes.
void take_required_nodes(const PodFile& pod, DraftWorkload& workload);

// Gives workloads the node selectors that keep their pods on the pools that meet what they require
// of nodes; remarks on what no pool meets.
void keep_on_pools(ScenarioDraft& draft, const ImportOptions& options, ImportReport& report);

// Whether the pods may run on the pool by what they require of labels of nodes.
bool may_run_on(const DraftWorkload& workload, const DraftPool& pool, const ImportOptions& options);

// Whether the pool has what the pods ask for, whatever nodes they require.
bool offers(const DraftPool& pool, const DraftWorkload& workload, const ImportOptions& options);

// Names the catalogue's model of each language model that is served, on the GPUs of its pool; what
// the catalogue has not is no language model any more, and remarked.
void choose_language_models(ScenarioDraft& draft, const ImportOptions& options,
                            ImportReport& report);

// Gives workloads of one name different ones, and every workload a pool that offers its resource,
// but for those whose pods no node of the files can hold: these stay Pending.
void complete(ScenarioDraft& draft, const ImportOptions& options);

// Pods are placed anew, workload by workload: those that fit on some pools of the cluster alone
// come before those that fit on these and others, as they do run there. DaemonSets stay before all.
void put_choosiest_first(ScenarioDraft& draft, const ImportOptions& options);

// Remarks on pods on nodes that were made up for others and are larger than they need: what is made
// up is taken by whoever comes first, as in a cluster.
void remark_on_larger_nodes(const ScenarioDraft& draft, const ImportOptions& options,
                            ImportReport& report);

// What Karpenter would start of a NodePool: the types that it names; where it leaves them open,
// those for the pods of the draft.
std::vector<std::string> types_to_start(const ScenarioDraft& draft, const NodeGroupFile& group,
                                        const DraftPool& pool, const ImportOptions& options);

// Node groups and NodePools that the nodes of these pools are of, in their order; pools that no
// file has are left out. `files`: of the NodePools, and of all nodes.
std::vector<NodeGroup> node_groups(std::span<const DraftPool> pools,
                                   std::span<const NodeGroupFile> files);

// GPUs of a node; 1 where nobody knows the type.
std::int64_t gpus_of(const std::string& type, const ImportOptions& options);

// "nvidia.com/gpu: 1" in a pool whose plugin says nothing.
DraftPool assumed_pool(const std::string& resource, std::int64_t gpus_of_pod,
                       std::optional<int> replicas, const ImportOptions& options);

}  // namespace slicewise::scenarios
