#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/scenarios/serving.hpp"
#include "slicewise/sim/figure_text.hpp"
#include "slicewise/units.hpp"

namespace slicewise::sim {
struct ObjectiveResult;
}

// Figures as people read them: three digits, the unit that fits, no locale.
namespace slicewise::reports {

// The signs of a report in UTF-8 or, where the terminal has none, in ASCII.
struct Signs {
  std::string_view pass, fail, warn, plus_minus, dot, full, empty, ellipsis, none, at_least;
};
const Signs& signs(const TextStyle& style);

// What stands where there is no figure.
inline std::string or_none(const std::string& text, const TextStyle& style) {
  return text.empty() ? std::string(signs(style).none) : text;
}

// A limit or figure of an objective in its own unit, with its interval.
std::string figure_text(const scenarios::FigureValue& value,
                        const std::optional<scenarios::FigureValue>& half_width,
                        const TextStyle& style);

// The same with as many digits as it takes to tell it from its limit: "99.897%" of 99.90%.
std::string figure_beside_limit(const scenarios::FigureValue& value,
                                const std::optional<scenarios::FigureValue>& half_width,
                                const scenarios::FigureValue& limit, const TextStyle& style);

// Nothing was served or finished, so that there is no value.
bool found_nothing(const sim::ObjectiveResult& objective);
std::string found_text(const sim::ObjectiveResult& objective, const TextStyle& style);

// "366d00h" (from two days), "2h30m", "31m00s", "18.0 s", "412 ms", "1.05 ms", "110 us", "0 s".
std::string duration_text(Duration duration);
// "412 ±9 ms", "59m00s ±35.4 s"; without a half width, or where it rounds to nothing beside the
// value, just the value.
std::string interval_text(Duration value, const std::optional<Duration>& half_width,
                          const TextStyle& style);
// "$8,935" (whole dollars from a thousand), "$12.24", below a dollar four digits: "$0.01100".
std::string money_text(Usd amount);
std::string money_or_nothing(const std::optional<Usd>& amount);
// The decimals of that rule. REQUIRES: amount >= 0.
int money_decimals(Usd amount);
using sim::with_thousands;
// "14.6Gi", "412Mi".
std::string memory_text(Bytes amount);
// "81%", "9.5%" (below ten), "<0.1%", "0%".
std::string percent_text(double ratio);
// "20", "15.6" (a mean over replications), "107,958".
std::string count_text(double count);
// Seconds that the rates of one column are told by: 1, or 3,600 where the fastest is below one a
// second or the slowest could not be read. Rates of 0 have no say.
std::int64_t rate_seconds(std::span<const double> per_second);
// "30.0 request/s", "500 epoch/h" with 3,600 seconds; "30.0/s" without a unit.
std::string rate_text(double per_second, std::string_view unit, std::int64_t seconds);

// "2.41", "31.5", "1,204": three digits where there are that many before the point.
std::string decimal_text(double value);
// As sim::short_text, with commas: "0.394", "6", "14.8", "1,020".
std::string short_text(double value, int digits = 3);

}  // namespace slicewise::reports
