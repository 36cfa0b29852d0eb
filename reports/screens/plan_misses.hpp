#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

#include "../text/text_table.hpp"

namespace slicewise::reports {

// What a plan says where nothing that was tried stands: why, and what is nearest.
std::vector<std::string> nothing_stands(const sim::Plan& plan, const TextStyle& style);

// What another number of pods would do, and other nodes for some of them.
std::vector<std::string> otherwise_sentences(const sim::Plan& plan);

}  // namespace slicewise::reports
