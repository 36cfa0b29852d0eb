#include "pod_owner.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/nearest_name.hpp"

#include "../document/document_text.hpp"

namespace slicewise::reports {
namespace {

using scenarios::WorkloadKind;

struct OwnKind {
  std::string_view kind;
  std::string_view api_version;
  bool rolls_out = false;
};
constexpr OwnKind kOwnKinds[] = {
    {"Deployment", "apps/v1", true},
    {"StatefulSet", "apps/v1", true},
    {"DaemonSet", "apps/v1", true},
    {"ReplicaSet", "apps/v1"},
    {"Job", "batch/v1"},
    {"CronJob", "batch/v1"},
};

// Of a Notebook every user has one, made when the user starts it.
std::string_view usual_kind(const scenarios::Workload& workload) {
  switch (workload.kind) {
    case WorkloadKind::Job:
      return workload.schedule ? "CronJob" : "Job";
    case WorkloadKind::Notebook:
      return "StatefulSet";
    case WorkloadKind::Deployment:
    case WorkloadKind::Service:
      break;
  }
  return "Deployment";
}

}  // namespace

PodOwner owner_of(const scenarios::Workload& workload) {
  const scenarios::Manifest& manifest = workload.manifest;
  PodOwner owner;
  owner.kind = manifest.kind.empty() ? std::string(usual_kind(workload)) : manifest.kind;
  owner.name = manifest.name.empty() ? workload.name.value : manifest.name;
  const auto* own = std::ranges::find(kOwnKinds, owner.kind, &OwnKind::kind);
  const bool is_one_run = owner.kind == "CronJob" && !workload.schedule;  // its template unknown
  if (own == std::ranges::end(kOwnKinds) || is_one_run) return owner;
  owner.api_version = own->api_version;
  owner.rolls_out = own->rolls_out;
  return owner;
}

std::vector<std::string> object_names(const scenarios::Scenario& scenario,
                                      const scenarios::Workload& workload) {
  constexpr int kMostJobs = 50;  // more are the indexes of one
  constexpr std::size_t kLongestName = 63;
  const PodOwner owner = owner_of(workload);
  std::vector<std::string> names = {owner.name};
  const bool is_each_by_itself = !workload.trace && workload.pods_per_job == 1 &&
                                 workload.part_of.value.empty() && workload.queue.value.empty() &&
                                 !never_restarts(workload) &&
                                 workload.pods_at_once() == workload.count;
  if (owner.kind != "Job" || !workload.manifest.name.empty() || !is_each_by_itself ||
      workload.count < 2 || workload.count > kMostJobs) {
    return names;
  }
  std::vector<std::string> apart;
  for (int job = 1; job <= workload.count; ++job) {
    apart.push_back(fmt::format("{}-{}", owner.name, job));
  }
  const bool is_taken = std::ranges::any_of(scenario.workloads, [&](const auto& other) {
    return other.namespace_name == workload.namespace_name &&
           std::ranges::find(apart, owner_of(other).name) != apart.end();
  });
  return is_taken || apart.back().size() > kLongestName ? names : apart;
}

std::string for_each_object(const std::vector<std::string>& names, nlohmann::json patch) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += "---\n";
    patch["metadata"]["name"] = name;
    out += yaml_text(patch);
  }
  return out;
}

std::string place_of_pods(const scenarios::Workload& workload) {
  const PodOwner owner = owner_of(workload);
  // Importers call the pods after the object and what tells them from its others.
  const std::string_view name = workload.name.value;
  const bool has_part = name.starts_with(owner.name + "-");
  const std::string part(has_part ? name.substr(owner.name.size() + 1) : std::string_view());
  if (owner.kind == "InferenceService") {
    if (part == "worker") return "spec.predictor.workerSpec";
    return "spec." + (part == "transformer" || part == "explainer" ? part : "predictor");
  }
  if (owner.kind == "NIMService") return "spec";
  if (owner.kind == "NIMPipeline") return fmt::format("spec.services, name {}: spec", part);
  const std::string_view cluster = owner.kind == "RayCluster"   ? "spec"
                                   : owner.kind == "RayService" ? "spec.rayClusterConfig"
                                   : owner.kind == "RayJob"     ? "spec.rayClusterSpec"
                                                                : "";
  if (cluster.empty() || part.empty()) return "the template of its pods";
  return part == "head" ? fmt::format("{}.headGroupSpec.template", cluster)
                        : fmt::format("{}.workerGroupSpecs, groupName {}: template", cluster, part);
}

nlohmann::json in_manifest(nlohmann::json pods, const scenarios::Workload& workload) {
  using nlohmann::json;
  json& spec = pods["spec"];
  spec.erase("restartPolicy");  // the operator's own
  const std::string kind = owner_of(workload).kind;
  const bool is_kserve = kind == "InferenceService";
  if (!is_kserve && kind != "NIMService" && kind != "NIMPipeline") return pods;
  json component = pods.value("metadata", json::object());
  if (workload.manifest.containers.empty()) {
    json container = std::move(spec["containers"][0]);
    spec.erase("containers");
    container.erase("name");
    if (is_kserve) {
      spec["model"] = std::move(container);
    } else {
      spec.update(container);
    }
  }
  component.update(spec);
  return component;
}

std::string resource_word(const PodOwner& owner) { return lower_case(owner.kind); }

bool is_patched_in_place(const scenarios::Workload& workload) {
  return keeps_replicas(workload) && owner_of(workload).rolls_out;
}

}  // namespace slicewise::reports
