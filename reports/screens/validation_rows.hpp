#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/validation.hpp"

#include "../text/text_table.hpp"

// What the table and the Markdown page of `slicewise validate` have in common.
namespace slicewise::reports {

std::vector<Column> validation_columns();
std::vector<std::string> validation_cells(const sim::StudyResult& study);

inline constexpr std::size_t kWeakestShown = 3;

// "gnn 6.0 % of 11 rows, resnet 4.5 % of 12 rows": the workloads with the largest errors.
std::string weakest_workloads(const sim::StudyResult& study, std::size_t most);
// "gnn, b128, 3g.20gb: 9.8 %"
std::string worst_row(const sim::StudyResult& study);
// "MISO, A100-SXM4-40GB, github:...; read 2026-11: ..."
std::string source_line(const sim::StudyResult& study);
// "1 of 2 studies within their bounds (all but gnn); 1 above target (gnn); 0 worse than a naive
// rule."
std::string bounds_line(const sim::ValidationResult& result);
// "3 studies need measurements that may not be redistributed (...): --pairs FILE."; empty when
// every study that was asked for was run.
std::string pairs_line(const sim::ValidationResult& result);
// How to read the columns, one paragraph each.
std::vector<std::string> validation_notes();

std::string percent_cell(double percent);

}  // namespace slicewise::reports
