#include "manifest_workload.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/kubernetes_names.hpp"
#include "pod_record.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

bool is_about_gpus(std::string_view variable) {
  return variable.starts_with("TF_") || variable.starts_with("XLA_") ||
         variable.starts_with("CUDA_") || variable.starts_with("PYTORCH_") ||
         variable == "NVIDIA_VISIBLE_DEVICES";
}

bool asks_for_gpu(const ContainerFile& container) {
  return std::ranges::any_of(container.amounts, [](const ResourceAmount& amount) {
    return amount.amount > 0 && amount.resource.starts_with("nvidia.com/");
  });
}

bool has_readable_schedule(const PodFile& pod) {
  const auto cron = parse_cron(pod.cron ? pod.cron->schedule : "");
  return cron && !cron_times(*cron, {}, kLongestDraft, 1).empty();
}

// Volcano's Jobs, of which it places all pods or none; those of Kubernetes' own do not wait for
// each other.
bool is_job_of_volcano(const PodFile& pod) { return pod.kind == "Job" && pod.works_together; }

// What is simulated: GPUs that share each layer of one copy.
bool works_on_all_gpus(const VllmArguments& served, std::int64_t gpus) {
  return !served.spans_pods && served.tensor_parallel_size == gpus &&
         served.pipeline_parallel_size == 1 && served.data_parallel_size == 1;
}

// The workload that the pods of one object are; nullopt when they ask for no GPU.
class WorkloadDraft {
 public:
  WorkloadDraft(const PodFile& pod, ImportReport& report) : pod_(pod), report_(report) {}

  std::optional<DraftWorkload> draft() {
    workload_.name = dns_name(pod_.name, "workload");
    if (!pod_.space.empty()) workload_.space = dns_name(pod_.space, "default");
    workload_.comment = pod_.kind;
    take_names();
    if (!pod_.not_quantified.key.empty()) {
      return without(fmt::format("objects with {} that is no quantity",
                                 pod_.not_quantified.key.substr(0, 60)));
    }
    sum_up_containers();
    choose_gpu();
    if (workload_.resource.empty() && pod_.claims.empty()) {
      if (pod_.kind == "DaemonSet") return std::nullopt;
      return without(reason_for_no_gpu());
    }
    if (pod_.cron && pod_.cron->suspend && !has_readable_schedule(pod_)) {
      return without("objects that are suspended, with a schedule that is not read");
    }
    if (!pod_.held_by.empty()) {
      return without(fmt::format("objects whose pods do not run yet, by {}", pod_.held_by));
    }
    take_annotations();
    scale();
    if (is_scaled_to_nothing()) return without("objects scaled to no pod");
    take_language_model();
    place();
    tell_unused_utilisation();
    return std::move(workload_);
  }

 private:
  std::nullopt_t without(std::string_view reason) {
    report_.skipped(fmt::format("{} ({})", reason, pod_.kind), pod_.object_where);
    return std::nullopt;
  }

  // Of what makes the pods, which may be made by something else itself.
  void take_names() {
    const std::size_t slash = pod_.owner.find('/');
    workload_.object_kind = pod_.owner.empty() ? pod_.kind : pod_.owner.substr(0, slash);
    workload_.object_name = pod_.owner.empty() ? pod_.object : pod_.owner.substr(slash + 1);
    if (is_job_of_volcano(pod_)) workload_.object_group = "batch.volcano.sh";
    for (const bool has_gpu : {true, false}) {
      for (const ContainerFile& container : pod_.containers) {
        if (container.is_init || container.name.empty() || asks_for_gpu(container) != has_gpu) {
          continue;
        }
        workload_.containers.push_back(container.name);
      }
    }
    // Those of them that count: what the scenario asks for is then not what one container does.
    for (const ContainerFile& container : pod_.containers) {
      if (!container.is_init || container.name.empty() || container.amounts.empty()) continue;
      workload_.containers.push_back(container.name);
    }
  }

  void sum_up_containers() {
    for (const bool is_init : {false, true}) {
      for (const ContainerFile& container : pod_.containers) {
        if (container.is_init != is_init) continue;
        take_environment(container);
        workload_.is_greedy = workload_.is_greedy || (!is_init && maps_all_memory(container));
      }
    }
    amounts_ = reserved_amounts(pod_);
  }

