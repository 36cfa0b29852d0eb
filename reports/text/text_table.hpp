#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

// Columns of text for a terminal, in the manner of kubectl.
namespace slicewise::reports {

// Set apart: bold, green or red where the style has colour.
enum class Emphasis : std::uint8_t { None, Heading, Good, Bad };
std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style);

struct Column {
  std::string header;
  bool right_align = false;
  int priority = 0;  // the highest goes first when the table is too wide; 0 in need only
};
inline constexpr int kNeverDropped = -1;  // rather a table that is too wide

struct Cell {
  std::string text;
  Emphasis emphasis = Emphasis::None;

  Cell() = default;
  Cell(std::string plain, Emphasis how = Emphasis::None) : text(std::move(plain)), emphasis(how) {}
  Cell(const char* plain, Emphasis how = Emphasis::None) : text(plain), emphasis(how) {}
};

using Rows = std::vector<std::vector<Cell>>;

// REQUIRES: every row has one cell per column.
struct Cells {
  std::vector<Column> columns;
  Rows rows;
};

// Terminal columns that a UTF-8 string takes: one per code point, none for combining marks and for
// ANSI escapes, two for East Asian wide characters.
int display_width(std::string_view utf8);

// Which columns of a table are shown, and how wide they are.
struct TableLayout {
  std::vector<std::size_t> kept;
  std::vector<int> widths;
  std::vector<std::string> dropped;  // headers of the others
};

// Columns that do not fit into `width` terminal columns are left out, least important first and of
// equals the right one first; then those with priority 0 from the left, but for the first: the
// figures that matter most stand right. width 0 is unlimited.
TableLayout table_layout(const Cells& table, int width);

// The header, emphasised, and a line for each row: cells two spaces apart, no trailing spaces.
std::vector<std::string> table_lines(const Cells& table, const TableLayout& layout,
                                     const TextStyle& style);

// The same of a table that is alone, without emphasis. The headers of what does not fit are
// appended to `dropped_headers`.
std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows, int width,
                       std::vector<std::string>* dropped_headers);

}  // namespace slicewise::reports
