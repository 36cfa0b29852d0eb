#pragma once

#include "slicewise/sim/neighbours.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// Who is hit hardest, by whom. "" where no two were measured.
std::string worst_neighbour(const sim::NeighbourMatrix& matrix);

}  // namespace slicewise::reports
