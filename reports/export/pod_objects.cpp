#include "pod_objects.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/export.hpp"

#include "../document/document_text.hpp"
#include "../text/text_table.hpp"
#include "bundle_dra.hpp"
#include "guide.hpp"
#include "pod_owner.hpp"
#include "pod_remarks.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::Autoscaling;
using scenarios::Scenario;
using scenarios::Workload;

constexpr std::string_view kPrometheus = "http://prometheus-operated.monitoring.svc:9090";

}  // namespace

std::int64_t whole_seconds(Duration time) { return (time.ns + 999'999'999) / 1'000'000'000; }

namespace {

// How a server says what an autoscaler looks at. Sources: docs.vllm.ai, "Production metrics";
// Triton Inference Server, docs/user_guide/metrics.md; dcgm-exporter, default-counters.csv.
// {0}: the labels of the pods, {1}: seconds of the window.
struct ServerMetrics {
  std::string_view waiting;
  std::string_view inside;  // waiting or being answered
  std::string_view answered;
};
constexpr ServerMetrics kVllm{"sum(avg_over_time(vllm:num_requests_waiting{{{0}}}[{1}s:]))",
                              "sum(avg_over_time((vllm:num_requests_running{{{0}}} + "
                              "vllm:num_requests_waiting{{{0}}})[{1}s:]))",
                              "sum(rate(vllm:request_success_total{{{0}}}[{1}s]))"};
// Triton counts who waits, and not who is answered: by Little's law it is the time that requests
// spent there, in a second.
constexpr ServerMetrics kTriton{
    "sum(avg_over_time(nv_inference_pending_request_count{{{0}}}[{1}s:]))",
    "sum(rate(nv_inference_request_duration_us{{{0}}}[{1}s])) / 1e6",
    "sum(rate(nv_inference_request_success{{{0}}}[{1}s]))"};

// The sum over the pods, which KEDA divides by the threshold: as many pods as the simulated
// autoscaler wants.
std::string query_of(const Workload& workload) {
  const Autoscaling& scaling = *workload.autoscaling;
  const ServerMetrics& server = workload.llm ? kVllm : kTriton;
  const std::string pods = fmt::format(R"(namespace="{}",pod=~"{}-.*")", workload.namespace_name,
                                       owner_of(workload).name);
  const auto filled = [&](std::string_view query) {
    return fmt::format(fmt::runtime(query), pods, whole_seconds(scaling.window));
  };
  switch (scaling.metric) {
    case Autoscaling::Metric::Queue:
      return filled(server.waiting);
    case Autoscaling::Metric::Concurrency:
      return filled(server.inside);
    case Autoscaling::Metric::RequestRate:
      return filled(server.answered);
    case Autoscaling::Metric::GpuUtilization:
      break;
  }
  // Its own namespace and pod are those of the exporter.
  return fmt::format(
      R"(sum(avg_over_time(DCGM_FI_DEV_GPU_UTIL{{exported_namespace="{}",exported_pod=~"{}-.*"}}[{}s])))",
      workload.namespace_name, owner_of(workload).name, whole_seconds(scaling.window));
}

json triggers_of(const Workload& workload) {
  const Autoscaling& scaling = *workload.autoscaling;
  json triggers = json::array();
  for (const scenarios::ReplicaWindow& window : scaling.schedule) {
    triggers.push_back({{"type", "cron"},
                        {"metadata",
                         {{"timezone", window.time_zone.empty() ? "Etc/UTC" : window.time_zone},
                          {"start", window.start.text},
                          {"end", window.end.text},
                          {"desiredReplicas", std::to_string(window.replicas)}}}});
  }
  if (scaling.has_metric()) {
    triggers.push_back({{"type", "prometheus"},
                        {"metricType", "AverageValue"},
                        {"metadata",
                         {{"serverAddress", kPrometheus},
                          {"query", query_of(workload)},
                          {"threshold", fmt::format("{:g}", scaling.target)}}}});
  }
  return triggers;
}

// Who scales it in the cluster: a ScaledObject that this one replaces, or an HPA, which KEDA takes
// over by its name. Source: keda.sh/docs/2.18/reference/scaledobject-spec.
struct ScaledNow {
  std::string_view by_keda;
  std::string_view by_hpa;
};
ScaledNow scaled_now(const Workload& workload) {
  const std::string_view by = workload.manifest.scaled_by;
  const std::string_view kind = by.substr(0, by.find('/'));
  const std::string_view name = by.substr(std::min(by.size(), kind.size() + 1));
  return {kind == "ScaledObject" ? name : "", kind == "HorizontalPodAutoscaler" ? name : ""};
}

json scaled_object(const Workload& workload) {
  const Autoscaling& scaling = *workload.autoscaling;
  const auto window = [](Duration time) {
    return json{{"stabilizationWindowSeconds", whole_seconds(time)}};
  };
  const PodOwner owner = owner_of(workload);
  json target = {{"name", owner.name}};
  if (owner.kind != "Deployment") {
    target["apiVersion"] = owner.api_version;
    target["kind"] = owner.kind;
  }
  json spec = {{"scaleTargetRef", std::move(target)},
               {"minReplicaCount", scaling.min_replicas},
               {"maxReplicaCount", scaling.max_replicas},
               {"advanced",
                {{"horizontalPodAutoscalerConfig",
                  {{"behavior",
                    {{"scaleDown", window(scaling.scale_down_window)},
                     {"scaleUp", window(scaling.scale_up_window)}}}}}}},
               {"triggers", triggers_of(workload)}};
  if (scaling.min_replicas == 0) {  // with pods the HPA that KEDA makes asks
    spec["pollingInterval"] = whole_seconds(scaling.sync_period);
    spec["cooldownPeriod"] = whole_seconds(scaling.cooldown);
  }
  const ScaledNow now = scaled_now(workload);
  json meta = {{"name", now.by_keda.empty() ? workload.name.value : std::string(now.by_keda)},
               {"namespace", workload.namespace_name}};
  if (!now.by_hpa.empty()) {
    meta["annotations"] = {{"scaledobject.keda.sh/transfer-hpa-ownership", "true"}};
    spec["advanced"]["horizontalPodAutoscalerConfig"]["name"] = now.by_hpa;
  }
  return kubernetes_object("keda.sh/v1alpha1", "ScaledObject", std::move(meta), std::move(spec));
}

// What no field of the ScaledObject says.
std::string remarks_on(const Workload& workload) {
  constexpr double kDefaultTolerance = 0.1;
  const Autoscaling& scaling = *workload.autoscaling;
  std::string out;
  if (!workload.manifest.scaled_by.empty()) {
    out += comment(fmt::format(
        "It takes the place of {}: two that scale one workload undo each other's numbers. Keep "
        "that one's YAML to roll back, since deleting this object deletes it{}.",
        workload.manifest.scaled_by,
        scaled_now(workload).by_hpa.empty() ? "" : ", too (KEDA owns it then)"));
  }
  if (scaling.sync_period != Autoscaling{}.sync_period) {
    out += comment(fmt::format(
        "The scenario's autoscaler looks every {} s; that of a cluster does so every 15 s, by a "
        "flag of kube-controller-manager, which EKS does not let you set.",
        whole_seconds(scaling.sync_period)));
  }
  if (scaling.tolerance != kDefaultTolerance) {
    out += comment(fmt::format("The scenario has a tolerance of {:g} %, the cluster's is 10 %.",
                               100 * scaling.tolerance));
  }
  if (scaling.holds_requests()) {
    out += comment(
        "Without pods its query has no value, and KEDA makes none: to wake it, add a trigger on "
        "what "
        "sees requests before the pods do, such as the load balancer, a queue or KEDA's HTTP "
        "add-on.");
  }
  return out;
}

}  // namespace

std::string priority_class_of(const Workload& workload) {
  const bool never = workload.preemption_policy == scenarios::PreemptionPolicy::Never;
  if (workload.priority == 0 && !never) return {};
  const std::string value = workload.priority < 0 ? fmt::format("minus-{}", -workload.priority)
                                                  : std::to_string(workload.priority);
  return fmt::format("slicewise-priority-{}{}", value, never ? "-never" : "");
}

std::string priority_classes(const Scenario& scenario) {
  std::map<std::string, const Workload*> named;
  for (const Workload& workload : scenario.workloads) {
    std::string name = priority_class_of(workload);
    if (!name.empty()) named.emplace(std::move(name), &workload);
  }
  std::string out;
  for (const auto& [name, workload] : named) {
    json one = {{"apiVersion", "scheduling.k8s.io/v1"},
                {"kind", "PriorityClass"},
                {"metadata", {{"name", name}}},
                {"value", workload->priority}};
    if (workload->preemption_policy == scenarios::PreemptionPolicy::Never) {
      one["preemptionPolicy"] = "Never";
    }
    out += (out.empty() ? "" : "---\n") + yaml_text(one);
  }
  return out;
}

bool has_new_budget(const Workload& workload) {
  return workload.disruption_budget && workload.disruption_budget->name.empty();
}

std::string disruption_budgets(const Scenario& scenario) {
  std::string out;
  for (const Workload& workload : scenario.workloads) {
    if (!has_new_budget(workload)) continue;
    const scenarios::DisruptionBudget& budget = *workload.disruption_budget;
    json spec = {{"selector", {{"matchLabels", {{std::string(kOwnLabel), workload.name.value}}}}}};
    json& value = spec[budget.keeps ? "minAvailable" : "maxUnavailable"];
    value = budget.value;
    if (budget.is_percent) value = fmt::format("{}%", budget.value);
    out += (out.empty() ? "" : "---\n") +
           yaml_text(kubernetes_object(
               "policy/v1", "PodDisruptionBudget",
               {{"name", workload.name.value}, {"namespace", workload.namespace_name}},
               std::move(spec)));
  }
  return out;
}

bool is_scaled_by_keda(const Workload& workload) {
  return workload.autoscaling && !owner_of(workload).api_version.empty();
}

bool has_new_scaler(const Workload& workload) {
  return is_scaled_by_keda(workload) && workload.manifest.scaled_by.empty();
}

std::string scaler_of(const Workload& workload) {
  if (!workload.manifest.scaled_by.empty()) return workload.manifest.scaled_by;
  if (is_scaled_by_keda(workload)) return "scaledobject " + workload.name.value;
  const PodOwner owner = owner_of(workload);
  return resource_word(owner) + " " + owner.name;
}

std::string scaler_remark(const Workload& workload) {
  const Autoscaling& scaling = *workload.autoscaling;
  const std::string numbers =
      fmt::format("{} to {} pods, as ", scaling.min_replicas, scaling.max_replicas);
  if (!is_scaled_by_keda(workload)) {
    return fmt::format(
        "{}{} has it: change its numbers there where they differ; another autoscaler beside it "
        "would undo them.",
        numbers, scaler_of(workload));
  }
  const bool is_new = has_new_scaler(workload);
  return fmt::format("{}{} has it (slicewise export --to keda{}): no number is patched.", numbers,
                     is_new ? "the autoscaler" : workload.manifest.scaled_by,
                     is_new ? "" : " takes its place");
}

namespace {

template <class Chosen>
std::string scaled_objects_of(const Scenario& scenario, Chosen chosen) {
  std::string out;
  for (const Workload& workload : scenario.workloads) {
    if (!chosen(workload)) continue;
    if (!out.empty()) out += "---\n";
    out += remarks_on(workload) + yaml_text(scaled_object(workload));
  }
  return out;
}

}  // namespace

std::string scaled_objects(const Scenario& scenario) {
  return scaled_objects_of(scenario, has_new_scaler);
}

Expected<ExportFiles> render_keda(const Scenario& scenario, const models::Catalogue& /*catalogue*/,
                                  const ExportOptions& /*options*/) {
  const std::string objects = scaled_objects_of(scenario, is_scaled_by_keda);
  std::string by_themselves;
  for (const Workload& workload : scenario.workloads) {
    if (!workload.autoscaling || is_scaled_by_keda(workload)) continue;
    add_name(by_themselves, scaler_of(workload));
  }
  if (objects.empty() && !by_themselves.empty()) {
    return failure(Code::ExportUnfit, {}, "what is autoscaled scales itself: " + by_themselves,
                   "set the fewest and the most pods in its manifest");
  }
  if (objects.empty()) {
    return failure(Code::ExportUnfit, {}, "no workload is autoscaled",
                   "give a Service `autoscaling: {min: 1, max: 8, metric: Queue, target: 4}`");
  }
  std::string text = comment(fmt::format(
      "How the Services of scenario variant {} are scaled (keda.yaml), written by slicewise. KEDA "
      "makes a HorizontalPodAutoscaler of each.",
      yaml_scalar(scenario.name)));
  if (!by_themselves.empty())
    text += comment("Without those that scale themselves: " + by_themselves + ".");
  const bool has_queries = std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return is_scaled_by_keda(workload) && workload.autoscaling->has_metric();
  });
  if (has_queries) {
    text += comment(
        "Change serverAddress to your Prometheus. Queries name the metrics of vLLM for language "
        "models, of Triton for other servers, and of dcgm-exporter: change them where yours has "
        "others, each to the sum over the pods.");
  }
  text +=
      commented("  kubectl apply -f keda.yaml\n  kubectl delete -f keda.yaml   # to roll back\n");
  return ExportFiles{{"keda.yaml", text + objects}};
}

