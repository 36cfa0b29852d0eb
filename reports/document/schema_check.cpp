#include "schema_check.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/nearest_name.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestShown = 60;  // of a user's word

class SchemaChecker {
 public:
  explicit SchemaChecker(StoredDocument& document) : document_(document) {}

  // NOLINTNEXTLINE(misc-no-recursion): a stored document has a bounded depth
  void check(const json& value, const json& schema, const std::string& at) {
    const auto type = schema.find("type");
    if (type != schema.end() && !is_of(value, type->get_ref<const std::string&>())) {
      return wrong(at, "must be of type " + type->get<std::string>());
    }
    check_words(value, schema, at);
    if (value.is_number()) check_range(value.get<double>(), schema, at);
    if (value.is_object() && schema.contains("properties")) check_members(value, schema, at);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(value[i], schema["items"], fmt::format("{}/{}", at, i));
      }
    }
  }

 private:
  static bool is_of(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  static std::string name_of(const std::string& at) {
    return at.empty() ? "the document" : at.substr(1);
  }

  void wrong(const std::string& at, const std::string& what) {
    document_.report(Code::FieldType, at, fmt::format("{} {}", name_of(at), what));
  }

  void check_words(const json& value, const json& schema, const std::string& at) {
    const json words = schema.contains("const") ? json::array({schema["const"]})
                                                : schema.value("enum", json::array());
    if (words.empty()) return;
    std::string list;
    for (const json& word : words) {
      if (word == value) return;
      list += (list.empty() ? "" : ", ") + word.dump();
    }
    document_.report(
        Code::EnumUnknown, at,
        fmt::format("{} must be {}{}", name_of(at), words.size() > 1 ? "one of " : "", list));
  }

  void check_range(double value, const json& schema, const std::string& at) {
    const bool small = schema.contains("minimum") && value < schema["minimum"].get<double>();
    const bool large = schema.contains("maximum") && value > schema["maximum"].get<double>();
    if (!small && !large) return;
    document_.report(Code::ValueRange, at,
                     fmt::format("{} is at {} {}", name_of(at), small ? "least" : "most",
                                 schema[small ? "minimum" : "maximum"].dump()));
  }

  // NOLINTNEXTLINE(misc-no-recursion): a stored document has a bounded depth
  void check_members(const json& value, const json& schema, const std::string& at) {
    const json& known = schema["properties"];
    for (const auto& [key, member] : value.items()) {
      const auto property = known.find(key);
      if (property == known.end()) {
        unknown_key(key, known, at);
      } else {
        check(member, *property, fmt::format("{}/{}", at, key));
      }
    }
    for (const json& required : schema["required"]) {
      const auto& key = required.get_ref<const std::string&>();
      if (value.contains(key)) continue;
      document_.report(Code::FieldMissing, at, fmt::format("{} has no \"{}\"", name_of(at), key));
    }
  }

  void unknown_key(const std::string& key, const json& known, const std::string& at) {
    std::vector<std::string> names;
    for (const auto& [name, property] : known.items()) names.push_back(name);
    const auto near = nearest_name(key, names);
    document_.report(Code::FieldUnknown, at + "/" + key,
                     fmt::format("{} has no key \"{}\"", at.empty() ? "the document" : at.substr(1),
                                 key.substr(0, kLongestShown)),
                     near ? fmt::format("did you mean {}?", *near) : std::string());
  }

  StoredDocument& document_;
};

}  // namespace

void check_schema(StoredDocument& document, const json& schema) {
  SchemaChecker(document).check(document.root(), schema, "");
}

}  // namespace slicewise::reports
