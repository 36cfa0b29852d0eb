#pragma once

#include "slicewise/sim/neighbours.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// One row per figure of a workload, one column per neighbour and one for all of them together.
Cells neighbours_cells(const sim::NeighbourMatrix& matrix, const TextStyle& style);

}  // namespace slicewise::reports
