#pragma once

#include <string>

#include "slicewise/scenarios/scenario.hpp"

namespace slicewise::reports {

// Comment lines on what a server was simulated with and no field of Kubernetes says; "" nothing.
std::string server_remarks(const scenarios::Workload& workload);

}  // namespace slicewise::reports
