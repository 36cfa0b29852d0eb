#include "slicewise/sim/device/round_robin.hpp"

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "run_next.hpp"
#include "slice_by_slice.hpp"

namespace slicewise::sim {
namespace {

constexpr models::TimeSlice kSlice{{100}, {10}};  // q = 100 ns, c = 10 ns
constexpr Duration kYield{4};

TEST(RoundRobin, AloneRunsWithoutSwitches) {
  RoundRobin gpu(3, kSlice, kYield);
  gpu.advance({50});
  gpu.start(1, hours(3));
  EXPECT_EQ(run_next(gpu, 1), 50 + hours(3).ns);
  EXPECT_EQ(gpu.time().switching, Duration{});
  EXPECT_EQ(gpu.time().idle, Duration{50});
  EXPECT_EQ(gpu.busy_of(1), hours(3));
}

// 0 runs 100, switch 10, 1 runs 100 and is done (completion wins over expiry): 210. The yield
// costs 4, then 0 runs its other 150 alone: 364.
TEST(RoundRobin, CompletionAtTheEndOfATurnYields) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {250});
  gpu.start(1, {100});
  EXPECT_EQ(run_next(gpu, 1), 210);
  EXPECT_EQ(run_next(gpu, 0), 364);
  EXPECT_EQ(gpu.time().switching, Duration{14});
}

// 100 turns of each, with a year of a switch before every one.
TEST(RoundRobin, WhatTheClockCannotReachNeverEnds) {
  RoundRobin gpu(2, {{100}, hours(24 * 365)}, kYield);
  gpu.start(0, {100'000});
  gpu.start(1, {200'000});
  EXPECT_EQ(gpu.next().at, kNever);
  gpu.advance({250});
  EXPECT_EQ(gpu.time().busy, Duration{100});
  EXPECT_EQ(gpu.time().switching, Duration{150});
}

// More turns than there are numbers, of 1 ns each.
TEST(RoundRobin, WorkOfAHundredYearsInTheShortestTurnsNeverEnds) {
  constexpr Duration kCentury = hours(24 * 36'500);
  RoundRobin gpu(4, {{1}, {0}}, kYield);
  for (std::uint32_t context = 0; context < 4; ++context) gpu.start(context, kCentury);
  EXPECT_EQ(gpu.next().at, kNever);
  gpu.advance(TimePoint{} + kCentury);
  EXPECT_EQ(gpu.time().busy, kCentury);
}

TEST(RoundRobin, ContextThatStartsAgainAtOnceKeepsItsTurn) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {30});
  gpu.start(1, {50});
  EXPECT_EQ(run_next(gpu, 0), 30);
  gpu.start(0, {80});  // 70 ns of its turn are left
  EXPECT_EQ(run_next(gpu, 1), 100 + 10 + 50);
  EXPECT_EQ(run_next(gpu, 0), 160 + 4 + 10);
}

TEST(RoundRobin, ContextThatStartsAgainAtTheEndOfItsTurnHasUsedItUp) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {100});
  gpu.start(1, {50});
  EXPECT_EQ(run_next(gpu, 0), 100);
  gpu.start(0, {80});
  EXPECT_EQ(run_next(gpu, 1), 100 + 10 + 50);
}

// The host waits for what 0 did, and 1 is there: 4 to it, its 50, 4 back.
TEST(RoundRobin, ContextThatYieldsHasGivenItsTurnAway) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {30});
  gpu.start(1, {50});
  EXPECT_EQ(run_next(gpu, 0), 30);
  gpu.yield(0);
  gpu.start(0, {80});
  EXPECT_EQ(run_next(gpu, 1), 30 + 4 + 50);
  EXPECT_EQ(run_next(gpu, 0), 84 + 4 + 80);
}

TEST(RoundRobin, ContextThatYieldsAloneHasAWholeTurn) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {30});
  EXPECT_EQ(run_next(gpu, 0), 30);
  gpu.yield(0);
  gpu.start(0, {500});
  gpu.advance({40});
  gpu.start(1, {50});
  EXPECT_EQ(run_next(gpu, 1), 130 + 10 + 50);
}

