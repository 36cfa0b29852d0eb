#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::reports {

// The object of the cluster that makes the pods of a workload.
struct PodOwner {
  std::string kind;
  std::string name;
  // Of a kind of Kubernetes' own, whose containers a strategic merge finds by name; "": of others
  // no patch changes a container.
  std::string_view api_version;
  bool rolls_out = false;  // it makes its pods anew when their template changes
};

PodOwner owner_of(const scenarios::Workload& workload);

// Its names: Jobs that fail each by itself are objects of their own where they are few, "train-1",
// "train-2" of the workload "train"; of others one.
std::vector<std::string> object_names(const scenarios::Scenario& scenario,
                                      const scenarios::Workload& workload);

// The patch once for each of these names, as YAML documents.
std::string for_each_object(const std::vector<std::string>& names, nlohmann::json patch);

// "deployment", as kubectl takes it.
std::string resource_word(const PodOwner& owner);

// Where the manifest of an owner that no patch changes has the pods: "spec.predictor".
std::string place_of_pods(const scenarios::Workload& workload);

// The metadata and spec of a pod as they stand there. InferenceServices that name a model and NIM's
// services have no list of containers: what would be of one stands in theirs.
nlohmann::json in_manifest(nlohmann::json pods, const scenarios::Workload& workload);

// Of a Deployment or a Service: a number of pods is kept, whatever becomes of one.
inline bool keeps_replicas(const scenarios::Workload& workload) {
  return workload.kind == scenarios::WorkloadKind::Deployment ||
         workload.kind == scenarios::WorkloadKind::Service;
}
// ... that a plan spreads over nodes or zones.
inline bool is_spread(const scenarios::Workload& workload) {
  return keeps_replicas(workload) && !workload.manifest.spread.empty();
}
inline bool never_restarts(const scenarios::Workload& workload) {
  return workload.restart_policy == scenarios::RestartPolicy::Never;
}

// Whether patching it is all there is to do: pods that run on for good.
bool is_patched_in_place(const scenarios::Workload& workload);

// Objects of Kubernetes' APIs, as they are written.

inline nlohmann::json kubernetes_object(std::string_view api_version, std::string_view kind,
                                        nlohmann::json metadata, nlohmann::json spec) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

// Of the object that makes the pods of the workload.
inline nlohmann::json patch_of_owner(const scenarios::Workload& workload, nlohmann::json spec) {
  const PodOwner owner = owner_of(workload);
  return kubernetes_object(owner.api_version, owner.kind,
                           {{"name", owner.name}, {"namespace", workload.namespace_name}},
                           std::move(spec));
}

}  // namespace slicewise::reports
