#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/result.hpp"

// Nodes that come and go, in words.
namespace slicewise::reports {

bool has_node_dynamics(const sim::VariantResult& variant);

// A sentence for each pool whose nodes come and go, and one for the way of pods that waited for a
// node. Empty where there are none.
std::vector<std::string> node_sentences(const sim::VariantResult& variant);

}  // namespace slicewise::reports
