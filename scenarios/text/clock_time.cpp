#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"

#include "scalars.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr int kFarthestOffset = 14;  // hours; Kiribati

// "14:00" -> 840 minutes.
std::optional<std::int64_t> minutes_of(std::string_view text, int most_hours) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    if (!is_digit(text[i])) return std::nullopt;
  }
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (hour > most_hours || minute > 59) return std::nullopt;
  return hour * 60 + minute;
}

tl::unexpected<QuantityError> not_a_time(std::string_view text, std::string_view what,
                                         std::string help) {
  return tl::unexpected(
      QuantityError{Code::FieldType, fmt::format("\"{}\" is not {}", text, what), std::move(help)});
}

}  // namespace

Parsed<Duration> parse_clock_time(std::string_view text) {
  const auto minute = minutes_of(text, 23);
  if (minute) return minutes(*minute);
  if (text.size() == 4 && minutes_of(fmt::format("0{}", text), 23)) {
    return not_a_time(text, "a time of day", fmt::format("did you mean 0{}?", text));
  }
  return not_a_time(text, "a time of day",
                    "write hours and minutes from 00:00 to 23:59, like \"14:00\"");
}

Parsed<Duration> parse_utc_offset(std::string_view text) {
  const bool has_sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const auto minute =
      has_sign ? minutes_of(text.substr(1), kFarthestOffset) : std::optional<std::int64_t>{};
  if (minute) return minutes(text[0] == '-' ? -*minute : *minute);
  return not_a_time(text, "a distance from UTC",
                    "write sign, hours and minutes, like \"+01:00\" or \"-05:30\"");
}

Parsed<Duration> parse_week_time(std::string_view text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto* day = std::ranges::find(kDays, text.substr(0, space));
  const auto minute =
      space == text.size() ? std::optional<std::int64_t>{} : minutes_of(text.substr(space + 1), 23);
  if (day != kDays.end() && minute) return hours(24 * (day - kDays.begin())) + minutes(*minute);
  return not_a_time(text, "a weekday and time of day",
                    "write one of Mon, Tue, Wed, Thu, Fri, Sat, Sun and a time: Mon 08:00");
}

std::string week_time_text(Duration since_monday) {
  constexpr std::int64_t kOfADay = hours(24).ns / minutes(1).ns;
  const std::int64_t minute = since_monday.ns / minutes(1).ns;
  return fmt::format("{} {:02}:{:02}", kDays[static_cast<std::size_t>(minute / kOfADay)],
                     minute / 60 % 24, minute % 60);
}

}  // namespace slicewise::scenarios
