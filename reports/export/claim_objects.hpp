#pragma once

#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Objects of resource.k8s.io/v1 for the claims that a scenario has.
namespace slicewise::reports {

// The name of NVIDIA's DRA driver, and of the class of its whole GPUs.
using scenarios::kDraDriver;

// Whether pods of the scenario claim devices of the DRA driver.
bool claims_devices(const scenarios::Scenario& scenario);

// The claim that the workload's pods name; nullptr when they name none.
const scenarios::ResourceClaim* claim_of(const scenarios::Scenario& scenario,
                                         const scenarios::Workload& workload);

// The claims that pods name, as YAML documents. EXPORT_UNFIT for those
// that pods of several namespaces name.
Expected<std::string> claim_documents(const scenarios::Scenario& scenario);

}  // namespace slicewise::reports
