#include "user_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/csv_lines.hpp"
#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

#include "../located_json.hpp"

namespace slicewise::models {

UserTable::UserTable(const SourceText& file, std::span<const std::string_view> needed,
                     std::span<const std::string_view> optional)
    : name_(file.name) {
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && file.text[first] == '[') {
    read_json(file);
  } else {
    table_ = parse_csv(file.text);
  }
  if (table_.flaw) report(Code::FieldType, *table_.flaw, table_.flaw->text);
  if (is_sound()) read_header(needed, optional);
  if (!is_sound()) {
    table_.rows.clear();
    return;
  }
  if (table_.rows.empty()) {
    add_diagnostic(problems_, Code::FieldMissing, {name_, 1, 1, 1},
                   fmt::format("{} has no rows", name_));
  }
  std::erase_if(table_.rows, [&](const CsvRow& row) {
    if (row.size() == table_.header.size()) return false;
    report(Code::FieldMissing, row.front(),
           fmt::format("{} fields, but the header names {} columns", row.size(),
                       table_.header.size()));
    return true;
  });
}

// Each key becomes a column, at the place where it stands first.
void UserTable::read_json(const SourceText& file) {
  const auto document = read_yaml(file);
  const auto located = document ? located_json(file, *document)
                                : Expected<LocatedJson>(tl::unexpected(document.error()));
  if (!located) {
    problems_ = located.error();
    return;
  }
  const auto field_at = [](std::string text, const SourceLocation& where) {
    return CsvField{std::move(text), where.line, where.column, where.length};
  };
  for (std::size_t i = 0; i < located->root.size(); ++i) {
    const nlohmann::json& item = located->root[i];
    const std::string path = fmt::format("{}[{}]", file.name, i);
    const SourceLocation where = located->place_of(path);
    if (!item.is_object()) {
      report(Code::FieldType, field_at("", where), "a measurement must be an object");
      continue;
    }
    CsvRow row(table_.header.size(), field_at("", where));
    for (const auto& [key, value] : item.items()) {
      const std::string place = fmt::format("{}.{}", path, key);
      auto column = static_cast<std::size_t>(
          std::ranges::find(table_.header, key, &CsvField::text) - table_.header.begin());
      if (column == table_.header.size()) {
        table_.header.push_back(field_at(key, located->keys.at(place)));
        for (CsvRow& before : table_.rows) before.push_back(field_at("", where));
        row.push_back(field_at("", where));
      }
      const std::string text = value.is_string() ? value.get<std::string>()
                               : value.is_null() ? std::string()
                                                 : value.dump();
      row[column] = field_at(text, located->place_of(place));
    }
    table_.rows.push_back(std::move(row));
  }
}

Diagnostics UserTable::take_problems() {
  std::ranges::stable_sort(problems_, {}, [](const Diagnostic& d) { return d.where.line; });
  return std::move(problems_);
}

void UserTable::report(Code code, const CsvField& field, std::string message, std::string help) {
  add_diagnostic(problems_, code, {name_, field.line, field.column, field.length},
                 std::move(message), std::move(help));
}

namespace {

// What others call the columns of a user's table.
struct OtherName {
  std::string_view other;
  std::string_view column;
};
constexpr std::array kOtherNames = {
    OtherName{"model", "workload"},
    OtherName{"name", "workload"},
    OtherName{"mode", "sharing"},
    OtherName{"strategy", "sharing"},
    OtherName{"processes", "clients"},
    OtherName{"pods", "clients"},
    OtherName{"replicas", "clients"},
    OtherName{"batch_size", "batch"},
    OtherName{"device", "gpu"},
    OtherName{"mig", "slice"},
    OtherName{"profile", "slice"},
    OtherName{"latency", "latency_ms"},
    OtherName{"latency (ms)", "latency_ms"},
    OtherName{"ms", "latency_ms"},
    OtherName{"throughput", "rate_per_s"},
    OtherName{"rate", "rate_per_s"},
};

std::optional<std::string> meant(std::string_view unknown,
                                 const std::vector<std::string_view>& known) {
  const auto* found = std::ranges::find_if(
      kOtherNames, [&](const OtherName& name) { return same_name(name.other, unknown); });
  if (found != kOtherNames.end() && contains(known, found->column)) {
    return std::string(found->column);
  }
  return nearest_name(unknown, known);
}

// "; " of a header that is one column by commas and several by it; 0 where there is none.
char other_delimiter(const CsvRow& header) {
  if (header.size() != 1) return 0;
  const std::size_t at = header.front().text.find_first_of(";\t|");
  return at == std::string::npos ? '\0' : header.front().text[at];
}

}  // namespace

void UserTable::read_header(std::span<const std::string_view> needed,
                            std::span<const std::string_view> optional) {
  if (const char delimiter = other_delimiter(table_.header); delimiter != 0) {
    report(Code::FieldType, table_.header.front(),
           fmt::format("the columns are separated by {}",
                       delimiter == '\t' ? std::string("tabs") : fmt::format("`{}`", delimiter)),
           "separate them by commas, and write decimals with a point: 12.4");
    return;
  }
  std::vector<std::string_view> known(needed.begin(), needed.end());
  known.insert(known.end(), optional.begin(), optional.end());
  for (std::size_t column = 0; column < table_.header.size(); ++column) {
    const CsvField& field = table_.header[column];
    if (!contains(known, field.text)) {
      const auto nearest = meant(field.text, known);
      report(Code::FieldUnknown, field, fmt::format("unknown column `{}`", field.text),
             nearest ? fmt::format("did you mean `{}`?", *nearest)
                     : fmt::format("known columns: {}", fmt::join(known, ", ")));
    } else if (!columns_.emplace(field.text, column).second) {
      report(Code::FieldDuplicate, field, fmt::format("column `{}` is there twice", field.text));
    }
  }
  for (const std::string_view column : needed) {
    if (columns_.contains(column)) continue;
    add_diagnostic(problems_, Code::FieldMissing, {name_, 1, 1, 1},
                   fmt::format("there is no column `{}`", column),
                   fmt::format("needed are {}", fmt::join(needed, ", ")));
  }
}

const CsvField* UserTable::field(const CsvRow& row, std::string_view column) const {
  const auto found = columns_.find(column);
  if (found == columns_.end() || row[found->second].text.empty()) return nullptr;
  return &row[found->second];
}

std::string UserTable::text(const CsvRow& row, std::string_view column) const {
  const CsvField* found = field(row, column);
  return found == nullptr ? std::string() : found->text;
}

std::optional<double> UserTable::number(const CsvRow& row, std::string_view column, double least,
                                        double most) {
  const CsvField& field = row[columns_.find(column)->second];
  const auto value = number_in(field.text);
  if (!value) {
    report(Code::FieldType, field, fmt::format("`{}` must be a number", column),
           "leave out rows that did not run");
  } else if (*value < least || *value > most) {
    report(Code::ValueRange, field,
           fmt::format("`{}` is {}; it must be from {} to {}", column, field.text, least, most));
    return std::nullopt;
  }
  return value;
}

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
