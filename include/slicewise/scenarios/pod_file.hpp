#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/pod_template.hpp"

// Pods as the manifests of a cluster have them, and what their commands and annotations say.
namespace slicewise::scenarios {

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
  std::string command;           // command and args, with spaces between
  bool runs_entrypoint = false;  // it has no command: args are those of what the image starts
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

inline std::int64_t amount_of(const Amounts& amounts, std::string_view resource) {
  const auto found = amounts.find(resource);
  return found == amounts.end() ? 0 : found->second;
}

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
  bool says_namespace = false;         // else it is of that which kubectl or kustomize puts it into
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
  std::int64_t completions = 1;  // of a Job, that are left
  std::int64_t succeeded = 0;    // ... and before them
  std::optional<std::int64_t> backoff_limit;
  std::optional<CronFile> cron;
  PodPurpose purpose = PodPurpose::Unsaid;      // by the kind of the object
  bool works_together = false;                  // one of these pods alone is of no use
  bool is_step = false;                         // others of the object start before or after them
  bool fails_by_index = false;                  // backoff_limit is of each index of the Job
  bool ignores_disruptions = false;             // podFailurePolicy: evictions are no failures
  std::vector<StartDependency> starts_after{};  // of a step: PodFile::name of others of the object
  bool is_served = false;                       // by a Service with an address
  bool is_never_evicted = false;                // PodDisruptionBudgets let none of these pods go
  std::optional<DisruptionBudget> budget;       // of these pods alone
  std::optional<ScalingFile> scaling;
  std::vector<KeyValue> annotations;         // of the pods
  std::vector<KeyValue> object_annotations;  // of the object that makes them
  std::vector<ContainerFile> containers;
  bool asks_as_one = false;   // for CPU and memory, by what its spec says of the pod as a whole
  KeyValue not_quantified{};  // a resource of which the files ask for no quantity; key "" none
  std::vector<Toleration> tolerations;
  std::vector<KeyValue> node_selector;
  // One of these lists has to hold; one without requirements never does.
  std::vector<std::vector<NodeRequirement>> affinity;
  std::vector<KeyValue> labels;                    // of the pods
  std::vector<PodAffinityTerm> pod_affinity{};     // required
  std::vector<PodAffinityTerm> anti_affinity{};    // required
  std::optional<SourceLocation> other_rule{};      // a required one that is not among these
  std::vector<Located<std::string>> host_ports{};  // as PodTemplate has them
  std::vector<Located<std::string>> volumes{};     // PersistentVolumeClaims, by their names
  ResourceAmount disk{};                           // ephemeral-storage that they request, in bytes
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
  std::string node;        // that a pod is on; "" none that is known
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

// Whether its image or its command names the program.
bool names_program(const ContainerFile& container, std::string_view program);

// The program that trains which a container starts, by its command: "torchrun", "train.py"; ""
// none.
std::string training_program(const ContainerFile& container);

// What the pods of a kind are for: "RayService" serves.
PodPurpose purpose_of_kind(std::string_view kind);

// How a container starts vLLM, by its command; nullopt: it runs another program.
// Source: github.com/vllm-project/vllm docs, engine arguments.
struct VllmArguments {
  std::string model;           // "meta-llama/Meta-Llama-3-8B-Instruct"; "" its command does not say
  double memory_percent = 90;  // of the GPU
  std::string memory_refused{};  // a number for it that is not above 0 and at most 1; "" none
  std::string dtype{};           // "bfloat16"; "" its command does not say
  std::optional<std::int64_t> max_sequences{};
  std::optional<std::int64_t> max_batched_tokens{};
  // GPUs of a copy of the model, which share its layers, times stages; copies. nullopt: no number
  // is written, as where a variable of the shell says it.
  std::optional<std::int64_t> tensor_parallel_size = 1;
  std::optional<std::int64_t> pipeline_parallel_size = 1;
  std::optional<std::int64_t> data_parallel_size = 1;
  bool spans_pods = false;   // by Ray or --nnodes
  std::string quantization;  // as it is written, "awq_marlin"; "": as the checkpoint is
  bool has_fp8_cache = false;
  bool prefix_caching = true;  // as vLLM's V1 engine has it where nobody says otherwise
  std::optional<std::int64_t> block_size{};
  // Tokens of a request at the most; 0: something is said, and no number.
  std::optional<std::int64_t> max_model_len{};
  std::vector<std::string> not_simulated{};  // flags that change its memory or its steps
  bool serves_adapters = false;              // LoRA adapters on the model
  bool can_sleep = false;                    // vLLM's --enable-sleep-mode
};
std::optional<VllmArguments> vllm_arguments(const ContainerFile& container);

// Which of the catalogue's language models a server serves.
struct ServedModel {
  std::string name;            // "llama-3-8b-fp16/a10g", of this GPU where there is one; "" none
  bool is_quantised = false;   // beside what that is
  std::string quantization{};  // in a scenario's words; "" of what is quantised: not simulated
  bool is_slow = false;        // its kernels, beside those for AWQ and GPTQ
  std::optional<std::int64_t> max_model_len{};  // absent: the catalogue's

  bool is_simulated() const { return !is_quantised || !quantization.empty(); }
};
ServedModel served_model(const VllmArguments& served, const std::string& gpu,
                         std::span<const std::string> models);

// How a container starts a server of language models that batches as vLLM does, in vLLM's words.
// Sources: the launchers' arguments in docs.sglang.io and
// huggingface.co/docs/text-generation-inference, kserve/kserve python/huggingfaceserver, NVIDIA's
// NIM for LLMs (docs.nvidia.com/nim).
inline constexpr std::string_view kVllm = "vLLM";
inline constexpr std::string_view kNim = "NIM";
struct ModelServer {
  std::string_view program;  // kVllm, "SGLang"
  VllmArguments arguments;
};
std::optional<ModelServer> model_server(const ContainerFile& container);

// TensorFlow maps all free GPU memory when it starts, unless it is told otherwise.
bool maps_all_memory(const ContainerFile& container);

// Pods of DaemonSets and static ones keep no node.
bool goes_with_node(const PodFile& pod);

}  // namespace slicewise::scenarios
