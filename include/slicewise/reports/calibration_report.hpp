#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/calibration.hpp"

// What `slicewise calibrate` says of a user's measurements.
namespace slicewise::reports {

// Every point with its residual, every figure with its interval, and what to measure next.
std::string calibration_table(const sim::FittedProfiles& fitted, const TextStyle& style);

// The profiles as a file for --catalogue: YAML, in the schema of models::catalogue_schema_json().
std::string profile_document(const sim::FittedProfiles& fitted);

}  // namespace slicewise::reports
