#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/comparison.hpp"

#include "../text/text_table.hpp"

// The tables of a comparison as columns and cells, for text and Markdown.
namespace slicewise::reports {

// One row per option. Columns that no option has anything for are left out; `wide` adds what
// isolates the pods of the option.
Cells option_cells(const sim::StrategyComparison& comparison, const TextStyle& style, bool wide);

// One row per strategy.
Cells isolation_cells();

}  // namespace slicewise::reports
