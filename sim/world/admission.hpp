#pragma once

#include <span>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::sim {

// The first taint that keeps pods with these tolerations off a node; nullptr when they may run
// there. PreferNoSchedule keeps nobody off.
const scenarios::Taint* untolerated(std::span<const scenarios::Taint> taints,
                                    std::span<const scenarios::Toleration> tolerations);

}  // namespace slicewise::sim
