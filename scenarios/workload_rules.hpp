#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "document.hpp"
#include "findings.hpp"

namespace slicewise::scenarios {

// Settings of a workload that contradict its kind or each other, and figures that its kind needs.
void check_workload(const Node& node, const Workload& workload, Findings& findings);

// The same for a Service.
void check_service(const Node& node, const Workload& workload, Findings& findings);

}  // namespace slicewise::scenarios
