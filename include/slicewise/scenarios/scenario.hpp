#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/choice.hpp"
#include "slicewise/diagnostics.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/cluster_queue.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/gpu_software.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/node_pool.hpp"
#include "slicewise/scenarios/pod_template.hpp"
#include "slicewise/scenarios/policy.hpp"
#include "slicewise/scenarios/resource_claim.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/scenarios/studies.hpp"
#include "slicewise/units.hpp"

// A scenario as plain data: what a file asks for, with units resolved and defaults filled in, and
// with the place of every name that only the catalogue can check. Knows nothing of the catalogue.
namespace slicewise::scenarios {

enum class Allocator : std::uint8_t { OnDemand, Greedy, Capped };
enum class WorkloadKind : std::uint8_t { Job, Deployment, Service, Notebook };
enum class RestartPolicy : std::uint8_t { Never, OnFailure, Always };
enum class ScorePolicy : std::uint8_t { LeastAllocated, MostAllocated };
// Whether a pod that fits nowhere holds up those behind it (Fifo), lets those by that do not delay
// it (Easy), or all (Backfill).
enum class PodQueue : std::uint8_t {
  Backfill,
  Fifo,
  Easy,
  Priority,         // preempts
  ShortestTime,     // likewise: least time left first
  ShortestService,  // likewise: least time left x GPUs first
};
// Whether it stops pods that run.
constexpr bool preempts(PodQueue queue) { return queue >= PodQueue::Priority; }
// Whether a pod that fits nowhere takes the place of pods of lower priority.
enum class PreemptionPolicy : std::uint8_t { PreemptLowerPriority, Never };
// What of EKS's control plane is in the bill, by the support of the cluster's Kubernetes version.
enum class ControlPlane : std::uint8_t { None, Standard, Extended };
// By what the bill of a node is split over its pods; see models/MODELS.md, "The bill by workload".
enum class CostSplit : std::uint8_t { Dominant, GpuTime, Requests };

inline constexpr std::array kCostSplits = {Choice{"dominant", CostSplit::Dominant},
                                           Choice{"gpu-time", CostSplit::GpuTime},
                                           Choice{"requests", CostSplit::Requests}};
constexpr std::string_view split_name(CostSplit split) { return word_of(kCostSplits, split); }

// As scenario files and reports spell it.
constexpr std::string_view kind_name(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::Job:
      return "Job";
    case WorkloadKind::Deployment:
      return "Deployment";
    case WorkloadKind::Service:
      return "Service";
    case WorkloadKind::Notebook:
      return "Notebook";
  }
  return "Job";
}

// Whether its pods have work units to get through, and not people who ask for something.
constexpr bool runs_batches(WorkloadKind kind) {
  return kind == WorkloadKind::Job || kind == WorkloadKind::Deployment;
}

// The manifest that makes a workload's pods, for the exports that patch it; nothing of it is
// simulated.
struct Manifest {
  std::string kind;                        // of its object, "PyTorchJob"; "" by the workload's kind
  std::string name;                        // of its object; "" the workload's
  std::vector<std::string> containers;     // the one with the GPU first; empty: as the workload
  std::vector<std::string> old_selectors;  // keys of its nodeSelector that the pods have no more
  std::vector<std::string> old_resources;  // likewise of its requests and limits
  std::vector<std::string> old_annotations;  // likewise of its pods
  bool old_claim = false;                    // its pods name a claim of DRA, and need none any more
  std::string scaled_by;  // "HorizontalPodAutoscaler/asr", which scales it now; "" nobody does
  std::string spread;     // label of nodes over whose values the pods are spread; "" none
};

struct GpuMemory {
  Allocator allocator = Allocator::OnDemand;
  Bytes resident;             // after start-up, without the CUDA context
  std::optional<Bytes> peak;  // the most it ever holds; absent: resident
  SourceLocation where;
};

struct Startup {
  Duration image_pull;  // first pod of the workload on a node
  Duration model_load;  // every container start
  // Whether a Service's replicas start with the run. Else those that have a node at once are ready
  // before the first request comes, which is how a file that does not say is meant.
  bool cold = true;
};

