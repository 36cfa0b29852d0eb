#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/comparison.hpp"

// What a comparison says in words, the same in text and Markdown.
namespace slicewise::reports {

// "4 x g5.xlarge", "3 + 1 unshared x g5.12xlarge".
std::string nodes_text(const sim::PoolChoice& choice);

// What useful work is counted in: jobs, requests in SLO, or hours of work where both or neither do.
enum class WorkKind : std::uint8_t { Jobs, Requests, Mixed };
WorkKind work_of(const sim::VariantResult& result);

// "time-slicing", "MIG + MPS".
std::string strategy_title(sim::Strategy strategy);
// "MPS x4 uncapped", "MIG 7x1g.5gb", "MIG 3x2g.10gb + TS x2".
std::string configuration_title(const sim::PoolChoice& configuration);

// The same of an option: "yours: MIG one-gpu-for-large" for the scenario as it stands.
std::string option_title(const sim::ComparedOption& option);
sim::Isolation isolation_of(const sim::ComparedOption& option);
// "54 pods"; "28 pods (mean of 5 runs)" where how many are submitted differs from run to run.
std::string pods_text(const sim::VariantResult& result);

// What the isolation of a strategy means for a pod with neighbours; at most 38 characters.
std::string_view isolation_meaning(sim::Strategy strategy);

// "best", "ok", "not stock", "p99 missed", "2 failed", "forced, ok".
std::string verdict_of(const sim::ComparedOption& option);

// "aws-cifar10, variant before (of 4, see --variant): 5 pods under every way of sharing".
std::string comparison_heading(const sim::StrategyComparison& comparison);
// The recommendation, and the cheapest option with isolation in hardware when that is another one.
// Nothing for a comparison that was cut short.
std::vector<std::string> recommendation_lines(const sim::StrategyComparison& comparison);

// Options that are refused for one reason.
struct RefusalGroup {
  std::string instances;   // "g4dn.xlarge, g5.xlarge"
  std::string strategies;  // "MIG, MIG + MPS"
  std::string reason;      // "MIG_UNSUPPORTED: ..."
};
std::vector<RefusalGroup> refusal_groups(const sim::StrategyComparison& comparison);

}  // namespace slicewise::reports
