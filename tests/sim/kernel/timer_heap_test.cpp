#include "slicewise/sim/kernel/timer_heap.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

TEST(TimerHeap, FiresInOrderOfTimeThenOfTimerNumber) {
  TimerHeap heap(4);
  heap.set(3, {10});
  heap.set(1, {10});
  heap.set(2, {5});
  heap.set(0, {11});
  std::vector<std::uint32_t> fired;
  for (; !heap.empty(); heap.pop()) fired.push_back(heap.top());
  EXPECT_EQ(fired, (std::vector<std::uint32_t>{2, 1, 3, 0}));
}

TEST(TimerHeap, SettingReplacesAndNeverClears) {
  TimerHeap heap(2);
  heap.set(0, {10});
  heap.set(1, {20});
  heap.set(0, {30});
  EXPECT_EQ(heap.top(), 1U);
  EXPECT_EQ(heap.time_of(0), TimePoint{30});
  heap.set(1, kNever);
  EXPECT_EQ(heap.size(), 1U);
  EXPECT_EQ(heap.time_of(1), kNever);
  heap.clear(1);  // no effect when not set
  EXPECT_EQ(heap.top(), 0U);
}

// Differential test against a std::set of (time, timer): same top after each of 200,000 random
// operations, ties included, while timers are added.
TEST(TimerHeap, AgreesWithAnOrderedSet) {
  constexpr std::uint32_t kTimers = 200;
  TimerHeap heap(0);
  std::map<std::uint32_t, TimePoint> times;
  std::set<std::pair<TimePoint, std::uint32_t>> order;
  RandomStream random(1, 0, 0, Purpose::Test);
  for (int step = 0; step < 200'000; ++step) {
    const std::uint32_t timers = std::min(kTimers, 1 + static_cast<std::uint32_t>(step) / 500);
    heap.grow(timers);
    const std::uint32_t timer = random.below(timers);
    const auto known = times.find(timer);
    if (known != times.end()) order.erase({known->second, timer});
    times.erase(timer);
    if (random.below(3) == 0) {
      heap.clear(timer);
    } else {
      const TimePoint at{random.below(1'000)};
      heap.set(timer, at);
      times[timer] = at;
      order.insert({at, timer});
    }
    if (!order.empty() && random.below(8) == 0) {
      const std::uint32_t first = order.begin()->second;
      times.erase(first);
      order.erase(order.begin());
      const std::uint32_t how = random.below(3);
      if (how == 0) {
        heap.pop();
      } else {
        // While it fires it may be set anew, and so may another.
        ASSERT_EQ(heap.begin_firing(), first);
        bool set_anew = false;
        for (const std::uint32_t set : {first, random.below(timers)}) {
          if (how == 1 && set == first) continue;
          const TimePoint at{random.below(1'000)};
          if (times.contains(set)) order.erase({times[set], set});
          heap.set(set, at);
          times[set] = at;
          order.insert({at, set});
          set_anew = set_anew || set == first;
        }
        ASSERT_EQ(heap.is_firing(), !set_anew);
        heap.end_firing();
      }
    }
    ASSERT_EQ(heap.size(), order.size());
    if (order.empty()) continue;
    ASSERT_EQ(heap.top(), order.begin()->second);
    ASSERT_EQ(heap.top_time(), order.begin()->first);
  }
}

}  // namespace
}  // namespace slicewise::sim
