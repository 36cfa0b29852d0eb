#pragma once

#include "slicewise/sim/neighbours.hpp"

#include "screen.hpp"

namespace slicewise::reports {

// Who is hit hardest, by whom. "" where no two were measured.
std::string worst_neighbour(const sim::NeighbourMatrix& matrix);
// One row per figure of a workload, one column per neighbour and one for all of them together, and
// that sentence.
Screen neighbours_screen(const sim::NeighbourMatrix& matrix, const TextStyle& style, Detail detail);

}  // namespace slicewise::reports
