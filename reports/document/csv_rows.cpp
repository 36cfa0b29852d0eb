#include "csv_rows.hpp"

#include <nlohmann/json.hpp>

#include "result_document.hpp"

namespace slicewise::reports {

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

namespace {

using nlohmann::json;

std::string field(const json& value) {
  if (value.is_string()) return csv_text(value.get_ref<const std::string&>());
  std::string text = json_text(value);
  text.pop_back();
  return text;
}

}  // namespace

std::string csv_header(std::span<const CsvColumn> columns) {
  std::string out;
  for (const CsvColumn& column : columns) {
    if (!out.empty()) out += ',';
    out += column.name;
  }
  return out + "\r\n";
}

std::string csv_row(std::span<const CsvColumn> columns, const json& metadata, const json& item,
                    const json& workload) {
  std::string out;
  for (const CsvColumn& column : columns) {
    const json& source = column.level == CsvColumn::Level::Metadata ? metadata
                         : column.level == CsvColumn::Level::Item   ? item
                                                                    : workload;
    const json::json_pointer pointer(column.pointer);
    if (&column != columns.data()) out += ',';
    if (source.contains(pointer)) out += field(source.at(pointer));
  }
  return out + "\r\n";
}

}  // namespace slicewise::reports
