#include "slicewise/sim/serving/replica_controller.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

using scenarios::Autoscaling;

constexpr Duration kLook = seconds(15);

Autoscaling scaling_of(int min_replicas, int max_replicas, double target) {
  Autoscaling scaling;
  scaling.min_replicas = min_replicas;
  scaling.max_replicas = max_replicas;
  scaling.target = target;
  return scaling;
}

// A service whose pods are ready at once, under a load of `totals`, one per look.
std::vector<int> follow(const Autoscaling& scaling, int start, const std::vector<double>& totals) {
  ReplicaController controller(scaling, start);
  std::vector<int> wanted;
  TimePoint now;
  for (const double total : totals) {
    now = now + scaling.sync_period;
    wanted.push_back(controller.look(now, {total, controller.wanted(), 0, total > 0}));
  }
  return wanted;
}

TEST(ReplicaController, WantsTheMetricOverTheTarget) {
  EXPECT_EQ(follow(scaling_of(1, 20, 10), 2, {50}), (std::vector{5}));
  EXPECT_EQ(follow(scaling_of(1, 20, 10), 2, {51}), (std::vector{6}));
}

TEST(ReplicaController, LeavesSmallDifferencesAlone) {
  EXPECT_EQ(follow(scaling_of(1, 20, 1), 10, {10.9, 9.1, 11, 11.2}), (std::vector{10, 10, 10, 12}));
  Autoscaling wide = scaling_of(1, 20, 1);
  wide.tolerance = 0.5;
  EXPECT_EQ(follow(wide, 10, {14.9, 15.1}), (std::vector{10, 16}));
}

TEST(ReplicaController, StaysBetweenItsLimits) {
  EXPECT_EQ(follow(scaling_of(2, 4, 1), 1, {0, 3, 9}), (std::vector{2, 3, 4}));
}

// Four more or twice as many in 15 s, whichever is more.
TEST(ReplicaController, GrowsByFourPodsOrTwofold) {
  EXPECT_EQ(follow(scaling_of(1, 100, 1), 1, {100, 100, 100, 100, 100, 100}),
            (std::vector{5, 10, 20, 40, 80, 100}));
}

TEST(ReplicaController, GrowthCountsOverThePeriodOfThePolicyWhateverTheLooks) {
  Autoscaling scaling = scaling_of(1, 100, 1);
  scaling.sync_period = seconds(5);
  // 1 -> 5 at 5 s; that change is 15 s old at 20 s, the next one at 35 s.
  EXPECT_EQ(follow(scaling, 1, {100, 100, 100, 100, 100, 100, 100}),
            (std::vector{5, 5, 5, 10, 10, 10, 20}));
}

TEST(ReplicaController, GoesDownToTheLargestRecommendationOfTheWindow) {
  Autoscaling scaling = scaling_of(1, 20, 1);
  scaling.scale_down_window = seconds(60);
  // 10 was recommended at 30 s, 6 at 60 s: they hold until 90 s and 120 s.
  EXPECT_EQ(follow(scaling, 10, {10, 10, 4, 6, 2, 2, 2, 2}),
            (std::vector{10, 10, 10, 10, 10, 6, 6, 2}));
}

TEST(ReplicaController, TheCountAtTheStartIsTheFirstRecommendation) {
  Autoscaling scaling = scaling_of(1, 20, 1);
  scaling.scale_down_window = seconds(30);
  EXPECT_EQ(follow(scaling, 10, {3, 3}), (std::vector{10, 3}));
}

TEST(ReplicaController, DownAtOnceWithoutAWindow) {
  Autoscaling scaling = scaling_of(1, 20, 1);
  scaling.scale_down_window = {};
  EXPECT_EQ(follow(scaling, 10, {3, 8, 1}), (std::vector{3, 7, 1}));
}

TEST(ReplicaController, ALoadThatGoesUpAndDownDoesNotFlap) {
  std::vector<double> totals;
  for (int look = 0; look < 100; ++look) totals.push_back(look % 2 == 0 ? 8 : 2);
  const std::vector<int> wanted = follow(scaling_of(1, 20, 1), 4, totals);
  for (const int replicas : wanted) EXPECT_EQ(replicas, 8);
}

TEST(ReplicaController, GoesUpToTheSmallestRecommendationOfItsWindow) {
  Autoscaling scaling = scaling_of(1, 20, 1);
  scaling.scale_up_window = seconds(30);
  // Peaks of one look pass; 3 and 4 stand for 30 s.
  EXPECT_EQ(follow(scaling, 2, {6, 2, 6, 2, 2, 3, 4, 4}), (std::vector{2, 2, 2, 2, 2, 2, 3, 4}));
}

TEST(ReplicaController, PodsThatAreNotReadyCountAsZeroOnTheWayUp) {
  Autoscaling scaling = scaling_of(1, 20, 10);
  scaling.scale_down_window = {};
  ReplicaController controller(scaling, 4);
  // 2 ready pods with 21 each ask for 4.2 pods: 4 are wanted, ratio 1.05.
  EXPECT_EQ(controller.look(TimePoint{} + kLook, {42, 2, 2, true}), 4);
  // ... and with 12 each for 2.4: 0.6 of the 4 would turn the scale-up around.
  EXPECT_EQ(controller.look(TimePoint{} + kLook * 2, {24, 2, 2, true}), 4);
  EXPECT_EQ(controller.look(TimePoint{} + kLook * 3, {60, 2, 2, true}), 6);
}

