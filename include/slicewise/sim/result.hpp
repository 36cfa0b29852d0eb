#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/evidence.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/load.hpp"
#include "slicewise/scenarios/policy.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/bill.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/provenance.hpp"
#include "slicewise/sim/stamp.hpp"
#include "slicewise/units.hpp"

// What a run found, merged over its replications and ready to be shown. Plain data: reports only
// formats it.
namespace slicewise::sim {

// One point of a percentile plot.
struct QuantilePoint {
  double quantile = 0.5;
  Duration value;
  std::optional<Duration> ci95;  // half width of a 95 % interval over the replications
};

// Of a sample of times, pooled over the replications. Quantiles are absent when nothing was
// observed; p999 also when fewer than 1,000 values were.
struct TimeSummary {
  std::int64_t count = 0;
  Duration mean;
  Duration p50;
  Duration p95;
  Duration p99;
  std::optional<Duration> p999;
  // Half widths of 95 % intervals over the replications; need 2 of them.
  std::optional<Duration> ci95;  // of the mean
  std::optional<Duration> p50_ci95;
  std::optional<Duration> p95_ci95;
  std::optional<Duration> p99_ci95;
  std::optional<Duration> p999_ci95;
  bool p999_is_rough = false;        // fewer than 10,000 values: one of the ten largest
  std::vector<QuantilePoint> curve;  // p50 and up, as far as ten values lie above
};

// Of a sample of plain numbers, such as slowdowns.
struct NumberSummary {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
};

// Requests that met no limit, where a quantile leaves out some.
struct LostShare {
  double share = 0;            // of those whose fate is known
  std::optional<double> ci95;  // half width
  double most = 0;             // that the quantile leaves out

  // Some must not be more, with all of the interval.
  bool is_undecided() const { return share <= most && share + ci95.value_or(0) > most; }
  // Too many are, with all of it.
  bool is_clear() const { return share - ci95.value_or(0) > most; }
};

struct ObjectiveResult {
  std::string name;              // "latencyP99"
  scenarios::FigureValue limit;  // at most, or at_least
  scenarios::FigureValue value;
  std::optional<scenarios::FigureValue> ci95;  // half width, in the unit of `value`
  bool pass = false;
  bool at_least = false;
  std::string of = {};     // whose value it is, where it is judged for each user by themselves
  bool is_absent = false;  // nothing was observed; `value` is zero then, and `pass` false
  // No request came, or there are no Jobs: nothing is missed. The value says nothing.
  bool is_unasked = false;
  std::optional<LostShare> lost = {};  // of a quantile of requests; absent: none were lost

