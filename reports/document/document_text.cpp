#include "document_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

void append_json(std::string& out, const json& value, std::size_t depth);

void append_items(std::string& out, const json& container, std::size_t depth) {
  const bool is_object = container.is_object();
  const std::string margin(2 * (depth + 1), ' ');
  out += is_object ? '{' : '[';
  bool first = true;
  for (const auto& [key, item] : container.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += margin;
    if (is_object) out += json_line(key) + ": ";
    append_json(out, item, depth + 1);
  }
  out += '\n' + std::string(2 * depth, ' ') + (is_object ? '}' : ']');
}

void append_json(std::string& out, const json& value, std::size_t depth) {
  if (value.is_structured() && !value.empty()) {
    append_items(out, value, depth);
  } else if (value.is_number_float()) {
    out += fmt::format("{}", value.get<double>());
  } else {
    out += json_line(value);
  }
}

}  // namespace

std::string with_escapes(std::string_view document) {
  std::string shown;
  shown.reserve(document.size());
  while (!document.empty()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(document));
    const std::string_view part = document.substr(0, length);
    if (part != "\n" && is_hidden(part)) {
      shown += fmt::format("\\u{:04x}", code_point(part));
    } else {
      shown += part;
    }
    document.remove_prefix(length);
  }
  return shown;
}

std::string json_line(const json& value) {
  return with_escapes(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string json_text(const json& value) {
  std::string out;
  append_json(out, value, 0);
  return out + '\n';
}

namespace {

// Words that YAML 1.1 reads as booleans or null, in lower case.
constexpr std::array<std::string_view, 10> kReserved = {"y",   "n",    "yes",   "no",   "on",
                                                        "off", "true", "false", "null", "~"};

bool reserved(std::string_view text) {
  return std::ranges::find(kReserved, lower_case(text)) != kReserved.end();
}

// Starts with a letter, a slash or a dollar sign and holds no character that means something to
// YAML in the middle of a plain scalar. Numbers, dates and durations all start otherwise.
bool is_plain(std::string_view text) {
  if (text.empty() || text.back() == ' ' || text.back() == ':' || reserved(text)) return false;
  const auto first = static_cast<unsigned char>(text.front());
  if (!std::isalpha(first) && first != '/' && first != '$') return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) {
    return false;
  }
  // Some readers take the separators of Unicode for ends of lines.
  for (; !text.empty(); text.remove_prefix(character_length(text))) {
    if (character_length(text) == 0 || is_hidden(text.substr(0, character_length(text)))) {
      return false;
    }
  }
  return true;
}

// Not YAML::Emitter of yaml-cpp 0.7: it writes the text 123 without quotes, 0.1 with 17 digits, and
// sequences two columns to the right of their key.
void append_yaml(std::string& out, const json& value, int indent);

void append_mapping(std::string& out, const json& value, int indent) {
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) out.append(static_cast<std::size_t>(indent), ' ');
    first = false;
    out += yaml_scalar(key) + ":";
    const bool block = member.is_structured() && !member.empty();
    // kubectl and helm write sequences at the indentation of their key.
    const int deeper = member.is_array() ? indent : indent + 2;
    if (block) {
      out += "\n" + std::string(static_cast<std::size_t>(deeper), ' ');
    } else {
      out += " ";
    }
    append_yaml(out, member, deeper);
  }
}

void append_sequence(std::string& out, const json& value, int indent) {
  bool first = true;
  for (const json& element : value) {
    if (!first) out.append(static_cast<std::size_t>(indent), ' ');
    first = false;
    out += "- ";
    append_yaml(out, element, indent + 2);
  }
}

// REQUIRES: `out` already stands at column `indent` of a fresh line, or behind "key: ".
void append_yaml(std::string& out, const json& value, int indent) {
  if (value.is_object() && !value.empty()) {
    append_mapping(out, value, indent);
  } else if (value.is_array() && !value.empty()) {
    append_sequence(out, value, indent);
  } else if (value.is_string()) {
    out += yaml_scalar(value.get_ref<const std::string&>()) + "\n";
  } else if (value.is_number_float()) {
    // Without a point YAML 1.1 reads 1e-09 as text.
    std::string number = value.dump();
    const std::size_t exponent = number.find('e');
    if (exponent != std::string::npos && number.find('.') == std::string::npos) {
      number.insert(exponent, ".0");
    }
    out += number + "\n";
  } else {
    out += value.dump() + "\n";
  }
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  // A JSON string is a YAML double-quoted scalar.
  return is_plain(text) ? std::string(text) : json_line(text);
}

std::string yaml_text(const nlohmann::json& value) {
  std::string out;
  append_yaml(out, value, 0);
  return out;
}

}  // namespace slicewise::reports
