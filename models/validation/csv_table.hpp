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

}  // namespace slicewise::models
