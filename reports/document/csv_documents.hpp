#pragma once

#include <string>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result.hpp"

// What a verb found as CSV: which part of its document is a row.
namespace slicewise::reports {

std::string csv_of(const sim::Result& result);
std::string csv_of(const sim::Plan& plan);
std::string csv_of(const sim::StrategyComparison& comparison);
std::string csv_of(const sim::MaxLoad& found);
std::string csv_of(const sim::NeighbourMatrix& matrix);
std::string csv_of(const sim::SensitivityStudy& study);
std::string csv_of(const sim::ReplayStudy& study);
std::string csv_of(const sim::InflationStudy& study);
std::string csv_of(const sim::ValidationResult& result);

}  // namespace slicewise::reports
