#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "../text/scalars.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr std::int64_t kMostInBudget = 1'000'000;
constexpr Duration kBeyondAnyRun = hours(std::int64_t{24} * 2 * 366);

constexpr Word kPreemptionPolicies[] = {
    {"PreemptLowerPriority", PreemptionPolicy::PreemptLowerPriority},
    {"Never", PreemptionPolicy::Never}};
constexpr Word kRestartPolicies[] = {{"Never", RestartPolicy::Never},
                                     {"OnFailure", RestartPolicy::OnFailure},
                                     {"Always", RestartPolicy::Always}};

// A number of pods, or a whole percentage of them.
void read_budget(DisruptionBudget& budget, bool keeps, const Node& node, Reading& reading) {
  constexpr std::int64_t kAll = 100;
  double number = 0;
  Rate rate;
  double share = 0;
  const bool is_target = read_value(Field{"", T::Number}, node, number) ||
                         read_value(Field{"", T::Rate}, node, rate) ||
                         read_value(Field{"", T::Percent}, node, share);
  if (!is_target) return;  // reported
  std::string_view text = node.text;
  budget.keeps = keeps;
  budget.is_percent = text.ends_with('%');
  if (budget.is_percent) text.remove_suffix(1);
  const auto value = whole_of(text);
  if (!value || *value < 0 || *value > (budget.is_percent ? kAll : kMostInBudget)) {
    reading.findings.add(
        Code::ValueRange, node.where,
        fmt::format("\"{}\" is neither a number of pods nor a whole percentage of them", node.text),
        "write 2, or 80%");
    return;
  }
  budget.value = *value;
}

void read_min_available(DisruptionBudget& budget, const Field& /*field*/, const Entry& entry,
                        Reading& reading) {
  read_budget(budget, true, *entry.value, reading);
}

void read_max_unavailable(DisruptionBudget& budget, const Field& /*field*/, const Entry& entry,
                          Reading& reading) {
  read_budget(budget, false, *entry.value, reading);
}

void check_budget(DisruptionBudget& /*budget*/, const Node& map, Reading& reading) {
  if ((map.find("minAvailable") == nullptr) != (map.find("maxUnavailable") == nullptr)) return;
  reading.findings.add(Code::SettingConflict, map.where,
                       "a disruptionBudget has either minAvailable or maxUnavailable",
                       "write one of them");
}

constexpr Field kDisruptionBudgetFields[] = {
    field<&DisruptionBudget::name>(
        "name", "asr-budget",
        "Name of the object that the cluster has for these pods: exports leave it alone. Without a "
        "name they write one (two of them on one pod refuse every eviction).")
        .positive(),
    read_by<DisruptionBudget, &read_min_available>(
        T::Target, "minAvailable", "80%",
        "Pods that have to stay ready: a number, or a percentage of the pods, rounded up."),
    read_by<DisruptionBudget, &read_max_unavailable>(
        T::Target, "maxUnavailable", "1",
        "In place of it, pods that may be gone: a number, or a percentage of the pods, rounded up. "
        "Not of Jobs."),
};
constexpr FieldList kDisruptionBudget =
    block<DisruptionBudget, &check_budget>(kDisruptionBudgetFields);

constexpr Word kStartStatuses[] = {{"Ready", StartDependency::Status::Ready},
                                   {"Complete", StartDependency::Status::Complete}};

constexpr Field kStartDependencyFields[] = {
    field<&StartDependency::name>("name", "driver", "A workload of kind Job.").needed().positive(),
    field<&StartDependency::status>("status", "Complete", "What it has to be.")
        .one_of(kStartStatuses),
};
constexpr FieldList kStartDependency = block<StartDependency>(kStartDependencyFields);

