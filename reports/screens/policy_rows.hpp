#pragma once

#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"
#include "result_workload_rows.hpp"

// Policies of a scenario: whether they hold, and the figures that they saw.
namespace slicewise::reports {

std::vector<Column> policy_columns();
Rows policy_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

}  // namespace slicewise::reports
