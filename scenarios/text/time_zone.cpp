#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "embedded/time_zone_files.hpp"

// How far zones are from UTC while a scenario runs. No file of the machine is asked: the same input
// has the same bytes everywhere.
namespace slicewise::scenarios {
namespace {

// Each line: the offset, whether it changes, names.
template <class Take>
void each_zone(const Take& take) {
  std::string_view rest = time_zone_files::time_zones_txt();
  const auto next = [](std::string_view& text, char end) {
    const std::string_view word = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  while (!rest.empty()) {
    std::string_view line = next(rest, '\n');
    if (line.starts_with('#')) continue;
    const Parsed<Duration> offset = parse_utc_offset(next(line, ' '));
    const std::string_view how = next(line, ' ');
    const bool changes = how != "constant";
    const std::string_view rule = how.find(',') == how.npos ? std::string_view() : how;
    while (offset && !line.empty()) take(next(line, ' '), TimeZone{*offset, changes, rule});
  }
}

// A rule of POSIX: the offsets of winter and summer, and the times at which the year goes over to
// each. Source: IEEE Std 1003.1, "Environment Variables", TZ.
class PosixRule {
 public:
  explicit PosixRule(std::string_view text) : rest_(text) {
    skip_name();
    standard = -seconds_of_time();
    skip_name();
    summer = rest_.starts_with(',') ? standard + 3600 : -seconds_of_time();
    for (Change* change : {&begins_, &ends_}) {
      rest_.remove_prefix(2);  // ",M"
      change->month = static_cast<unsigned>(number());
      change->week = static_cast<unsigned>(number_after('.'));
      change->weekday = static_cast<unsigned>(number_after('.'));
      if (!rest_.starts_with('/')) continue;
      rest_.remove_prefix(1);
      change->seconds = seconds_of_time();
    }
  }

  // Of a time of UTC, within a day of the turn of the year if that is in its own year.
  std::int64_t offset_at(std::int64_t utc, std::chrono::year year) const {
    const bool after_begin = utc >= begins_.in(year)-standard;
    const bool before_end = utc < ends_.in(year)-summer;
    const bool is_north = begins_.month < ends_.month;
    return (is_north ? after_begin && before_end : after_begin || before_end) ? summer : standard;
  }

  std::int64_t standard = 0;
  std::int64_t summer = 0;

 private:
  // On the first, ..., fifth or last such day of the month, so many seconds after it begins.
  struct Change {
    std::int64_t in(std::chrono::year year) const {
      const std::chrono::month of{month};
      const std::chrono::weekday day{weekday};
      const std::chrono::sys_days date =
          week == 5 ? std::chrono::sys_days(year / of / day[std::chrono::last])
                    : std::chrono::sys_days(year / of / day[week]);
      return std::int64_t{date.time_since_epoch().count()} * 86'400 + seconds;
    }
    unsigned month = 1;
    unsigned week = 1;
    unsigned weekday = 0;
    std::int64_t seconds = 7200;  // two o'clock
  };

  void skip_name() {
    const bool quoted = rest_.starts_with('<');
    const std::size_t end = quoted ? rest_.find('>') + 1 : rest_.find_first_of("+-,0123456789");
    rest_.remove_prefix(std::min(end, rest_.size()));
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::int64_t number_after(char mark) {
    if (!rest_.starts_with(mark)) return 0;
    rest_.remove_prefix(1);
    return number();
  }
  std::int64_t seconds_of_time() {
    const bool negative = rest_.starts_with('-');
    if (negative || rest_.starts_with('+')) rest_.remove_prefix(1);
    const std::int64_t hour = number();
    const std::int64_t seconds = hour * 3600 + number_after(':') * 60;
    return negative ? -seconds : seconds;
  }

  std::string_view rest_;
  Change begins_;
  Change ends_;
};

}  // namespace

Duration TimeZone::offset_at(std::int64_t local_ns) const {
  if (rule.empty()) return offset;
  const PosixRule posix(rule);
  const std::chrono::sys_time<std::chrono::nanoseconds> local{std::chrono::nanoseconds(local_ns)};
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const auto in_seconds = std::chrono::floor<std::chrono::seconds>(local).time_since_epoch();
  const auto [before, after] = std::minmax(posix.standard, posix.summer);
  // With the larger first: it is what holds before a clock is put back.
  const std::chrono::year year = std::chrono::year_month_day(day).year();
  const bool holds = posix.offset_at(in_seconds.count() - after, year) == after;
  return seconds(holds ? after : before);
}

Parsed<TimeZone> parse_time_zone(std::string_view text) {
  if (const auto known = time_zone(text); known && !text.empty()) return *known;
  const auto offset = parse_utc_offset(text);
  if (offset) return TimeZone{*offset};
  QuantityError wrong = offset.error();
  wrong.help += "; or a zone: " + unknown_zone_help(text);
  return tl::unexpected(std::move(wrong));
}

std::optional<TimeZone> time_zone(std::string_view name) {
  if (name.empty()) return TimeZone{};
  std::optional<TimeZone> found;
  each_zone([&](std::string_view known, const TimeZone& zone) {
    if (known == name) found = zone;
  });
  return found;
}

std::string unknown_zone_help(std::string_view name) {
  std::vector<std::string_view> names;
  each_zone([&](std::string_view known, const TimeZone&) { names.push_back(known); });
  const auto near = nearest_name(name, names);
  return near ? fmt::format("did you mean {}?", *near) : "a name of IANA, as America/New_York";
}

std::optional<std::string> zone_of_offset(Duration offset) {
  if (offset.ns == 0) return "Etc/UTC";
  const std::int64_t ahead = offset.ns / hours(1).ns;
  if (offset.ns % hours(1).ns != 0) return std::nullopt;
  return fmt::format("Etc/GMT{:+}", -ahead);
}

}  // namespace slicewise::scenarios
