#pragma once

#include <string>
#include <vector>

#include "block_search.hpp"

// What comes nearest to standing where nothing does.
namespace slicewise::sim {

// One sentence or none: an instance type that holds the pods where none that was tried does; else
// the limit of nodes or cost that was in the way of what could stand, and how far. No full stop.
// REQUIRES: plan.options.empty().
std::vector<std::string> nearest_to_standing(const BlockSearch& search,
                                             const std::vector<std::string>& workloads,
                                             const std::vector<RejectedChoice>& rejected);

}  // namespace slicewise::sim
