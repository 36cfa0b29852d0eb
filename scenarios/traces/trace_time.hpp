#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slicewise::scenarios {

inline constexpr std::int64_t kSecond = 1'000'000'000;              // in ns
inline constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // 2096: what a trace can hold

// When a line of a trace happened, in nanoseconds since any point that the whole trace shares:
// seconds ("12.5", 0 .. 9.2e9), or date and time in ISO 8601 ("2023-11-16 18:17:03.9799600",
// "2023-11-16T18:17:03Z", "...+01:00"; years 1970 .. 2260, UTC without a zone), then since 1970.
// Below a nanosecond it is cut off. nullopt when it is neither.
std::optional<std::int64_t> parse_trace_time(std::string_view text);

}  // namespace slicewise::scenarios
