#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/jobs_apart.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/node_requirements.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "../document/document_text.hpp"
#include "dra_claims.hpp"
#include "guide.hpp"
#include "node_settings.hpp"
#include "pod_objects.hpp"
#include "pod_owner.hpp"
#include "pod_remarks.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;
using scenarios::PodTemplate;
using scenarios::Scenario;
using scenarios::Workload;
using scenarios::WorkloadKind;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kClaim = "gpu";  // as the pod calls it
constexpr const char* kSleepVariable = "VLLM_SERVER_DEV_MODE";

std::string cpu_text(Millicores cpu) {
  return cpu.count % 1000 == 0 ? std::to_string(cpu.count / 1000) : fmt::format("{}m", cpu.count);
}

std::string memory_quantity(Bytes memory) {
  constexpr std::array<std::pair<int, std::string_view>, 3> kUnits = {
      {{30, "Gi"}, {20, "Mi"}, {10, "Ki"}}};
  for (const auto& [bits, unit] : kUnits) {
    const std::int64_t one = std::int64_t{1} << bits;
    if (memory.count >= one && memory.count % one == 0) {
      return fmt::format("{}{}", memory.count / one, unit);
    }
  }
  return std::to_string(memory.count);
}

json env_of(const Workload& workload) {
  json out = json::array();
  const bool sleeps = workload.llm && workload.llm->sleep;
  if (sleeps && workload.pod.env.count(kSleepVariable) == 0) {
    out.push_back({{"name", kSleepVariable}, {"value", "1"}});
  }
  for (const auto& [name, value] : workload.pod.env)
    out.push_back({{"name", name}, {"value", value}});
  return out;
}

// Labels by which rules of some workload select the pods: the others are the manifest's own.
json selected_labels_of(const Scenario& scenario, const PodTemplate& pod) {
  json out = json::object();
  for (const Workload& other : scenario.workloads) {
    for (const std::string& key : scenarios::selected_labels(
             other.pod.pod_affinity, other.pod.anti_affinity, other.pod.preferences)) {
      const auto label = pod.labels.find(key);
      if (label != pod.labels.end()) out[key] = label->second;
    }
  }
  return out;
}

json affinity_terms(const std::vector<scenarios::PodAffinityTerm>& terms) {
  json out = json::array();
  for (const scenarios::PodAffinityTerm& term : terms) {
    json one = {{"topologyKey", term.topology_key},
                {"labelSelector", {{"matchLabels", term.match_labels}}}};
    if (!term.namespaces.empty()) one["namespaces"] = term.namespaces;
    if (term.weight > 0) one = {{"weight", term.weight}, {"podAffinityTerm", std::move(one)}};
    out.push_back(std::move(one));
  }
  return out;
}

json node_term(const std::vector<scenarios::NodeRequirement>& requirements) {
  json expressions = json::array();
  for (const scenarios::NodeRequirement& one : requirements) {
    expressions.push_back({{"key", one.key}, {"operator", one.op}});
    if (!one.values.empty()) expressions.back()["values"] = one.values;
  }
  return {{"matchExpressions", std::move(expressions)}};
}

json node_affinity(const PodTemplate& pod) {
  json out = json::object();
  for (const scenarios::NodeTerm& term : pod.node_affinity) {
    out[kRequired]["nodeSelectorTerms"].push_back(node_term(term.requirements));
  }
  for (const scenarios::PreferredNodes& nodes : pod.preferences.nodes) {
    out[kPreferred].push_back(
        {{"weight", nodes.weight}, {"preference", node_term(nodes.requirements)}});
  }
  return out;
}

// A list replaces the manifest's, of which a scenario may have some only: no plan changes them but
// for anti-affinity.
json affinity_of(const Workload& workload) {
  const PodTemplate& pod = workload.pod;
  const bool has_them = !workload.manifest.containers.empty();
  json out;
  const auto add = [&](const char* side, const char* how,
                       const std::vector<scenarios::PodAffinityTerm>& terms) {
    if (!terms.empty()) out[side][how] = affinity_terms(terms);
  };
  if (json nodes = node_affinity(pod); !has_them && !nodes.empty()) {
    out["nodeAffinity"] = std::move(nodes);
  }
  if (!has_them) add("podAffinity", kRequired, pod.pod_affinity);
  if (!has_them) add("podAffinity", kPreferred, pod.preferences.affinity);
  add("podAntiAffinity", kRequired, pod.anti_affinity);
  if (!has_them) add("podAntiAffinity", kPreferred, pod.preferences.anti_affinity);
  return out;
}

