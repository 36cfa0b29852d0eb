#include "csv_rows.hpp"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/printable.hpp"
#include "slicewise/sim/result_record.hpp"

#include "document_text.hpp"
#include "record_json.hpp"

namespace slicewise::reports {

namespace {

// Spreadsheets would compute it.
bool is_formula(std::string_view text) {
  return text.size() > 1 && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
}

}  // namespace

std::string csv_text(std::string_view given) {
  std::string text = (is_formula(given) ? "'" : "") + printable(given, "\t\r\n");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

namespace {

using nlohmann::json;

std::string field(const json& value, const std::string& part) {
  if (value.is_array()) {
    std::string all;
    for (const json& entry : value) {
      all += (all.empty() ? "" : "; ") + entry.at(part).get_ref<const std::string&>();
    }
    return csv_text(all);
  }
  if (value.is_string()) return csv_text(value.get_ref<const std::string&>());
  std::string text = json_text(value);
  text.pop_back();
  return text;
}

}  // namespace

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

namespace {

std::string declared_cell(const sim::Shape& shape, const void* value) {
  using Kind = sim::Shape::Kind;
  using sim::shapes::in;
  switch (shape.kind) {
    case Kind::Truth:
      return in<bool>(value) ? "true" : "false";
    case Kind::Whole:
    case Kind::Size:
      return fmt::format("{}", shape.whole(value));
    case Kind::Number:
      return csv_number(in<double>(value));
    case Kind::Time:
      return csv_number(to_seconds(Duration{shape.whole(value)}));
    case Kind::Money:
      return fmt::format("{:.9f}", to_dollars(Usd{shape.whole(value)}));
    case Kind::Figure:
      return csv_number(sim::in_its_unit(in<scenarios::FigureValue>(value)));
    default:
      return csv_text(shape.text(value));
  }
}

}  // namespace

std::string csv_table(const sim::Record& columns, const std::vector<const void*>& rows) {
  std::string table;
  const auto end_line = [&] { table.replace(table.size() - 1, 1, "\r\n"); };
  for (const sim::Field& column : columns.fields) table += std::string(column.key) + ",";
  end_line();
  for (const void* row : rows) {
    for (const sim::Field& column : columns.fields) {
      std::any made;
      const void* const value = column.value(row, made);
      table += (value == nullptr ? "" : declared_cell(*column.shape, value)) + ",";
    }
    end_line();
  }
  return table;
}

DocumentCsv::DocumentCsv(const sim::Record& document, int end) {
  add_columns(document, end, 0);
  std::ranges::stable_sort(columns_, {}, &Column::position);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the lists of a document
void DocumentCsv::add_columns(const sim::Record& record, int end, std::size_t level) {
  sim::visit_fields(record, [&](std::span<const sim::Field* const> way, const sim::Field& field) {
    const std::string pointer = pointer_of(way, field);
    for (const sim::Field::CsvName& csv : field.csv_names) {
      // Two kinds of items may share a column.
      if (csv.position >= end ||
          std::ranges::find(columns_, csv.name, &Column::name) != columns_.end())
        continue;
      const bool in_object = !csv.part.empty() && field.shape->kind != sim::Shape::Kind::List;
      const std::string part = in_object ? "/" + std::string(csv.part) : "";
      columns_.push_back({csv.position, std::string(csv.name), level,
                          json::json_pointer(pointer + part),
                          in_object ? "" : std::string(csv.part)});
    }
    if (field.shape != nullptr && field.shape->kind == sim::Shape::Kind::List &&
        field.shape->item->kind == sim::Shape::Kind::Object) {
      add_columns(field.inner(), end, level + 1);
    }
  });
}

void DocumentCsv::add(int position, std::string name, const char* pointer, std::size_t level) {
  columns_.push_back({position, std::move(name), level, json::json_pointer(pointer)});
  std::ranges::stable_sort(columns_, {}, &Column::position);
}

std::string DocumentCsv::header() const {
  std::string out;
  for (const Column& column : columns_) out += (out.empty() ? "" : ",") + column.name;
  return out + "\r\n";
}

std::string DocumentCsv::row(const json& document, const json& item, const json& entry) const {
  const std::array<const json*, 3> sources = {&document, &item, &entry};
  std::string out;
  for (const Column& column : columns_) {
    const json& source = *sources[std::min(column.level, sources.size() - 1)];
    if (&column != columns_.data()) out += ',';
    if (source.contains(column.pointer)) out += field(source.at(column.pointer), column.part);
  }
  return out + "\r\n";
}

}  // namespace slicewise::reports
