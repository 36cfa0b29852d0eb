#include "stored_document.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/nearest_name.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/reports/difference.hpp"

#include "../text/text_table.hpp"
#include "document_text.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr int kDeepestDocument = 32;
constexpr std::size_t kMostProblems = 20;

SourceLocation place_at(const SourceText& source, std::size_t offset) {
  SourceLocation where{source.name, 1, 1, 1};
  offset = std::min(offset, source.text.size());
  for (std::size_t n = 0; n < offset; ++n) {
    const char c = source.text[n];
    if (c == '\n') {
      ++where.line;
      where.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++where.column;
    }
  }
  return where;
}

// Levels of brackets outside of texts.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (quoted) {
      if (c == '\\') ++n;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

// Finds where the value of a pointer starts: replays the events of the parser up to it.
class PlaceFinder : public json::json_sax_t {
 public:
  explicit PlaceFinder(std::string_view pointer) : pointer_(pointer) {}

  bool found() const { return found_; }
  // Values that started before it, of those that stand in the text as tokens.
  std::size_t values_before() const { return values_; }

  bool null() override { return scalar(); }
  bool boolean(bool /*value*/) override { return scalar(); }
  bool number_integer(number_integer_t /*value*/) override { return scalar(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return scalar(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return scalar();
  }
  bool string(string_t& /*value*/) override { return scalar(); }
  bool binary(binary_t& /*value*/) override { return scalar(); }
  bool start_object(std::size_t /*size*/) override { return open(false); }
  bool start_array(std::size_t /*size*/) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t next = 0;
    std::string key;
  };

  // Whether the parser goes on: not when this value is the one.
  bool starts() {
    std::string path;
    for (const Level& level : levels_) {
      path += '/' + (level.is_array ? std::to_string(level.next) : level.key);
    }
    found_ = path == pointer_;
    if (!found_) ++values_;
    return !found_;
  }
  void ends() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().next;
  }
  bool scalar() {
    if (!starts()) return false;
    ends();
    return true;
  }
  bool open(bool is_array) {
    if (!starts()) return false;
    levels_.push_back({is_array, 0, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    ends();
    return true;
  }

  std::string_view pointer_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
  bool found_ = false;
};

// The offset of the value number `wanted` of valid JSON, counting from 0. Keys do not count.
std::size_t offset_of_value(std::string_view text, std::size_t wanted) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' || c == '}' || c == ']' ||
        c == ':') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (c == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (c != '{' && c != '[') {
      end = std::min(text.find_first_of(" \n\r\t,]}", at), text.size());
    }
    const std::size_t behind = std::min(text.find_first_not_of(" \n\r\t", end), text.size());
    const bool is_key = c == '"' && behind < text.size() && text[behind] == ':';
    if (!is_key && wanted-- == 0) return at;
    at = end;
  }
  return 0;
}

tl::unexpected<Diagnostics> no_document(const SourceText& source, std::size_t offset,
                                        std::string message) {
  return failure(Code::YamlSyntax, place_at(source, offset), std::move(message),
                 "what `slicewise run -o json` and its like have written is read here");
}

}  // namespace

SourceLocation place_in_document(const SourceText& source, const std::string& pointer) {
  PlaceFinder finder(pointer);
  json::sax_parse(source.text, &finder);
  if (!finder.found()) return place_at(source, 0);
  return place_at(source, offset_of_value(source.text, finder.values_before()));
}

bool looks_like(const SourceText& source, std::string_view format) {
  const std::size_t first = source.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text[first] == '{' &&
         source.text.find(fmt::format("\"{}", format)) != std::string::npos;
}

Expected<StoredDocument> StoredDocument::read(const SourceText& source) {
  if (source.text.size() > kLargestDocument) {
    return no_document(source, 0, "larger than 64 MiB, as no document of slicewise is");
  }
  if (depth_of(source.text) > kDeepestDocument) {
    return no_document(source, 0,
                       fmt::format("nested deeper than {} levels, as no document of slicewise is",
                                   kDeepestDocument));
  }
  StoredDocument document;
  document.source_ = source;
  try {
    document.root_ = json::parse(source.text);
    keep_names_on_one_line(document.root_);
  } catch (const json::parse_error& error) {
    return no_document(source, error.byte > 0 ? error.byte - 1 : 0, "this is not JSON");
  } catch (const json::exception&) {
    return no_document(source, 0, "a number of this JSON is too large");
  }
  return document;
}

const json* StoredDocument::find(const std::string& pointer) const {
  const json::json_pointer path(pointer);
  return root_.contains(path) ? &root_.at(path) : nullptr;
}

void StoredDocument::report(Code code, const std::string& pointer, std::string message,
                            std::string help) {
  // Each place is looked for anew: of a large document that is wrong everywhere, a few are enough.
  if (problems_.size() >= kMostProblems || !reported_.insert(pointer).second) return;
  Diagnostic problem = make_diagnostic(code, place_in_document(source_, pointer),
                                       std::move(message), std::move(help));
  if (!holds(problems_, problem)) problems_.push_back(std::move(problem));
}

void StoredDocument::report_type(const std::string& pointer, std::string_view expected) {
  report(
      Code::FieldType, pointer,
      fmt::format("{} must be {}", pointer.empty() ? "the document" : pointer.substr(1), expected));
}

const json* StoredDocument::list(const std::string& pointer) {
  const json* value = find(pointer);
  if (value == nullptr || value->is_array()) return value;
  report_type(pointer, "a list");
  return nullptr;
}

std::optional<std::string> StoredDocument::text(const std::string& pointer) {
  const json* value = find(pointer);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  report_type(pointer, "text");
  return std::nullopt;
}

std::optional<double> StoredDocument::number(const std::string& pointer) {
  const json* value = find(pointer);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  report_type(pointer, "a number");
  return std::nullopt;
}

std::optional<bool> StoredDocument::truth(const std::string& pointer) {
  const json* value = find(pointer);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  report_type(pointer, "true or false");
  return std::nullopt;
}

std::optional<std::string> StoredDocument::setting(const std::string& pointer) const {
  const json* value = find(pointer);
  if (value == nullptr || value->is_structured() || value->is_null()) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  std::string shown = json_text(*value);
  shown.pop_back();
  return shown;
}

std::string StoredDocument::required_text(const std::string& pointer) {
  const std::size_t problems = problems_.size();
  if (auto value = text(pointer)) return std::move(*value);
  if (problems_.size() == problems) {
    report(Code::FieldMissing, "", fmt::format("{} is missing", pointer.substr(1)),
           "what `slicewise run -o json` and its like have written is read here");
  }
  return {};
}

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
      add_name(list, word.dump());
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
