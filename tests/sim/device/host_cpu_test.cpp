#include "slicewise/sim/device/host_cpu.hpp"

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

// Two tasks of an owner that may use half a vCPU go at a quarter each; who has no limit does not
// notice, until the node has less than both want.
TEST(HostCpu, OwnersShareWhatTheirLimitLeavesThem) {
  HostCpu cpu(8);
  cpu.start(1, 0, seconds(1), 0.5);
  cpu.start(1, 1, seconds(2), 0.5);
  cpu.start(2, 2, seconds(1));
  EXPECT_EQ(cpu.next(), TimePoint{} + seconds(1));
  cpu.advance(cpu.next());
  EXPECT_EQ(cpu.complete().item, 2U);
  EXPECT_EQ(cpu.next(), TimePoint{} + seconds(4));
  cpu.advance(cpu.next());
  EXPECT_EQ(cpu.complete().item, 0U);
  EXPECT_EQ(cpu.next(), TimePoint{} + seconds(6));  // one second of work left, at half speed

  HostCpu busy(1);
  busy.start(1, 0, seconds(1), 0.5);
  busy.start(2, 1, seconds(10));
  EXPECT_EQ(busy.next(), TimePoint{} + seconds(3));  // of 1.5 wanted the node has 1: at a third
  busy.cancel(1, [](std::uint32_t) {});
  EXPECT_EQ(busy.next(), TimePoint{} + seconds(10));
}

// Found by scenario_run_fuzz: years of host work, shared by many.
TEST(HostCpu, WorkBeyondTheClockEndsAfterAnyRun) {
  HostCpu cpu(1);
  for (std::uint32_t task = 0; task < 100; ++task) cpu.start(task, 0, hours(65'536));
  EXPECT_GT(cpu.next(), TimePoint{} + hours(24 * 36'500));
  cpu.advance(TimePoint{} + hours(1));
  EXPECT_GT(cpu.next(), cpu.now());
}

}  // namespace
}  // namespace slicewise::sim