TEST(ReplicaController, PodsThatAreNotReadyDoNotCountOnTheWayDown) {
  Autoscaling scaling = scaling_of(1, 20, 10);
  scaling.scale_down_window = {};
  ReplicaController controller(scaling, 4);
  EXPECT_EQ(controller.look(TimePoint{} + kLook, {10, 3, 1, true}), 1);
}

TEST(ReplicaController, WithoutAMetricNothingChanges) {
  Autoscaling scaling = scaling_of(1, 20, 10);
  scaling.scale_down_window = {};
  ReplicaController controller(scaling, 4);
  EXPECT_EQ(controller.look(TimePoint{} + kLook, {0, 0, 4, false}), 4);
  // What is held at the front is a metric.
  EXPECT_EQ(controller.look(TimePoint{} + kLook * 2, {70, 0, 4, true}), 7);
}

// 0 -> 1 at the first request, 1 -> n by the autoscaler, n -> 0 after the cooldown.
TEST(ReplicaController, ScalesFromZeroAndBack) {
  Autoscaling scaling = scaling_of(0, 10, 2);
  scaling.cooldown = seconds(60);
  ReplicaController controller(scaling, 0);
  const auto at = [](std::int64_t s) { return TimePoint{} + seconds(s); };
  EXPECT_EQ(controller.look(at(15), {0, 0, 0, false}), 0);
  EXPECT_EQ(controller.look(at(600), {0, 0, 0, false}), 0);
  EXPECT_EQ(controller.request(at(607)), 1);
  EXPECT_EQ(controller.request(at(608)), 1);
  // 14 requests are held. 1 + 4 pods: the step from zero is not one of the autoscaler's.
  EXPECT_EQ(controller.look(at(615), {14, 0, 1, true}), 5);
  EXPECT_EQ(controller.look(at(630), {14, 1, 4, true}), 7);
  EXPECT_EQ(controller.look(at(645), {0, 7, 0, true}), 7);
  EXPECT_EQ(controller.look(at(690), {0, 7, 0, false}), 7);  // 45 s: stabilized
  EXPECT_EQ(controller.look(at(705), {0, 7, 0, false}), 0);  // 60 s
  EXPECT_EQ(controller.look(at(720), {0, 0, 0, false}), 0);
  EXPECT_EQ(controller.request(at(721)), 1);
}

TEST(ReplicaController, AServiceThatIsIdleFromTheStartGoesAfterTheCooldown) {
  Autoscaling scaling = scaling_of(0, 10, 2);
  scaling.cooldown = seconds(30);
  EXPECT_EQ(follow(scaling, 3, {0, 0}), (std::vector{3, 0}));
}

TEST(ReplicaController, KeepsOnePodWithoutScaleToZero) {
  Autoscaling scaling = scaling_of(1, 10, 2);
  scaling.scale_down_window = {};
  EXPECT_EQ(follow(scaling, 3, {0, 0, 0}), (std::vector{1, 1, 1}));
}

// What a schedule asks for, look by look.
std::vector<int> follow_schedule(const Autoscaling& scaling, int start,
                                 const std::vector<int>& asked, double total = 0) {
  ReplicaController controller(scaling, start);
  std::vector<int> wanted;
  TimePoint now;
  for (const int replicas : asked) {
    now = now + scaling.sync_period;
    const ScalingSample sample{total, controller.wanted(), 0, replicas > 0, replicas};
    wanted.push_back(controller.look(now, sample));
  }
  return wanted;
}

Autoscaling scheduled(int least, double target) {
  Autoscaling scaling = scaling_of(least, 30, target);
  scaling.schedule.resize(1);
  scaling.scale_down_window = {};
  return scaling;
}

// A trigger of KEDA's cron scaler says 1 while it is closed, and the tolerance holds for it as for
// every metric.
TEST(ReplicaController, AScheduleIsAMetricOfOnePerPod) {
  EXPECT_EQ(follow_schedule(scheduled(1, 0), 1, {4, 4, 0}), (std::vector{4, 4, 1}));
  EXPECT_EQ(follow_schedule(scheduled(3, 0), 3, {4, 0}), (std::vector{4, 3}));
  EXPECT_EQ(follow_schedule(scheduled(1, 0), 20, {21, 23, 21}), (std::vector{20, 23, 23}));
}

TEST(ReplicaController, OfAMetricAndAScheduleTheLargerCounts) {
  EXPECT_EQ(follow_schedule(scheduled(1, 1), 2, {4, 0}, 2), (std::vector{4, 2}));
  EXPECT_EQ(follow_schedule(scheduled(1, 1), 2, {4, 0}, 6), (std::vector{6, 6}));
}

// 0 of them: an open window wakes the first pod, the HPA the others; all go when the cool-down is
// over.
TEST(ReplicaController, AWindowWakesAndKeeps) {
  Autoscaling scaling = scheduled(0, 0);
  scaling.cooldown = kLook * 2;
  EXPECT_EQ(follow_schedule(scaling, 0, {0, 3, 3, 0, 0, 0}), (std::vector{0, 1, 3, 1, 0, 0}));
}

}  // namespace
}  // namespace slicewise::sim
