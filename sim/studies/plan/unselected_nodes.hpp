#pragma once

#include <optional>

#include "block_search.hpp"

// What it costs that pods select nodes.
namespace slicewise::sim {

// The cheapest plan without the nodeSelectors of labels that the scenario's pools have, where it
// costs less than `best`: a label that says of which pool or type a node is, or its architecture,
// is none of them. nullopt: there are none, it does not, or of so many workloads or requests nobody
// looked.
std::optional<UnselectedNodes> without_selectors(const BlockSearch& search,
                                                 const std::optional<PlanOption>& best,
                                                 const RunOptions& run);

}  // namespace slicewise::sim
