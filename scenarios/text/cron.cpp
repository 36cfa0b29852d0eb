#include "slicewise/scenarios/cron.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kMonths[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                        "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::string_view kWeekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct Bounds {
  std::string_view what;
  int least;
  int most;
  std::span<const std::string_view> names;  // of `least` and those after it
};
constexpr Bounds kParts[] = {{"minute", 0, 59, {}},
                             {"hour", 0, 23, {}},
                             {"day of the month", 1, 31, {}},
                             {"month", 1, 12, kMonths},
                             {"day of the week", 0, 6, kWeekdays}};

constexpr std::pair<std::string_view, std::string_view> kMacros[] = {
    {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},  {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"}};

bool is_any(std::string_view text) { return text == "*" || text == "?"; }

std::optional<int> number_of(std::string_view text, const Bounds& bounds) {
  for (std::size_t n = 0; n < bounds.names.size(); ++n) {
    if (std::ranges::equal(text, bounds.names[n], {}, upper)) {
      return bounds.least + static_cast<int>(n);
    }
  }
  if (text.empty() || text.size() > 4 || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  int number = 0;
  for (const char c : text) number = 10 * number + (c - '0');
  return number;
}

// "*", "5", "1-5", each with a step or not, as bits; 0: it is none.
std::uint64_t range_bits(std::string_view text, const Bounds& bounds) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view range = text.substr(0, slash);
  const std::size_t hyphen = std::min(range.find('-'), range.size());
  std::optional<int> first = bounds.least;
  std::optional<int> last = bounds.most;
  if (!is_any(range)) {
    first = number_of(range.substr(0, hyphen), bounds);
    if (hyphen < range.size()) {
      last = number_of(range.substr(hyphen + 1), bounds);
    } else if (slash == text.size()) {
      last = first;
    }
  }
  const std::optional<int> step = slash == text.size() ? 1 : number_of(text.substr(slash + 1), {});
  if (!first || !last || !step || *step == 0) return 0;
  if (*first < bounds.least || *last > bounds.most || *first > *last) return 0;
  std::uint64_t bits = 0;
  for (int n = *first; n <= *last; n += *step) bits |= std::uint64_t{1} << n;
  return bits;
}

std::vector<std::string_view> split(std::string_view text, std::string_view between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find_first_not_of(between); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(between, end);
  }
  return parts;
}

tl::unexpected<QuantityError> refused(Code code, std::string message) {
  return tl::unexpected(QuantityError{
      code, std::move(message),
      "write minute, hour, day of the month, month and day of the week, like \"30 2 * * 1-5\""});
}

bool has(std::uint64_t bits, unsigned bit) { return ((bits >> bit) & 1) != 0; }

bool is_day(const CronSchedule& schedule, std::chrono::sys_days day) {
  using Part = CronSchedule::Part;
  const std::chrono::year_month_day date(day);
  if (!has(schedule.at[Part::Month], static_cast<unsigned>(date.month()))) return false;
  const bool by_day = has(schedule.at[Part::Day], static_cast<unsigned>(date.day()));
  const bool by_weekday = has(schedule.at[Part::Weekday], std::chrono::weekday(day).c_encoding());
  const bool both = schedule.any[Part::Day] || schedule.any[Part::Weekday];
  return both ? by_day && by_weekday : by_day || by_weekday;
}

}  // namespace

Parsed<CronSchedule> parse_cron(std::string_view text) {
  for (const auto& [macro, meaning] : kMacros) {
    if (text != macro) continue;
    auto parsed = parse_cron(meaning);
    parsed->text = text;
    return parsed;
  }
  const std::vector<std::string_view> parts = split(text, " \t");
  if (parts.size() != std::size(kParts)) {
    return refused(Code::FieldType, fmt::format("\"{}\" is no schedule: it has {} parts, not 5",
                                                text, parts.size()));
  }
  CronSchedule schedule;
  schedule.text = text;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Bounds& bounds = kParts[p];
    schedule.any[p] = false;
    for (const std::string_view range : split(parts[p], ",")) {
      const std::uint64_t bits = range_bits(range, bounds);
      if (bits == 0) {
        return refused(Code::ValueRange,
                       fmt::format("\"{}\" is no {}, which is from {} to {}", range, bounds.what,
                                   bounds.least, bounds.most));
      }
      schedule.at[p] |= bits;
      schedule.any[p] = schedule.any[p] || is_any(range) || range == "*/1";
    }
    if (schedule.at[p] == 0) {  // nothing but commas
      return refused(Code::ValueRange,
                     fmt::format("\"{}\" is no {}, which is from {} to {}", parts[p], bounds.what,
                                 bounds.least, bounds.most));
    }
  }
  return schedule;
}

