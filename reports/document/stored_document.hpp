#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/reports/result_report.hpp"

// A JSON document that slicewise wrote, read back. Every value is checked when it is asked for;
// what is wrong is said with its place.
namespace slicewise::reports {

// Where the value of a JSON pointer starts; the start of the text when it has none. O(text).
SourceLocation place_in_document(const SourceText& source, const std::string& pointer);

// Whether the text is a JSON document, well-formed or not, that names a format that begins so.
bool looks_like(const SourceText& source, std::string_view format);

class StoredDocument {
 public:
  // YAML_SYNTAX with the place for what is not JSON, or nested deeper than any document.
  static Expected<StoredDocument> read(const SourceText& source);

  const nlohmann::json& root() const { return root_; }
  const std::string& name() const { return source_.name; }

  // The value at a JSON pointer below `base` ("/variants/0"), or nullptr when it is absent. A value
  // of another type is reported once and counts as absent.
  const nlohmann::json* list(const std::string& pointer);
  std::optional<std::string> text(const std::string& pointer);
  std::optional<double> number(const std::string& pointer);
  std::optional<bool> truth(const std::string& pointer);

  // Text or a number as settings show it; nullopt when absent or a list or an object.
  std::optional<std::string> setting(const std::string& pointer) const;

  // FIELD_MISSING unless there is text there.
  std::string required_text(const std::string& pointer);

  // Of a value that something is wrong with already, no more is said.
  void report(Code code, const std::string& pointer, std::string message, std::string help = {});
  const Diagnostics& problems() const { return problems_; }

 private:
  const nlohmann::json* find(const std::string& pointer) const;
  void report_type(const std::string& pointer, std::string_view expected);

  SourceText source_;
  nlohmann::json root_;
  Diagnostics problems_;
  std::set<std::string> reported_;  // pointers
};

// As the one that takes a text.
Expected<sim::Result> read_result(const StoredDocument& document);

// Reports what the schema does not allow: keys that are unknown or absent, values of another type,
// words that are not among those it lists, numbers that are too small or too large. Understands
// what record_json.hpp writes, which is what our documents are described with.
void check_schema(StoredDocument& document, const nlohmann::json& schema);

// The names and texts of a stored document, descriptions aside, with line breaks as their escapes:
// no name of slicewise's has one, and what a foreign one begins is read as a line of ours (GitHub
// takes "::error::" at its front for an order).
void keep_names_on_one_line(nlohmann::json& value);

}  // namespace slicewise::reports
