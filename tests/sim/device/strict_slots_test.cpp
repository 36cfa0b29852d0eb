#include "slicewise/sim/device/strict_slots.hpp"

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

#include "run_next.hpp"
#include "slot_by_slot.hpp"

namespace slicewise::sim {
namespace {

using Policy = models::Vgpu::Policy;
constexpr models::TimeSlice kSlot{{100}, {10}};  // q = 100 ns, c = 10 ns

// Slots of 110: context 2 switches at 220 and runs from 230. 150 ns take a second turn, 440 later.
TEST(StrictSlots, FixedShareWaitsForItsSlotThoughNobodyElseWorks) {
  StrictSlots gpu(4, kSlot, Policy::FixedShare);
  gpu.start(2, {150});
  EXPECT_EQ(run_next(gpu, 2), 220 + 440 + 10 + 50);
  EXPECT_EQ(gpu.time().busy, Duration{150});
  EXPECT_EQ(gpu.time().switching, Duration{20});
  EXPECT_EQ(gpu.time().idle, Duration{720 - 170});
  EXPECT_EQ(gpu.next().at, kNever);
}

// A century of work in turns of 1 ns, an hour of a switch before each.
TEST(StrictSlots, WhatTheClockCannotReachNeverEnds) {
  StrictSlots gpu(4, {{1}, hours(1)}, Policy::FixedShare);
  gpu.start(2, hours(24 * 36'500));
  EXPECT_EQ(gpu.next().at, kNever);
  gpu.start(1, {2});
  EXPECT_EQ(run_next(gpu, 1), (hours(6) + Duration{6}).ns);
}

TEST(StrictSlots, RequestRunsInWhatIsLeftOfItsTurn) {
  StrictSlots gpu(2, kSlot, Policy::FixedShare);
  gpu.advance({60});
  gpu.start(0, {30});
  EXPECT_EQ(run_next(gpu, 0), 90);
  gpu.start(0, {30});  // 20 now, 10 in the slot that begins at 220
  EXPECT_EQ(run_next(gpu, 0), 240);
  EXPECT_EQ(gpu.time().switching, Duration{10});  // of the second slot only
}

// A request that comes during the switch starts with the turn; the switch was for nobody.
TEST(StrictSlots, SwitchWithoutWorkIsIdleTime) {
  StrictSlots gpu(2, kSlot, Policy::FixedShare);
  gpu.advance({4});
  gpu.start(0, {30});
  EXPECT_EQ(run_next(gpu, 0), 40);
  EXPECT_EQ(gpu.time().switching, Duration{});
  gpu.start(1, {30});
  EXPECT_EQ(run_next(gpu, 1), 110 + 10 + 30);
  EXPECT_EQ(gpu.time().switching, Duration{10});
}

TEST(StrictSlots, NeighboursDoNotMatter) {
  StrictSlots alone(8, kSlot, Policy::FixedShare);
  StrictSlots crowd(8, kSlot, Policy::FixedShare);
  alone.start(5, {12'345});
  for (std::uint32_t context = 0; context < 8; ++context) crowd.start(context, {12'345});
  while (crowd.next().context != 5) {
    crowd.advance(crowd.next().at);
    crowd.complete();
  }
  EXPECT_EQ(crowd.next().at, alone.next().at);
}

TEST(StrictSlots, EqualShareGivesALoneContextTheWholeGpu) {
  StrictSlots gpu(4, kSlot, Policy::EqualShare);
  gpu.join(3);
  gpu.start(3, {1'000});
  EXPECT_EQ(run_next(gpu, 3), 1'000);
  EXPECT_EQ(gpu.time().switching, Duration{});
}

// 250 of context 3 are done when 1 joins: from 250 a cycle of two, 1 first. 3 runs 100 ns from
// 250 + 120, then 250 + 340 ...; 1 leaves at 800 and 3 has the GPU for itself.
TEST(StrictSlots, JoiningAndLeavingBeginANewCycle) {
  StrictSlots gpu(4, kSlot, Policy::EqualShare);
  gpu.join(3);
  gpu.join(3);  // no effect when it is there
  gpu.start(3, {1'000});
  gpu.advance({250});
  gpu.join(1);
  gpu.start(1, {30});
  EXPECT_EQ(run_next(gpu, 1), 250 + 10 + 30);
  gpu.advance({800});
  EXPECT_EQ(gpu.busy_of(3), Duration{250 + 100 + 100 + 0});
  EXPECT_EQ(gpu.next().at, TimePoint{250 + 110 + 7 * 220 + 10 + 50});
  gpu.leave(1);
  gpu.leave(1);
  EXPECT_EQ(run_next(gpu, 3), 800 + 550);
  EXPECT_EQ(gpu.time().busy, Duration{1'030});
  EXPECT_EQ(gpu.time().switching, Duration{10 + 10 + 10});
}

TEST(StrictSlots, LeavingDropsTheRequest) {
  StrictSlots gpu(2, kSlot, Policy::EqualShare);
  gpu.join(0);
  gpu.join(1);
  gpu.start(0, {500});
  gpu.advance({60});
  gpu.leave(0);
  EXPECT_EQ(gpu.next().at, kNever);
  EXPECT_EQ(gpu.busy_of(0), Duration{50});
}

// A request of s that arrives at a random phase, N slots in a cycle C = N (q + c), k = ceil(s/q):
// in its own turn (probability q/C) it takes s C/q on average; else (C - q)/2 until its turn and
// C - q more before each further one. (N-1)(q+c)(k - 1/2) + s + k c, the law of a round robin whose
// other contexts never rest, never meets its own turn under way: 26 % longer for s = q/4, N = 2.
TEST(StrictSlotsLaw, MeanResponseOverPhases) {
  constexpr std::int64_t kTurn = 20'000;
  constexpr std::int64_t kSwitch = 2'000;
  for (const std::int64_t slots : {2, 4, 16}) {
    for (const std::int64_t work : {5'000, 20'000, 30'000, 500'000}) {
      const std::int64_t cycle = slots * (kTurn + kSwitch);
      double total = 0;
      double count = 0;
      for (std::int64_t phase = 0; phase < cycle; phase += 7) {
        StrictSlots gpu(static_cast<std::uint32_t>(slots), {{kTurn}, {kSwitch}},
                        Policy::FixedShare);
        gpu.advance({phase});
        gpu.start(1, {work});
        total += static_cast<double>(gpu.next().at.ns - phase);
        count += 1;
      }
      const auto s = static_cast<double>(work);
      const double other = static_cast<double>(cycle - kTurn);
      const double own = static_cast<double>(kTurn) / static_cast<double>(cycle);
      const std::int64_t whole_turns = (work + kTurn - 1) / kTurn;
      const auto turns = static_cast<double>(whole_turns);
      const double expected = own * (s / own) + (1 - own) * (s + (turns - 0.5) * other);
      EXPECT_NEAR(total / count, expected, 5e-4 * expected) << slots << " slots, work " << work;
    }
  }
}

// One random history, told to both engines. Every choice comes from `random`, so a failing case is
// reproduced by its number.
class SlotHistory {
 public:
  explicit SlotHistory(std::uint32_t number)
      : random_(45, 0, number, Purpose::Test),
        fixed_(number % 3 == 0),
        contexts_(1 + random_.below(9)),
        turn_(pick({1, 2, 7, 100, 1'024'000})),
        switch_cost_(pick({0, 1, turn_ / 10, turn_, 3 * turn_})),
        longest_(turn_ * pick({1, 3, 20, 40})),
        fast_(contexts_, {{turn_}, {switch_cost_}}, policy()),
        slow_(contexts_, {{turn_}, {switch_cost_}}, policy()),
        present_(contexts_, fixed_),
        active_(contexts_, false) {}

  void play(int events) {
    for (int event = 0; event < events && !testing::Test::HasFailure(); ++event) {
      const int at_once = random_.below(4) == 0 ? 3 : 1;
      for (int change = 0; change < at_once; ++change) change_something();
      compare();
      move_clock();
      compare();
    }
  }

 private:
  Policy policy() const { return fixed_ ? Policy::FixedShare : Policy::EqualShare; }
  std::int64_t pick(std::initializer_list<std::int64_t> choices) {
    return *(choices.begin() + random_.below(static_cast<std::uint32_t>(choices.size())));
  }

  std::int64_t some_work() {
    const std::int64_t any = 1 + static_cast<std::int64_t>(random_.next_u64() >> 1) % longest_;
    return random_.below(3) == 0 ? (any / turn_ + 1) * turn_ : any;
  }

  void change_something() {
    const std::uint32_t context = random_.below(contexts_);
    if (!present_[context] || random_.below(15) == 0) return change_presence(context);
    if (!active_[context]) {
      const Duration work{some_work()};
      fast_.start(context, work);
      slow_.start(context, work);
      active_[context] = true;
    } else if (random_.below(8) == 0) {
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

  void change_presence(std::uint32_t context) {
    if (present_[context]) {
      fast_.leave(context);
      slow_.leave(context);
      active_[context] = false;
    } else {
      fast_.join(context);
      slow_.join(context);
    }
    present_[context] = fixed_ || !present_[context];
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
    // Sometimes something else happens first at the instant of a completion.
    if (fast_.next().at != until || random_.below(6) == 0) return;
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
  bool fixed_;
  std::uint32_t contexts_;
  std::int64_t turn_;
  std::int64_t switch_cost_;
  std::int64_t longest_;
  StrictSlots fast_;
  SlotBySlot slow_;
  std::vector<bool> present_;
  std::vector<bool> active_;
};

// 6,000 histories of 60 instants: equal to the nanosecond, forecasts and shares of time included.
void play_histories(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t number = from; number < to; ++number) {
    SCOPED_TRACE(testing::Message() << "history " << number);
    SlotHistory(number).play(60);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ThoroughStrictSlots, EqualsTheSlotBySlotReference) { play_histories(0, 2'000); }
TEST(NightlyStrictSlots, EqualsTheSlotBySlotReference) { play_histories(2'000, 20'000); }

}  // namespace
}  // namespace slicewise::sim
