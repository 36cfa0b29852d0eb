#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/node_pool.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/units.hpp"

// Logs of other systems, read into traces and scenarios.
namespace slicewise::scenarios {

enum class ImportKind : std::uint8_t {
  Openb,       // Alibaba's pod CSV (num_gpu, gpu_milli)
  Jobs,        // any CSV of jobs, by a map of columns
  Swf,         // Standard Workload Format 2.2
  Sacct,       // sacct -P
  Pods,        // kubectl get pods -A -o json
  Prometheus,  // range queries of DCGM exporter and kube-state-metrics
  Azure,       // Azure LLM inference CSV
  Mooncake,    // JSONL with prefix hashes
  BurstGpt,    // CSV
  ServeGen,    // rates of clients by window
  K8s,         // manifests, device-plugin values, NodePools, or what a cluster holds of them;
               // answers of Prometheus beside them give the figures that these do not have
};

// As on the command line, in the order of the kinds.
inline constexpr std::array<std::string_view, 11> kImportKindNames = {
    "openb", "jobs",     "swf",      "sacct",    "pods", "prometheus",
    "azure", "mooncake", "burstgpt", "servegen", "k8s"};
constexpr std::string_view kind_name(ImportKind kind) {
  return kImportKindNames[static_cast<std::size_t>(kind)];
}

// What is known of an instance type with GPUs.
struct InstanceGpus {
  std::string name;
  std::string gpu;  // "a10g": the word by which products and profiles name it
  std::int64_t count = 1;
  // What pods have of an empty node, beside its DaemonSets; 0: not known.
  Millicores cpu{};
  Bytes memory{};
  // Of one GPU, and what a process has of it for its CUDA context; 0: not known.
  Bytes gpu_memory{};
  Bytes gpu_context{};
  // What Karpenter's labels say of it; empty: no more than its name does.
  NodeLabels labels{};
  // Of an hour on demand, to compare types; absent: not known, or not offered any more. In
  // us-east-1 until the importer knows where the nodes are.
  std::optional<UsdPerHour> price{};
  std::map<std::string, UsdPerHour, std::less<>> prices{};  // by region
  Allocatable allocatable{};                                // of a Node; what is absent: not known
};

// How many of each resource a GPU is, by the name of the layout.
using MigLayouts = std::map<std::string, std::map<std::string, int>>;

struct ImportOptions {
  std::string name;     // of the scenario; "": of the file
  std::string region;   // K8s: of the nodes; "": as the files say, else us-east-1
  std::string columns;  // Jobs: a ready map ("philly") or "arrival=submit_time,run=run_time"
  std::optional<TimeZone> time_zone;  // of times that name none; absent: UTC
  std::optional<Duration> from;       // window of arrivals, in the source's own time from its first
  std::optional<Duration> length;
  bool skip_bad = false;                // count bad rows instead of stopping at them
  std::vector<InstanceGpus> instances;  // the catalogue's, the smaller of a family first
  std::vector<InstanceGpus> fractions;  // ... with a part of a GPU, of which EC2 counts none
  std::map<std::string, MigLayouts> mig_layouts{};  // that mig-manager knows, by instance type
  // What a process may have of a MIG instance, by instance type and resource.
  std::map<std::string, std::map<std::string, Bytes>> mig_memory{};
  std::vector<std::string> llm_models;    // the catalogue's language models that can run
  std::optional<int> replicas;            // of the device plugin, where the source does not say
  std::string pool;                       // ServeGen: "language/m-large"
  std::string partitions;                 // Swf: GPUs of a processor by partition, "1=1,2=0"
  double rate_scale = 1;                  // ServeGen
  std::optional<std::string> trace_path;  // what a scenario calls the trace it comes with
  std::string
      latency;  // Prometheus, K8s: a histogram, "vllm:e2e_request_latency_seconds"; "": none
};

// What an importer left out, made up or put right, once for each reason.
struct ImportRemark {
  enum class Kind : std::uint8_t { Skipped, Guessed, Repaired, Note };
  Kind kind = Kind::Note;
  std::int64_t count = 0;  // rows, samples or objects
  std::string what;        // "rows without a scheduled_time: never started"
  SourceLocation first;    // where it was met first
};

struct ImportLog {
  std::int64_t read = 0;              // rows, samples or objects of the source
  std::int64_t imported = 0;          // jobs, requests, windows or workloads of the result
  std::vector<ImportRemark> remarks;  // in order of first occurrence
  Diagnostics bad;                    // rows left out under skip_bad: the first few
};

// Requests in order of arrival.
struct RequestLog {
  std::vector<RequestTrace::Row> rows;
  bool has_tokens = false;
  std::optional<std::int64_t> origin_unix_s;   // what `at` counts from
  std::shared_ptr<const PromptBlocks> blocks;  // of the prompts; null: nobody knows them
};

// How long prompts or answers are.
struct TokenLengths {
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t most = 0;
  double mean = 0;
};

// Rates of clients by window, in order of client and time.
struct ClientRates {
  std::vector<ClientWindow> windows;
  Duration window;                    // length of each
  std::optional<TokenLengths> input;  // over the requests of all clients, where the source has them
  std::optional<TokenLengths> output;
};

// A scenario as text, with comments where something is to be filled in.
struct ScenarioText {
  std::string yaml;
  // What the source did not say: "Missing: traffic (asr, tts). Filled with Assumed values; see TODO
  // lines 21, 48."; "" when nothing is.
  std::string missing{};
  std::vector<std::string> assumed_pools{};  // of a type that nobody names
};

// Requests that a pod answered, as a counter tells.
struct RequestCount {
  std::string counter;
  double requests = 0;
  std::int64_t since_ns = 0;  // since 1970, as until_ns
  std::int64_t until_ns = 0;
};

// What Prometheus recorded of a workload, to hold a simulation of it to.
struct RecordedWorkload {
  std::string name;  // as in the scenario
  std::string space;
  std::string work;                 // that made its pods: "Deployment/asr"
  std::int64_t pods = 0;            // that were seen
  std::int64_t pods_at_once = 0;    // of the workload in the scenario
  std::optional<double> gpu_use;    // of a GPU, by one of its pods: mean
  std::optional<Duration> wait;     // from the creation of a pod to its container's start: mean
  std::optional<Duration> startup;  // the part of it on its node: mean
  // Of the named histogram, between its bounds by the rule of Prometheus; absent: nothing counted.
  std::optional<Duration> latency_p50;
  std::optional<Duration> latency_p95;
  std::optional<Duration> latency_p99;
};

// A node group or a NodePool, as its nodes name it.
struct NodeGroup {
  NodeMaker maker = NodeMaker::Unknown;
  std::string name;  // "" nobody says
  std::string instance_type;
  std::set<std::string> pools;  // of the scenario, that are its nodes
  int nodes = 0;                // now; the fewest of those that come and go
  int most_nodes = 0;
  bool makes_others = false;  // nodes without GPUs, too
};

struct Imported {
  std::variant<JobTrace, RequestLog, ClientRates, ScenarioText> content;
  ImportLog log;
  // Of pods of a JobTrace, by its id: what a scenario takes beside the columns.
  std::map<std::string, RequestCount> requests{};
  std::set<std::string> greedy{};            // pods that map all free GPU memory
  std::vector<RecordedWorkload> recorded{};  // of Prometheus; with K8s those that are there now
  std::vector<NodeGroup> groups{};           // with K8s those of the pools
  // With K8s: pods that have a node in the cluster, by the name of their workload.
  std::map<std::string, std::int64_t> on_nodes{};
};

// Reads the files of one log; compressed ones (gzip, zstd) and tar archives of them are unpacked.
// A row that cannot be read is an error with its line and reason unless `skip_bad` is set; what was
// skipped, guessed or repaired is in the log.
Expected<Imported> import_log(ImportKind kind, std::span<const SourceText> files,
                              const ImportOptions& options);

// The trace as text: CSV.
std::string trace_csv(const Imported& imported);
// ... and in the compact binary form.
std::string trace_binary(const Imported& imported);

// A scenario that replays what was imported; a `kind: Replay` for job traces of other schedulers.
// Figures that the source does not have are marked Assumed, with a TODO comment.
ScenarioText scenario_of(const Imported& imported, ImportKind kind, const ImportOptions& options);

// What to ask a Prometheus server for `import prometheus`. The library opens no connection itself.

// From `start` to `end`, both included, every `step`. Unix seconds.
struct PrometheusWindow {
  std::int64_t start_s = 0;
  std::int64_t end_s = 0;
  std::int64_t step_s = 60;
};

// Points of a series that a server gives in one answer.
inline constexpr std::int64_t kMostPoints = 11'000;

// "2024-06-10T06:00:00Z" or seconds since 1970, as seconds since 1970; nullopt for anything else.
std::optional<std::int64_t> unix_seconds(const std::string& text);

// The window in words: Unix seconds or "2024-06-10T06:00:00Z", a duration for the step. Empty ones:
// until `now_s`, from a day before the end, every minute. VALUE_RANGE or FIELD_TYPE otherwise.
Expected<PrometheusWindow> prometheus_window(const std::string& start, const std::string& end,
                                             const std::string& step, std::int64_t now_s);

// One range query.
struct PrometheusQuery {
  std::string metric;        // what it asks for
  bool is_optional = false;  // the import does without
  std::string path;  // "/api/v1/query_range?query=kube_pod_created&start=...&end=...&step=60"
};

// All series that import_log reads, and the buckets of `latency` unless that is "", cut so that no
// answer has more than kMostPoints of a series; one answer starts a step behind the last point of
// that before it.
std::vector<PrometheusQuery> prometheus_queries(const PrometheusWindow& window,
                                                const std::string& latency = {});

}  // namespace slicewise::scenarios
