#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/scenarios/scenario.hpp"

// What people change themselves: pods of an owner of which no patch changes a container.
namespace slicewise::reports {

// Where its manifest has the pods: "spec.predictor".
std::string place_of_pods(const scenarios::Workload& workload);

// The metadata and spec of a pod as they stand there. InferenceServices that name a model and NIM's
// services have no list of containers: what would be of one stands in theirs.
nlohmann::json in_manifest(nlohmann::json pods, const scenarios::Workload& workload);

}  // namespace slicewise::reports
