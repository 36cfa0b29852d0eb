#include "../../reports/result_cost.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "result_samples.hpp"

namespace slicewise::reports {
namespace {

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
    for (const CostPart& part : split.parts) sum += std::llround(std::stod(part.amount) * 10'000);
    ASSERT_EQ(sum, std::llround(std::stod(split.total) * 10'000)) << "k = " << k;
  }
}

TEST(CostSplit, LeavesOutPartsThatAreZero) {
  EXPECT_EQ(cost_equation(samples::before().cost.ledger),
            "$12.24 = useful 2.91 (24%) + idle 9.30 (76%) + cold start 0.03 (<1%)");
}

TEST(CostSplit, AnEmptyLedgerIsZeroDollars) { EXPECT_EQ(cost_equation({}), "$0.0000"); }

}  // namespace
}  // namespace slicewise::reports
