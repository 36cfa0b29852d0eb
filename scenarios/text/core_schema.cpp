#include <algorithm>
#include <initializer_list>

#include "document.hpp"

// What a plain scalar is by the core schema of YAML 1.2.
namespace slicewise::scenarios {
namespace {

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
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

}  // namespace slicewise::scenarios
