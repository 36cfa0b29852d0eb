#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slicewise/units.hpp"

namespace slicewise::reports::charts {

// Round times from zero to `length`, at most nine, with their names: {1800, "30m00s"}. REQUIRES:
// length > 0.
std::vector<std::pair<double, std::string>> time_ticks(Duration length);

}  // namespace slicewise::reports::charts
