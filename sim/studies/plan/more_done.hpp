#pragma once

#include "block_search.hpp"

namespace slicewise::sim {

// The option with other ways to share the GPUs of its pools, where that costs no more and ranks
// before it: pools were searched for the first way that stands, and the work in them that has no
// objective may get more done with another.
void get_more_done(const BlockSearch& search, PlanOption& option);

}  // namespace slicewise::sim
