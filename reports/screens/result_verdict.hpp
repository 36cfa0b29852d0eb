#pragma once

#include <string>

#include "slicewise/sim/result.hpp"

namespace slicewise::reports {

// What the result says to somebody who reads one sentence only: which variant does the work for
// the least money, and by how much against the first one. Variants that miss an objective cannot
// win.
std::string verdict(const sim::Result& result);

}  // namespace slicewise::reports