// What the GPUs of a pod add up among themselves at the end of each step: gradients.
struct AllReduce {
  Bytes bytes_per_step;
  SourceLocation where;
};

// A batch of work of one Job pod, or of one life of a Deployment's container.
struct Work {
  // Overlapped: the host prepares the next steps while the GPU works (data loaders, asynchronous
  // launches). Serial: the GPU phase and the host phase take turns.
  enum class HostPhase : std::uint8_t { Overlapped, Serial };
  std::int64_t units = 1;  // epochs, files, ...
  std::string unit_name = "unit";
  std::optional<std::int64_t> steps_per_unit;  // GPU bursts in a unit; absent: see Fidelity
  HostPhase host_phase = HostPhase::Overlapped;
  std::optional<AllReduce> all_reduce{};  // absent: part of the measured unit
};

// So many requests in one go, as they were measured: times the time and the GPU work of one.
struct MeasuredBatch {
  int requests = 1;
  double longer = 1;
  double work = 1;
};

// One pod alone on one whole GPU of `device`, or on as many of them as it asks for.
struct Measured {
  Located<std::string> device;        // GPU model name or alias; "" = the pool's own GPU
  std::optional<Duration> unit_time;  // wall time per work unit
  double unit_time_cv = 0;            // between pods; 0 = all alike
  std::optional<double> gpu_busy;     // d: share of the time some kernel runs
  std::optional<double> gpu_util;     // nvidia-smi's figure, which overstates d
  std::optional<double> turn_use;     // w: part of a turn that it uses before it is idle
  std::optional<double> sm_active;    // share of the time an SM is busy, averaged over SMs
  std::optional<double> dram_active;  // share of the time device memory sends or receives
  std::optional<Millicores> cpu;      // host CPU used on average while it runs
  std::optional<ServiceTime> request_gpu_time;
  std::optional<Duration> extra_per_item;  // GPU time of one more request in a batch
  std::optional<Duration> kernel_time;     // K: mean length of its kernels
  std::optional<Duration> longest_kernel;  // a remark: see KERNEL_PREEMPTED
  std::optional<int> batch;                // items of the step or request that was measured
  std::vector<MeasuredBatch> batches;      // larger ones of its profile, ascending
  std::optional<double> capacity_share;    // u: of the whole GPU's capacity, while it runs alone
  std::optional<double> bandwidth_share;   // beta
  std::optional<double> norm_p;            // p of the execution law
  // What a neighbour under MPS costs it, and it costs a neighbour: slowdown 1 + alpha_i c_j.
  std::optional<double> sensitivity;  // alpha
  std::optional<double> pressure;     // c
  Provenance provenance = Provenance::Assumed;
  SourceLocation where;
};

// Jobs of a log (`slicewise import`), in place of a count and an interval: a pod each, submitted
// when the log has it. Loading a scenario makes several workloads of a `kind: TraceJobs`, one for
// each class of jobs that are alike.
struct RecordedJobs {
  struct Job {
    Duration submitted;       // since the start of the window, in the trace's own time
    Duration run;             // alone on the GPUs that it was recorded on
    Duration deadline{-1};    // from submission until it should have ended; -1: none
    Duration time_limit{-1};  // of its run, as its user asked for; -1: none
    std::uint32_t row =
        0;  // of the trace, from 1: who was submitted at one instant waits in this order
    std::uint32_t judged = 0;  // with whom its objectives are judged, into `judged_groups`
  };
  // By what else than their needs the workloads are told apart; their namespaces have its names.
  enum class Split : std::uint8_t { None, User, Group, Project };

