#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "text_table.hpp"

// The blocks of a variant with a row for each workload, and for each of its objectives.
namespace slicewise::reports {

using Rows = std::vector<std::vector<std::string>>;

std::vector<Column> objective_columns();
std::vector<Column> workload_columns();

// A variant of many workloads shows a dozen of them unless `every`: those that miss an objective
// or did nothing first, then the first ones, in the order of the scenario.
Rows objective_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);
Rows workload_rows(const sim::VariantResult& variant, const TextStyle& style, bool every);

// "and 42 more workloads, without a missed objective (-o wide)"; "" when none is left out.
std::string workloads_left_out(const sim::VariantResult& variant, bool every);

}  // namespace slicewise::reports
