#include "slicewise/sim/serving/user_calendar.hpp"

#include <algorithm>
#include <functional>

#include "slicewise/sim/serving/amounts.hpp"

namespace slicewise::sim {
namespace {

constexpr Duration kDay = hours(24);
constexpr std::int64_t kDaysPerWeek = 7;
constexpr std::int64_t kWorkingDays = 5;
constexpr std::int64_t kLastDay = 3660;  // nobody simulates ten years
constexpr Duration kOpens = hours(8);    // without peaks people start from here
constexpr Duration kCloses = hours(20);  // ... to here

// Odd, so that no two sessions of a user share a stream. Source: Philox's second multiplier.
constexpr std::uint32_t kNextSession = 0xCD9E8D57U;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

Duration part_of(Duration d, double factor) {
  return {static_cast<std::int64_t>(static_cast<double>(d.ns) * factor)};
}

}  // namespace

Cell CellStream::next(Duration mean_gpu_time) {
  const Duration pause = draw_time(notebooks_->interval, random_);
  return {pause, draw_time(notebooks_->gpu_time, mean_gpu_time, random_)};
}

UserCalendar::UserCalendar(const scenarios::Notebooks& notebooks, Duration starts_at,
                           std::uint64_t seed, std::uint32_t replication, std::uint32_t user)
    : notebooks_(&notebooks),
      local_start_(starts_at + notebooks.utc_offset),
      seed_(seed),
      replication_(replication),
      user_(user),
      random_(seed, replication, user, Purpose::Session),
      first_day_(floor_div(local_start_.ns, kDay.ns)),
      next_day_(first_day_) {
  while (day_.empty()) plan_day();
}

CellStream UserCalendar::cells_of_next() const {
  return {*notebooks_,
          RandomStream(seed_, replication_, user_ + taken_ * kNextSession, Purpose::Cell)};
}

void UserCalendar::move_on(TimePoint from) {
  day_.pop_back();
  ++taken_;
  while (day_.empty()) plan_day();
  day_.back().start = std::max(day_.back().start, from);
}

// Time of day, as local time has it.
Duration UserCalendar::time_of_day() {
  const auto& peaks = notebooks_->peaks_at;
  if (peaks.empty()) return kOpens + part_of(kCloses - kOpens, random_.uniform());
  const Duration peak = peaks[random_.below(static_cast<std::uint32_t>(peaks.size()))];
  const Duration at = peak + part_of(notebooks_->spread, random_.normal());
  return at - kDay * floor_div(at.ns, kDay.ns);
}

// The number of exponential gaps of mean 1 that fit into the mean number is Poisson.
void UserCalendar::plan_day() {
  const std::int64_t day = next_day_++;
  if (day - first_day_ >= kLastDay) {
    day_.push_back({kNever, {}, {}});
    return;
  }
  const std::int64_t weekday = day - kDaysPerWeek * floor_div(day, kDaysPerWeek);
  if (weekday >= kWorkingDays) return;
  for (double left = notebooks_->sessions_per_day - random_.exponential(); left > 0;
       left -= random_.exponential()) {
    Session session;
    session.start = TimePoint{} + (kDay * day + time_of_day() - local_start_);
    session.length = draw_time(notebooks_->length, random_);
    if (notebooks_->memory) session.memory = Bytes{draw_amount(*notebooks_->memory, random_)};
    if (session.start >= TimePoint{}) day_.push_back(session);
  }
  std::ranges::sort(day_, std::ranges::greater{});
}

}  // namespace slicewise::sim