Parsed<CronSchedule> parse_keda_cron(std::string_view text) {
  if (!text.starts_with('@')) return parse_cron(text);
  return tl::unexpected(QuantityError{Code::ValueRange,
                                      fmt::format("KEDA does not know \"{}\"", text),
                                      "its five parts: \"0 0 * * *\" is @daily"});
}

std::vector<Duration> cron_times(const CronSchedule& schedule, Duration from, Duration until,
                                 std::size_t most) {
  constexpr std::chrono::sys_days kMonday{std::chrono::year(2026) / 1 / 5};
  constexpr std::int64_t kDay = hours(24).ns;
  std::vector<Duration> times;
  const std::int64_t first = from.ns / kDay - (from.ns % kDay < 0 ? 1 : 0);
  for (std::int64_t day = first; day * kDay < until.ns; ++day) {
    if (!is_day(schedule, kMonday + std::chrono::days(day))) continue;
    for (unsigned minute = 0; minute < 24 * 60; ++minute) {
      if (!has(schedule.at[CronSchedule::Hour], minute / 60)) continue;
      if (!has(schedule.at[CronSchedule::Minute], minute % 60)) continue;
      const Duration at{day * kDay + minutes(minute).ns};
      if (at < from || at >= until) continue;
      if (times.size() == most) return times;
      times.push_back(at);
    }
  }
  return times;
}

namespace {

// Of a window's start or end: within the run, and the one after it.
struct CronEvents {
  std::vector<Duration> at;  // UTC

  // Far away where there is none.
  Duration next_after(Duration now) const {
    const auto next = std::ranges::upper_bound(at, now);
    return next == at.end() ? Duration{std::numeric_limits<std::int64_t>::max()} : *next;
  }
};

std::optional<CronEvents> events_of(const CronSchedule& cron, Duration utc_offset, Duration from,
                                    Duration until, std::size_t most) {
  constexpr Duration kLongest = hours(std::int64_t{24} * 5 * 366);  // robfig/cron looks no further
  const Duration end = until + utc_offset;
  CronEvents events{cron_times(cron, from + utc_offset, end, most + 1)};
  if (events.at.size() > most) return std::nullopt;
  for (const Duration next : cron_times(cron, end, end + kLongest, 1)) events.at.push_back(next);
  for (Duration& at : events.at) at = at - utc_offset;
  return events;
}

}  // namespace

std::optional<std::vector<ReplicaStep>> replica_steps(std::span<const ReplicaWindow> windows,
                                                      Duration starts_at, Duration duration,
                                                      std::size_t most) {
  struct Trigger {
    CronEvents starts;
    CronEvents ends;
    int replicas = 0;
  };
  const Duration until = starts_at + duration;
  std::vector<Trigger> triggers;
  std::set<Duration> changes = {starts_at};
  for (const ReplicaWindow& window : windows) {
    const Duration offset = time_zone(window.time_zone)->offset;
    auto starts = events_of(window.start, offset, starts_at, until, most);
    auto ends = events_of(window.end, offset, starts_at, until, most);
    if (!starts || !ends) return std::nullopt;
    changes.insert(starts->at.begin(), starts->at.end());
    changes.insert(ends->at.begin(), ends->at.end());
    triggers.push_back({std::move(*starts), std::move(*ends), window.replicas});
  }
  std::vector<ReplicaStep> steps;
  for (const Duration now : changes) {
    if (now >= until) break;
    int replicas = 0;
    for (const Trigger& trigger : triggers) {
      // What comes next is not a start.
      const bool is_open = trigger.ends.next_after(now) <= trigger.starts.next_after(now);
      if (is_open) replicas = std::max(replicas, trigger.replicas);
    }
    const bool is_new = steps.empty() || steps.back().replicas != replicas;
    if (is_new) steps.push_back({now - starts_at, replicas});
  }
  return steps;
}

}  // namespace slicewise::scenarios
