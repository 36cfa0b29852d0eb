#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"

#include "../fields/fields.hpp"
#include "../text/document.hpp"

// One function for each kind of document. All of them add what they read to `files`, and what is
// wrong to its problems.
//
// A scenario takes some of these formats as they are (the plugin's config, mig-configs, pod
// templates), and blocks/ reads them there: another reader, because it answers another question. It
// refuses what it cannot simulate, field by field, and ends with values. Here a file is only what
// somebody will apply: each reader goes on after mistakes, keeps their places, and says in the
// words of the program that will read it what that program then does (stops, ignores the key,
// refuses the whole file), which differs by its version. What both must agree on (keys, words,
// least values, what is required, forms of profiles and quantities) stands once: in the fields of
// blocks/, which pool_fields() hands out, in gpu_resource and in quantity.
namespace slicewise::scenarios::manifests {

// A PodDisruptionBudget.
struct DisruptionBudget {
  std::string name;
  std::string space;
  std::vector<NodeRequirement> pods;  // that it selects; what a label of a node may be, theirs may
  bool keeps = false;                 // minAvailable, else maxUnavailable
  Located<std::string> value;         // "1", "50%"
};

struct Context {
  ClusterFiles& files;
  PluginVersion version;
  const SourceText* source = nullptr;     // of the document at hand
  std::size_t padding_left = 64U << 20U;  // bytes of blank lines before embedded documents
  // EC2NodeClasses with their user data, and the files that they are in.
  std::vector<std::pair<NodePtr, const SourceText*>> classes = {};
  // Autoscalers, by namespace, kind and name of what they change.
  std::map<std::tuple<std::string, std::string, std::string>, ScalingFile> scalers = {};
  // What VerticalPodAutoscalers recommend for each container, likewise.
  std::map<std::tuple<std::string, std::string, std::string>, std::map<std::string, Amounts>>
      recommended = {};
  // PriorityClasses, of which "" is the default.
  std::map<std::string, std::int64_t> priorities = {};
  std::set<std::string> waiting_priorities = {};  // ... whose pods preempt nobody
  // Services that give their pods one address, by namespace and one of the labels that they select.
  std::multimap<std::tuple<std::string, std::string, std::string>, std::vector<KeyValue>> services =
      {};
  std::vector<DisruptionBudget> budgets = {};
  // Namespaces and resources of which LimitRanges give containers a request that have none.
  std::set<std::pair<std::string, std::string>> given_requests = {};
  // Kubeflow's TrainJobs, each after so many other pods, and the runtimes that have their pods.
  std::vector<std::tuple<NodePtr, const SourceText*, std::size_t>> train_jobs = {};
  std::vector<NodePtr> runtimes = {};
  std::vector<std::pair<std::string, std::string>> kai_queues =
      {};  // names, each with its parent's
};

// The node at `path` of keys below `node`; nullptr when there is none.
const Node* node_below(const Node* node, std::initializer_list<std::string_view> path);
// The node at keys with dots between them; `node` itself at "".
const Node* node_at(const Node* node, std::string_view path);
// The text of the scalar there; "" when there is none.
std::string text_below(const Node* node, std::initializer_list<std::string_view> path);

bool is_map(const Node* node);
bool is_list(const Node* node);
// Those of a list, those of a mapping; none of anything else.
std::vector<const Node*> items_of(const Node* list);
std::span<const Entry> entries_of(const Node* mapping);
bool is_true(const Node* node);
bool is_false(const Node* node);
// The place of the value at `path`, else of `node`.
SourceLocation place_below(const Node& node, std::initializer_list<std::string_view> path);
Located<std::string> located_below(const Node* node, std::initializer_list<std::string_view> path);

// A patch of Kustomize names what it changes, and not what every such object has; a Job has nothing
// but its image that a patch of it would not have, and an exported one of a CronJob has its times.
bool is_patch(const Node& object, std::string_view kind);

// Of a pod, or of the pods that a chart makes; none of what is no list.
std::vector<Toleration> tolerations_in(const Node* list);

void report(Context& context, Diagnostic problem);
void report(Context& context, Code code, const SourceLocation& where, std::string message,
            std::string help = {});
// The same where others than the program at hand may see to it.
void warn(Context& context, Code code, const SourceLocation& where, std::string message,
          std::string help = {});
// What the reader of a format found: the file, or a file inside of it, is not of that format.
void report_unreadable(Context& context, const Diagnostics& problems);

// FIELD_UNKNOWN for the keys of a mapping that are not `known`, with the nearest that is. `who`
// ignores them: "the device plugin". With `similar_only` keys that resemble none are left alone.
void check_keys(Context& context, const Node* mapping, std::span<const std::string_view> known,
                std::string_view who, bool similar_only = false);

// The text of a block scalar below as many blank lines as put it at its place in the outer file.
std::optional<SourceText> embedded_text(Context& context, const Node& text);

// A document that is the text of a value, with places in the outer file; nullptr when it is none.
NodePtr embedded_document(Context& context, const Node& text);

std::vector<KeyValue> pairs_of(const Node* mapping);
std::vector<Taint> taints_of(const Node* list);
std::vector<NodeRequirement> requirements_of(const Node* list);

// Required podAffinity and podAntiAffinity of a pod's spec.
struct RequiredCompany {
  std::vector<PodAffinityTerm> affinity;
  std::vector<PodAffinityTerm> anti_affinity;
  std::optional<SourceLocation> other;  // with a selector that is more than labels
};
RequiredCompany required_company_of(const Node& spec);

// What it would rather have of other pods' company.
struct ReadPreferences {
  PodPreferences read;
  std::vector<SourceLocation> others;  // with a selector that is more than labels
};
ReadPreferences preferences_of(const Node& spec);
std::vector<ResourceAmount> whole_amounts_of(const Node* mapping);

// The fields of a scenario's node pool, at `path` below it.
FieldList pool_fields(std::initializer_list<std::string_view> path);
std::vector<std::string_view> names_of(const FieldList& fields);

bool is_plugin_config(const Node& document);
void read_plugin_config(Context& context, const NodePtr& document, std::string_view key);
bool is_mig_file(const Node& document);
void read_mig_file(Context& context, const Node& document);
bool is_chart_values(const Node& document);
void read_chart_values(Context& context, const Node& document);
// Whether they are values of Karpenter's or the Cluster Autoscaler's chart that say when it
// decides.
bool read_node_clocks(Context& context, const Node& document);
// The GPU Operator's settings as its ClusterPolicy has them.
void read_cluster_policy(Context& context, const Node& spec);
// A DaemonSet that runs the device plugin, by its labels.
void read_plugin_daemon(Context& context, const Node& object, const PodFile& pod);
// What values do not say, and commands in comments of their file may: the release of the plugin's
// chart, and DaemonSets that go for it.
void read_chart_commands(const SourceText& source, ChartValues& chart);
// Objects that make pods; false for other kinds.
bool read_pods(Context& context, const Node& object, std::string_view kind);
// Kubeflow's TrainJob and what it runs by; false for other kinds.
bool keep_train_job(Context& context, const NodePtr& object, std::string_view kind);
// After all files: their pods.
void read_train_jobs(Context& context);
struct PodSet;
// The pods at `pods` of a set of its object, of which `pod` says how many there are.
void read_pod(Context& context, const Node& object, const PodSet& set, const Node& pods,
              PodFile pod);
// How objects that scale their own pods do it; nullopt when the set does not.
std::optional<ScalingFile> own_scaling(Context& context, const Node& object, const PodSet& set,
                                       const Node& from, const Node& pods);
// HorizontalPodAutoscaler and ScaledObject; false for other kinds.
bool read_scaler(Context& context, const Node& object, std::string_view kind);
// ResourceFlavor, ClusterQueue, LocalQueue and what of Kueue no quota is; false for other kinds.
bool read_kueue(Context& context, const Node& object, std::string_view kind);
// A Queue of KAI scheduler, and once all are read, the queues that pods name.
bool read_kai_queue(Context& context, const Node& object, std::string_view kind);
void judge_kai_queues(Context& context);
// These and others that say something of the pods of other objects; false for other kinds.
bool read_about_pods(Context& context, const Node& object, std::string_view kind);
void read_disruption_budget(Context& context, const Node& object);
// After all files: which pods no budget lets go.
void apply_disruption_budgets(Context& context);
// After all files: gives the pods what other objects say of them.
void apply_to_pods(Context& context);
// NodePool, EC2NodeClass, NodeOverlay, ClusterConfig, Node; false for other kinds.
bool read_nodes(Context& context, const NodePtr& object, std::string_view kind);
// After all files: gives the node pools what their node classes say.
void apply_node_classes(Context& context);

// Bottlerocket's settings, from user data in TOML or from eksctl's bottlerocket.settings, which may
// be nullptr: judges them, and takes those of the device plugin.
void read_bottlerocket(Context& context, const SourceText& toml, NodeGroupFile& group);
void read_bottlerocket(Context& context, const Node* settings, NodeGroupFile& group);
// What the API that takes an object refuses of it; `known` problems were there before it was read.
// False: no such API is known here.
bool check_by_schema(Context& context, const Node& object, std::size_t known);
// ResourceClaim, ResourceClaimTemplate, DeviceClass.
void read_dra(Context& context, const Node& object, std::string_view kind);
void read_slice(Context& context, const Node& object);
// Whether the containers of a pod use the claims that it has.
void judge_claims_of(Context& context, const Node& pod_spec);
// Names of metrics in any text of a document.
void read_metrics(Context& context, const Node& document);

}  // namespace slicewise::scenarios::manifests
