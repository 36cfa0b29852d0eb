#include <fmt/format.h>

#include "../fields/node_values.hpp"
#include "blocks.hpp"

namespace slicewise::scenarios {
namespace {

using T = FieldType;

// Jobs whose pods a trace lists.
constexpr std::string_view kTraceJobs = "TraceJobs";

constexpr Word kWorkloadKinds[] = {{"Job", WorkloadKind::Job},
                                   {"Deployment", WorkloadKind::Deployment},
                                   {"Service", WorkloadKind::Service},
                                   {"Notebook", WorkloadKind::Notebook},
                                   {kTraceJobs, WorkloadKind::Job}};
constexpr Word kRestartPolicies[] = {{"Never", RestartPolicy::Never},
                                     {"OnFailure", RestartPolicy::OnFailure},
                                     {"Always", RestartPolicy::Always}};
constexpr Word kAllocators[] = {{"OnDemand", Allocator::OnDemand},
                                {"Greedy", Allocator::Greedy},
                                {"Capped", Allocator::Capped}};
constexpr Word kHostPhases[] = {{"Overlapped", Work::HostPhase::Overlapped},
                                {"Serial", Work::HostPhase::Serial}};

constexpr Field kMeasuredFields[] = {
    field<&Measured::device>("device", "V100-SXM2-16GB",
                             "GPU model on which the figures hold (slicewise get gpus).")
        .positive()
        .otherwise("the pool's own GPU"),
    field<&Measured::unit_time>("unitTime", "18s",
                                "Wall time of a work unit, one pod alone on one GPU.")
        .positive(),
    field<&Measured::unit_time_cv>("unitTimeVariation", "5%",
                                   "Coefficient of variation of unitTime between pods.")
        .as(T::Percent),
    field<&Measured::gpu_busy>("gpuBusy", "38%",
                               "Share of the time in which some kernel runs: "
                               "DCGM_FI_PROF_GR_ENGINE_ACTIVE. Drives time-slicing.")
        .as(T::Percent),
    field<&Measured::gpu_util>(
        "gpuUtil", "60%",
        "nvidia-smi's utilization, DCGM_FI_DEV_GPU_UTIL, in place of gpuBusy, which it overstates.")
        .as(T::Percent),
    field<&Measured::batch>("batch", "8", "Items in the step or request that was measured.")
        .between(1, 1'000'000)
        .otherwise("the profile's, else 1"),
    field<&Measured::capacity_share>(
        "capacityShare", "44%",
        "Share of the whole GPU's capacity that it takes while it runs alone, for a Service while "
        "it answers a request. At most gpuBusy or gpuUtil. Drives MPS and MIG.")
        .as(T::Percent),
    field<&Measured::sm_active>(
        "smActive", "21%",
        "Share of the time in which an SM is busy, averaged over the SMs (DCGM).")
        .as(T::Percent),
    field<&Measured::cpu>("cpu", "2600m", "Host CPU that a running pod uses on average.")
        .up_to(10'000'000),
    field<&Measured::request_gpu_time>("requestGpuTime", "{p50: 31ms, p99: 44ms}",
                                       "GPU time of one request of a Service, alone on the GPU.")
        .of(kRandomTime),
    field<&Measured::extra_per_item>("extraPerItem", "4ms",
                                     "GPU time of one more request in a batch (Service).")
        .otherwise("requestGpuTime, which is nothing gained by a batch"),
    field<&Measured::longest_kernel>("longestKernel", "12ms",
                                     "Longest kernel: what a neighbour waits for at most before "
                                     "its turn, because a GPU does not always stop a kernel.")
        .positive()
        .otherwise("short against a time slice"),
    field<&Measured::bandwidth_share>(
        "bandwidthShare", "30%", "Share of the work that memory bandwidth limits, not the SMs.")
        .as(T::Percent),
    field<&Measured::norm_p>("normP", "2",
                             "Exponent p of the execution law T = (T0^p + (W/f)^p)^(1/p): 1 when "
                             "fixed and scalable work take turns, more the better they overlap.")
        .between(1, 1'000)
        .otherwise("the profile's, else 3 for requests, 2 for batch work, 1 where its host phase "
                   "is Serial"),
    field<&Measured::sensitivity>("sensitivity", "0.6",
                                  "How much it suffers under MPS: neighbours of pressure c slow it "
                                  "down by 1 + sensitivity * (sum of c).")
        .up_to(1'000),
    field<&Measured::pressure>(
        "pressure", "0.5",
        "How much its neighbours suffer under MPS, per unit of their sensitivity.")
        .up_to(1'000),
    field<&Measured::provenance>("provenance", "Measured",
                                 "Where the figures come from; reports count them.")
        .one_of(kProvenances),
};

constexpr FieldList kMeasured = block<Measured>(kMeasuredFields);

constexpr Field kGpuMemoryFields[] = {
    field<&GpuMemory::allocator>("allocator", "Greedy",
                                 "OnDemand takes what it needs, Greedy (TensorFlow's default) maps "
                                 "the whole GPU at start, Capped keeps to a set limit.")
        .one_of(kAllocators),
    field<&GpuMemory::resident>("resident", "1400Mi",
                                "GPU memory after start-up, without the CUDA context."),
    field<&GpuMemory::peak>("peak", "3000Mi", "The most GPU memory it ever holds.")
        .otherwise("resident"),
};
constexpr FieldList kGpuMemory = block<GpuMemory>(kGpuMemoryFields);

constexpr Field kStartupFields[] = {
    field<&Startup::image_pull>("imagePull", "40s",
                                "Time to pull the image, for the first pod on a node."),
    field<&Startup::model_load>("modelLoad", "12s",
                                "Time from container start to ready, every start."),
};
constexpr FieldList kStartup = block<Startup>(kStartupFields);

constexpr Field kAllReduceFields[] = {
    field<&AllReduce::bytes_per_step>(
        "bytesPerStep", "98Mi",
        "What each GPU of the pod contributes to a step: the size of the gradients. It takes bytes "
        "/ rate of the links between the GPUs that the pod was given, on top of the measured unit "
        "and not beside it.")
        .needed(),
};
constexpr FieldList kAllReduce = block<AllReduce>(kAllReduceFields);

constexpr Field kWorkFields[] = {
    field<&Work::units>("units", "100", "Units of work of one pod: epochs, files, ...")
        .needed()
        .positive(),
    field<&Work::unit_name>("unitName", "epoch", "What a unit is called in reports.").positive(),
    field<&Work::steps_per_unit>("stepsPerUnit", "1563",
                                 "GPU bursts in a unit, such as training steps in an epoch.")
        .positive(),
    field<&Work::host_phase>("hostPhase", "Serial",
                             "Overlapped: the host prepares the next steps while the GPU works "
                             "(data loaders, asynchronous launches). Serial: the two take turns.")
        .one_of(kHostPhases),
    field<&Work::all_reduce>(
        "allReduce", "{bytesPerStep: 98Mi}",
        "Gradients that the GPUs of a pod with several add up at the end of each step. Absent: the "
        "measured unit has them in it, whatever GPUs the pod gets. Needs stepsPerUnit.")
        .of(kAllReduce),
};
constexpr FieldList kWork = block<Work>(kWorkFields);

// More than any GPU holds; keeps sums of times in range.
constexpr Bytes kMostBytesPerStep = gibibytes(1024);

// The kind is known only when its word is; rules about a misspelt kind would be noise.
bool kind_is_known(const Node& node) {
  const Node* kind = node.find("kind");
  return kind == nullptr || list(kWorkloadKinds).find(kind->text) != nullptr;
}

class WorkloadRules {
 public:
  WorkloadRules(const Node& node, const Workload& workload, Findings& findings)
      : node_(node), workload_(workload), findings_(findings) {}

  void check() {
    check_memory();
    check_utilisation();
    if (!kind_is_known(node_)) return;
    check_replication();
    check_restart_policy();
    check_trace();
    check_kind();
    check_objectives();
  }

 private:
  std::string_view kind() const { return is_recorded() ? kTraceJobs : kind_name(workload_.kind); }
  std::string what() const { return fmt::format("a {}", kind()); }
  bool is_recorded() const { return text_at(&node_, "kind") == kTraceJobs; }

  void conflict(const Node& parent, std::string_view key, std::string message, std::string help) {
    if (parent.entry(key) == nullptr) return;
    findings_.add(Code::SettingConflict, key_place(parent, key), std::move(message),
                  std::move(help));
  }

  void refuse(std::string_view key, std::string help) {
    conflict(node_, key, fmt::format("{} on {}", key, what()), std::move(help));
  }

  void missing(std::string_view key, const SourceLocation& where, std::string_view example) {
    findings_.add(Code::FieldMissing, where,
                  fmt::format("\"{}\" is missing: {} needs it", key, what()),
                  fmt::format("add `{}`, or name a `profile`", example));
  }

  SourceLocation name_place() const { return value_place(node_, "name"); }

  void check_memory() {
    const GpuMemory& memory = workload_.gpu_memory;
    if (!memory.peak || *memory.peak >= memory.resident) return;
    findings_.add(Code::SettingConflict, value_place(*block(&node_, "gpuMemory"), "peak"),
                  "peak is below resident", "peak is the most the process ever holds");
  }

  void check_utilisation() {
    if (!workload_.measured) return;
    const Measured& measured = *workload_.measured;
    const Node& node = *block(&node_, "measured");
    if (measured.gpu_busy && measured.gpu_util) {
      findings_.add(Code::SettingConflict, key_place(node, "gpuUtil"),
                    "gpuBusy and gpuUtil are both set",
                    "gpuUtil is what to give when gpuBusy was not measured: remove it",
                    fmt::format("gpuBusy is on line {}", key_place(node, "gpuBusy").line));
    }
    // gpuUtil overstates the share of the time in which a kernel runs, so it is a limit as well.
    const std::string_view busy_key = measured.gpu_busy ? "gpuBusy" : "gpuUtil";
    if (measured.sm_active && measured.gpu_busy && *measured.sm_active > *measured.gpu_busy) {
      findings_.add(Code::SettingConflict, value_place(node, "smActive"),
                    "smActive is above gpuBusy",
                    "no SM is busy while no kernel runs: both are shares of the same time");
    }
    const auto busy = measured.gpu_busy ? measured.gpu_busy : measured.gpu_util;
    if (!busy || !measured.capacity_share || *measured.capacity_share <= *busy) return;
    findings_.add(Code::SettingConflict, value_place(node, "capacityShare"),
                  fmt::format("capacityShare is above {}", busy_key),
                  "a pod takes none of the GPU while no kernel of it runs",
                  fmt::format("{} is on line {}", busy_key, key_place(node, busy_key).line));
  }

  void check_trace() {
    if (!is_recorded()) {
      refuse("trace", "write `kind: TraceJobs`; a trace of requests belongs into `traffic`");
      return;
    }
    for (const std::string_view key : {"count", "submitInterval", "work"}) {
      refuse(key, "the trace says which jobs there are, when they come and how long they run");
    }
    if (const Node* measured = block(&node_, "measured")) {
      for (const std::string_view key : {"unitTime", "unitTimeVariation"}) {
        conflict(*measured, key, fmt::format("{} on {}", key, what()),
                 "the trace says how long each job runs");
      }
    }
    if (node_.entry("trace") != nullptr) return;
    findings_.add(Code::FieldMissing, name_place(),
                  fmt::format("\"trace\" is missing: {} needs it", what()),
                  "add `trace: {file: jobs.csv}`, as `slicewise import` writes it");
  }

  void check_replication() {
    if (is_recorded()) return refuse("replicas", "the trace says how many jobs there are");
    if (workload_.kind == WorkloadKind::Job) {
      refuse("replicas", "a Job has a count: write `count` instead");
      return;
    }
    if (workload_.kind == WorkloadKind::Notebook) {
      for (const std::string_view key : {"count", "replicas"}) {
        refuse(key, "a Notebook has a pod for each user: write `notebooks: {users: ...}`");
      }
      refuse("backoffLimit", "only a Job gives up; the others are restarted for ever");
      return;
    }
    refuse("count", fmt::format("{} has replicas: write `replicas` instead", what()));
    refuse("backoffLimit", "only a Job gives up; the others are restarted for ever");
  }

  void check_restart_policy() {
    if (node_.entry("restartPolicy") == nullptr) return;
    const bool always = workload_.restart_policy == RestartPolicy::Always;
    if (always == (workload_.kind != WorkloadKind::Job)) return;
    findings_.add(Code::SettingConflict, value_place(node_, "restartPolicy"),
                  fmt::format("restartPolicy {} on {}",
                              text_at(&node_, "restartPolicy").value_or(""), what()),
                  workload_.kind == WorkloadKind::Job
                      ? "Kubernetes lets a Job have Never or OnFailure"
                      : "Kubernetes lets a Deployment have Always only; use a Job");
  }

  void check_kind() {
    const Node* measured = block(&node_, "measured");
    if (workload_.kind == WorkloadKind::Service) {
      refuse("notebooks", "only a Notebook has users; give a Service `traffic`");
      check_service(node_, workload_, findings_);
      return;
    }
    if (means_service()) {
      return refuse(
          "traffic",
          "write `kind: Service`, which answers requests (here a Deployment does batch work "
          "in a loop)");
    }
    for (const std::string_view key : {"traffic", "serving", "llm", "autoscaling"}) {
      refuse(key, workload_.kind == WorkloadKind::Notebook
                      ? "only a Service answers requests; give a Notebook `notebooks`"
                      : "only a Service answers requests; give a Job `work`");
    }
    if (measured != nullptr) {
      for (const std::string_view key : {"requestGpuTime", "extraPerItem"}) {
        conflict(*measured, key, fmt::format("{} on {}", key, what()),
                 workload_.kind == WorkloadKind::Notebook
                     ? "only a Service answers requests; give notebooks.gpuTime"
                     : "only a Service answers requests; give unitTime");
      }
    }
    workload_.kind == WorkloadKind::Notebook ? check_notebook(measured) : check_batch(measured);
  }

  // A Deployment of Kubernetes that serves is a Service here, and so is what says no kind but has
  // traffic: what else it has of one is no mistake of its own.
  bool means_service() const {
    return (workload_.kind == WorkloadKind::Deployment || node_.entry("kind") == nullptr) &&
           node_.entry("traffic") != nullptr && node_.entry("work") == nullptr;
  }

  // Bytes per step say nothing about a unit of unknown steps.
  void check_all_reduce() {
    if (!workload_.work || !workload_.work->all_reduce) return;
    const AllReduce& all_reduce = *workload_.work->all_reduce;
    if (all_reduce.bytes_per_step > kMostBytesPerStep) {
      findings_.add(Code::ValueRange, all_reduce.where, "bytesPerStep is above 1 TiB",
                    "it is the size of the gradients of one step, on one GPU");
    }
    if (workload_.work->steps_per_unit) return;
    findings_.add(Code::FieldMissing, all_reduce.where,
                  "\"stepsPerUnit\" is missing: allReduce needs it",
                  "add `stepsPerUnit: 1563`: the GPUs add up their gradients once a step");
  }

  void check_batch(const Node* measured) {
    check_all_reduce();
    refuse("notebooks", "only a Notebook has users; give a Job `work`");
    if (is_recorded()) return;
    if (!workload_.profile.value.empty()) return;
    if (node_.entry("work") == nullptr) missing("work", name_place(), "work: {units: 100}");
    if (node_.entry("measured") == nullptr) {
      missing("measured", name_place(), "measured: {unitTime: 18s, gpuBusy: 38%}");
    } else if (measured != nullptr && measured->entry("unitTime") == nullptr) {
      missing("unitTime", key_place(node_, "measured"), "unitTime: 18s");
    }
  }

  void check_notebook(const Node* measured) {
    refuse("work", "users decide what a Notebook does: give it `notebooks`");
    for (const std::string_view key : {"submitAt", "submitInterval"}) {
      refuse(key, "users open a Notebook around notebooks.peaksAt");
    }
    if (measured != nullptr) {
      conflict(*measured, "unitTime", "unitTime on a Notebook",
               "a Notebook has no work units; give notebooks.gpuTime");
    }
    if (node_.entry("notebooks") != nullptr) return;
    findings_.add(Code::FieldMissing, name_place(), "\"notebooks\" is missing: a Notebook needs it",
                  "add `notebooks: {users: 60, length: {p50: 2h, p95: 7h}, peaksAt: [\"09:30\"], "
                  "interval: {p50: 45s, p95: 12m}, gpuTime: {p50: 2s, p95: 40s}}`");
  }

  // Why the kind does not have the figure; "" when it does.
  std::string_view without_figure(Figure figure) const {
    const WorkloadKind kind = workload_.kind;
    switch (figure) {
      case Figure::CompletionP95:
        if (kind == WorkloadKind::Service) {
          return "a Service does not complete; use latencyP95 or latencyP99";
        }
        return kind == WorkloadKind::Notebook ? "a Notebook does not complete" : "";
      case Figure::WaitP95:
        return kind == WorkloadKind::Notebook ? "use sessionStartP95" : "";
      case Figure::Deadline:
        return kind == WorkloadKind::Job ? "" : "only a Job is ever done";
      case Figure::SessionStartP95:
      case Figure::CellSlowdownP95:
      case Figure::OomPerUserMonth:
        return kind == WorkloadKind::Notebook ? "" : "only a Notebook has sessions and cells";
      case Figure::SlowdownP95:
      case Figure::DeadlinesMet:
        return is_recorded() ? "" : "only the jobs of a log (TraceJobs) have it";
      case Figure::TtftP50:
      case Figure::TtftP95:
      case Figure::TtftP99:
      case Figure::TpotP50:
      case Figure::TpotP95:
      case Figure::TpotP99:
        return workload_.llm ? "" : "only a Service with `llm` has tokens";
      default:
        if (kind == WorkloadKind::Notebook)
          return "a Notebook has sessionStartP95, cellSlowdownP95";
        return kind == WorkloadKind::Service
                   ? ""
                   : "only a Service has request latency; use completionP95 or waitP95";
    }
  }

  void check_objectives() {
    const Node* slo = block(&node_, "slo");
    if (slo == nullptr || means_service()) return;
    for (const Entry& entry : slo->entries) {
      const auto figure = figure_called(entry.key);
      const std::string_view reason = figure ? without_figure(*figure) : "";
      if (reason.empty()) continue;
      conflict(*slo, entry.key, fmt::format("{} on {}", entry.key, what()), std::string(reason));
    }
  }

  const Node& node_;
  const Workload& workload_;
  Findings& findings_;
};

// What the kind decides, and blocks that say how many pods there are.
void finish_workload(Workload& workload, const Node& map, Reading& reading) {
  const bool job = workload.kind == WorkloadKind::Job;
  workload.count = int_at(&map, job ? "count" : "replicas").value_or(1);
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
  finish_scaled_workload(map, workload, reading.findings);
  if (workload.notebooks) workload.count = workload.notebooks->users;
  WorkloadRules(map, workload, reading.findings).check();
}

constexpr Field kWorkloadFields[] = {
    field<&Workload::name>("name", "cifar10",
                           "Name of the workload; patches and sweeps address it by this name.")
        .as(T::Name)
        .needed(),
    field<&Workload::kind>("kind", "Job",
                           "Job runs to completion, Deployment restarts what completes, Service "
                           "answers requests, Notebook is opened by its users, TraceJobs are Jobs "
                           "of a log.")
        .one_of(kWorkloadKinds),
    field<&Workload::namespace_name>("namespace", "team-a", "Kubernetes namespace of the pods.")
        .as(T::Name),
    field<&Workload::count>("count", "20", "Number of Jobs, one pod each (kind Job only).")
        .between(0, 1'000'000),
    field<&Workload::count>(
        "replicas", "4",
        "Number of pods (kinds Deployment and Service); with autoscaling, at the start.")
        .between(0, 1'000'000),
    field<&Workload::restart_policy>("restartPolicy", "Never",
                                     "What the kubelet does with a container that ends.")
        .one_of(kRestartPolicies)
        .otherwise("OnFailure for a Job, Always otherwise"),
    field<&Workload::backoff_limit>("backoffLimit", "4",
                                    "Failures after which a Job is given up (kind Job only)."),
    field<&Workload::priority>("priority", "1000", "Scheduling priority; higher goes first.")
        .between(-2'147'483'648, 1'000'000'000),
    field<&Workload::batch>(
        "batch", "16",
        "Items in one step or request. Another batch than measured.batch (or the profile's) "
        "changes the GPU work in proportion; the fixed part stays.")
        .between(1, 1'000'000)
        .otherwise("as measured"),
    field<&Workload::processes_per_pod>("processesPerPod", "2",
                                        "CUDA processes of a pod. Each has a context, and "
                                        "gpuMemory, of its own and is a client of MPS.")
        .between(1, 64),
    field<&Workload::faults>("faults", "0.01/h",
                             "Fatal GPU faults (Xid) of a running pod. Under MPS a fault of one "
                             "client ends all clients of the GPU.")
        .otherwise("none"),
    field<&Workload::submit_at>("submitAt", "10m", "When the first pod is submitted."),
    field<&Workload::submit_interval>(
        "submitInterval", "30s",
        "Time between the submissions of two pods; 0 submits all at once."),
    field<&Workload::profile>("profile", "resnet-50-inference/a100-80gb/b8",
                              "Workload profile of the catalogue (slicewise get profiles).")
        .positive(),
    field<&Workload::pod>("podTemplate", "{resources: {limits: {nvidia.com/gpu: 1}}}",
                          "The pod, as in Kubernetes.")
        .of(kPodTemplate),
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
};

}  // namespace

constinit const FieldList kWorkload = block<Workload, &finish_workload>(kWorkloadFields);

}  // namespace slicewise::scenarios
