#include "csv_table.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "slicewise/csv_lines.hpp"

namespace slicewise::models {
namespace {

CsvField field_at(const SourceLocation& where, std::string text) {
  return {std::move(text), where.line, where.column, where.length};
}

}  // namespace

CsvTable parse_csv(std::string_view text) {
  const SourceText source{"", std::string(text)};
  CsvTable table;
  CsvLines lines(source);
  while (lines.next()) {
    if (!lines.flaw().empty()) {
      if (!table.flaw) table.flaw = field_at(lines.place(), std::string(lines.flaw()));
      continue;
    }
    CsvRow row;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      row.push_back(field_at(lines.place(n), without_doubled_quotes(lines.value(n))));
    }
    if (table.header.empty()) {
      table.header = std::move(row);
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace slicewise::models
