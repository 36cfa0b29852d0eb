#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/max_load.hpp"

// The highest load that meets the objectives, in each of the formats of `slicewise max-load -o`.
// Pure functions: same answer, same bytes.
namespace slicewise::reports {

// The loads that pass and fail, the objectives at both, and what the answer rests on; `wide` adds
// every probe and keeps the columns that do not fit.
std::string max_load_table(const sim::MaxLoad& found, const TextStyle& style, bool wide);
// slicewise.dev/max-load.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string max_load_json(const sim::MaxLoad& found);
std::string max_load_yaml(const sim::MaxLoad& found);
// One row per load that was scaled (RFC 4180, header first).
std::string max_load_csv(const sim::MaxLoad& found);
// GitHub-flavoured.
std::string max_load_markdown(const sim::MaxLoad& found);

// The JSON Schema (draft-07) that max_load_json obeys.
std::string max_load_schema_json();

}  // namespace slicewise::reports