constexpr Field kStartPlaceFields[] = {
    field<&StartPlace::pool>("pool", "t4", "A node pool.").needed().positive(),
    field<&StartPlace::node>("node", "2", "Which of its nodes: results call this one t4-2.")
        .between(1, 100'000),
    field<&StartPlace::pods>("pods", "3", "How many of the workload's pods are there.")
        .between(1, 1'000'000),
};
constexpr FieldList kStartPlace = block<StartPlace>(kStartPlaceFields);

// Pods without a GPU work as fast as they do anywhere; a Deployment's for as long as the run lasts.
void finish_without_gpu(Workload& workload) {
  if (workload.kind == WorkloadKind::Deployment) {
    if (!workload.work) workload.work.emplace();
    if (!workload.measured) workload.measured.emplace().unit_time = kBeyondAnyRun;
  }
  if (workload.measured) workload.measured->gpu_busy = 0;
}

// Whether some of it is of another source: a value of --set.
bool is_set_elsewhere(const Node& node, const std::string& file) {
  if (node.is_scalar()) return node.where.file != file;
  const auto of_entry = [&](const Entry& entry) { return is_set_elsewhere(*entry.value, file); };
  const auto of_item = [&](const NodePtr& item) { return is_set_elsewhere(*item, file); };
  return std::ranges::any_of(node.entries, of_entry) || std::ranges::any_of(node.items, of_item);
}

// Whether --set gives what the placeholders stand for.
bool has_own_figures(const Node& map) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kStandIn = {
      {{"traffic", "mean"},
       {"traffic", "trace"},
       {"measured", "requestGpuTime"},
       {"measured", "unitTime"},
       {"measured", "gpuBusy"},
       {"measured", "gpuUtil"}}};
  const auto is_given = [&](const Node* parent, std::string_view key) {
    const Node* const value = parent == nullptr ? nullptr : parent->find(key);
    return value != nullptr && is_set_elsewhere(*value, map.where.file);
  };
  return is_given(&map, "profile") || std::ranges::any_of(kStandIn, [&](const auto& path) {
           return is_given(block(&map, path.first), path.second);
         });
}

// What the kind decides, and blocks that say how many pods there are.
void finish_workload(Workload& workload, const Node& map, Reading& reading) {
  workload.name.where = value_place(map, "name");  // also where it is missing
  const bool job = workload.kind == WorkloadKind::Job;
  workload.count = int_at(&map, job ? "count" : "replicas").value_or(1);
  if (job) workload.count *= workload.pods_per_job;
  if (list(kRestartPolicies).find(text_at(&map, "restartPolicy").value_or("")) == nullptr) {
    workload.restart_policy = job ? RestartPolicy::OnFailure : RestartPolicy::Always;
  }
  // 0/h, as a sweep may have it, is no faults at all.
  if (workload.faults && workload.faults->per_second <= 0) workload.faults.reset();
  if (block(&map, "podTemplate") == nullptr) {
    workload.pod.where = key_place(map, "podTemplate");
    workload.pod.cpu_where = workload.pod.where;
  }
  // Of a wrong type, which is not the same as absent.
  if (!workload.traffic && map.entry("traffic") != nullptr) {
    workload.traffic.emplace().where = key_place(map, "traffic");
  }
  if (!is_set(block(&map, "startup"), "cold")) workload.startup.cold = false;
  finish_scaled_workload(map, workload, reading.findings);
  if (workload.notebooks) workload.count = workload.notebooks->users;
  const auto& budget = workload.disruption_budget;
  if (job && budget && (!budget->keeps || budget->is_percent)) {
    reading.findings.add(Code::SettingConflict, key_place(map, "disruptionBudget"),
                         "of the pods of a Job a PodDisruptionBudget can tell no share: it would "
                         "never let one of them go",
                         "write minAvailable as a number of pods");
  }
  check_workload(map, workload, reading.findings);
  if (!workload.uses_gpu()) finish_without_gpu(workload);
  workload.placeholder = workload.placeholder && !has_own_figures(map);
}

