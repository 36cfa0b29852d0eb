#include "slicewise/sim/device/exclusive.hpp"

#include <gtest/gtest.h>

#include "run_next.hpp"

namespace slicewise::sim {
namespace {

TEST(Exclusive, ServesWholeRequestsInOrderOfStart) {
  Exclusive gpu(3);
  gpu.advance({100});
  gpu.start(2, {50});
  gpu.start(0, {5});
  gpu.advance({120});
  gpu.start(1, {7});
  EXPECT_EQ(run_next(gpu, 2), 150);
  gpu.start(2, {1});  // behind 0 and 1
  EXPECT_EQ(run_next(gpu, 0), 155);
  EXPECT_EQ(run_next(gpu, 1), 162);
  EXPECT_EQ(run_next(gpu, 2), 163);
  EXPECT_EQ(gpu.next().at, kNever);
  gpu.advance({200});
  EXPECT_EQ(gpu.time().busy, Duration{63});
  EXPECT_EQ(gpu.time().idle, Duration{137});
  EXPECT_EQ(gpu.time().switching, Duration{});
  EXPECT_EQ(gpu.busy_of(2), Duration{51});
}

TEST(Exclusive, CancelStartsTheNextAtOnce) {
  Exclusive gpu(3);
  gpu.start(0, {50});
  gpu.start(1, {20});
  gpu.start(2, {30});
  gpu.advance({10});
  gpu.cancel(0);
  gpu.cancel(0);  // no effect when it has none
  EXPECT_EQ(gpu.next().at, TimePoint{30});
  gpu.start(0, {9});
  gpu.cancel(2);
  EXPECT_EQ(run_next(gpu, 1), 30);
  EXPECT_EQ(run_next(gpu, 0), 39);
  EXPECT_EQ(gpu.busy_of(0), Duration{19});
}

TEST(Exclusive, ShortenedRequestsKeepTheirPlaces) {
  Exclusive gpu(3);
  gpu.start(0, {50});
  gpu.start(1, {20});
  gpu.start(2, {30});
  gpu.advance({10});
  EXPECT_EQ(gpu.left(0), Duration{40});
  gpu.shorten(0, {35});
  gpu.shorten(1, {19});
  EXPECT_EQ(run_next(gpu, 0), 15);
  EXPECT_EQ(run_next(gpu, 1), 16);
  EXPECT_EQ(run_next(gpu, 2), 46);
  EXPECT_EQ(gpu.busy_of(0), Duration{15});
}

}  // namespace
}  // namespace slicewise::sim