  // Of the limit, or of the requests that may be lost where that is more, what is used up: above 1
  // it is missed.
  double ratio() const;
};

// Requests of a Service or pipeline after the warm-up, means per replication.
struct RequestCounts {
  double arrived = 0;
  double arrived_per_second = 0;
  double answered = 0;
  double in_objectives = 0;  // answered, and within every objective that holds per request
  double refused = 0;        // no ready replica, their pod died, or too long
  double too_long = 0;       // of these: more tokens than a pod's cache could ever hold
  double dropped = 0;        // queue full
  double timed_out = 0;
  double retried = 0;         // attempts after the first
  double mean_in_system = 0;  // of requests; Little's law ties it to latency and rate
  double mean_batch = 0;      // requests per GPU batch; sequences per step of a language model
  double availability = 1;    // answered / those whose fate is known when the run ends
  // Share of the requests that stay unanswered, at the least (lower end of the 95 % interval):
  // refused, dropped, timed out, or left in a queue that grew.
  double left_over = 0;
};

// Language models.
struct TokenFigures {
  std::optional<double> answered;  // after the warm-up, whenever they came; mean per replication
  double input_tokens = 0;         // of these
  double output_tokens = 0;
  double output_per_second = 0;
  std::optional<TimeSummary> first_token;  // TTFT
  std::optional<TimeSummary> per_token;    // TPOT, of each request its mean
  double kv_cache_peak = 0;                // share of the pool, of the fullest pod
  Bytes kv_cache;                          // of one pod
  double preemptions = 0;                  // sequences thrown out for lack of cache
  double prefix_hits = 0;                  // share of the prompts' tokens found in the cache
  double adapter_loads = 0;                // LoRA adapters copied into GPU memory
  double wake_ups = 0;                     // of engines that sleep
  std::optional<double> awake;             // share of the time, of such a pod the mean
  std::optional<Usd> per_million_output;   // dollars
};

struct ScalingFigures {
  double mean_replicas = 0;  // wanted, over the run
  int max_replicas = 0;
  int max_by_metric = 0;  // that its metric asked for by itself, in any look; not cut to the most
  double scale_ups = 0;   // changes of the wish, mean per replication
  double scale_downs = 0;
  std::optional<TimeSummary> start_up;  // wanted -> ready
};

struct NotebookFigures {
  int users = 0;
  double sessions = 0;  // mean per replication
  double cells = 0;
  double culled = 0;                         // sessions ended for idleness
  std::optional<TimeSummary> session_start;  // asked for -> kernel ready
  std::optional<NumberSummary> cell_slowdown;
  double oom_per_user_month = 0;
  double waiting_per_user_month_s = 0;  // seconds that users wait for sessions and slowed cells
  std::optional<Usd> per_active_user_month;
  double gave_up = 0;  // sessions that had no kernel by the time they were to end
};

// A CronJob.
struct ScheduleFigures {
  std::int64_t runs = 0;  // whose time came
  double missed = 0;      // mean per replication
  double replaced = 0;
};

// Jobs that wait for a quota of Kueue.
struct QuotaFigures {
  std::optional<TimeSummary> wait = {};  // suspended in all, of those that were admitted
  double stopped = 0;                    // for others to have their quota, mean per replication
  double waiting = 0;                    // at the end of the run, mean per replication
};

// The pods of a workload that were given the same GPUs of their node.
struct GpuSetFigures {
  std::string pool;
  std::vector<int> gpus;    // indexes on the node
  double pods = 0;          // placed there, mean per replication
  bool all_linked = false;  // every two of them by NVLink
  Duration all_reduce;      // of one step; 0 without work.allReduce
};

// Pods with several GPUs, whole or replicas of shared ones.
struct GangFigures {
  int gpus = 0;                     // of each pod, of shared ones at the most
  std::vector<GpuSetFigures> sets;  // pool by pool, lowest indexes first
  double all_reduce_share = 0;      // of the time that its containers worked
};

// Pods of a workload that do not do what they should, each figure of the replication that has most.
struct LeftBehind {
  std::int64_t pods = 0;       // of the workload; of an autoscaled one the most that there were
  std::int64_t jobs = 0;       // of so many pods each as a Job of it has; 0: they are no Jobs
  std::int64_t oom_kills = 0;  // containers, whenever it was
  std::int64_t failed = 0;
  std::int64_t crash_looping = 0;   // at the end of the run
  std::int64_t pending = 0;         // ... with no turn to come; notebooks: sessions given up, too
  std::int64_t never_admitted = 0;  // Jobs of a queue of Kueue, which have no pods
};

// Another workload, or pods of its own, that a workload had beside it.
struct GpuNeighbour {
  std::string workload;
  int replications = 0;  // in which containers of both were on one GPU or MIG instance at once
};

// What placement did to a figure of a workload: the replications placed worst against the others.
struct PlacementSpread {
  std::string figure;               // "latencyP95", "jobCompletionP95"
  Duration usual;                   // median of the others
  int usual_replications = 0;       // ... in which the figure was seen
  std::optional<Duration> worst;    // median of those placed worst; absent: nothing was done there
  int replications = 0;             // placed worst
  std::vector<std::string> beside;  // workloads that had more pods on its GPUs than in the others
};

// What became of jobs of a trace: of all, of those that are alike, or of one user's.
struct JobGroupFigures {
  std::string name = {};
  std::int64_t jobs = 0;
  double finished = 0;  // mean per replication
  std::optional<Duration> wait_p95 = {};
  std::optional<Duration> completion_p95 = {};
  std::optional<NumberSummary> slowdown = {};  // time running / as recorded
  std::optional<double> deadlines_met = {};    // of the jobs that have one
  double past_time_limit = 0;  // ran longer than their time limit, mean per replication
};

// Jobs of a trace that are alike: one workload to the cluster.
struct JobClass {
  JobGroupFigures figures;
  std::string namespace_name;
  std::map<std::string, std::string> labels;
  std::optional<GangFigures> gang;
  std::optional<BillPart> bill;
  int pods_per_job = 1;  // more: a gang of equal pods
};

// The kind of a workload that is many Jobs.
inline constexpr std::string_view kTraceJobsKind = "TraceJobs";

struct RecordedFigures {
  JobGroupFigures all;
  std::vector<JobClass> classes;
  std::vector<JobGroupFigures> judged;      // each that objectives are judged for by themselves
  std::vector<scenarios::ApartJobs> apart;  // those that do not run as they were recorded
};

struct WorkloadResult {
  std::string name;
  std::string kind;  // "Job", "Deployment", "Service", "Notebook", "Pipeline", "TraceJobs"
  std::string namespace_name;
  std::map<std::string, std::string> labels;  // of its pods
  std::string unit_name;                      // of a Job's work; "request" for a Service
  double completed = 0;  // jobs (or container runs, requests) finished, mean per replication
  double throughput_per_second = 0;       // units (epochs, requests) finished per second of the run
  double goodput_per_second = 0;          // of those, the ones that met every objective
  std::optional<RequestCounts> requests;  // Service, Pipeline
  bool is_stage = false;                  // a Service whose requests all come from pipelines
  std::optional<TokenFigures> tokens;     // a language model
  std::optional<ScalingFigures> scaling;  // autoscaled
  std::optional<NotebookFigures> notebooks;
  std::optional<ScheduleFigures> schedule;
  std::optional<QuotaFigures> quota;        // Jobs in a queue of Kueue
  std::optional<GangFigures> gang;          // pods with several GPUs
  std::optional<RecordedFigures> recorded;  // of a TraceJobs
  LeftBehind left_behind;
  std::optional<TimeSummary> job_completion;  // submitted -> succeeded
  std::optional<TimeSummary> wait;            // submitted -> first container running
  std::optional<TimeSummary> latency;         // Service: arrival -> response
  std::optional<TimeSummary> queueing;        // ... of that, before the GPU took it up
  std::vector<ObjectiveResult> objectives;
  double gpu_busy_share = 0;     // of all GPU time of the run
  Duration gpu_lost;             // GPU time that containers did for nothing, mean per replication
  std::optional<BillPart> bill;  // absent for a pipeline but for the price of its requests
  std::string bound_by;  // "GPU", "host CPU", "GPU memory", "network", "waiting for a GPU", ""
  std::vector<GpuNeighbour> neighbours;      // in the order of the scenario
  std::optional<PlacementSpread> placement;  // absent: it does not hang on where its pods are

