#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/validation.hpp"

// What `slicewise validate` shows. Pure functions: same result, same bytes.
namespace slicewise::reports {

// One line per study, then what was fitted on what and where the models are worst, by name; `wide`
// keeps the columns that do not fit.
std::string validation_table(const sim::ValidationResult& result, const TextStyle& style,
                             bool wide);
// slicewise.dev/validation.v1alpha1, sorted keys, percentages in percent; without the points.
std::string validation_json(const sim::ValidationResult& result);
// One row per point (RFC 4180, header first).
std::string validation_csv(const sim::ValidationResult& result);
// GitHub-flavoured.
std::string validation_markdown(const sim::ValidationResult& result);

// Predicted against measured as SVG: log-log, with the line on which both are equal and a band of
// +-10 % around it. All studies on a page, or one study.
std::string validation_chart(const sim::ValidationResult& result);
std::string study_chart(const sim::StudyResult& study);

}  // namespace slicewise::reports
