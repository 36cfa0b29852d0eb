#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "slicewise/codes.hpp"
#include "slicewise/units.hpp"

// The value notations of scenario files, as a Kubernetes user writes them.
namespace slicewise::scenarios {

// Why a text is not a quantity, with a suggestion that can be pasted.
struct QuantityError {
  Code code;            // UnitMissing, UnitUnknown, FieldType or ValueRange
  std::string message;  // "\"8GB\" is not a Kubernetes quantity"
  std::string help;     // "did you mean 8G (8 000 000 000 bytes) or 8Gi (8 589 934 592 bytes)?"
};

template <class T>
using Parsed = tl::expected<T, QuantityError>;

Parsed<Bytes> parse_bytes(std::string_view text);          // 8Gi, 3000Mi, 16G; "0" needs no unit
Parsed<Millicores> parse_cpu(std::string_view text);       // 500m, 2, 1.5
Parsed<Duration> parse_duration(std::string_view text);    // 2ms, 1m30s, 24h, 28d, 1.5s; "0" too
Parsed<double> parse_seconds(std::string_view text);       // 0.3673us; one unit, to less than 1 ns
Parsed<double> parse_percent(std::string_view text);       // 99.9% -> 0.999; 0 % .. 100 %
Parsed<Rate> parse_rate(std::string_view text);            // 12/s, 0.5/m, 90/h
Parsed<Duration> parse_clock_time(std::string_view text);  // 14:00 of any day
Parsed<Duration> parse_utc_offset(std::string_view text);  // +05:30; -14:59 .. +14:59
Parsed<Duration> parse_week_time(std::string_view text);   // Mon 08:00, since Monday 00:00
std::string week_time_text(Duration since_monday);         // ... as the format has it; < 7 days

// Any quantity of Kubernetes ("3500m", "14Gi", "2", "1e3") in thousandths, rounded up; at most
// 10^18. nullopt when it is none or negative.
std::optional<std::int64_t> quantity_in_thousandths(std::string_view text);

}  // namespace slicewise::scenarios
