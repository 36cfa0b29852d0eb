#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "plugin_config.hpp"
#include "pool_targets.hpp"

// Who claims which devices of NVIDIA's DRA driver, so that pods share GPUs as they were simulated
// to share them under the device plugin.
namespace slicewise::reports {

// What the pods of a workload get by a claim.
struct ClaimedDevice {
  const scenarios::Workload* workload;
  const PoolTarget* target;
  std::int64_t count = 1;                   // devices of a pod
  const scenarios::PluginSharing* sharing;  // nullptr: to itself
  int replicas = 1;                         // pods of one claim
  const MigDevices* mig = nullptr;          // nullptr: whole GPUs
};

// One device, and how many pods of whom share it.
struct SharedClaim {
  std::vector<std::pair<const ClaimedDevice*, int>> pods;
};

struct DraPlan {
  std::vector<ClaimedDevice> devices;
  std::vector<std::vector<SharedClaim>> shared;  // those of one DeviceClass each
};

bool uses_mps(const PoolTarget& target);

// Of the devices that are shared: "t4", "a100.1g.5gb".
std::string shared_name(const ClaimedDevice& device);
// Of the ResourceClaimTemplate of a workload with devices to itself.
std::string template_name(const ClaimedDevice& device);
// Of the nth claim: "asr-gpu" where the pods of one workload share, else by the pool.
std::string claim_name(const std::vector<SharedClaim>& claims, std::size_t n);

// `targets` outlives what is returned. EXPORT_UNFIT for what claims cannot give, all at once.
Expected<DraPlan> plan_claims(const scenarios::Scenario& scenario,
                              const std::vector<PoolTarget>& targets);

// Objects of resource.k8s.io/v1 for the claims that a scenario has.

// The name of NVIDIA's DRA driver, and of the class of its whole GPUs.
using scenarios::kDraDriver;

// Whether pods of the scenario claim devices of the DRA driver.
bool claims_devices(const scenarios::Scenario& scenario);

// Whether the driver makes MIG devices for claims (gate DynamicMIG, which excludes MPSSupport).
bool makes_mig_devices(const scenarios::Scenario& scenario);

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
