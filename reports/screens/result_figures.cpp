#include "result_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/sim/result.hpp"

namespace slicewise::reports {
namespace {

constexpr Signs kUnicode{"✓", "✗", "!", "±", " · ", "█", "░", "…", "–", "≥"};
constexpr Signs kAscii{"ok", "X", "!", "+-", " | ", "#", ".", "...", "-", ">="};

// Three digits where there are that many before the point; never an exponent.
std::string three_digits(double value) {
  const double magnitude = std::abs(value);
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

struct TimeUnit {
  std::int64_t ns;
  double below;  // in this unit: what would round to 1000 belongs to the next one
  std::string_view name;
};

constexpr std::array<TimeUnit, 3> kTimeUnits = {
    {{1'000, 999.5, " us"}, {1'000'000, 999.5, " ms"}, {1'000'000'000, 59.95, " s"}}};

// nullptr: a minute or more.
const TimeUnit* unit_of(Duration duration) {
  for (const TimeUnit& unit : kTimeUnits) {
    const double value = static_cast<double>(duration.ns) / static_cast<double>(unit.ns);
    if (value < unit.below) return &unit;
  }
  return nullptr;
}

std::string in_unit(Duration duration, const TimeUnit& unit) {
  return three_digits(static_cast<double>(duration.ns) / static_cast<double>(unit.ns));
}

// Whether an interval is nothing as it would be shown, "0.00%": then it is not.
bool is_zero(std::string_view half_width) {
  return half_width.find_first_of("123456789") == std::string_view::npos;
}

}  // namespace

const Signs& signs(const TextStyle& style) { return style.unicode ? kUnicode : kAscii; }

std::string duration_text(Duration duration) {
  if (duration.ns == 0) return "0 s";
  if (duration.ns < 0) return "-" + duration_text(Duration{-duration.ns});
  const TimeUnit* unit = unit_of(duration);
  return unit != nullptr ? in_unit(duration, *unit) + std::string(unit->name)
                         : sim::clock_text(duration);
}

std::string figure_text(const scenarios::FigureValue& value,
                        const std::optional<scenarios::FigureValue>& half_width,
                        const TextStyle& style) {
  const auto width = [&](auto type) {
    using Value = decltype(type);
    return half_width ? std::get_if<Value>(&*half_width) : nullptr;
  };
  const auto plus_minus = [&](std::string text, const std::string& half) {
    return is_zero(half) ? text : fmt::format("{} {}{}", text, signs(style).plus_minus, half);
  };
  return std::visit(
      models::Overloaded{
          [&](Duration d) {
            const Duration* half = width(Duration{});
            return interval_text(d, half ? std::optional(*half) : std::nullopt, style);
          },
          [&](scenarios::Share s) {
            const auto* half = width(scenarios::Share{});
            return plus_minus(fmt::format("{:.2f}%", 100 * s.of_one),
                              half ? fmt::format("{:.2f}%", 100 * half->of_one) : "");
          },
          [&](Rate r) {
            const Rate* half = width(Rate{});
            return plus_minus(short_text(r.per_second, 4) + "/s",
                              half ? fmt::format("{:.2g}/s", half->per_second) : "");
          },
          [&](double x) {
            const double* half = width(0.0);
            return plus_minus(short_text(x), half ? fmt::format("{:.2g}", *half) : "");
          },
      },
      value);
}

namespace {

std::string precise_text(const scenarios::FigureValue& value, int digits) {
  return std::visit(
      models::Overloaded{
          [&](Duration d) {
            return d < seconds(1) ? fmt::format("{:.{}g} ms", to_seconds(d) * 1e3, digits)
                                  : fmt::format("{:.{}g} s", to_seconds(d), digits);
          },
          [&](scenarios::Share s) { return fmt::format("{:.{}g}%", 100 * s.of_one, digits); },
          [&](Rate r) { return fmt::format("{:.{}g}/s", r.per_second, digits); },
          [&](double x) { return fmt::format("{:.{}g}", x, digits); },
      },
      value);
}

}  // namespace

std::string figure_beside_limit(const scenarios::FigureValue& value,
                                const std::optional<scenarios::FigureValue>& half_width,
                                const scenarios::FigureValue& limit, const TextStyle& style) {
  constexpr int kMostDigits = 15;
  std::string usual = figure_text(value, half_width, style);
  if (value == limit ||
      figure_text(value, std::nullopt, style) != figure_text(limit, std::nullopt, style)) {
    return usual;
  }
  for (int digits = 5; digits <= kMostDigits; ++digits) {
    std::string text = precise_text(value, digits);
    if (text == precise_text(limit, digits)) continue;
    if (!half_width) return text;
    return fmt::format("{} {}{}", text, signs(style).plus_minus,
                       figure_text(*half_width, std::nullopt, style));
  }
  return usual;
}

bool found_nothing(const sim::ObjectiveResult& objective) {
  if (objective.is_unasked) return true;
  return !objective.pass && !objective.at_least &&
         std::visit([](auto value) { return value == decltype(value){}; }, objective.value);
}

std::string found_text(const sim::ObjectiveResult& objective, const TextStyle& style) {
  if (found_nothing(objective)) return std::string(signs(style).none);
  return figure_beside_limit(objective.value, objective.ci95, objective.limit, style);
}

std::string interval_text(Duration value, const std::optional<Duration>& half_width,
                          const TextStyle& style) {
  constexpr std::int64_t kTooSmallToShow = 1'000;  // of the value
  if (!half_width || half_width->ns * kTooSmallToShow <= value.ns) return duration_text(value);
  const std::string_view sign = signs(style).plus_minus;
  const TimeUnit* unit = unit_of(value);
  if (unit == nullptr || value.ns == 0 || half_width->ns > value.ns) {
    return fmt::format("{} {}{}", duration_text(value), sign, duration_text(*half_width));
  }
  // One unit for both, and no more decimals than the value has.
  const std::string shown = in_unit(value, *unit);
  const std::size_t point = shown.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : shown.size() - point - 1;
  const std::string width = fmt::format(
      "{:.{}f}", static_cast<double>(half_width->ns) / static_cast<double>(unit->ns), decimals);
  return is_zero(width) ? duration_text(value)
                        : fmt::format("{} {}{}{}", shown, sign, width, unit->name);
}

std::string money_text(Usd amount) {
  if (amount.nano < 0) return "-" + money_text(Usd{-amount.nano});
  const double dollars = static_cast<double>(amount.nano) / 1e9;
  if (amount.nano == 0) return "$0";
  return fmt::format("${}",
                     with_thousands(fmt::format("{:.{}f}", dollars, money_decimals(amount))));
}

std::string money_or_nothing(const std::optional<Usd>& amount) {
  return amount ? money_text(*amount) : "";
}

int money_decimals(Usd amount) {
  constexpr std::int64_t kDollar = 1'000'000'000;
  constexpr int kMostDecimals = 9;  // of a nano-dollar
  if (amount.nano >= 999'995'000'000) return 0;
  if (amount.nano >= kDollar || amount.nano == 0) return 2;
  // Four significant digits.
  int decimals = 4;
  for (std::int64_t below = kDollar / 10; amount.nano < below && decimals < kMostDecimals;
       below /= 10) {
    ++decimals;
  }
  return decimals;
}

std::string memory_text(Bytes amount) {
  const double mebibytes = static_cast<double>(amount.count) / 1048576.0;
  if (mebibytes < 1023.5) return fmt::format("{:.0f}Mi", mebibytes);
  return fmt::format("{:.1f}Gi", mebibytes / 1024.0);
}

std::string percent_text(double ratio) {
  const double percent = ratio * 100;
  if (percent == 0) return "0%";
  if (percent > 0 && percent < 0.05) return "<0.1%";
  return percent < 9.95 ? fmt::format("{:.1f}%", percent) : fmt::format("{:.0f}%", percent);
}

std::string count_text(double count) {
  const bool whole = std::abs(count - std::round(count)) < 0.05;
  return with_thousands(fmt::format("{:.{}f}", count, whole || count >= 999.5 ? 0 : 1));
}

std::int64_t rate_seconds(std::span<const double> per_second) {
  constexpr double kReadable = 0.05;  // two digits of it are shown
  double slowest = std::numeric_limits<double>::infinity();
  double fastest = 0;
  for (const double rate : per_second) {
    if (rate > 0) slowest = std::min(slowest, rate);
    fastest = std::max(fastest, rate);
  }
  return fastest < 0.9995 || slowest < kReadable ? 3600 : 1;
}

std::string rate_text(double per_second, std::string_view unit, std::int64_t seconds) {
  return fmt::format("{}{}{}/{}",
                     with_thousands(three_digits(per_second * static_cast<double>(seconds))),
                     unit.empty() ? "" : " ", unit, seconds == 1 ? 's' : 'h');
}

std::string decimal_text(double value) { return with_thousands(three_digits(value)); }

std::string short_text(double value, int digits) {
  return with_thousands(sim::short_text(value, digits));
}

}  // namespace slicewise::reports
