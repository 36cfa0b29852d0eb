#include "one_line.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"

namespace slicewise::reports {
namespace {

bool has_line_break(const std::string& text) {
  return text.find_first_of("\r\n") != std::string::npos;
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion): as deep as the document
void keep_names_on_one_line(nlohmann::json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (has_line_break(text)) text = printable(text);
  } else if (value.is_array()) {
    for (nlohmann::json& inside : value) keep_names_on_one_line(inside);
  } else if (value.is_object()) {
    nlohmann::json named = nlohmann::json::object();
    for (auto& [key, inside] : value.items()) {
      if (key != "description") keep_names_on_one_line(inside);
      named[has_line_break(key) ? printable(key) : key] = std::move(inside);
    }
    value = std::move(named);
  }
}

}  // namespace slicewise::reports