  Located<std::string> file;
  Duration from;                             // since the first job of the file
  std::optional<Duration> length;            // of the window; absent: to the end
  double scale = 1;                          // jobs come so many times as fast
  std::vector<Located<std::string>> users;   // empty: all
  std::vector<Located<std::string>> groups;  // likewise
  int least_gpus = 1;                        // of a job; others are left out
  std::optional<int> most_gpus;              // likewise
  std::optional<int> gpus_per_pod;           // a job with more is a gang of equal pods; absent:
                                             // as many as the largest unshared node has
  bool host_requests = true;                 // pods ask for the CPU and memory of the trace
  Split split = Split::None;
  std::vector<Located<std::string>> profile_rules;  // as read_profile_rule() takes them
  std::uint64_t profile_seed = kUsualSeed;          // of the profiles that are drawn
  Split judge_by = Split::None;  // objectives hold for each user, ... by themselves

  // What was read: of one workload.
  std::string workload;                                           // as the file calls them all
  std::shared_ptr<const std::vector<Job>> jobs;                   // by submission, `count` of them
  std::shared_ptr<const std::vector<std::string>> judged_groups;  // users, ... of the whole trace
  std::string gpu;  // recorded on: models ("A100|H100") or an instance type; "" not known
  std::optional<std::int64_t> origin_unix_s;  // when the window starts, if the trace has dates
  int at_once = 0;                            // the most that would run at a time if none waited
  RowPlace first;                             // of its jobs
  std::shared_ptr<const std::vector<ApartJobs>> apart;  // of the whole trace
  SourceLocation where;
};

// Pods that are on a node of a pool when the run begins, as those of a cluster that was read.
struct StartPlace {
  Located<std::string> pool;
  int node = 1;  // its number in the pool, as results name nodes
  int pods = 1;
  SourceLocation where;
};

struct Workload {
  Located<std::string> name;
  WorkloadKind kind = WorkloadKind::Job;
  std::string namespace_name = "default";
  int count = 1;         // pods: of all Jobs, the most of an autoscaled Service, one for each user
  int pods_per_job = 1;  // Job: several are a gang, which starts and ends together
  Located<std::string>
      queue;  // of cluster_queues or kai_queues; "" none: Jobs that wait for no quota
  std::optional<int> parallelism;  // Jobs that are there at a time; absent: all
  // Job: the object that all of its pods are of, with those of other workloads that name the same:
  // Kueue admits it as a whole, and it fails as a whole. "": each Job is one of its own.
  Located<std::string> part_of;
  std::optional<int> min_parallelism;  // of those that Kueue would admit at once, enough to begin
  std::vector<StartDependency> depends_on;  // Job
  std::vector<StartPlace> starts_on{};      // its first pods; the scheduler places all others
  RestartPolicy restart_policy = RestartPolicy::OnFailure;
  int backoff_limit = kBackoffLimit;  // Jobs
  int priority = 0;
  PreemptionPolicy preemption_policy = PreemptionPolicy::PreemptLowerPriority;
  bool may_stay_pending = false;     // what no node pool offers is a warning
  bool ignore_disruptions = false;   // Job: evictions are none of the failures of backoff_limit
  std::optional<int> batch;          // items of one step or request; absent: as measured
  int processes_per_pod = 1;         // CUDA processes, each with its own context
  std::optional<Rate> faults;        // fatal GPU faults (Xid) of a running pod
  Duration submit_at;                // of the first pod
  Duration submit_interval;          // between pods; 0 = all at once
  std::optional<Schedule> schedule;  // Job: of a CronJob
  Located<std::string> profile;      // catalogue profile, "" = none
  PodTemplate pod;
  std::optional<DisruptionBudget> disruption_budget{};
  Manifest manifest{};
  GpuMemory gpu_memory;
  Startup startup;
  std::optional<RecordedJobs> trace{};  // Job: recorded ones
  std::optional<Work> work;             // Job, Deployment
  std::optional<Measured> measured;
  std::optional<Traffic> traffic;          // Service; absent when only pipelines use it
  Serving serving;                         // Service
  std::optional<Llm> llm;                  // Service
  std::optional<Autoscaling> autoscaling;  // Service
  std::optional<Notebooks> notebooks;      // Notebook
  std::vector<Objective> objectives;
  bool placeholder = false;  // nobody says what load it has, nor what GPU time it takes
  SourceLocation where;