// With the loss of one of three zones two are left, whose pods stay; a node that is gone does not
// count, and one that is left alone takes all pods.
json spread_of(const Workload& workload) {
  json spread = {
      {"topologyKey", workload.manifest.spread},
      {"maxSkew", 1},
      {"whenUnsatisfiable", "DoNotSchedule"},
      {"nodeTaintsPolicy", "Honor"},
      {"labelSelector", {{"matchLabels", {{std::string(kOwnLabel), workload.name.value}}}}}};
  if (workload.manifest.spread != scenarios::kHostname) spread["minDomains"] = 2;
  return spread;
}

// Those of the workload, and those that a plan gives it.
json spreads_of(const Workload& workload) {
  json out = json::array();
  for (const scenarios::TopologySpread& rule : workload.pod.preferences.spread) {
    out.push_back({{"maxSkew", rule.max_skew},
                   {"topologyKey", rule.topology_key},
                   {"whenUnsatisfiable", rule.when_unsatisfiable},
                   {"labelSelector", {{"matchLabels", rule.match_labels}}}});
    if (rule.min_domains > 1) out.back()["minDomains"] = rule.min_domains;
    for (const auto& [key, policy] : {std::pair("nodeAffinityPolicy", &rule.node_affinity_policy),
                                      std::pair("nodeTaintsPolicy", &rule.node_taints_policy)}) {
      if (!policy->empty()) out.back()[key] = *policy;
    }
  }
  if (is_spread(workload)) out.push_back(spread_of(workload));
  return out;
}

json container_of(const Workload& workload) {
  const PodTemplate& pod = workload.pod;
  const scenarios::Manifest& manifest = workload.manifest;
  json container = {
      {"name", manifest.containers.empty() ? workload.name.value : manifest.containers.front()}};
  json& resources = container["resources"];
  if (manifest.containers.size() < 2) {
    if (pod.cpu_request.count > 0) resources["requests"]["cpu"] = cpu_text(pod.cpu_request);
    if (pod.memory_request.count > 0) {
      resources["requests"]["memory"] = memory_quantity(pod.memory_request);
    }
    if (pod.cpu_limit) resources["limits"]["cpu"] = cpu_text(*pod.cpu_limit);
    if (pod.memory_limit) resources["limits"]["memory"] = memory_quantity(*pod.memory_limit);
  }
  for (const std::string& old : manifest.old_resources) {
    resources["limits"][old] = resources["requests"][old] = nullptr;
  }
  for (const scenarios::ExtendedRequest& request : pod.extended) {
    resources["limits"][request.name.value] = request.count;
    if (resources.contains("requests")) resources["requests"].erase(request.name.value);
  }
  json env = env_of(workload);
  if (!env.empty()) container["env"] = std::move(env);
  return container;
}

// A label that a merge only leaves out would stay.
json node_selector_of(const Workload& workload) {
  json out = json::object();
  for (const std::string& old : workload.manifest.old_selectors) out[old] = nullptr;
  for (const auto& [key, value] : workload.pod.node_selector) out[key] = value;
  const auto& built_for = workload.pod.image_architectures;
  if (built_for.size() == 1) {
    const auto name = scenarios::kArchitectures.at(static_cast<std::size_t>(built_for.front()));
    out.emplace(std::string(scenarios::kArchitectureLabel), name);
  }
  return out;
}

// The Jobs of a workload that are not objects of their own are the indexes of one, and start
// together. Each has the limit for itself, which Kubernetes has where no container is restarted in
// its pod. The pods of a gang are the indexes of its Job.
void add_copies(const Workload& workload, json& job) {
  if (workload.ignore_disruptions && workload.manifest.containers.empty() &&
      never_restarts(workload)) {
    job["podFailurePolicy"] = json::parse(
        R"({"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]})");
  }
  if (workload.pods_per_job > 1) {
    job["completions"] = job["parallelism"] = workload.pods_per_job;
    job["completionMode"] = "Indexed";
  }
  if (workload.count == 1 || workload.pods_per_job > 1) {
    job["backoffLimit"] = workload.backoff_limit;
    return;
  }
  // Of how many at a time the scenario knows nothing: the manifest's figures stay.
  if (workload.manifest.kind == "CronJob") return;
  job["completions"] = workload.count;
  job["parallelism"] = workload.pods_at_once();
  // Nor of how many may fail in all: a limit for each index would lift that of a Job that is there.
  if (!workload.manifest.containers.empty()) return;
  if (!workload.part_of.value.empty()) {
    job["backoffLimit"] = workload.backoff_limit;
  } else if (never_restarts(workload)) {
    job["completionMode"] = "Indexed";
    job["backoffLimitPerIndex"] = workload.backoff_limit;
  } else {
    job["backoffLimit"] = static_cast<std::int64_t>(workload.backoff_limit) * workload.count;
  }
}

