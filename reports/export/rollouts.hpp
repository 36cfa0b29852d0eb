#pragma once

#include <span>
#include <string>

#include "slicewise/scenarios/scenario.hpp"

#include "node_settings.hpp"

namespace slicewise::reports {

// Of Deployments whose next rollout would wait for good, as all that their pods ask for is taken:
// by default one of up to three pods adds a pod before it takes one away. "" where there is room.
// Source: Kubernetes API, apps/v1 RollingUpdateDeployment (maxSurge 25 % is rounded up,
// maxUnavailable 25 % down).
std::string rollout_remarks(const scenarios::Scenario& scenario, std::span<const PoolNodes> nodes);

}  // namespace slicewise::reports
