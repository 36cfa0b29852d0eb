#pragma once

#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"

// Who pays what of the bill of a variant: a row for each workload, or for each group of them.
namespace slicewise::reports {

// Amounts as printed add up: in each row to what it pays, in each column to the bill.
struct BillRow {
  std::string name;
  std::string held;    // "1.20", without the dollar sign
  std::string shared;  // idle and switching
  std::string total;
  std::string of_bill;  // "41%"
  sim::BillPart prices;
};

std::vector<Column> bill_columns(const std::string& group_by);
Rows bill_cells(const sim::VariantResult& variant, const TextStyle& style, bool every);

// What is split, and by which rule; and the rule alone, where variants stand side by side.
std::string bill_sentence(const sim::BillSplit& split);
std::string bill_rule(const sim::BillSplit& split);

}  // namespace slicewise::reports
