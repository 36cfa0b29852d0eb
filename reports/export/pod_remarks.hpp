#pragma once

#include <string>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::reports {

// Comment lines on what no field of Kubernetes says of the pods: what a patch leaves to the
// manifest, and what their server was simulated with.
std::string pod_remarks(const scenarios::Scenario& scenario, const scenarios::Workload& workload);

// What is to be known of Kueue before Jobs are put in place that a cluster with queues holds.

// Of a scenario with ClusterQueues whose Jobs wait in none: the option of a plan, which knows no
// quotas.
bool is_without_its_quotas(const scenarios::Scenario& scenario);

// Why Kueue never admits these Jobs, whichever of the scenario's queues holds them; "": it may.
std::string never_admitted(const scenarios::Scenario& scenario,
                           const scenarios::Workload& workload);

// A paragraph on the quotas that hold for these Jobs; "" where there are none.
std::string quota_remark(const scenarios::Scenario& scenario, const scenarios::Workload& workload);

}  // namespace slicewise::reports
