#pragma once

#include <vector>

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

OptionFigures figures_of(const World& world, const VariantResult& result);

// Notes which policies fail, instead of those that were noted before.
void add_policies(const std::vector<PolicyResult>& policies, OptionFigures& figures);

}  // namespace slicewise::sim