// Those of the scenario, and what `check` and `import k8s` ask for: no field of Kubernetes says it.
json annotations_of(const Workload& workload) {
  json out = workload.pod.annotations;
  const Bytes memory = workload.gpu_memory.peak.value_or(workload.gpu_memory.resident);
  if (memory.count > 0 && workload.gpu_memory.allocator != scenarios::Allocator::Greedy) {
    out.emplace(std::string(scenarios::kMemoryAnnotation), memory_quantity(memory));
  }
  for (const std::string& old : workload.manifest.old_annotations) out.emplace(old, nullptr);
  return out;
}

// The Job as the template of a CronJob.
json scheduled(json job, const scenarios::Schedule& schedule) {
  json spec = {{"schedule", schedule.cron.text},
               {"concurrencyPolicy",
                scenarios::Schedule::kPolicies.at(static_cast<std::size_t>(schedule.concurrency))},
               {"suspend", schedule.suspend}};
  // Without an offset the manifest's zone stays.
  const auto zone = schedule.time_zone.empty() ? scenarios::zone_of_offset(schedule.utc_offset)
                                               : std::optional(schedule.time_zone);
  if (zone && (!schedule.time_zone.empty() || schedule.utc_offset.ns != 0)) {
    spec["timeZone"] = *zone;
  }
  if (schedule.starting_deadline) {
    const Duration up = *schedule.starting_deadline + seconds(1) - nanoseconds(1);
    spec["startingDeadlineSeconds"] = up.ns / seconds(1).ns;
  }
  spec["jobTemplate"]["spec"] = std::move(job["spec"]);
  job["kind"] = "CronJob";
  job["spec"] = std::move(spec);
  return job;
}

bool is_by_kai(const Scenario& scenario) {
  return std::ranges::any_of(scenario.node_pools, &scenarios::NodePool::kai);
}

bool was_by_kai(const Workload& workload) {
  return std::ranges::any_of(workload.manifest.old_annotations, [](const std::string& key) {
    return key == scenarios::kKaiFraction || key == scenarios::kKaiMemory;
  });
}

bool asks_aws_vgpu(const Workload& workload) {
  return std::ranges::any_of(workload.pod.extended, [](const scenarios::ExtendedRequest& request) {
    const auto asked = scenarios::gpu_resource(request.name.value);
    return asked && asked->kind == scenarios::GpuResource::Kind::VirtualGpu;
  });
}

// Pods reach the MPS daemon of AWS's virtual GPU device plugin by the node. Source: its README.md.
void reach_mps(json& pod_spec) {
  const char* const name = "nvidia-mps";
  const char* const path = "/tmp/nvidia-mps";
  pod_spec["hostIPC"] = true;
  pod_spec["containers"][0]["volumeMounts"] = json::array({{{"name", name}, {"mountPath", path}}});
  pod_spec["volumes"] = json::array({{{"name", name}, {"hostPath", {{"path", path}}}}});
}

json pod_spec_of(const Scenario& scenario, const Workload& workload) {
  json pod_spec = {{"containers", json::array({container_of(workload)})}};
  if (workload.kind == WorkloadKind::Job) {
    pod_spec["restartPolicy"] = never_restarts(workload) ? "Never" : "OnFailure";
  }
  if (const std::string name = priority_class_of(workload); !name.empty()) {
    pod_spec["priorityClassName"] = name;
  }
  if (!workload.pod.tolerations.empty()) {
    pod_spec["tolerations"] = toleration_list(workload.pod.tolerations);
  }
  if (json selector = node_selector_of(workload); !selector.empty()) {
    pod_spec["nodeSelector"] = std::move(selector);
  }
  if (json spreads = spreads_of(workload); !spreads.empty()) {
    pod_spec["topologySpreadConstraints"] = std::move(spreads);
  }
  if (json affinity = affinity_of(workload); !affinity.empty()) {
    pod_spec["affinity"] = std::move(affinity);
  }
  if (const scenarios::ResourceClaim* claim = scenario.claim_of(workload)) {
    pod_spec["resourceClaims"] =
        json::array({{{"name", kClaim},
                      {claim->is_template ? "resourceClaimTemplateName" : "resourceClaimName",
                       claim->name.value}}});
    pod_spec["containers"][0]["resources"]["claims"] = json::array({{{"name", kClaim}}});
  } else if (workload.manifest.old_claim) {
    pod_spec["resourceClaims"] = pod_spec["containers"][0]["resources"]["claims"] = nullptr;
  }
  if (is_by_kai(scenario)) {
    pod_spec["schedulerName"] = "kai-scheduler";
  } else if (was_by_kai(workload)) {
    pod_spec["schedulerName"] = "default-scheduler";
  }
  if (asks_aws_vgpu(workload)) reach_mps(pod_spec);
  return pod_spec;
}

