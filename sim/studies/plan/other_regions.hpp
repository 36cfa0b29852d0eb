#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

// What the options of a plan cost in other regions: the same nodes do the same there.
namespace slicewise::sim {

// Each once, without the scenario's own; "all": of the price book. Unknown ones are added to
// `found`.
std::vector<std::string> regions_named(const std::vector<std::string>& names,
                                       const scenarios::Scenario& base,
                                       const models::Catalogue& catalogue, Diagnostics& found);

// Of the options the cheapest in each region.
std::vector<PlannedRegion> other_regions(const std::vector<std::string>& regions,
                                         const std::vector<PlanOption>& options,
                                         const scenarios::Scenario& base,
                                         const models::Catalogue& catalogue);

}  // namespace slicewise::sim
