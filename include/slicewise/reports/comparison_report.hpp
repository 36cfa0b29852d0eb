#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/comparison.hpp"

// One comparison of strategies in each of the formats of `slicewise compare -o`. Pure functions:
// same comparison, same bytes.
namespace slicewise::reports {

// The options side by side, what isolates neighbours, and what was refused and why; `wide` keeps
// the columns that do not fit and adds the warnings of each option.
std::string comparison_table(const sim::StrategyComparison& comparison, const TextStyle& style,
                             bool wide);
// slicewise.dev/comparison.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string comparison_json(const sim::StrategyComparison& comparison);
std::string comparison_yaml(const sim::StrategyComparison& comparison);
// One row per option and workload, then one per refused option (RFC 4180, header first).
std::string comparison_csv(const sim::StrategyComparison& comparison);
// GitHub-flavoured.
std::string comparison_markdown(const sim::StrategyComparison& comparison);

// The JSON Schema (draft-07) that comparison_json obeys.
std::string comparison_schema_json();

}  // namespace slicewise::reports
