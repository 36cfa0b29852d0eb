#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

// One Result in each of the formats of `slicewise run -o`. Pure functions: same result, same bytes.
namespace slicewise::reports {

// The table a person reads; `wide` keeps the columns that do not fit and adds the per-GPU rows.
std::string result_table(const sim::Result& result, const TextStyle& style, bool wide);
// slicewise.dev/result.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string result_json(const sim::Result& result);
std::string result_yaml(const sim::Result& result);
// One row per variant and workload (RFC 4180, header first).
std::string result_csv(const sim::Result& result);
// GitHub-flavoured, at most 60,000 characters.
std::string result_markdown(const sim::Result& result);

// The JSON Schema (draft-07) that result_json obeys.
std::string result_schema_json();

}  // namespace slicewise::reports
