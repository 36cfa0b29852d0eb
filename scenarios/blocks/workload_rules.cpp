#include <fmt/format.h>

#include "slicewise/scenarios/job_trace.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// What contradicts the kind of a workload, and what its kind needs.
namespace slicewise::scenarios {
namespace {

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
    check_kernels();
    if (!kind_is_known(node_)) return;
    if (!workload_.uses_gpu()) check_without_gpu();
    check_replication();
    check_jobs();
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
    if (measured.turn_use && !runs_batches(workload_.kind)) {
      findings_.add(Code::SettingConflict, key_place(node, "turnUse"), "turnUse is of batch work",
                    "a request has the turns of its kernels whole, and gives them away where its "
                    "host waits: serving.bursts, serving.copies");
    }
    // gpuUtil overstates the share of the time in which a kernel runs, so it is a limit as well.
    const std::string_view busy_key = measured.gpu_busy ? "gpuBusy" : "gpuUtil";
    const auto below_busy = [&](const std::optional<double>& part, const char* key,
                                const char* reason) {
      if (!part || !measured.gpu_busy || *part <= *measured.gpu_busy) return;
      findings_.add(Code::SettingConflict, value_place(node, key),
                    fmt::format("{} is above gpuBusy", key),
                    fmt::format("{}: both are shares of the same time", reason));
    };
    below_busy(measured.sm_active, "smActive", "no SM is busy while no kernel runs");
    below_busy(measured.dram_active, "dramActive", "no memory is read while no kernel runs");
    const auto busy = measured.gpu_busy ? measured.gpu_busy : measured.gpu_util;
    if (!busy || !measured.capacity_share || *measured.capacity_share <= *busy) return;
    findings_.add(Code::SettingConflict, value_place(node, "capacityShare"),
                  fmt::format("capacityShare is above {}", busy_key),
                  "a pod takes none of the GPU while no kernel of it runs",
                  fmt::format("{} is on line {}", busy_key, key_place(node, busy_key).line));
  }

  // What a profile says of the time is not known here: see law_of() in sim/world.
  void check_kernels() {
    if (!workload_.measured || !workload_.measured->kernel_time) return;
    const auto work = kernel_work(workload_);
    if (!work || *workload_.measured->kernel_time <= *work) return;
    findings_.add(Code::SettingConflict, value_place(*block(&node_, "measured"), "kernelTime"),
                  fmt::format("kernelTime is above the {:.4g} ms for which kernels of a {} run",
                              1e3 * to_seconds(*work), unit_of_work()),
                  "it is the mean length of one kernel: Avg of `nsys stats`, cuda_gpu_kern_sum");
  }

  std::string_view unit_of_work() const {
    if (workload_.measured->request_gpu_time) return "request";
    if (workload_.notebooks) return "cell";
    return workload_.work && workload_.work->steps_per_unit ? "step" : "unit";
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

  void check_without_gpu() {
    if (!runs_batches(workload_.kind) || is_recorded()) {
      conflict(node_, "processesPerPod", fmt::format("processesPerPod: 0 on {}", what()),
               "pods without a GPU are those of a Job or a Deployment");
    }
    if (!workload_.pod.extended.empty() || !workload_.pod.claim.value.empty()) {
      conflict(node_, "processesPerPod", "processesPerPod: 0 of pods that ask for a GPU",
               "leave their GPU out, or processesPerPod");
    }
    for (const std::string_view key : {"gpuMemory", "profile", "faults"}) {
      conflict(node_, key, fmt::format("{} beside processesPerPod: 0", key), "its pods use no GPU");
    }
    if (const Node* measured = block(&node_, "measured")) {
      for (const std::string_view key : {"gpuBusy", "gpuUtil", "smActive", "capacityShare"}) {
        conflict(*measured, key, fmt::format("{} beside processesPerPod: 0", key),
                 "its pods use no GPU");
      }
    }
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

  void check_jobs() {
    for (const std::string_view key : {"submitAt", "submitInterval", "schedule", "dependsOn"}) {
      if (workload_.starts_on.empty()) break;
      conflict(node_, key, fmt::format("{} beside startsOn", key),
               "what is on a node when the run begins does not come later");
    }
    if (is_recorded() || workload_.kind == WorkloadKind::Notebook) {
      refuse("startsOn", "its pods come one after the other");
    }
    if (workload_.kind == WorkloadKind::Job && !is_recorded()) {
      if (workload_.min_parallelism && workload_.part_of.value.empty()) {
        conflict(node_, "minParallelism", "minParallelism without partOf",
                 "each Job of `count` is admitted by itself: add partOf if they are one Job");
      }
      if (workload_.min_parallelism && workload_.pods_per_job > 1) {
        conflict(node_, "minParallelism", "minParallelism beside podsPerJob",
                 "pods that work together are admitted together");
      }
      if (!workload_.schedule) return;
      for (const std::string_view key :
           {"submitAt", "submitInterval", "parallelism", "dependsOn"}) {
        conflict(node_, key, fmt::format("{} beside schedule", key),
                 "all Jobs of a run are made at its time");
      }
      return;
    }
    if (!is_recorded()) refuse("queue", "only Jobs wait for a quota here");
    for (const std::string_view key :
         {"podsPerJob", "parallelism", "schedule", "partOf", "minParallelism", "dependsOn"}) {
      refuse(key, is_recorded() ? "the trace says which jobs there are and what each asks for"
                                : "only a Job is done when its pods are; the others have replicas");
    }
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
      return refuse("traffic",
                    "write `kind: Service`, which answers requests (here a Deployment does batch "
                    "work in a loop)");
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
    if (!workload_.uses_gpu() && workload_.kind == WorkloadKind::Deployment) return;
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

}  // namespace

void check_workload(const Node& node, const Workload& workload, Findings& findings) {
  WorkloadRules(node, workload, findings).check();
}

}  // namespace slicewise::scenarios