json pods_of(const Scenario& scenario, const Workload& workload) {
  json pods;
  if (json annotations = annotations_of(workload); !annotations.empty()) {
    pods["metadata"]["annotations"] = std::move(annotations);
  }
  json labels = selected_labels_of(scenario, workload.pod);
  if (is_spread(workload) || has_new_budget(workload)) {
    labels[std::string(kOwnLabel)] = workload.name.value;
  }
  const bool has_kai_queue = !scenario.kai_queues.empty() && !workload.queue.value.empty();
  if (has_kai_queue) {
    labels[scenarios::kKaiQueueLabel] = workload.queue.value;
  } else if (is_by_kai(scenario) && !was_by_kai(workload)) {
    labels[scenarios::kKaiQueueLabel] = "default-queue";  // of its quickstart; one's own stays
  } else if (was_by_kai(workload) && !is_by_kai(scenario)) {
    labels[scenarios::kKaiQueueLabel] = nullptr;
  }
  if (!labels.empty()) pods["metadata"]["labels"] = std::move(labels);
  pods["spec"] = pod_spec_of(scenario, workload);
  return pods;
}

json patch_of(const Scenario& scenario, const Workload& workload) {
  json patch = patch_of_owner(workload, {{"template", pods_of(scenario, workload)}});
  if (workload.kind == WorkloadKind::Deployment) {
    patch["metadata"]["annotations"]["slicewise.dev/kind"] = "Deployment";  // not a Service
  }
  if (workload.pods_per_job > 1) patch["metadata"]["annotations"]["slicewise.dev/kind"] = "Gang";
  const bool is_free = !workload.autoscaling && workload.manifest.scaled_by.empty();
  if (keeps_replicas(workload) && is_free && patch["kind"] != "DaemonSet") {
    patch["spec"]["replicas"] = workload.count;
  }
  if (workload.kind != WorkloadKind::Job) return patch;
  Workload of_run = workload;
  of_run.count = workload.pods_of_run();
  add_copies(of_run, patch["spec"]);
  return workload.schedule ? scheduled(std::move(patch), *workload.schedule) : patch;
}

}  // namespace

std::string pod_patch(const Scenario& scenario, const Workload& workload) {
  if (const PodOwner owner = owner_of(workload); owner.api_version.empty()) {
    return comment(printable(fmt::format(
               "By hand: {0} {1} in namespace {2} makes the pods, and no patch merges its "
               "containers by their names. In its manifest, change this of {3} (null: take it "
               "out), and apply it, or create it anew:",
               owner.kind, owner.name, workload.namespace_name, place_of_pods(workload)))) +
           commented(yaml_text(in_manifest(pods_of(scenario, workload), workload))) +
           pod_remarks(scenario, workload);
  }
  const std::vector<std::string> names = object_names(scenario, workload);
  Workload one = workload;
  if (names.size() > 1) one.count = 1;
  json patch = patch_of(scenario, one);
  if (names.size() > 1) {
    patch["metadata"]["annotations"][scenarios::kJobsAnnotation] = owner_of(workload).name;
  }
  return pod_remarks(scenario, workload) + for_each_object(names, std::move(patch));
}

std::string pod_patches(const Scenario& scenario) {
  std::string out;
  if (const std::string classes = priority_classes(scenario); !classes.empty()) {
    out = comment("Once for the cluster, before the pods (kubectl apply):") + commented(classes);
  }
  if (const std::string budgets = disruption_budgets(scenario); !budgets.empty()) {
    out += comment("Which pods a drain waits for (kubectl apply):") + commented(budgets);
  }
  for (const Workload& workload : scenario.workloads) {
    if (!out.empty()) out += "---\n";
    out += pod_patch(scenario, workload);
  }
  return out;
}

}  // namespace slicewise::reports
