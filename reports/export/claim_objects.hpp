#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

// Objects of resource.k8s.io/v1 for the claims that a scenario has.
namespace slicewise::reports {

// The name of NVIDIA's DRA driver, and of the class of its whole GPUs.
using scenarios::kDraDriver;

// Whether pods of the scenario claim devices of the DRA driver.
bool claims_devices(const scenarios::Scenario& scenario);

// Of a claim or DeviceClass: how the driver shares its devices.
nlohmann::json driver_config(const scenarios::ClaimSharing& sharing, bool is_mig);

// `spec`: devices of a class, and whatever else their request says.
nlohmann::json claim_object(const std::string& name, const std::string& space, bool is_template,
                            nlohmann::json spec);
nlohmann::json claim_spec(const std::string& device_class, std::int64_t count,
                          const std::vector<std::string>& selectors);

// That selects by an expression in CEL.
nlohmann::json cel_selector(const std::string& expression);

// The claims that pods name, as YAML documents. EXPORT_UNFIT for those
// that pods of several namespaces name.
Expected<std::string> claim_documents(const scenarios::Scenario& scenario);

}  // namespace slicewise::reports
