#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../fields/node_values.hpp"
#include "blocks.hpp"

// spec.resourceClaims: what pods claim of NVIDIA's DRA driver. Source of `sharing`:
// sigs.k8s.io/dra-driver-nvidia-gpu v0.4.1, api/nvidia.com/resource/v1beta1/sharing.go.
namespace slicewise::scenarios {
namespace {

using T = FieldType;
using Strategy = ClaimSharing::Strategy;

constexpr Word kClaimKinds[] = {{"ResourceClaim", false}, {"ResourceClaimTemplate", true}};
constexpr Word kStrategies[] = {{"TimeSlicing", Strategy::TimeSlicing}, {"MPS", Strategy::Mps}};
constexpr Word kIntervals[] = {{"Default", TurnInterval::Default},
                               {"Short", TurnInterval::Short},
                               {"Medium", TurnInterval::Medium},
                               {"Long", TurnInterval::Long}};

void check_sharing(ClaimSharing& sharing, const Node& map, Reading& reading) {
  const bool is_mps = sharing.strategy == Strategy::Mps;
  const std::string_view other = is_mps ? "timeSlicingConfig" : "mpsConfig";
  if (!is_set(&map, other)) return;
  reading.findings.add(Code::SettingConflict, key_place(map, other),
                       fmt::format("{} under the strategy {}: the driver refuses the claim", other,
                                   is_mps ? "MPS" : "TimeSlicing"),
                       "remove it, or take the other strategy");
}

void check_claim(ResourceClaim& claim, const Node& map, Reading& reading) {
  for (const Located<std::string>& selector : claim.selectors) {
    const auto problem = selector_problem(selector.value);
    if (!problem) continue;
    reading.findings.add(Code::DraSelector, selector.where, problem->message, problem->help);
  }
  if (claim.is_template || claim.count == 1) return;
  reading.findings.add(Code::StrategyNotModelled, value_place(map, "count"),
                       "pods that share a claim of several devices are not simulated",
                       "count: 1, or kind: ResourceClaimTemplate, which gives each pod its own");
}

constexpr Field kTimeSlicingFields[] = {
    field<&ClaimSharing::interval>("interval", "Long",
                                   "How long the turns are. NVIDIA publishes no times: Short is "
                                   "half of the default, Medium twice and Long four times as long, "
                                   "Assumed; nodePools.gpu.timeSlice says what you measured.")
        .one_of(kIntervals),
};
constexpr FieldList kTimeSlicing = block<ClaimSharing>(kTimeSlicingFields);

constexpr Field kMpsConfigFields[] = {
    field<&ClaimSharing::active_threads>("defaultActiveThreadPercentage", "25",
                                         "The most SMs that one client may use, in percent.")
        .between(1, 100)
        .otherwise("100"),
    field<&ClaimSharing::memory_limit>("defaultPinnedDeviceMemoryLimit", "5Gi",
                                       "GPU memory that one client may have.")
        .positive()
        .otherwise("no limit"),
    plain(T::Refused, "defaultPerDevicePinnedMemoryLimit", "",
          "limits by index or UUID are of one device: write defaultPinnedDeviceMemoryLimit"),
};
constexpr FieldList kMpsConfig = block<ClaimSharing>(kMpsConfigFields);

constexpr Field kClaimSharingFields[] = {
    field<&ClaimSharing::strategy>("strategy", "TimeSlicing", "How pods of the claim share.")
        .needed()
        .one_of(kStrategies),
    inner("timeSlicingConfig", "{interval: Long}", "Settings of TimeSlicing.").of(kTimeSlicing),
    inner("mpsConfig", "{defaultActiveThreadPercentage: 25}", "Settings of MPS.").of(kMpsConfig),
};
constexpr FieldList kClaimSharing = block<ClaimSharing, &check_sharing>(kClaimSharingFields);

constexpr Field kClaimFields[] = {
    field<&ResourceClaim::name>("name", "asr-gpu", "What podTemplate.resourceClaim calls it.")
        .as(T::Name)
        .needed(),
    field<&ResourceClaim::is_template>(
        "kind", "ResourceClaimTemplate",
        "ResourceClaim: the pods that name it share one device, on one node, from the first to the "
        "last. ResourceClaimTemplate: each has devices of its own.")
        .one_of(kClaimKinds),
    field<&ResourceClaim::count>("count", "2", "Devices of each pod (ResourceClaimTemplate).")
        .between(1, 64),
    field<&ResourceClaim::selectors>(
        "selectors", "[\"device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A10G'\"]",
        "Which devices, in CEL; all have to hold. Of the attributes type, productName, "
        "architecture, cudaComputeCapability and profile, of the capacities memory.")
        .otherwise("whole GPUs and MIG devices, whichever the pool has"),
    field<&ResourceClaim::sharing>("sharing",
                                   "{strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                                   "GpuConfig.sharing of the driver, pasted as it is.")
        .of(kClaimSharing)
        .otherwise("turns of the default length"),
};

void check_names(const Scenario& scenario, const std::vector<std::string>& names,
                 Findings& findings) {
  for (const Workload& workload : scenario.workloads) {
    const Located<std::string>& claim = workload.pod.claim;
    if (claim.value.empty()) continue;
    if (std::ranges::find(names, claim.value) == names.end()) {
      const auto near = nearest_name(claim.value, names);
      findings.add(Code::DraClaimUnknown, claim.where,
                   fmt::format("spec.resourceClaims has no \"{}\"", claim.value),
                   near ? fmt::format("did you mean {}?", *near) : "add it there");
    }
    if (!workload.pod.extended.empty()) {
      findings.add(Code::SettingConflict, claim.where,
                   fmt::format("a claim beside {}", workload.pod.extended.front().name.value),
                   "a pod has its GPU of the DRA driver or of the device plugin: keep one");
    }
    if (workload.trace) {
      findings.add(Code::StrategyNotModelled, claim.where,
                   "recorded jobs by claim are not simulated", "let them ask for nvidia.com/gpu");
    }
  }
}

}  // namespace

constinit const FieldList kResourceClaim = block<ResourceClaim, &check_claim>(kClaimFields);

void check_claims(const Scenario& scenario, const Node& spec, Findings& findings) {
  std::vector<std::string> names;
  for (const ResourceClaim& claim : scenario.claims) names.push_back(claim.name.value);
  check_names(scenario, names, findings);
  const bool any = std::ranges::any_of(scenario.workloads, [](const Workload& workload) {
    return workload.count > 0 && !workload.pod.claim.value.empty();
  });
  if (any && (scenario.pod_queue != PodQueue::Backfill || !scenario.placement.empty())) {
    findings.add(
        Code::StrategyNotModelled, key_place(spec, "scheduler"),
        "claims of DRA under another queue or placement than kube-scheduler's are not simulated",
        "leave scheduler.queue and scheduler.placement out");
  }
}

}  // namespace slicewise::scenarios