using scenarios::Scenario;
using scenarios::Workload;

Scenario without_empty_jobs(Scenario scenario) {
  std::erase_if(scenario.workloads, [](const Workload& workload) {
    return workload.kind == scenarios::WorkloadKind::Job && workload.count == 0 &&
           !workload.schedule && workload.manifest.containers.empty();
  });
  return scenario;
}

ExportFiles pod_object_files(const Scenario& scenario) {
  ExportFiles files;
  for (auto& [path, text] : {std::pair(kPriorityClasses, priority_classes(scenario)),
                             std::pair(kDisruptionBudgets, disruption_budgets(scenario)),
                             std::pair(kScaledObjects, scaled_objects(scenario))}) {
    if (!text.empty()) files.push_back({std::string(path), text});
  }
  return files;
}

std::string patch_file(const Workload& workload) {
  return fmt::format("{}-{}.yaml", workload.namespace_name, workload.name.value);
}

namespace {

// Of Jobs that are alike but for their numbers, the patch of the first for all of them: kustomize
// before 5.1, and kubectl's before 1.31, take one patch of a file.
std::string patch_of_jobs(const Scenario& scenario, const Workload& workload) {
  const std::string all = pod_patch(scenario, workload);
  std::string name = object_names(scenario, workload).front();
  name.resize(name.rfind('-'));
  return fmt::format(
             "- target:\n    group: batch\n    kind: Job\n    namespace: {}\n"
             "    name: {}-[0-9]+\n  patch: |-\n",
             workload.namespace_name, name) +
         indented(all.substr(0, all.find("---\n")), 4);
}

// A component: it changes the objects of the kustomization that names it, and has few itself.
std::string kustomization(const Scenario& scenario, const ExportFiles& objects) {
  std::string out = comment(
      "What the pods of the scenario ask for. Name it in your own kustomization, beside the "
      "resources that it patches:");
  out += commented("  components:\n  - pods\n");
  out += "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
  if (!objects.empty()) out += "resources:\n";
  for (const ExportFile& file : objects) out += fmt::format("- {}\n", file.path);
  std::string patches;
  for (const Workload& workload : scenario.workloads) {
    if (owner_of(workload).api_version.empty()) continue;
    patches += object_names(scenario, workload).size() > 1
                   ? patch_of_jobs(scenario, workload)
                   : fmt::format("- path: {}\n", yaml_scalar(patch_file(workload)));
  }
  if (!patches.empty()) out += "patches:\n" + patches;
  return out;
}

}  // namespace

void add_pods(const Scenario& scenario, const std::string& folder, ExportFiles& files) {
  ExportFiles objects = pod_object_files(scenario);
  files.push_back({folder + "kustomization.yaml", kustomization(scenario, objects)});
  for (ExportFile& file : objects) files.push_back({folder + file.path, std::move(file.text)});
  for (const Workload& workload : scenario.workloads) {
    files.push_back({folder + patch_file(workload), pod_patch(scenario, workload), false,
                     never_admitted(scenario, workload)});
  }
}

Expected<ExportFiles> render_kustomize(const Scenario& scenario, const models::Catalogue& catalogue,
                                       const ExportOptions& /*options*/) {
  const Expected<Scenario> claimed = as_claimed(scenario, catalogue);
  if (!claimed) return tl::unexpected(claimed.error());
  ExportFiles files;
  add_pods(*claimed, "", files);
  return files;
}

}  // namespace slicewise::reports
