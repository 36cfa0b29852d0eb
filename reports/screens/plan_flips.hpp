#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

// At which changes of its inputs the answer of a plan is another one, in sentences.
namespace slicewise::reports {

// The flips, the measurement that tells the most about them, and what the second option bears.
std::vector<std::string> what_it_hangs_on(const sim::Plan& plan);

}  // namespace slicewise::reports
