#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"

namespace slicewise::reports {

// Rows of figure, value, unit and provenance. What nobody published stands there with the default
// that the simulation takes, marked Assumed.
std::vector<std::vector<std::string>> profile_figures(const models::WorkloadProfile& profile);

// What the simulation computes with: the figures above, defaults included.
models::ClientLaw law_of_profile(const models::WorkloadProfile& profile);

std::string milliseconds_cell(Duration time);  // four significant digits

}  // namespace slicewise::reports
