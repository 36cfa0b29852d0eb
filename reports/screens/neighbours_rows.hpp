#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/neighbours.hpp"

#include "comparison_columns.hpp"

// The cells and sentences that the table and the Markdown of a neighbour matrix share.
namespace slicewise::reports {

std::string neighbours_heading(const sim::NeighbourMatrix& matrix);
// One row per figure of a workload, one column per neighbour and one for all of them together.
Cells neighbours_cells(const sim::NeighbourMatrix& matrix, const TextStyle& style);
// Who is hit hardest, and by whom; "" when nothing was observed.
std::string worst_neighbour(const sim::NeighbourMatrix& matrix);
// How to read it and what it leaves out, one sentence each.
std::vector<std::string> neighbours_notes(const sim::NeighbourMatrix& matrix, bool full);
std::string neighbours_origin(const sim::NeighbourMatrix& matrix, const TextStyle& style);

}  // namespace slicewise::reports
