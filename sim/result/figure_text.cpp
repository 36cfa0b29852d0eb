#include "slicewise/sim/figure_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"

namespace slicewise::sim {

std::string clock_text(Duration duration) {
  constexpr std::int64_t kDaysFromMinutes = std::int64_t{48} * 60;
  const std::int64_t whole_seconds = (duration.ns + 500'000'000) / 1'000'000'000;
  if (whole_seconds < 3600) {
    return fmt::format("{}m{:02}s", whole_seconds / 60, whole_seconds % 60);
  }
  const std::int64_t whole_minutes = (whole_seconds + 30) / 60;
  if (whole_minutes >= kDaysFromMinutes) {
    const std::int64_t whole_hours = (whole_minutes + 30) / 60;
    return fmt::format("{}d{:02}h", whole_hours / 24, whole_hours % 24);
  }
  return fmt::format("{}h{:02}m", whole_minutes / 60, whole_minutes % 60);
}

std::string with_thousands(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string whole_dollars(double dollars) {
  return "$" + with_thousands(fmt::format("{:.0f}", dollars));
}

std::string short_text(double value, int digits) {
  // %g would turn to an exponent where more digits than that stand before the point.
  double large = 1;
  for (int digit = 0; digit < digits; ++digit) large *= 10;
  return std::abs(value) >= large - 0.5 ? fmt::format("{:.0f}", value)
                                        : fmt::format("{:.{}g}", value, digits);
}

std::string figure_text(const scenarios::FigureValue& value, int digits) {
  return std::visit(
      models::Overloaded{
          [=](Duration d) {
            if (d < seconds(1)) {
              return fmt::format("{:.{}g} ms", to_seconds(d) * 1e3, digits);
            }
            const bool is_long = d >= minutes(1) && digits <= kUsualDigits;
            return is_long ? clock_text(d) : fmt::format("{:.{}g} s", to_seconds(d), digits);
          },
          [=](scenarios::Share s) { return fmt::format("{:.{}g} %", 100 * s.of_one, digits); },
          [=](Rate r) { return short_text(r.per_second, digits) + "/s"; },
          [=](double x) { return short_text(x, digits); },
      },
      value);
}

}  // namespace slicewise::sim
