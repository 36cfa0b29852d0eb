#pragma once

#include <optional>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/scenarios/policy.hpp"
#include "slicewise/sim/result.hpp"

// The policies of a scenario held against what was found.
namespace slicewise::sim {

// One result per policy, in order. A figure that `result` does not have makes the verdict Unknown,
// unless the other side of an `and` or `or` decides without it: headroom outside of plans, a
// percentile of nothing, slo.pass without objectives. Of several node pools, `strategy == mig` and
// `instanceType == g5.xlarge` hold when they hold for all, `!=` when it holds for all, and
// isolation is that of the weakest. `headroom`: the load at which an objective breaks / the load,
// of a plan.
std::vector<PolicyResult> judge_policies(const std::vector<scenarios::Policy>& policies,
                                         const VariantResult& result,
                                         std::optional<double> headroom = std::nullopt);

// POLICY_FAILED for each that failed, POLICY_NOT_JUDGED for each of Deny and Require that no figure
// decides: an error where it denies, else a warning. REQUIRES: `judged` is what judge_policies()
// made of `policies`.
Diagnostics policy_findings(const std::vector<scenarios::Policy>& policies,
                            const std::vector<PolicyResult>& judged);

}  // namespace slicewise::sim
