#include "plain_scalars.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slicewise::scenarios {
namespace {

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_float(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!all_of(power, kDigits)) return false;
    text = text.substr(0, exponent);
  }
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return all_of(text, kDigits);
  const std::string_view whole = text.substr(0, dot);
  const std::string_view part = text.substr(dot + 1);
  if (whole.empty()) return all_of(part, kDigits);
  return all_of(whole, kDigits) && (part.empty() || all_of(part, kDigits));
}

}  // namespace

Node::Kind core_schema_kind(std::string_view plain_scalar) {
  constexpr std::string_view kDigits = "0123456789";
  std::string_view text = plain_scalar;
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Node::Kind::Null;
  if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"})) {
    return Node::Kind::Boolean;
  }
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return Node::Kind::Float;
  if (text.starts_with("0o") && all_of(text.substr(2), "01234567")) return Node::Kind::Integer;
  if (text.starts_with("0x") && all_of(text.substr(2), "0123456789abcdefABCDEF")) {
    return Node::Kind::Integer;
  }
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (is_one_of(text, {".inf", ".Inf", ".INF"})) return Node::Kind::Float;
  if (all_of(text, kDigits)) return Node::Kind::Integer;
  return is_float(text) ? Node::Kind::Float : Node::Kind::Text;
}

namespace {

// "1_000", "-017", "0x1F", "0b11" as Go's strconv.ParseInt(text, 0, 64) reads them, "08" as the
// float that it is then; nullopt: no whole number of some size.
std::optional<std::int64_t> yaml_1_1_integer(std::string text) {
  constexpr std::size_t kMostDigits = 18;
  std::erase(text, '_');
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.erase(0, 1);
  int base = 10;
  for (const auto& [prefix, of_prefix] : {std::pair{"0x", 16}, {"0X", 16}, {"0b", 2}, {"0o", 8}}) {
    if (!text.starts_with(prefix)) continue;
    base = of_prefix;
    text.erase(0, 2);
    break;
  }
  constexpr std::string_view kDigitsOfAll = "0123456789abcdefABCDEF";
  const std::string_view digits = base == 16  ? kDigitsOfAll
                                  : base == 2 ? kDigitsOfAll.substr(0, 2)
                                  : base == 8 ? kDigitsOfAll.substr(0, 8)
                                              : kDigitsOfAll.substr(0, 10);
  if (text.size() > kMostDigits || !all_of(text, digits)) return std::nullopt;
  if (base == 10 && text.size() > 1 && text.front() == '0' && all_of(text, "01234567")) base = 8;
  const auto value = static_cast<std::int64_t>(std::strtoull(text.c_str(), nullptr, base));
  return is_negative ? -value : value;
}

}  // namespace

void take_yaml_1_1(Node& value) {
  constexpr double kMost = 1e15;
  if (value.kind == Node::Kind::Float) {
    if (value.text.find_first_of("0123456789") == std::string::npos) return;
    const double number = std::strtod(value.text.c_str(), nullptr);
    if (!(number > -kMost && number < kMost) || number != std::floor(number)) return;
    value.kind = Node::Kind::Integer;
    value.written = std::exchange(value.text, std::to_string(static_cast<std::int64_t>(number)));
  } else if (value.kind == Node::Kind::Integer || value.kind == Node::Kind::Text) {
    if (value.text.empty() || value.text.find_first_of("0123456789") > 1) return;
    const auto number = yaml_1_1_integer(value.text);
    if (!number) return;
    value.kind = Node::Kind::Integer;
    value.written = std::exchange(value.text, std::to_string(*number));
  }
}

std::optional<bool> old_truth(const Node& node) {
  if (node.kind != Node::Kind::Text || node.quoted) return std::nullopt;
  if (is_one_of(node.text, {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(node.text, {"n", "N", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  return std::nullopt;
}

}  // namespace slicewise::scenarios
