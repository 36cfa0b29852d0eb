#include "../../reports/screens/result_cost.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "../../reports/screens/result_figures.hpp"
#include "result_samples.hpp"

namespace slicewise::reports {
namespace {

std::int64_t nano_dollars(std::string text) {
  std::erase(text, ',');
  return std::llround(std::stod(text) * 1e9);
}

// Whatever the ledger holds, the printed parts sum to the printed total: 300 ledgers whose parts
// are multiples of numbers that no power of ten divides.
TEST(CostSplit, PrintedPartsAddUpToThePrintedTotal) {
  for (std::int64_t k = 1; k <= 300; ++k) {
    sim::CostLedger ledger;
    ledger.useful = Usd{k * 71'333'337};
    ledger.idle = Usd{k * k * 1'777'771};
    ledger.switching = Usd{k * 4'444'447};
    ledger.failed = Usd{k % 3 == 0 ? k * 123'457 : 0};
    ledger.cold_start = Usd{k};
    ledger.total =
        ledger.useful + ledger.idle + ledger.switching + ledger.failed + ledger.cold_start;
    const CostSplit split = cost_split(ledger);
    std::int64_t sum = 0;
    for (const CostPart& part : split.parts) sum += nano_dollars(part.amount);
    ASSERT_EQ(sum, nano_dollars(split.total)) << "k = " << k;
    ASSERT_EQ("$" + split.total, money_text(ledger.total)) << "k = " << k;
  }
}

TEST(CostSplit, LeavesOutPartsThatAreZero) {
  EXPECT_EQ(cost_equation(samples::before().cost.ledger),
            "$12.24 = useful 2.91 (24%) + idle 9.30 (76%) + cold start 0.03 (<1%)");
}

TEST(CostSplit, ThousandsHaveSeparatorsAndNoCents) {
  sim::CostLedger ledger;
  ledger.useful = from_dollars(7516.4);
  ledger.idle = from_dollars(99999.76);
  ledger.total = ledger.useful + ledger.idle;
  EXPECT_EQ(cost_equation(ledger), "$107,516 = useful 7,516 (7%) + idle 100,000 (93%)");
}

TEST(CostSplit, AnEmptyLedgerIsZeroDollars) { EXPECT_EQ(cost_equation({}), "$0.00"); }

}  // namespace
}  // namespace slicewise::reports
