#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

#include "../text/text_table.hpp"

namespace slicewise::reports {

struct CostPart {
  std::string name;    // "useful"
  std::string amount;  // "10.90", without the dollar sign
  std::string share;   // "89%"
};

// The parts of the ledger that are not zero, rounded so that the amounts printed add up to the
// total as printed: a reader who adds them up with a calculator must not find a cent missing.
struct CostSplit {
  std::string total;  // "12.24"
  std::vector<CostPart> parts;
};

CostSplit cost_split(const sim::CostLedger& ledger);

// Money in whole steps of so many decimals.
struct MoneySteps {
  explicit MoneySteps(int of_decimals);
  std::string text(std::int64_t steps) const;  // "1,632.40", without the dollar sign
  std::int64_t nearest(Usd amount) const { return (amount.nano + step / 2) / step; }
  // Of parts that make up `total`: they add up to its steps. None is negative.
  std::vector<std::int64_t> of_parts(const std::vector<Usd>& parts, Usd total) const;

  int decimals;
  std::int64_t step;  // in nano-dollars
};

// "$12.24 = useful 10.90 (89%) + idle 0.15 (1%) + ..."
std::string cost_equation(const sim::CostLedger& ledger);

// Who pays what of the bill of a variant: a row for each workload, or for each group of them.

// Amounts as printed add up: in each row to what it pays, in each column to the bill.
std::vector<Column> bill_columns(const std::string& group_by);
Rows bill_cells(const sim::VariantResult& variant, const TextStyle& style, bool every);

// What is split, and by which rule; and the rule alone, where variants stand side by side.
std::string bill_sentence(const sim::BillSplit& split);
std::string bill_rule(const sim::BillSplit& split);

}  // namespace slicewise::reports
