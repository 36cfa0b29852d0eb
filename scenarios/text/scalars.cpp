#include "scalars.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace slicewise::scenarios {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// False when `value` * 10 + `digit` does not fit.
bool push(std::int64_t& value, int digit) {
  if (value > (kMost - digit) / 10) return false;
  value = value * 10 + digit;
  return true;
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<std::int64_t> whole_of(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && is_digit(text[1])) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> decimal_of(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> scaled_of(std::string_view text, int digits) {
  // Nearly every value is a short whole number.
  constexpr std::size_t kShort = 10;
  std::int64_t whole_number = 0;
  if (text.size() < kShort && digits >= 0 && digits <= 9) {
    const auto [stop, error] =
        std::from_chars(text.data(), text.data() + text.size(), whole_number);
    if (error == std::errc() && stop == text.data() + text.size()) {
      for (int i = 0; i < digits; ++i) whole_number *= 10;
      return whole_number;
    }
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t exponent_at = text.find_first_of("eE");
  if (exponent_at != std::string_view::npos) {
    constexpr int kLargest = 40;
    const auto exponent = whole_of(text.substr(exponent_at + 1));
    if (!exponent || *exponent > kLargest || *exponent < -kLargest) return std::nullopt;
    digits += static_cast<int>(*exponent);
    text = text.substr(0, exponent_at);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() && fraction.empty()) return std::nullopt;
  // Digits up to the unit that is wanted count, those below it must only be digits.
  std::int64_t value = 0;
  const auto wanted = static_cast<std::int64_t>(whole.size()) + digits;
  std::int64_t seen = 0;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      if (!is_digit(c)) return std::nullopt;
      if (seen++ < wanted && !push(value, c - '0')) return std::nullopt;
    }
  }
  for (; seen < wanted && value != 0; ++seen) {
    if (!push(value, 0)) return std::nullopt;
  }
  return negative ? -value : value;
}

void append_scaled(std::string& text, std::int64_t value, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  std::array<char, 24> buffer{};
  auto* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value / unit).ptr;
  text.append(buffer.data(), end);
  std::int64_t rest = value % unit;
  if (rest == 0) return;
  text += '.';
  for (unit /= 10; rest != 0; unit /= 10) {
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
}

}  // namespace slicewise::scenarios
