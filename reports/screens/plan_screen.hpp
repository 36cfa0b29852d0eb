#pragma once

#include "slicewise/sim/plan.hpp"

#include "screen.hpp"

// What the screen of a plan has in common with its page.
namespace slicewise::reports {

// More and more pods on a GPU; empty without a curve.
Cells replicas_cells(const sim::Plan& plan, const TextStyle& style);

}  // namespace slicewise::reports