  // Whether the pods of both are of one object.
  bool is_of_one_object_with(const Workload& other) const {
    return !part_of.value.empty() && part_of.value == other.part_of.value &&
           namespace_name == other.namespace_name;
  }
  // Else its pods take CPU, memory and places of nodes alone.
  bool uses_gpu() const { return processes_per_pod > 0; }
  // As the file calls it: a TraceJobs is many workloads.
  const std::string& given_name() const { return trace ? trace->workload : name.value; }
  int jobs_at_once() const { return parallelism.value_or(count / pods_per_job); }
  // Those of a run of a CronJob, or all.
  int pods_of_run() const { return schedule ? schedule->jobs_per_run * pods_per_job : count; }
  // The most pods that want to run at a time.
  int pods_at_once() const {
    if (schedule) return count > 0 ? pods_of_run() : 0;
    return trace ? trace->at_once : std::min(count, jobs_at_once() * pods_per_job);
  }
  // Pods that are always there: of an autoscaled Service the least.
  int pods_kept() const { return autoscaling ? autoscaling->min_replicas : count; }
  void keep_pods(int pods) {
    if (!autoscaling) {
      count = pods;
      return;
    }
    autoscaling->min_replicas = pods;
    autoscaling->start_replicas.reset();
    autoscaling->max_replicas = std::max(autoscaling->max_replicas, pods);
    count = autoscaling->most_wanted();
  }
  // Whether it has more pods at some times than at others, over and over.
  bool comes_and_goes() const {
    const bool is_scaled = autoscaling && autoscaling->min_replicas < autoscaling->max_replicas;
    return trace || schedule || notebooks || is_scaled;
  }
  // Whether as many pods of it are there at any time. Jobs end.
  bool is_always_there() const { return kind != WorkloadKind::Job && !comes_and_goes(); }
};

enum class Fidelity : std::uint8_t { Auto, Exact };
inline constexpr std::array kFidelities = {Choice{"auto", Fidelity::Auto},
                                           Choice{"exact", Fidelity::Exact}};

// From the decision to start a node until pods get its GPU. Measured once, on g6e.2xlarge with
// Karpenter and the GPU operator: 13 s from Pending to the NodeClaim (1 s of them the batching
// window), 40 s to Ready, 36 s to the first nvidia.com/gpu. Source: awslabs/data-on-eks,
// ray-batch-inference, README.
struct NodeStartUp {
  Duration launch = seconds(12);           // decided -> EC2 bills the instance
  Duration ready = seconds(40);            // -> Ready: the scheduler sees the node
  Duration gpu_allocatable = seconds(36);  // -> the device plugin advertises its resources
  double variation = 0.1;  // coefficient of variation of the last two, from node to node: Assumed

  Duration whole() const { return launch + ready + gpu_allocatable; }
};

// What nodes of some pools may have together, as the limits of one NodePool with several instance
// types. Absent: as much as they like.
struct NodeLimit {
  std::vector<Located<std::string>> pools;
  std::optional<int> nodes;
  std::optional<std::int64_t> gpus;
  std::optional<Millicores> cpu;
  std::optional<Bytes> memory;
  SourceLocation where;
};

// Who adds and removes nodes.
struct Provisioner {
  enum class Kind : std::uint8_t {
    ManagedNodeGroup,  // replaces what EC2 takes back, nothing else
    Karpenter,
    ClusterAutoscaler,
  };
  using Consolidation = scenarios::Consolidation;
  Kind kind = Kind::ManagedNodeGroup;
  NodeStartUp start_up;
  // Karpenter.
  Duration batch_idle = seconds(1);  // it decides when no Pending pod came for so long
  Duration batch_max = seconds(10);  // ... or the first of them waited for so long
  bool node_overlay = false;         // NodeOverlays tell it what the nodes will advertise
  Consolidation consolidation = Consolidation::WhenEmptyOrUnderutilized;
  Duration consolidate_after;  // since the last pod came to the node or left it
  std::vector<NodeLimit> limits;
  // Cluster Autoscaler.
  Duration scan_interval = seconds(10);
  Duration unneeded_time = minutes(10);  // before it removes a node
  bool resource_tags = false;            // ASG tags tell it what the nodes will advertise
  SourceLocation where;
};

