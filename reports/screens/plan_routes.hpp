#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

// Which of NVIDIA's device plugin and DRA driver sets an option up, in words.
namespace slicewise::reports {

// "Set up by: the device plugin; not NVIDIA's DRA driver: ..."; "" where nobody looked.
std::string route_sentence(const sim::PlanOption& option);
// "#2: the device plugin, ...", one for each ranked option.
std::vector<std::string> route_lines(const sim::Plan& plan);

}  // namespace slicewise::reports