  bool has_jobs() const { return kind == "Job" || kind == kTraceJobsKind; }
};

// A whole GPU or one MIG instance.
struct GpuResult {
  std::string node;
  int index = 0;  // of the GPU on its node
  std::string model;
  std::string partition;       // MIG profile, "" = the whole GPU
  int instance = 0;            // counts the partitions of a GPU
  double gpu_share = 1;        // of the GPU: its compute slices
  double up_ratio = 1;         // of the run, while its node was there; ratios are of that
  double time_busy_ratio = 0;  // kernels of some context run
  std::optional<double> sm_active_ratio;  // absent when no resident workload says
  double context_switch_ratio = 0;        // share of GPU time spent switching contexts
  Bytes memory_peak;
  Bytes memory_total;             // usable
  double time_busy_most = 0;      // of all replications; time_busy_ratio is their mean
  std::vector<std::string> pods;  // in the first replication, when most containers were on it
};

struct NodeResult {
  std::string name;
  std::string pool;
  double cpu_busy_ratio = 0;  // of the node's vCPUs, mean over the run
};

// Of a pool whose nodes come and go. Means per replication, except the maximum.
struct NodeDynamics {
  std::optional<int> least;  // as the scenario allows; absent: their number is kept
  std::optional<int> most;
  std::string provisioner;  // "Karpenter", "ClusterAutoscaler", "ManagedNodeGroup"
  double mean_nodes = 0;    // billed, over the run
  int max_nodes = 0;
  double launches = 0;         // after the start of the run
  double surplus = 0;          // of those, more than the pods needed
  double removed = 0;          // as empty or underused
  double interruptions = 0;    // taken back by EC2
  double on_demand_nodes = 0;  // started as on-demand after an interruption
  double node_hours = 0;       // billed
  double thrash_node_hours = 0;
};

// The way of pods that had to wait for a node, from Pending to work. Means of its stages, which add
// up to `total.mean` but for rounding.
struct NodeStartUpFigures {
  double pods = 0;           // mean per replication
  Duration decision;         // until the provisioner decides
  Duration launch;           // until EC2 bills the node
  Duration ready;            // until the node is Ready
  Duration gpu_allocatable;  // until the device plugin advertises the GPU
  Duration scheduling;       // until the pod is bound
  Duration image_pull;
  Duration model_load;
  TimeSummary total;
};

// How often EC2 takes back a node of a spot pool.
struct SpotRisk {
  double per_1000_hours = 0;  // interruptions of one node
  std::string source;
  bool falls_back = false;  // to on-demand, after an interruption
};

// What the pod of a DaemonSet takes of each node.
struct DaemonSetResult {
  std::string name;
  double cpus = 0;
  Bytes memory;
};

struct NodePoolResult {
  std::string name;
  std::string instance_type;
  std::string gpu_model;
  std::string region;
  std::string purchase_option;  // "on-demand"
  std::string price_plan;       // of the scenario, that lowers the price; "": none
  std::string strategy;         // "exclusive", "timeSlicing", "mps", "mig", "mig+mps", "vgpu", ...
  int nodes = 0;
  int gpus_per_node = 0;
  int unhealthy_gpus = 0;  // of these, which nobody gets
  UsdPerHour price;
  std::string price_source;
  std::optional<Duration> turn;  // time-slicing: q and c in force
  std::optional<Duration> switch_cost;
  std::optional<double> active_threads;            // MPS: share of the SMs that one client may use
  std::optional<Bytes> memory_limit;               // of one client process; absent: none
  std::string vgpu_policy;                         // "bestEffort", "equalShare", "fixedShare"
  int vgpus_per_gpu = 0;                           // virtual machines on a physical GPU; 0: no vGPU
  std::string mig_config;                          // in force at the start, "" = no MIG
  std::map<std::string, std::int64_t> instances;   // of all nodes, by MIG profile
  std::optional<double> sms_unused_ratio;          // SMs that no instance has
  std::map<std::string, std::int64_t> advertised;  // extended resources of all nodes of the pool
  std::vector<DaemonSetResult> daemon_sets;        // beside the scenario's pods, on every node
  std::optional<NodeDynamics> dynamics;            // absent: its nodes are always there
  std::optional<SpotRisk> spot;                    // absent: not bought as spot
};

// What one GPU or MIG instance of a pool holds, whichever of its pods come: those that map
// everything first, then the largest. Known before the run.
struct GpuRoom {
  // Pods: there are no more. Parts: what pods ask for of the GPU. OwnShare: a language model's
  // memoryUtilization is less than its weights. NodePods: the kubelet takes no more.
  enum class Bound : std::uint8_t {
    Memory,
    ProcessLimit,
    Replicas,
    Cpu,
    HostMemory,
    Pods,
    Parts,
    OwnShare,
    NodePods
  };
  struct Tenant {
    std::string workload;
    int pods = 0;
    int processes = 1;  // of each pod
    Bytes process;      // without its CUDA context
    bool greedy = false;
  };
  std::string pool;
  std::string partition;  // MIG profile, "" = the whole GPU
  int safe = 0;           // pods that fit
  int may_meet = 0;       // of those there are, that the sharing and the node let meet there
  int replicas = 0;       // that the device plugin offers
  Bound bound = Bound::Memory;
  Bytes usable;                        // by processes: without the MPS server's
  Bytes context;                       // of each process
  Bytes awake;                         // what the engine that is awake has beyond its sleep
  std::optional<Bytes> process_limit;  // that a process passes, or its own share
  std::vector<Tenant> tenants;         // the pods that fit
  Bytes needed;                        // by them
  Bytes next;                          // by them and one more; 0 where there is no such pod
  std::string next_workload;           // whose pod that is

