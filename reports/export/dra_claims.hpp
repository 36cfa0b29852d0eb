#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace slicewise::reports
