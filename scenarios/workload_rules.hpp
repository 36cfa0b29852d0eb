#pragma once

#include "slicewise/scenarios/scenario.hpp"

#include "document.hpp"
#include "findings.hpp"

namespace slicewise::scenarios {

// Settings of a workload that contradict its kind or each other, and figures that its kind needs.
void check_workload(const Node& node, const Workload& workload, Findings& findings);

// The log-normal law with this median and 99th percentile. Requires: 0 < p50 < p99.
ServiceTime log_normal(Duration p50, Duration p99);

}  // namespace slicewise::scenarios
