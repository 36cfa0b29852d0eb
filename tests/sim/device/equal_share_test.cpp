#include "slicewise/sim/device/equal_share.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

std::vector<SharedRate> fair_rates(std::int64_t sharers) {
  std::vector<SharedRate> rates;
  for (std::int64_t n = 1; n <= sharers; ++n) rates.push_back({nanoseconds(1), nanoseconds(n)});
  return rates;
}

// Jobs that start together end in order of work, the i-th after sum (w_i - w_(i-1)) (n - i + 1).
TEST(EqualShare, JobsStartedTogetherMeetTheClosedForm) {
  EqualShare gpu(1, fair_rates(4));
  const std::vector<std::int64_t> works = {100, 250, 251, 1'000'000'007};
  for (std::uint32_t job = 4; job-- > 0;) gpu.start(0, job, {works[job]}, {5});
  std::int64_t at = 5;
  std::int64_t done = 0;
  for (std::uint32_t job = 0; job < 4; ++job) {
    at += (works[job] - done) * (4 - job);
    done = works[job];
    ASSERT_EQ(gpu.next(0), TimePoint{at});
    ASSERT_EQ(gpu.complete(0, {at}), job);
  }
  EXPECT_EQ(gpu.next(0), kNever);
}

TEST(EqualShare, EqualWorkEndsInTheSameNanosecondByNumber) {
  EqualShare gpu(1, fair_rates(3));
  for (const std::uint32_t job : {2U, 0U, 1U}) gpu.start(0, job, {7}, {});
  for (std::uint32_t job = 0; job < 3; ++job) {
    ASSERT_EQ(gpu.next(0), TimePoint{21});
    ASSERT_EQ(gpu.complete(0, {21}), job);
  }
}

TEST(EqualShare, TurnsAndSwitchesGiveTheRateOfTimeSlicing) {
  const auto rates = time_sliced_rates(3, {microseconds(2'000), microseconds(100)});
  EqualShare gpu(1, rates);
  gpu.start(0, 0, seconds(1), {});
  EXPECT_EQ(gpu.next(0), TimePoint{seconds(1).ns});  // alone nobody switches
  gpu.start(0, 1, seconds(1), {});
  gpu.start(0, 2, seconds(1), {});
  EXPECT_EQ(gpu.next(0), TimePoint{milliseconds(3'150).ns});
}

TEST(EqualShare, CancellingReturnsWhatIsLeftAndSpeedsUpTheOthers) {
  EqualShare gpus(2, fair_rates(2));
  gpus.start(1, 7, {100}, {});
  gpus.start(1, 8, {100}, {});
  EXPECT_EQ(gpus.left(1, 7, {51}), Duration{75});  // 25.5 done
  EXPECT_EQ(gpus.cancel(1, 7, {50}), Duration{75});
  EXPECT_EQ(gpus.next(1), TimePoint{125});
  EXPECT_EQ(gpus.sharers(1), 1U);
  EXPECT_EQ(gpus.next(0), kNever);
  EXPECT_EQ(gpus.complete(1, {125}), 8U);
}

// The longest work at the lowest rate stays inside the clock.
TEST(EqualShare, WhatNeverEndsStaysOnTheClock) {
  EqualShare gpu(1, std::vector<SharedRate>{{nanoseconds(1), hours(24 * 365)}});
  gpu.start(0, 0, hours(24 * 365 * 200), {10});
  EXPECT_LT(gpu.next(0), kNever);
  EXPECT_GT(gpu.next(0), TimePoint{hours(24 * 365 * 290).ns});
}

// A GPU in exact integers: work in units of 1/17,640 ns, of which n sharers, with switches of a
// twentieth of a turn, each do 17,640 * 20 / (21 n) in a nanosecond, a whole number for n <= 8.
class Exact {
 public:
  void start(std::uint32_t job, std::int64_t work, TimePoint now) {
    move(now);
    jobs_.push_back({work * kUnit, job});
  }
  void end(std::uint32_t job, TimePoint now) {
    move(now);
    std::erase_if(jobs_, [&](const Job& each) { return each.number == job; });
  }
  // When and which: lowest number among those that end first in exact time.
  std::pair<TimePoint, std::uint32_t> next() const {
    const Job& first = *std::min_element(jobs_.begin(), jobs_.end());
    const std::int64_t wait = (std::max<std::int64_t>(first.left, 0) + speed() - 1) / speed();
    return {now_ + Duration{wait}, first.number};
  }
  std::int64_t left(std::uint32_t job, TimePoint now) {
    move(now);
    for (const Job& each : jobs_) {
      if (each.number == job) return (std::max<std::int64_t>(each.left, 0) + kUnit - 1) / kUnit;
    }
    return -1;
  }
  std::size_t size() const { return jobs_.size(); }
  std::uint32_t any(std::uint32_t which) const { return jobs_[which % jobs_.size()].number; }

 private:
  static constexpr std::int64_t kUnit = 17'640;
  struct Job {
    std::int64_t left;
    std::uint32_t number;
    friend auto operator<=>(const Job&, const Job&) = default;
  };
  std::int64_t speed() const {
    const auto n = static_cast<std::int64_t>(jobs_.size());
    return n == 1 ? kUnit : kUnit * 20 / (21 * n);
  }
  void move(TimePoint now) {
    if (!jobs_.empty()) {
      for (Job& job : jobs_) job.left -= (now - now_).ns * speed();
    }
    now_ = now;
  }

  TimePoint now_;
  std::vector<Job> jobs_;
};

// 100,000 random starts, ends, cancellations and questions on each kind of work: completion times
// and order equal those of exact integers to the nanosecond.
TEST(EqualShare, AgreesWithExactArithmetic) {
  for (const std::uint32_t most_work : {20U, 1'000U, 2'000'000'000U}) {
    EqualShare gpu(1, time_sliced_rates(8, {microseconds(2'000), microseconds(100)}));
    Exact exact;
    RandomStream random(1, 0, 0, Purpose::Test);
    TimePoint now;
    for (std::uint32_t step = 0; step < 100'000; ++step) {
      if (exact.size() > 0) {
        const auto [at, job] = exact.next();
        ASSERT_EQ(gpu.next(0), at) << step;
        if (exact.size() == 8 || random.below(2) == 0) {
          now = at;
          ASSERT_EQ(gpu.complete(0, now), job) << step;
          exact.end(job, now);
        } else {
          const auto most =
              static_cast<std::uint32_t>(std::min<std::int64_t>((at - now).ns, 1 << 30));
          now = now + Duration{random.below(most + 1)};
        }
      }
      if (exact.size() > 0 && random.below(8) == 0) {
        const std::uint32_t job = exact.any(random.next_u32());
        const std::int64_t left = exact.left(job, now);
        ASSERT_EQ(gpu.left(0, job, now).ns, left) << step;
        if (random.below(2) == 0) {
          ASSERT_EQ(gpu.cancel(0, job, now).ns, left) << step;
          exact.end(job, now);
        }
      }
      const std::int64_t work = 1 + random.below(most_work);
      gpu.start(0, step, {work}, now);
      exact.start(step, work, now);
    }
  }
}

}  // namespace
}  // namespace slicewise::sim
