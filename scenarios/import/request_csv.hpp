#pragma once

#include <string>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// Imported requests as the CSV file that a traffic of shape Trace reads, rates of clients as the
// one of shape Clients; "" for anything else.
std::string request_csv(const Imported& imported);

// Requests in binary, which shape Trace reads as well; "" for anything else.
std::string binary_requests(const Imported& imported);

}  // namespace slicewise::scenarios
