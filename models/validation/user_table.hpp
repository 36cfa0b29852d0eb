#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slicewise/diagnostics.hpp"

#include "csv_table.hpp"

namespace slicewise::models {

// A table that a user measured: a CSV file, or a JSON list of objects whose keys are the columns.
// Collects every mistake on the way.
class UserTable {
 public:
  // Reports columns that are in neither list, that stand twice, and needed ones that are absent.
  UserTable(const SourceText& file, std::span<const std::string_view> needed,
            std::span<const std::string_view> optional);

  // Rows with all columns; others are reported. None when the header is wrong.
  const std::vector<CsvRow>& rows() const { return table_.rows; }
  // nullptr where the row says nothing in this column.
  const CsvField* field(const CsvRow& row, std::string_view column) const;
  std::string text(const CsvRow& row, std::string_view column) const;  // "" where it says nothing
  // nullopt when it is reported.
  std::optional<double> number(const CsvRow& row, std::string_view column, double least,
                               double most);
  void report(Code code, const CsvField& field, std::string message, std::string help = {});
  Diagnostics take_problems();  // in the order of the lines
  bool is_sound() const { return problems_.empty(); }

 private:
  void read_json(const SourceText& file);
  void read_header(std::span<const std::string_view> needed,
                   std::span<const std::string_view> optional);

  std::string name_;
  CsvTable table_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  Diagnostics problems_;
};

}  // namespace slicewise::models
