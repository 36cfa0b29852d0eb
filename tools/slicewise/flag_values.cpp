#include "flag_values.hpp"

#include <charconv>

#include "slicewise/scenarios/quantity.hpp"

namespace slicewise::tools {

tl::expected<std::int64_t, std::string> whole_number(const std::string& text, std::int64_t low,
                                                     std::int64_t high) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < low || value > high) {
    return tl::unexpected("\"" + text + "\" is not a whole number from " + std::to_string(low) +
                          " to " + std::to_string(high));
  }
  return value;
}

tl::expected<double, std::string> percentage(const std::string& text) {
  constexpr double kLeast = 0.001;
  const auto share = scenarios::parse_percent(text);
  if (!share || *share < kLeast) {
    const bool lacks_sign = !text.ends_with('%') && scenarios::parse_percent(text + "%");
    return tl::unexpected("\"" + text + "\" is not a percentage from 0.1% to 100%" +
                          (lacks_sign ? "; did you mean \"" + text + "%\"?" : ""));
  }
  return *share;
}

tl::expected<double, std::string> positive_factor(const std::string& text) {
  constexpr double kMost = 1e6;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !(value > 0) || value > kMost) {
    return tl::unexpected("\"" + text + "\" is not a number above 0 and up to 1000000");
  }
  return value;
}

std::string check_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) return "";
  return "\"" + text + "\" is not PATH=VALUE (workloads.train.count=3; null removes a field)";
}

}  // namespace slicewise::tools
