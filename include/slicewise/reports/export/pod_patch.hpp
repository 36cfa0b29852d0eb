#pragma once

#include <string>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::reports {

// What the scenario says about the pods, as one strategic merge patch per workload (YAML documents
// for `kubectl patch --patch-file` or the patches of a kustomization). A workload that maps the
// whole GPU at start and shares it by time-slicing is told of TF_FORCE_GPU_ALLOW_GROWTH in a
// comment.
std::string pod_patches(const scenarios::Scenario& scenario);

// The one of `workload`, which is one of the scenario's.
std::string pod_patch(const scenarios::Scenario& scenario, const scenarios::Workload& workload);

}  // namespace slicewise::reports