  // More may meet than the memory holds.
  bool is_overcommitted() const { return bound == Bound::Memory && may_meet > safe; }
};

struct PodCounts {
  double submitted = 0;  // means per replication, except the maxima
  std::int64_t running_max = 0;
  std::int64_t pending_max = 0;
  double succeeded = 0;
  double failed = 0;
  double oom_kills = 0;
  double restarts = 0;
  double faults = 0;                         // fatal GPU faults
  double fault_victims = 0;                  // containers that died of a neighbour's fault
  double evicted = 0;                        // drained: a new MIG layout, a node that goes
  std::vector<std::string> pending_reasons;  // scheduler messages, distinct, in order of appearance
};

// A policy of the scenario, held against the result.
struct PolicyResult {
  enum class Verdict : std::uint8_t { Pass, Fail, Unknown };  // Unknown: a figure is absent
  struct Figure {
    std::string name;   // "cost.monthly"
    std::string value;  // "1,632"; "" when absent
  };
  std::string name;
  std::string assertion;
  Verdict verdict = Verdict::Unknown;
  scenarios::PolicySeverity severity = scenarios::PolicySeverity::Deny;
  std::vector<Figure> figures;  // that the assertion asks for, each once, in its order

  // It fails, or asks for what nobody knows, and that is refused.
  bool denies() const;
  // Neither held nor failed, where failing would be refused.
  bool is_not_judged() const;
};

// Where a figure lies for inputs that are known only as well as they were measured: another
// replication has it from `least` to `most`, 95 %, which does not shrink with their number.
struct FigureRange {
  std::string workload;  // "" of the whole scenario
  std::string name;      // as OutcomeFigure has it
  scenarios::AmountUnit unit = scenarios::AmountUnit::Count;
  double value = 0;
  double least = 0;
  double most = 0;
};

// What batch pods get done together on GPUs that they share, against one after the other, where
// models::may_be_gain_or_loss() of it.
struct UnsureGain {
  std::string mode;  // as ExpectedError has it
  double gain = 0;   // 0.02: 2 % more
  double median_percent = 0;
};

struct VariantResult {
  std::string name;
  std::string description;
  std::string swept_value;  // with which the name ends; "": it is no point of a sweep
  std::string strategy;     // of its pools, joined by ", " when they differ
  std::uint64_t seed = 0;
  int replications = 0;
  int replications_asked = 0;  // no more were done: all of them unless it was interrupted
  // Interrupted within its first replication: the figures are of the run up to then.
  std::optional<Duration> stopped_at;
  bool is_cut_off = false;  // after a simulated year with Jobs still waiting, in some replication
  TimeSummary makespan;     // length of the run, one value per replication
  std::optional<TimeSummary> last_job_end;  // likewise; absent: no Job ended in any
  std::vector<NodePoolResult> node_pools;
  std::vector<GpuRoom> rooms;  // in the order of the pools
  PodCounts pods;
  std::vector<WorkloadResult> workloads;
  std::vector<GpuResult> gpus;    // mean over replications
  std::vector<NodeResult> nodes;  // mean over replications
  Cost cost;
  bool pods_share_gpu = false;        // several pods may be on one GPU at a time
  bool namespaces_share_gpu = false;  // ... of different namespaces
  std::vector<PolicyResult> policies;
  std::optional<NodeStartUpFigures> node_start_up;  // absent: no pod waited for a node
  std::vector<FigureRange> ranges;                  // of run_sampled() only
  // Of its workloads that share GPUs, each way of sharing with the least that is known of one
  // there.
  std::vector<models::ExpectedError> expected_errors;
  std::vector<UnsureGain> unsure_gains;
  Verdict verdict;
  Diagnostics findings;
  ProvenanceCounts provenance;

  // All that was asked for was simulated to its end.
  bool is_whole() const { return !stopped_at && replications == replications_asked; }
};

// Of the time that all GPUs were there; an instance counts with its share of one.
double mean_over_gpus(const VariantResult& variant, double GpuResult::*ratio);

struct Result {
  Stamp stamp;
  std::string fidelity;         // as asked for; "" = the scenario's
  std::string cost_split;       // likewise
  std::string group_by;         // "workload", "namespace", "label:team", "user"; "": not grouped
  bool sampled_inputs = false;  // each replication drew them anew: run_sampled()
  bool interrupted = false;     // some replications were not run whole; variants without any are
                                // absent
  std::vector<VariantResult> variants;
};

}  // namespace slicewise::sim
