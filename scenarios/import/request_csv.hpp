#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Imported requests as the CSV file that a traffic of shape Trace reads; "" for anything else.
std::string request_csv(const Imported& imported);

}  // namespace slicewise::scenarios
