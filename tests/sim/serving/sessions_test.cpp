#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/sim/serving/user_calendar.hpp"

namespace slicewise::sim {
namespace {

using Law = scenarios::ServiceTime::Law;

constexpr Duration kDay = hours(24);

// 1.6 sessions per working day that peak at 09:30 and 13:30 local time.
scenarios::Notebooks team() {
  scenarios::Notebooks n;
  n.sessions_per_day = 1.6;
  n.length = {Law::LogNormal, hours(2), 0.7};
  n.peaks_at = {minutes(9 * 60 + 30), minutes(13 * 60 + 30)};
  n.spread = minutes(45);
  n.interval = {Law::Exponential, minutes(6), 0};
  n.gpu_time = {Law::LogNormal, seconds(20), 1.0};
  n.memory = scenarios::RandomAmount{scenarios::RandomAmount::Law::LogNormal, 4e9, 0.5, {}, {}};
  return n;
}

// All that `user` wants of `days` days.
std::vector<Session> sessions(const scenarios::Notebooks& n, std::int64_t days,
                              Duration starts_at = {}, std::uint32_t user = 0) {
  UserCalendar calendar(n, starts_at, 1, 0, user);
  std::vector<Session> all;
  while (calendar.next().start < TimePoint{} + kDay * days) {
    all.push_back(calendar.next());
    calendar.move_on(calendar.next().start);
  }
  return all;
}

std::int64_t local_day(const Session& s, Duration starts_at, const scenarios::Notebooks& n) {
  return (s.start.ns + starts_at.ns + n.utc_offset.ns) / kDay.ns;
}

TEST(UserCalendar, HasTheMeansAndThePoissonSpreadThatItIsGiven) {
  const scenarios::Notebooks n = team();
  const std::int64_t weeks = 500;
  const std::vector<Session> all = sessions(n, 7 * weeks);
  std::vector<double> of_day(static_cast<std::size_t>(5 * weeks), 0);
  double length = 0;
  double memory = 0;
  for (const Session& s : all) {
    const std::int64_t day = local_day(s, {}, n);
    ++of_day[static_cast<std::size_t>(day / 7 * 5 + day % 7)];
    length += to_seconds(s.length);
    memory += static_cast<double>(s.memory.count);
  }
  const double count = static_cast<double>(all.size());
  double variance = 0;
  for (const double sessions_of_day : of_day) variance += std::pow(sessions_of_day - 1.6, 2);
  const double days = static_cast<double>(of_day.size());
  EXPECT_NEAR(count / days, 1.6, 4 * std::sqrt(1.6 / days));
  EXPECT_NEAR(variance / days, 1.6, 0.2);
  EXPECT_NEAR(length / count, 7200, 0.06 * 7200);
  EXPECT_NEAR(memory / count, 4e9, 0.05 * 4e9);
}

TEST(UserCalendar, StartsAreNormalAroundThePeaks) {
  scenarios::Notebooks n = team();
  n.peaks_at = {hours(9)};
  double sum = 0;
  double squares = 0;
  const std::vector<Session> all = sessions(n, 7 * 400);
  for (const Session& s : all) {
    const double off = to_seconds({s.start.ns % kDay.ns}) - 9 * 3600;
    sum += off;
    squares += off * off;
  }
  const double count = static_cast<double>(all.size());
  EXPECT_NEAR(sum / count, 0, 4 * 2700 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 2700, 0.05 * 2700);
}

TEST(UserCalendar, BothPeaksAreAsLikely) {
  const std::vector<Session> all = sessions(team(), 7 * 400);
  double mornings = 0;
  for (const Session& s : all) mornings += s.start.ns % kDay.ns < minutes(11 * 60 + 30).ns ? 1 : 0;
  EXPECT_NEAR(mornings / static_cast<double>(all.size()), 0.5, 0.04);
}

TEST(UserCalendar, WithoutPeaksPeopleComeFromEightToEight) {
  scenarios::Notebooks n = team();
  n.peaks_at.clear();
  double sum = 0;
  const std::vector<Session> all = sessions(n, 7 * 400);
  for (const Session& s : all) {
    const std::int64_t of_day = s.start.ns % kDay.ns;
    ASSERT_GE(of_day, hours(8).ns);
    ASSERT_LE(of_day, hours(20).ns);
    sum += to_seconds({of_day}) / 3600;
  }
  EXPECT_NEAR(sum / static_cast<double>(all.size()), 14, 0.3);
}

// A run that starts on Thursday at 22:00 UTC, for people eight hours behind and nine ahead of UTC.
TEST(UserCalendar, KeepsTheWeekendOfLocalTime) {
  const Duration starts_at = kDay * 3 + hours(22);
  for (const Duration offset : {hours(-8), hours(9), Duration{}}) {
    scenarios::Notebooks n = team();
    n.utc_offset = offset;
    n.sessions_per_day = 5;
    const std::vector<Session> all = sessions(n, 70, starts_at);
    ASSERT_FALSE(all.empty());
    for (const Session& s : all) {
      EXPECT_LT(local_day(s, starts_at, n) % 7, 5);
      const std::int64_t of_day = (s.start.ns + starts_at.ns + offset.ns) % kDay.ns;
      EXPECT_NEAR(static_cast<double>(of_day) / 3.6e12, 11.5, 6);
    }
  }
}

// Spread over midnight a start stays within its own working day.
TEST(UserCalendar, FoldsTheTailsIntoTheDay) {
  scenarios::Notebooks n = team();
  n.peaks_at = {minutes(30)};
  n.spread = hours(3);
  for (const Session& s : sessions(n, 700)) EXPECT_LT(s.start.ns / kDay.ns % 7, 5);
}

TEST(UserCalendar, ComesInOrderOfStart) {
  TimePoint last;
  for (const Session& s : sessions(team(), 700)) {
    EXPECT_GE(s.start, last);
    last = s.start;
  }
}

TEST(UserCalendar, EndsForPeopleWhoNeverCome) {
  scenarios::Notebooks n = team();
  n.sessions_per_day = 0;
  EXPECT_EQ(UserCalendar(n, {}, 1, 0, 0).next().start, kNever);
}

TEST(UserCalendar, IsTheUsersOwnInEveryVariant) {
  EXPECT_EQ(sessions(team(), 70, {}, 7), sessions(team(), 70, {}, 7));
  EXPECT_NE(sessions(team(), 70, {}, 7), sessions(team(), 70, {}, 8));
  // Cells depend on which session it is, not on when it starts.
  const scenarios::Notebooks n = team();
  UserCalendar in_time(n, {}, 1, 0, 7);
  UserCalendar late(n, {}, 1, 0, 7);
  const TimePoint monday = in_time.next().start;
  in_time.move_on(monday);
  late.move_on(monday + kDay * 30);
  EXPECT_EQ(late.next().start, monday + kDay * 30);
  EXPECT_EQ(in_time.next().length, late.next().length);
  CellStream a = in_time.cells_of_next();
  CellStream b = late.cells_of_next();
  late.move_on(monday);
  CellStream c = late.cells_of_next();
  const Cell cell = a.next(seconds(20));
  EXPECT_EQ(cell.gpu_time, b.next(seconds(20)).gpu_time);
  EXPECT_NE(cell.pause, c.next(seconds(20)).pause);
}

TEST(CellStream, HasTheMeansThatItIsGiven) {
  const scenarios::Notebooks n = team();
  CellStream cells = UserCalendar(n, {}, 1, 0, 0).cells_of_next();
  double pause = 0;
  double work = 0;
  const int count = 40'000;
  for (int c = 0; c < count; ++c) {
    const Cell cell = cells.next(seconds(10));  // on a GPU twice as fast
    pause += to_seconds(cell.pause);
    work += to_seconds(cell.gpu_time);
  }
  EXPECT_NEAR(pause / count, 360, 8);
  EXPECT_NEAR(work / count, 10, 0.3);
}

}  // namespace
}  // namespace slicewise::sim
