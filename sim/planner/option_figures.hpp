#pragma once

#include "slicewise/sim/plan.hpp"
#include "slicewise/sim/world.hpp"

namespace slicewise::sim {

OptionFigures figures_of(const World& world, const VariantResult& result);

}  // namespace slicewise::sim
