#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/nearest_name.hpp"

// Bytes of a text, judged without the locale.
namespace slicewise::scenarios {

// What some editors put before UTF-8.

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
constexpr bool is_letter_or_digit(char c) { return is_lower_or_digit(lower(c)); }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// What stands between the separators: "a", "" and "b" of "a,,b"; nothing of "", and nothing behind
// a separator at the end.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

// A whole number in decimal digits, perhaps with a sign; nullopt when it is none or does not fit.
std::optional<std::int64_t> whole_of(std::string_view text);

// A number as std::from_chars takes it ("-12.5", "3e2"), perhaps with a "+"; nullopt when it is
// none.
std::optional<double> decimal_of(std::string_view text);

// A decimal number ("-12.5", "3e2", "5.0") times 10^digits, cut off below 1; exact as long as the
// text is. nullopt when it is no number or the result is beyond +-9.2e18.
std::optional<std::int64_t> scaled_of(std::string_view text, int digits);

// Of seconds in nanoseconds.
inline constexpr int kNanosecondDigits = 9;

// `value` / 10^digits without trailing zeros: (12500, 3) is "12.5". REQUIRES: value >= 0.
void append_scaled(std::string& text, std::int64_t value, int digits);

}  // namespace slicewise::scenarios
