#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/sensitivity.hpp"

// What each input does to the results, in each of the formats of `slicewise sensitivity -o`. Pure
// functions: same study, same bytes.
namespace slicewise::reports {

// A tornado for each figure, what flips an objective, the break-evens and what the answer rests on.
// `wide` shows every input of every figure, and the columns that do not fit.
std::string sensitivity_table(const sim::SensitivityStudy& study, const TextStyle& style,
                              bool wide);
// slicewise.dev/sensitivity.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string sensitivity_json(const sim::SensitivityStudy& study);
std::string sensitivity_yaml(const sim::SensitivityStudy& study);
// One row per input, end and figure (RFC 4180, header first).
std::string sensitivity_csv(const sim::SensitivityStudy& study);
// GitHub-flavoured.
std::string sensitivity_markdown(const sim::SensitivityStudy& study);

// The JSON Schema (draft-07) that sensitivity_json obeys.
std::string sensitivity_schema_json();

}  // namespace slicewise::reports