constexpr Field kWorkloadFields[] = {
    field<&Workload::name>("name", "cifar10",
                           "Name of the workload; patches and sweeps address it by this name.")
        .as(T::Name)
        .needed(),
    field<&Workload::kind>(
        "kind", "Job",
        "Job runs to completion, Deployment restarts what completes, Service answers requests, "
        "Notebook is opened by its users, TraceJobs are Jobs of a log.")
        .one_of(kWorkloadKinds),
    field<&Workload::namespace_name>("namespace", "team-a", "Kubernetes namespace of the pods.")
        .as(T::Name),
    field<&Workload::count>("count", "20",
                            "Number of Jobs, of podsPerJob pods each (kind Job only).")
        .between(0, 1'000'000),
    field<&Workload::pods_per_job>(
        "podsPerJob", "4",
        "Pods of a Job that work together, as the ranks of a PyTorchJob or JobSet do (kind Job "
        "only). They are placed together or not at all, as Kueue, Volcano and KAI see to it; work "
        "begins when the last has loaded and ends when the last is done; one that crashes starts "
        "all over again. What they send each other over the network is in the measured unit.")
        .between(1, 1'000),
    field<&Workload::parallelism>(
        "parallelism", "4",
        "Jobs of `count` that are there at a time, as spec.parallelism of a Job with completions "
        "has it (kind Job only): the next is made when one has ended.")
        .between(1, 1'000'000)
        .otherwise("count: all at once"),
    field<&Workload::count>(
        "replicas", "4",
        "Number of pods (kinds Deployment and Service); with autoscaling, at the start.")
        .between(0, 1'000'000),
    field<&Workload::queue>(
        "queue", "research",
        "The one of spec.clusterQueues in which the Jobs wait until Kueue admits them (kinds Job "
        "and TraceJobs). Each Job of `count` is admitted by itself, all its podsPerJob pods "
        "together, unless they are `partOf` one object.")
        .positive()
        .otherwise("none: their pods are there at once"),
    field<&Workload::part_of>(
        "partOf", "pretrain",
        "The object whose pods all of these are, with those of other workloads that name it: one "
        "Job with completions and parallelism, or a JobSet of several kinds of pods. Kueue admits "
        "it as a whole, with the quota of all pods that are there at a time, and when one of its "
        "Jobs has failed all of them have (kind Job only).")
        .positive()
        .otherwise("each Job of `count` is one of its own"),
    field<&Workload::min_parallelism>(
        "minParallelism", "2",
        "Pods with which Kueue lets the Job begin where the quota has no room for all, as the "
        "annotation kueue.x-k8s.io/job-min-parallelism has it: as many as fit, and no more for as "
        "long as it runs. Needs partOf.")
        .between(1, 1'000'000)
        .otherwise("all that are there at a time"),
    field<&Workload::depends_on>(
        "dependsOn", "[{name: driver, status: Ready}]",
        "Workloads above this one that have to be Ready (all their containers have started) or "
        "Complete before any Job of it is made, as in a JobSet (kind Job only).")
        .of(kStartDependency),
    field<&Workload::starts_on>(
        "startsOn", "[{pool: t4, node: 2, pods: 3}]",
        "Nodes on which pods of it are when the run begins, before the scheduler places any other, "
        "as import k8s reads them from a cluster (kinds Job, Deployment and Service). Pods that "
        "have no room there are placed anew, and so are all on the nodes of a plan.")
        .of(kStartPlace)
        .otherwise("the scheduler places all of them"),
    field<&Workload::restart_policy>("restartPolicy", "Never",
                                     "What the kubelet does with a container that ends.")
        .one_of(kRestartPolicies)
        .otherwise("OnFailure for a Job, Always otherwise"),
    field<&Workload::backoff_limit>(
        "backoffLimit", "4",
        "Failures after which a Job is given up, of all its pods together "
        "where they are `partOf` one (kind Job only). A pod that is evicted has failed, but not "
        "where "
        "Kueue stops its Job."),
    field<&Workload::ignore_disruptions>(
        "ignoreDisruptions", "true",
        "Whether pods that are evicted (preempted, drained, or on a spot node that is taken back) "
        "do "
        "not count to backoffLimit, as a podFailurePolicy has it that ignores DisruptionTarget "
        "(kind Job only)."),
    field<&Workload::priority>("priority", "1000", "Scheduling priority; higher goes first.")
        .between(-2'147'483'648, 1'000'000'000),
    field<&Workload::preemption_policy>("preemptionPolicy", "Never",
                                        "Whether pods that fit nowhere take the place of pods of "
                                        "lower priority, which get 30 s to end; Never: they wait.")
        .one_of(kPreemptionPolicies),
    field<&Workload::may_stay_pending>(
        "mayStayPending", "true",
        "Whether pods that ask for a resource that no node pool offers stay Pending in the run, "
        "with a warning, as `import k8s` says of pods that no node of the cluster can hold; else "
        "such a scenario is an error."),
    field<&Workload::batch>(
        "batch", "16",
        "Items in one step or request. Another batch than measured.batch (or the profile's) "
        "changes the GPU work in proportion; the fixed part stays.")
        .between(1, 1'000'000)
        .otherwise("as measured"),
    field<&Workload::processes_per_pod>(
        "processesPerPod", "2",
        "CUDA processes of a pod. Each has a context, and gpuMemory, of its own and is a client of "
        "MPS. 0: the pods use no GPU, and take CPU, memory and places of nodes, which they keep "
        "(kinds Job and Deployment).")
        .between(0, 64),
    field<&Workload::faults>("faults", "0.01/h",
                             "Fatal GPU faults (Xid) of a running pod. Under MPS a fault of one "
                             "client ends all clients of the GPU.")
        .otherwise("none"),
    field<&Workload::submit_at>("submitAt", "10m", "When the first pod is submitted."),
    field<&Workload::submit_interval>(
        "submitInterval", "30s",
        "Time between the submissions of two pods; 0 submits all at once."),
    field<&Workload::schedule>("schedule", "{cron: \"30 2 * * *\", concurrencyPolicy: Forbid}",
                               "Makes `count` Jobs each time, as a CronJob does (kind Job only).")
        .of(kSchedule),
    field<&Workload::profile>("profile", "resnet-50-inference/a100-80gb/b8",
                              "Workload profile of the catalogue (slicewise get profiles).")
        .positive(),
    field<&Workload::pod>("podTemplate", "{resources: {limits: {nvidia.com/gpu: 1}}}",
                          "The pod, as in Kubernetes.")
        .of(kPodTemplate),
    field<&Workload::disruption_budget>(
        "disruptionBudget", "{maxUnavailable: 1}",
        "The PodDisruptionBudget of the pods: whoever drains a node (Karpenter, the Cluster "
        "Autoscaler, a notice of EC2, a change of the MIG layout) waits for it and asks again "
        "every 5 s. EC2, once its notice is over, and faults do not ask; preemption spares such "
        "pods where it can.")
        .of(kDisruptionBudget),
    field<&Workload::manifest>("manifest", "{kind: StatefulSet, containers: [main]}",
                               "What makes the pods in the cluster, for exports that patch it; "
                               "nothing of it is simulated.")
        .of(kManifest),
    field<&Workload::gpu_memory>("gpuMemory", "{allocator: OnDemand, resident: 1400Mi}",
                                 "GPU memory of one process.")
        .of(kGpuMemory),
    field<&Workload::startup>("startup", "{imagePull: 40s, modelLoad: 12s}",
                              "Times before a pod does useful work.")
        .of(kStartup),
    field<&Workload::trace>("trace", "{file: team.csv, from: 24h, length: 24h}",
                            "The jobs of a log, a pod each (kind TraceJobs only).")
        .of(kRecordedJobs),
    field<&Workload::work>("work", "{units: 100, unitName: epoch}",
                           "Work of one pod of a Job, or of one life of a Deployment's container.")
        .of(kWork),
    field<&Workload::measured>("measured", "{unitTime: 18s, gpuBusy: 38%, provenance: Assumed}",
                               "How one pod behaves alone on one whole GPU.")
        .of(kMeasured),
    field<&Workload::traffic>("traffic", "{shape: Poisson, mean: 12/s}",
                              "Requests of a Service; not needed when a pipeline sends them.")
        .of(kTraffic),
    field<&Workload::serving>("serving", "{concurrency: 4, queueLimit: 100, timeout: 2s}",
                              "How the pods of a Service answer.")
        .of(kServing),
    field<&Workload::llm>("llm", "{model: llama-3-8b-fp16/a10g, tokens: {input: 600, output: 200}}",
                          "The Service serves a language model with continuous batching.")
        .of(kLlm),
    field<&Workload::autoscaling>("autoscaling", "{min: 1, max: 8, metric: Queue, target: 4}",
                                  "Replicas of a Service follow its load (HPA, KEDA).")
        .of(kAutoscaling),
    field<&Workload::notebooks>("notebooks",
                                "{users: 60, length: {p50: 2h, p95: 7h}, peaksAt: [\"09:30\"], "
                                "interval: {p50: 45s, p95: 12m}, gpuTime: {p50: 2s, p95: 40s}}",
                                "The users of a Notebook and what they do.")
        .of(kNotebooks),
    field<&Workload::objectives>("slo", "{latencyP99: 500ms}",
                                 "Objectives; a run that misses one exits with 99.")
        .as(T::Block)
        .of(kSlo),
    field<&Workload::placeholder>(
        "placeholder", "true",
        "Its load and its GPU time are made up, as `import k8s` does where no source says either: "
        "a plan recommends nothing by them. With your own figures the line goes; those of --set "
        "are known without."),
};

}  // namespace

constinit const FieldList kWorkload = block<Workload, &finish_workload>(kWorkloadFields);

}  // namespace slicewise::scenarios
