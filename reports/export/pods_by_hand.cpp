#include "pods_by_hand.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pod_owner.hpp"

namespace slicewise::reports {

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

}  // namespace slicewise::reports
