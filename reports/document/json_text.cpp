#include "json_text.hpp"

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace slicewise::reports {
namespace {

using nlohmann::json;

// File names may hold bytes that are not UTF-8; those become U+FFFD.
std::string yaml_free(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

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
    if (is_object) out += yaml_free(key) + ": ";
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
    out += yaml_free(value);
  }
}

}  // namespace

std::string json_text(const json& value) {
  std::string out;
  append_json(out, value, 0);
  return out + '\n';
}

}  // namespace slicewise::reports
