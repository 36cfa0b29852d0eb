#include <gtest/gtest.h>

#include "slicewise/models/calibration.hpp"
#include "slicewise/sim/calibration.hpp"

namespace slicewise::sim {
namespace {

constexpr double kSeconds = 36'000;
constexpr double kAlone = 0.020;  // of a request

scenarios::SharingLevel level(int pods, double rate_each, double busy) {
  scenarios::SharingLevel out;
  out.workload = "asr";
  out.gpu = "NVIDIA A10G";
  out.sharing = pods == 1 ? "" : "mps";
  out.pods = pods;
  out.seconds = kSeconds;
  out.requests = rate_each * kSeconds * pods;
  out.busy = busy;
  out.busy_error = 0.0005;
  return out;
}

double step_of(const std::vector<scenarios::SharingLevel>& levels, std::size_t at) {
  const auto points = window_points(levels, {}, models::load_catalogue());
  if (!points) {
    ADD_FAILURE() << points.error().front().message;
    return 0;
  }
  return to_seconds((*points)[at].setting.time);
}

// Two that come back after exponential times away: 1, 2 e, e^2 x are the weights of nobody, one and
// both at work, with e the work alone by time away and x how many times as long both take.
TEST(WindowPoints, TwoUnderMpsAreMachineRepairByHand) {
  for (const double eager : {0.3, 1.0, 5.0}) {
    for (const double longer : {1.05, 1.4, 1.9}) {
      const double sum = 1 + 2 * eager + eager * eager * longer;
      const double load = (eager + eager * eager) / sum;
      const double step =
          step_of({level(1, 10, 10 * kAlone), level(2, load / kAlone, 1 - 1 / sum)}, 1);
      EXPECT_NEAR(step / kAlone, longer, 1e-3) << eager << " " << longer;
    }
  }
}

TEST(WindowPoints, BoundsOfWhatCanBe) {
  const double each = 0.3;
  // Nobody in another's way, and one after the other; DCGM's error may lie beyond both.
  for (const double busy : {1 - (1 - each) * (1 - each), 0.45}) {
    EXPECT_NEAR(step_of({level(1, 10, 0.2), level(2, each / kAlone, busy)}, 1) / kAlone, 1, 0.01);
  }
  for (const double busy : {2 * each, 0.66}) {
    EXPECT_NEAR(step_of({level(1, 10, 0.2), level(2, each / kAlone, busy)}, 1) / kAlone, 2, 0.01);
  }
}

// Always busy, all at work all the time: the step is what the rate says.
TEST(WindowPoints, SaturatedPodsHaveTheTimeOfTheirRate) {
  EXPECT_NEAR(step_of({level(1, 50, 1), level(2, 30, 0.99999)}, 1), 1 / 30.0, 1e-4);
  EXPECT_NEAR(step_of({level(1, 50, 1), level(4, 14, 0.99999)}, 1), 1 / 14.0, 1e-4);
  EXPECT_NEAR(step_of({level(1, 50, 1), level(100, 0.7, 1)}, 1), 1 / 0.7, 0.02);
}

// Counters that hardly count and GPUs that are hardly busy are shown and say nothing.
TEST(WindowPoints, TimesThatNoStepTakesDoNotCount) {
  for (auto [rate, busy] : {std::pair(1e-300, 1.0), {1e9, 1e-9}}) {
    auto alone = level(1, rate, busy);
    alone.busy_error = 0;
    const auto points = window_points({&alone, 1}, {}, models::load_catalogue());
    ASSERT_TRUE(points.has_value());
    EXPECT_FALSE(points->front().counts());
    EXPECT_GT(points->front().setting.time, Duration{});
  }
}

// In turns both take twice as long, and what switching adds while both are at work.
TEST(WindowPoints, InTurnsTheSwitchesAreCountedWhileSomebodyElseIsThere) {
  constexpr double kSwitching = 0.1;
  const double eager = 0.5;
  const double longer = 2 * (1 + kSwitching);
  const double sum = 1 + 2 * eager + eager * eager * longer;
  auto pair = level(2, (eager + eager * eager) / sum / kAlone, 1 - 1 / sum);
  pair.sharing = "time-slicing";
  EXPECT_NEAR(step_of({level(1, 10, 10 * kAlone), pair}, 1) / kAlone, longer, 1e-3);
}

}  // namespace
}  // namespace slicewise::sim
