#include "slicewise/sim/device/memory_ledger.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

TEST(MemoryLedger, AllocationThatDoesNotFitFailsThatProcessOnly) {
  MemoryLedger ledger(4, gibibytes(16), mebibytes(300), mebibytes(1'050));
  EXPECT_EQ(ledger.open(0, {gibibytes(10), false, 1, {}}), gibibytes(10) + mebibytes(300));
  EXPECT_EQ(ledger.open(1, {gibibytes(6), false, 1, {}}), std::nullopt);
  EXPECT_EQ(ledger.held_by(1), Bytes{});
  EXPECT_EQ(ledger.used(), gibibytes(10) + mebibytes(300));
  EXPECT_TRUE(ledger.open(2, {gibibytes(5), false, 1, {}}).has_value());
  ledger.close(0);
  ledger.close(0);  // no effect when it holds nothing
  EXPECT_EQ(ledger.used(), gibibytes(5) + mebibytes(300));
  EXPECT_EQ(ledger.peak(), gibibytes(15) + mebibytes(600));
}

TEST(MemoryLedger, ExactFitIsAFit) {
  MemoryLedger ledger(2, gibibytes(2), gibibytes(1), mebibytes(1'050));
  EXPECT_FALSE(ledger.open(0, {gibibytes(1) + Bytes{1}, false, 1, {}}).has_value());
  EXPECT_TRUE(ledger.open(0, {gibibytes(1), false, 1, {}}).has_value());
  EXPECT_FALSE(ledger.open(1, {Bytes{0}, false, 1, {}}).has_value());
}

// TensorFlow on a V100: 16,000 MiB usable, 300 MiB of context, 1,050 MiB stay free. The next
// process needs its own context first, so 750 MiB are all it can get.
TEST(MemoryLedger, GreedyProcessLeavesTheReserveOfItsGpu) {
  MemoryLedger ledger(3, mebibytes(16'000), mebibytes(300), mebibytes(1'050));
  EXPECT_EQ(ledger.open(0, {mebibytes(800), true, 1, {}}), mebibytes(16'000 - 1'050));
  EXPECT_EQ(ledger.open(1, {mebibytes(800), true, 1, {}}), std::nullopt);
  EXPECT_TRUE(ledger.open(1, {mebibytes(750), false, 1, {}}).has_value());
}

// With less than 2 GiB free TensorFlow leaves 225 MiB; a need that is larger than what it would map
// comes first.
TEST(MemoryLedger, GreedyReserveIsSmallOnASmallGpuAndYieldsToNeed) {
  MemoryLedger ledger(1, mebibytes(2'000), mebibytes(100), mebibytes(1'050));
  EXPECT_EQ(ledger.open(0, {mebibytes(500), true, 1, {}}), mebibytes(2'000 - 225));
  ledger.close(0);
  EXPECT_EQ(ledger.open(0, {mebibytes(1'850), true, 1, {}}), mebibytes(1'950));
}

// It starts with the first client and goes with the last.
TEST(MemoryLedger, AServerIsThereWhileSomebodyIs) {
  MemoryLedger ledger(1, mebibytes(2'000), mebibytes(100), mebibytes(1'050), mebibytes(30));
  EXPECT_EQ(ledger.used(), Bytes{});
  EXPECT_EQ(ledger.open(0, {mebibytes(1'900), false, 1, {}}), mebibytes(2'000));
  EXPECT_EQ(ledger.used(), mebibytes(2'030));
  ledger.close(0);
  EXPECT_EQ(ledger.used(), Bytes{});
  EXPECT_EQ(ledger.peak(), mebibytes(2'030));
}

// Two vLLM of half of the memory each: the context of the second is in its share's way.
TEST(MemoryLedger, WhatAProcessMustFindFreeItDoesNotTake) {
  MemoryLedger ledger(2, gibibytes(16), gibibytes(1), {});
  EXPECT_EQ(ledger.open(0, {gibibytes(7), false, 1, {}, gibibytes(1)}), gibibytes(8));
  EXPECT_FALSE(ledger.open(1, {gibibytes(7), false, 1, {}, gibibytes(1)}).has_value());
  EXPECT_FALSE(ledger.open(1, {gibibytes(6), false, 1, gibibytes(7), gibibytes(1)}).has_value());
  EXPECT_EQ(ledger.open(1, {gibibytes(6), false, 1, {}, gibibytes(1)}), gibibytes(7));
}

TEST(MemoryLedger, HugeNeedsDoNotOverflow) {
  MemoryLedger ledger(1, gibibytes(80), mebibytes(300), mebibytes(1'536));
  EXPECT_FALSE(
      ledger.open(0, {{std::numeric_limits<std::int64_t>::max()}, true, 1, {}}).has_value());
}

// MPS: 4 clients of 2,340 MiB each on a T4 in 7 replicas. A process that passes its limit dies with
// room to spare; a greedy one stops at the limit; a pod of two processes has the limit twice.
TEST(MemoryLedger, ALimitHoldsEachProcess) {
  MemoryLedger ledger(4, mebibytes(15'000), mebibytes(100), mebibytes(1'050));
  const Bytes limit = mebibytes(2'340);
  EXPECT_EQ(ledger.open(0, {mebibytes(2'241), false, 1, limit}), std::nullopt);
  EXPECT_EQ(ledger.open(0, {mebibytes(2'240), false, 1, limit}), limit);
  EXPECT_EQ(ledger.open(1, {mebibytes(500), true, 1, limit}), limit);
  EXPECT_EQ(ledger.open(2, {mebibytes(2'240), false, 2, limit}), limit + limit);
  EXPECT_EQ(ledger.open(3, {mebibytes(2'240), false, 3, limit}), std::nullopt);
  EXPECT_EQ(ledger.used(), mebibytes(std::int64_t{4} * 2'340));
}

}  // namespace
}  // namespace slicewise::sim
