#pragma once

#include <string_view>

#include "slicewise/scenarios/cluster_files.hpp"

#include "node_offers.hpp"

// Which nodes the scheduler may give a pod, by the files.
namespace slicewise::sim::lint {

// The first taint of the group that keeps the pod off; nullptr when it may run there.
const scenarios::Taint* untolerated(const scenarios::PodFile& pod,
                                    const scenarios::NodeGroupFile& group);

// False when the group's own labels contradict the selector, or lack one that only files could set.
bool may_select(const scenarios::PodFile& pod, const scenarios::NodeGroupFile& group);

// Both of these.
bool may_run_on(const scenarios::PodFile& pod, const scenarios::NodeGroupFile& group);

}  // namespace slicewise::sim::lint
