#pragma once

#include <string>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/neighbours.hpp"

// Who slows whom down, in each of the formats of `slicewise neighbours -o`. Pure functions: same
// matrix, same bytes.
namespace slicewise::reports {

// Rows suffer, columns cause; `wide` keeps the columns that do not fit.
std::string neighbours_table(const sim::NeighbourMatrix& matrix, const TextStyle& style, bool wide);
// slicewise.dev/neighbours.v1alpha1, sorted keys, SI units in the keys, absent fields left out.
std::string neighbours_json(const sim::NeighbourMatrix& matrix);
std::string neighbours_yaml(const sim::NeighbourMatrix& matrix);
// One row per figure and neighbour, the last of each figure beside all others (RFC 4180, header
// first).
std::string neighbours_csv(const sim::NeighbourMatrix& matrix);
// GitHub-flavoured.
std::string neighbours_markdown(const sim::NeighbourMatrix& matrix);

// The JSON Schema (draft-07) that neighbours_json obeys.
std::string neighbours_schema_json();

}  // namespace slicewise::reports