inline constexpr std::array kProvisioners = {
    Choice{"Karpenter", Provisioner::Kind::Karpenter},
    Choice{"ClusterAutoscaler", Provisioner::Kind::ClusterAutoscaler},
    Choice{"ManagedNodeGroup", Provisioner::Kind::ManagedNodeGroup}};
constexpr std::string_view provisioner_name(Provisioner::Kind kind) {
  return word_of(kProvisioners, kind);
}

// Of nodes that come and go.
constexpr NodeMaker maker_of(Provisioner::Kind kind) {
  return kind == Provisioner::Kind::Karpenter ? NodeMaker::Karpenter : NodeMaker::ManagedGroup;
}

// A start of the run by which traffic is at its peak that is not when the traffic of all is.
struct OtherPeak {
  Duration starts_at;              // since Monday 00:00 UTC
  std::vector<std::string> whose;  // Services and pipelines
};

// One configuration to simulate: the base of the file, a variant of it, or a point of a sweep.
struct Scenario {
  std::string name;  // variant name, "base" for a file without variants
  std::string description;
  std::string swept_value;  // with which the name ends; "": it is no point of a sweep
  std::string region = "us-east-1";
  SourceLocation region_where;
  std::vector<Located<std::string>> profile_files;  // of all variants the same catalogue is made
  std::optional<Duration> duration;                 // absent: until all Jobs are done
  Duration warmup;
  std::uint64_t seed = kUsualSeed;
  int replications = 5;
  bool allow_pending = false;  // --allow-pending: see sim::judge()
  Fidelity fidelity = Fidelity::Auto;
  ScorePolicy score_policy = ScorePolicy::LeastAllocated;
  std::string placement;  // policy that chooses nodes in place of kube-scheduler's score; "": none
  PodQueue pod_queue = PodQueue::Backfill;
  CostSplit cost_split = CostSplit::Dominant;
  ControlPlane control_plane = ControlPlane::None;  // of a file that does not say: Standard
  std::vector<NodePool> node_pools;
  Provisioner provisioner;
  GpuSoftware gpu_software;
  std::vector<ResourceClaim> claims;
  std::vector<ResourceFlavor> flavors;
  std::vector<ClusterQueue> cluster_queues;
  std::vector<KaiQueue> kai_queues;
  std::vector<Workload> workloads;
  std::vector<Pipeline> pipelines;
  std::optional<Duration> starts_at;   // of the run, since Monday 00:00 UTC
  std::vector<OtherPeak> other_peaks;  // of a study, which judges at these starts, too
  Planning planning;
  PlanGoal goal = PlanGoal::MonthlyCost;
  SourceLocation goal_where;
  std::optional<IsolationRule> isolation;
  std::vector<Policy> policies;
  std::vector<PricePlan> price_plans;
  std::optional<Sensitivity> sensitivity;
  SourceLocation where;

  const Workload* find_workload(std::string_view called) const {
    return find_if_or_null(workloads, [&](const Workload& w) { return w.name.value == called; });
  }
  // That its pods name; nullptr: they name none.
  const ResourceClaim* claim_of(const Workload& workload) const {
    return find_if_or_null(
        claims, [&](const ResourceClaim& c) { return c.name.value == workload.pod.claim.value; });
  }
  Duration start() const { return starts_at.value_or(Duration{}); }
};

// A scenario file after loading: metadata plus at least one scenario, in the order of the file.
struct ScenarioSet {
  std::string name;
  std::map<std::string, std::string> annotations;
  std::string sha256;  // hex; of the file, then "\n" and each --set, "\n" and each trace
  // What `spec` says after --set, one value each as --set takes it, in the order of the file:
  // "workloads.asr.replicas=4". Names of entries are in the paths.
  std::vector<std::string> inputs;
  std::vector<Scenario> variants;
  Diagnostics notes;  // warnings and notes; never errors
};

}  // namespace slicewise::scenarios
