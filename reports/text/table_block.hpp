#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

#include "text_table.hpp"

namespace slicewise::reports {

// A table with an emphasised header and, below it, the columns that did not fit: "not shown: BUSY
// (-o wide)". `wide` drops none.
std::string table_block(const std::vector<Column>& columns,
                        const std::vector<std::vector<std::string>>& rows, const TextStyle& style,
                        bool wide);

// "not shown: BUSY (-o wide)" as a line; "" when nothing was dropped.
std::string dropped_line(const std::vector<std::string>& dropped, const TextStyle& style);

}  // namespace slicewise::reports