TEST(RoundRobin, ArrivalNeverCutsATurn) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(1, {1'000});
  gpu.advance({520});
  gpu.start(0, {5});
  EXPECT_EQ(run_next(gpu, 0), 600 + 10 + 5);
}

TEST(RoundRobin, ArrivalInTheNanosecondATurnEndsIsSwitchedTo) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(1, {1'000});
  gpu.advance({500});
  gpu.start(0, {5});
  EXPECT_EQ(run_next(gpu, 0), 500 + 10 + 5);
}

// 0's turn ends at 100; the switch to 1 is not turned to 0 or 2, and when 1 dies the GPU pays
// another full switch to 2.
TEST(RoundRobin, CancelledTargetOfASwitchCostsAnotherSwitch) {
  RoundRobin gpu(3, kSlice, kYield);
  gpu.start(0, {1'000});
  gpu.start(1, {50});
  gpu.advance({105});
  gpu.start(2, {50});
  gpu.cancel(1);
  EXPECT_EQ(run_next(gpu, 2), 100 + 10 + 10 + 50);
  EXPECT_EQ(gpu.time().switching, Duration{20});
}

TEST(RoundRobin, CancellingTheRunningContextYields) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {1'000});
  gpu.start(1, {50});
  gpu.advance({40});
  gpu.cancel(0);
  gpu.cancel(0);  // no effect when it has none
  EXPECT_EQ(gpu.busy_of(0), Duration{40});
  EXPECT_EQ(run_next(gpu, 1), 40 + 4 + 50);
}

TEST(RoundRobin, IdleGpuStartsWhoeverComesForFree) {
  RoundRobin gpu(2, kSlice, kYield);
  gpu.start(0, {10});
  run_next(gpu, 0);
  EXPECT_EQ(gpu.next().at, kNever);
  gpu.advance({11});
  gpu.start(1, {10});
  EXPECT_EQ(run_next(gpu, 1), 21);
  EXPECT_EQ(gpu.time().switching, Duration{});
}

TEST(RoundRobin, ZeroCostsSwitchInNoTime) {
  RoundRobin gpu(2, {{100}, {0}}, {0});
  gpu.start(0, {150});
  gpu.start(1, {150});
  EXPECT_EQ(run_next(gpu, 0), 250);
  EXPECT_EQ(run_next(gpu, 1), 300);
}

// One random history, told to both engines. Every choice comes from `random`, so a failing case is
// reproduced by its number.
class History {
 public:
  explicit History(std::uint32_t number)
      : random_(42, 0, number, Purpose::Test),
        contexts_(1 + random_.below(12)),
        turn_(pick({1, 2, 7, 100, 1'024'000})),
        switch_cost_(pick({0, 1, turn_ / 10, turn_, 3 * turn_})),
        longest_(turn_ * pick({1, 3, 20, number % 16 == 0 ? 1'000 : 40})),
        fast_(contexts_, {{turn_}, {switch_cost_}}, {yield_cost()}),
        slow_(contexts_, {{turn_}, {switch_cost_}}, {fast_yield_}),
        active_(contexts_, false) {}

  void play(int events) {
    for (int event = 0; event < events && !testing::Test::HasFailure(); ++event) {
      const int at_once = random_.below(4) == 0 ? 3 : 1;
      for (int change = 0; change < at_once; ++change) change_something();
      move_clock();
      compare();
    }
  }

 private:
  std::int64_t pick(std::initializer_list<std::int64_t> choices) {
    return *(choices.begin() + random_.below(static_cast<std::uint32_t>(choices.size())));
  }
  std::int64_t yield_cost() {
    fast_yield_ = pick({0, 1, switch_cost_, switch_cost_ / 2});
    return fast_yield_;
  }

  std::int64_t some_work() {
    const std::int64_t any = 1 + static_cast<std::int64_t>(random_.next_u64() >> 1) % longest_;
    return random_.below(3) == 0 ? (any / turn_ + 1) * turn_ : any;
  }

  void change_something() {
    const std::uint32_t context = random_.below(contexts_);
    if (!active_[context]) {
      const Duration work{some_work()};
      if (random_.below(2) == 0) {
        fast_.yield(context);
        slow_.yield(context);
      }
      fast_.start(context, work);
      slow_.start(context, work);
      active_[context] = true;
    } else if (random_.below(12) == 0) {
      fast_.cancel(context);
      slow_.cancel(context);
      active_[context] = false;
    } else if (random_.below(4) == 0) {
      shorten(context);
    }
  }

  void shorten(std::uint32_t context) {
    const std::int64_t left = fast_.left(context).ns;
    ASSERT_EQ(left, slow_.left(context).ns);
    if (left == 0) return;
    const auto any = static_cast<std::int64_t>(random_.next_u64() >> 1);
    const Duration less{random_.below(3) == 0 ? left - 1 : any % left};
    fast_.shorten(context, less);
    slow_.shorten(context, less);
  }

  // To the next completion, or to some instant before it: anywhere, or a whole number of turns and
  // switches away, where boundaries are.
  void move_clock() {
    const TimePoint limit = fast_.next().at;
    const TimePoint now = fast_.now();
    std::int64_t step = 0;
    switch (random_.below(4)) {
      case 0:
        step = static_cast<std::int64_t>(random_.below(3)) * turn_ +
               static_cast<std::int64_t>(random_.below(3)) * switch_cost_;
        break;
      case 1:
        step = static_cast<std::int64_t>(random_.next_u64() >> 1) % (2 * longest_);
        break;
      default:
        step = limit == kNever ? turn_ : (limit - now).ns;
    }
    const TimePoint until =
        limit == kNever ? now + Duration{step} : std::min(now + Duration{step}, limit);
    fast_.advance(until);
    slow_.advance(until);
    if (fast_.next().at != until) return;
    const std::uint32_t done = fast_.complete();
    ASSERT_EQ(slow_.complete(), done);
    active_[done] = false;
  }

  void compare() {
    ASSERT_EQ(fast_.next().at.ns, slow_.next().at.ns);
    ASSERT_EQ(fast_.next().context, slow_.next().context);
    ASSERT_EQ(fast_.time().busy.ns, slow_.time().busy.ns);
    ASSERT_EQ(fast_.time().switching.ns, slow_.time().switching.ns);
    ASSERT_EQ(fast_.time().idle.ns, slow_.time().idle.ns);
    for (std::uint32_t context = 0; context < contexts_; ++context) {
      ASSERT_EQ(fast_.busy_of(context).ns, slow_.busy_of(context).ns);
    }
    const EngineTime time = fast_.time();
    ASSERT_EQ((time.busy + time.switching + time.idle).ns, fast_.now().ns);
  }

  RandomStream random_;
  std::uint32_t contexts_;
  std::int64_t turn_;
  std::int64_t switch_cost_;
  std::int64_t longest_;
  std::int64_t fast_yield_ = 0;
  RoundRobin fast_;
  SliceBySlice slow_;
  std::vector<bool> active_;
};

// 6,000 histories of 60 instants: equal to the nanosecond, forecasts and shares of time included.
TEST(ThoroughRoundRobin, EqualsTheSliceBySliceReference) {
  for (std::uint32_t number = 0; number < 6'000; ++number) {
    SCOPED_TRACE(testing::Message() << "history " << number);
    History(number).play(60);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace slicewise::sim