  void take_environment(const ContainerFile& container) {
    for (const KeyValue& variable : container.env) {
      const bool is_known = std::ranges::any_of(
          workload_.environment, [&](const auto& known) { return known.first == variable.key; });
      const bool is_from_elsewhere = variable.where.line == 0;
      if (is_from_elsewhere || is_known || !is_about_gpus(variable.key)) continue;
      workload_.environment.emplace_back(variable.key, variable.value);
    }
  }

  void choose_gpu() {
    workload_.cpu_milli = amount_of(amounts_, "cpu");
    workload_.memory_bytes = amount_of(amounts_, "memory");
    limit_cpu();
    const auto gpu = std::ranges::find_if(amounts_, [](const auto& one) {
      return one.second != 0 && gpu_resource(one.first).has_value();
    });
    if (gpu != amounts_.end()) {
      workload_.resource = gpu->first;
      workload_.gpus = gpu->second;
    }
    take_parts_of_hami();
    take_parts_of_kai();
    for (const auto& [name, count] : amounts_) {
      if (count == 0 || !is_of_another_plugin(name)) continue;
      note(fmt::format("sets of pods with devices of other plugins, which are left out: {}", name));
    }
  }

  // HAMi gives a pod that asks for no GPU, only for a part, one.
  void take_parts_of_hami() {
    for (const std::string_view name : {kHamiMemory, kHamiPercentage, kHamiCores}) {
      const std::int64_t asked = std::min<std::int64_t>(amount_of(amounts_, name), 1'000'000'000);
      if (asked > 0) workload_.parts.emplace_back(name, asked);
    }
    if (workload_.parts.empty()) return;
    if (workload_.resource.empty()) workload_.resource = kGpuResource;
    for (const KeyValue& given : pod_.annotations) {
      if (!given.key.starts_with("hami.io/") && !given.key.starts_with("nvidia.com/")) continue;
      report_.noted(fmt::format("annotations by which pods choose among HAMi's GPUs, or how they "
                                "have them: not simulated, left out: {}",
                                given.key.substr(0, 60)),
                    given.where);
    }
    const auto& [name, mebi] = workload_.parts.front();
    if (name != kHamiMemory) return;
    constexpr std::int64_t kContext = 512;
    workload_.gpu_memory = mebibytes(std::max(mebi - kContext, mebi / 2));
    report_.guessed(
        "GPU memory of a process: what nvidia.com/gpumem leaves it beside 512 MiB for its CUDA "
        "context",
        pod_.object_where);
  }

  void take_parts_of_kai() {
    if (!is_placed_by_kai(pod_)) return;
    for (const char* key : {kKaiFraction, kKaiMemory, kKaiDevices}) {
      const KeyValue* given = annotation_of(pod_, key);
      if (given == nullptr || !workload_.resource.empty()) continue;
      workload_.annotations.emplace_back(given->key, given->value);
    }
    if (workload_.annotations.empty()) return;
    workload_.resource = kGpuResource;
    workload_.asks_kai = true;
    if (pod_.scheduler == "runai-scheduler") {
      report_.noted(
          "parts of a GPU by Run:ai: given as KAI scheduler gives them, which exports name",
          pod_.object_where);
    }
  }

  // Of the pod, where each of its containers has one.
  void limit_cpu() {
    std::int64_t all = 0;
    for (const ContainerFile& container : pod_.containers) {
      if (container.is_init) continue;
      if (!container.cpu_limit) return;
      all += std::min<std::int64_t>(*container.cpu_limit, 1'000'000'000);
    }
    if (all > 0 && all >= workload_.cpu_milli) workload_.cpu_limit_milli = all;
  }

  // The text of an annotation of ours that reads as the field that it stands for; "" otherwise.
  template <class Parse>
  std::string figure(std::string_view key, const Parse& parse) {
    const KeyValue* given = annotation_of(pod_, key);
    if (given == nullptr) return {};
    if (parse(given->value)) return given->value;
    report_.skipped(fmt::format("annotations {} that are no such figure", key), given->where);
    return {};
  }

  void take_annotations() {
    const std::string memory = figure(kMemoryAnnotation, parse_bytes);
    if (!memory.empty()) workload_.gpu_memory = *parse_bytes(memory);
    const std::string util = figure(kUtilAnnotation, parse_percent);
    if (!util.empty()) {
      workload_.gpu_permille = static_cast<std::int32_t>(std::lround(*parse_percent(util) * 1'000));
    }
    workload_.gpu_time = figure(kGpuTimeAnnotation, parse_duration);
    workload_.traffic = figure(kTrafficAnnotation, parse_rate);
    if (const KeyValue* profile = annotation_of(pod_, kProfileAnnotation)) {
      workload_.profile = profile->value;
    }
  }

  // Of traffic, GPU time and utilisation two give the third; a profile has the GPU time.
  void tell_unused_utilisation() {
    if (!workload_.gpu_permille) return;
    const bool says_time = !workload_.gpu_time.empty();
    const bool has_profile = !workload_.profile.empty();
    const bool is_service = workload_.kind == DraftWorkload::Kind::Service;
    const bool is_used = !is_service                 ? !has_profile
                         : workload_.traffic.empty() ? says_time || !has_profile
                                                     : !says_time && !has_profile;
    const bool is_notebook = workload_.kind == DraftWorkload::Kind::Notebook;
    if (is_used && !is_notebook) return;
    report_.noted(fmt::format("annotations {}: not used, others say it already", kUtilAnnotation),
                  [&] { return annotation_of(pod_, kUtilAnnotation)->where; });
  }

  std::string reason_for_no_gpu() const {
    constexpr std::string_view kMilli = "alibabacloud.com/gpu-milli";
    if (std::ranges::find(pod_.annotations, kMilli, &KeyValue::key) != pod_.annotations.end()) {
      return fmt::format("parts of a GPU by annotation ({}), which only a replay of a trace knows",
                         kMilli);
    }
    if (pod_.lacks_template) return "GPUs that their runtime may ask for, which is not here";
    const bool asks_kai = annotation_of(pod_, kKaiFraction) || annotation_of(pod_, kKaiMemory);
    if (asks_kai && !is_placed_by_kai(pod_)) {
      return "parts of a GPU that KAI would give, under another scheduler: they ask for no GPU";
    }
    if (pod_.kind == "NIMService" || pod_.kind == "NIMPipeline") {
      return "GPUs that the operator may ask for, by the profile of the model";
    }
    for (const auto& [name, amount] : amounts_) {
      if (is_other_accelerator(name)) {
        return fmt::format("accelerators that are not simulated: {}", name);
      }
    }
    return "objects that ask for no GPU";
  }

  // What the pods do, and how many of them there are.
  void scale() {
    using Kind = DraftWorkload::Kind;
    workload_.kind = kind_of_work();
    if (workload_.kind == Kind::Notebook) return;
    workload_.pods = pod_.copies;
    if (workload_.kind == Kind::Job) {
      if (pod_.copies > 0) workload_.pods = std::max(pod_.completions, pod_.copies);
      if (pod_.copies < workload_.pods) workload_.parallelism = pod_.copies;
      if (pod_.succeeded > 0) note("Jobs of which a part is done: the completions that are left");
      workload_.backoff_limit = pod_.backoff_limit;
      workload_.ignores_disruptions = pod_.ignores_disruptions;
      if (pod_.restart_policy == "Never") workload_.restart_policy = pod_.restart_policy;
    }
    const bool is_gang = pod_.works_together || is_annotated("Gang");
    if (is_gang && workload_.kind == Kind::Job) {
      note(is_job_of_volcano(pod_)
               ? std::string("Volcano's Jobs: their pods are placed together")
               : fmt::format("{}s: pods that work together are placed together, as Kueue, Volcano "
                             "or KAI see to it; kube-scheduler alone does not",
                             pod_.kind));
      workload_.gang = pod_.is_step ? pod_.name : pod_.object;
      workload_.step = pod_.name;
      workload_.starts_after = pod_.starts_after;
      workload_.parallelism.reset();
    } else if (pod_.works_together && workload_.pods > 0) {
      note(fmt::format(
          "{}s: pods that work together are simulated one by one, none waits for another",
          pod_.kind));
    }
    take_scaling();
    if (pod_.kind == "CronJob") take_schedule();
  }

  void take_schedule() {
    if (!has_readable_schedule(pod_)) return note("CronJobs: one run of each, no schedule is read");
    workload_.cron = pod_.cron;
    if (workload_.parallelism) {
      note("CronJobs: the pods of a run are simulated all at once, whatever their parallelism");
      workload_.parallelism.reset();
    }
    const auto zone = time_zone(pod_.cron->time_zone);
    if (!zone) {
      note(fmt::format("CronJobs: there is no time zone {}, UTC is taken", pod_.cron->time_zone));
    } else if (zone->changes) {
      note(fmt::format(
          "CronJobs: {} is as far from UTC all the run as in January, its clocks change",
          pod_.cron->time_zone));
    }
  }

  // By hand: nothing brings pods back. What an autoscaler brings back that is not simulated has
  // one.
  bool is_scaled_to_nothing() {
    using Kind = DraftWorkload::Kind;
    const bool is_kept_up = workload_.kind == Kind::Service || workload_.kind == Kind::Deployment;
    if (!is_kept_up || workload_.pods > 0 || workload_.scaling) return false;
    if (!pod_.scaling) return true;
    workload_.pods = 1;
    report_.guessed("pods that an autoscaler starts from none, by what is not simulated: one",
                    pod_.object_where);
    return false;
  }

  void take_language_model() {
    for (const ContainerFile& container : pod_.containers) {
      if (!container.is_init && !workload_.model_server) {
        workload_.model_server = model_server(container);
      }
    }
    const bool is_said = !workload_.profile.empty() || !workload_.gpu_time.empty();
    if (workload_.kind != DraftWorkload::Kind::Service || is_said) return;
    for (const ContainerFile& container : pod_.containers) {
      const auto server = container.is_init ? std::nullopt : model_server(container);
      if (!server || server->arguments.model.empty()) continue;
      if (!works_on_all_gpus(server->arguments, workload_.gpus)) continue;
      workload_.llm = DraftLlm{*server, {}, {}, {}};
    }
    if (workload_.llm || !workload_.model_server) return;
    report_.noted(
        fmt::format("{}: {}, so that its requests are guessed like those of any program",
                    workload_.model_server->program,
                    workload_.model_server->arguments.model.empty()
                        ? "no file says which language model it serves (--model)"
                        : "GPUs that do not share each layer of one copy are not simulated"),
        pod_.object_where);
  }

  // By `slicewise export`: Kubernetes has one kind for batch loops and for services, and one for
  // Jobs whose pods work together and for others.
  bool is_annotated(std::string_view kind) const {
    const KeyValue* given = annotation_of(pod_, "slicewise.dev/kind");
    return given != nullptr && given->value == kind;
  }

  DraftWorkload::Kind kind_of_work() {
    using Kind = DraftWorkload::Kind;
    if (pod_.kind == "Notebook") return Kind::Notebook;
    if (is_annotated("Deployment")) return Kind::Deployment;
    switch (pod_.purpose) {
      case PodPurpose::Ends:
        return Kind::Job;
      case PodPurpose::Serves:
        return Kind::Service;
      case PodPurpose::Works:
        report_.guessed(
            fmt::format("{}s: what runs there is in no file, taken as work without end", pod_.kind),
            pod_.object_where);
        return Kind::Deployment;
      case PodPurpose::Unsaid:
        break;
    }
    if (pod_.kind == "Pod") {
      const bool ends = pod_.restart_policy == "Never" || pod_.restart_policy == "OnFailure";
      return ends ? Kind::Job : Kind::Deployment;
    }
    return trains() ? Kind::Deployment : Kind::Service;
  }

  // A program that trains, which nobody sends requests to.
  bool trains() {
    std::string program;
    for (const ContainerFile& container : pod_.containers) {
      if (container.is_probed) return false;
      if (program.empty() && !container.is_init) program = training_program(container);
    }
    const bool has_traffic = annotation_of(pod_, kTrafficAnnotation) != nullptr ||
                             annotation_of(pod_, kGpuTimeAnnotation) != nullptr;
    if (program.empty() || has_traffic || pod_.is_served) return false;
    report_.guessed(fmt::format("{}s that train, by their command ({}) and for want of a Service, "
                                "probe or traffic: work without end, no requests",
                                pod_.kind, program),
                    pod_.object_where);
    return true;
  }

  void take_scaling() {
    if (!pod_.scaling) return;
    const ScalingFile& scaling = *pod_.scaling;
    workload_.scaled_by = scaling.by;
    if (workload_.kind != DraftWorkload::Kind::Service) {
      return report_.skipped("autoscalers of what is no service", scaling.where);
    }
    if (scaling.metric.empty() && !scaling.windows.empty()) {
      if (!scaling.seen.empty()) {
        report_.skipped(
            fmt::format("what is not simulated beside a schedule ({}): the schedule alone decides",
                        scaling.seen.substr(0, 60)),
            scaling.where);
      }
    } else if (scaling.metric.empty()) {
      return report_.skipped(
          fmt::format("autoscalers by what is not simulated ({}): as many pods as are written",
                      scaling.seen.substr(0, 60)),
          scaling.where);
    }
    const bool is_blind = scaling.metric == "GpuUtilization" && scaling.fewest == 0;
    if (is_blind || scaling.most < std::max<std::int64_t>(1, scaling.fewest)) {
      return report_.skipped(
          "autoscalers that a scenario refuses: by GPU utilisation from no pod, or of fewer pods "
          "than their least",
          scaling.where);
    }
    for (const ReplicaWindow& window : scaling.windows) {
      if (!time_zone(window.time_zone)->changes) continue;
      note(fmt::format(
          "ScaledObjects: {} is as far from UTC all the run as in January, its clocks change",
          window.time_zone));
    }
    workload_.scaling = scaling;
    workload_.pods = std::clamp(workload_.pods, scaling.fewest, scaling.most);
  }

  void note(const std::string& what) { report_.noted(what, pod_.object_where); }

  void place() {
    workload_.priority = pod_.priority;
    workload_.never_preempts = pod_.never_preempts;
    for (const Toleration& toleration : pod_.tolerations) {
      // Of what happens to a node: the API server gives them to every pod, pools have none.
      if (toleration.key.starts_with("node.kubernetes.io/")) continue;
      if (toleration.key.empty() && toleration.op != "Exists") continue;  // Kubernetes refuses it
      workload_.tolerations.push_back(toleration);
    }
    workload_.lacks_template = pod_.lacks_template;
    for (const KeyValue& label : pod_.node_selector) {
      workload_.node_selector.emplace_back(label.key, label.value);
    }
    take_required_nodes(pod_, workload_);
    const bool is_empty = std::ranges::all_of(pod_.affinity, &std::vector<NodeRequirement>::empty);
    if (is_empty && !pod_.affinity.empty()) {
      report_.guessed("pods whose node affinity is empty, which no node meets: taken without it",
                      pod_.object_where);
    }
    for (const KeyValue& label : pod_.labels) workload_.labels.emplace_back(label.key, label.value);
    workload_.pod_affinity = pod_.pod_affinity;
    workload_.anti_affinity = pod_.anti_affinity;
    workload_.host_ports = pod_.host_ports;
    workload_.preferences = pod_.preferences;
    if (pod_.other_rule) {
      report_.noted("required podAffinity and podAntiAffinity by more than labels: not simulated",
                    *pod_.other_rule);
    }
    for (const KeyValue& annotation : pod_.annotations) {
      if (annotation.key == kDoNotDisrupt || annotation.key == kSafeToEvict) {
        workload_.annotations.emplace_back(annotation.key, annotation.value);
      }
    }
    const bool is_job = workload_.kind == DraftWorkload::Kind::Job;
    if (pod_.budget && !(is_job && (!pod_.budget->keeps || pod_.budget->is_percent))) {
      workload_.budget = pod_.budget;
    }
    // Annotations would simulate it, and go into the pods' patches, where nobody asked for them.
    if (!pod_.is_never_evicted || workload_.budget || !workload_.annotations.empty()) return;
    note(
        "pods of a workload that no PodDisruptionBudget lets go: simulated nodes are drained all "
        "the same, unless the annotation karpenter.sh/do-not-disrupt keeps them");
  }

  const PodFile& pod_;
  ImportReport& report_;
  Amounts amounts_;
  DraftWorkload workload_;
};

}  // namespace

std::optional<DraftWorkload> workload_of(const PodFile& pod, ImportReport& report) {
  return WorkloadDraft(pod, report).draft();
}

}  // namespace slicewise::scenarios
