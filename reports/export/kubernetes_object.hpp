#pragma once

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "slicewise/scenarios/scenario.hpp"

#include "pod_owner.hpp"

// Objects of Kubernetes' APIs, as they are written.
namespace slicewise::reports {

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
