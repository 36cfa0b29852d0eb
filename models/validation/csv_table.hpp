#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slicewise::models {

// One field of a CSV file and where it starts; lines and columns count from 1, columns in
// characters.
struct CsvField {
  std::string text;
  int line = 1;
  int column = 1;
  int length = 1;  // in characters, quotes included
};

using CsvRow = std::vector<CsvField>;

// RFC 4180: commas, optional double quotes, line ends of either kind; a byte order mark and empty
// lines are skipped.
struct CsvTable {
  CsvRow header;
  std::vector<CsvRow> rows;
  std::optional<CsvField> open_quote;  // a quoted field that never ends
};
CsvTable parse_csv(std::string_view text);

// The number that is the whole text; nullopt for anything else, infinities included.
std::optional<double> number_in(std::string_view text);

}  // namespace slicewise::models
