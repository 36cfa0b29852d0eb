#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

namespace slicewise::models {

// One field of a CSV file and where it starts; lines and columns count from 1, columns in
// characters.
struct CsvField {
  std::string text;
  int line = 1;
  int column = 1;
  int length = 1;  // in characters
};

using CsvRow = std::vector<CsvField>;

// A whole file, as CsvLines reads it.
struct CsvTable {
  CsvRow header;
  std::vector<CsvRow> rows;
  std::optional<CsvField> flaw;  // the first line that cannot be read, and why
};
CsvTable parse_csv(std::string_view text);

// The number that is the whole text; nullopt for anything else, infinities included.
std::optional<double> number_in(std::string_view text);

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
