#pragma once

#include <string>
#include <string_view>
#include <vector>

// Columns of text for a terminal, in the manner of kubectl.
namespace slicewise::reports {

struct Column {
  std::string header;
  bool right_align = false;
  int priority = 0;  // the highest goes first when the table is too wide; 0 in need only
};

struct Cells {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// Terminal columns that a UTF-8 string takes: one per code point, none for combining marks and for
// ANSI escapes, two for East Asian wide characters.
int display_width(std::string_view utf8);

// One line per row, header first, cells two spaces apart, no trailing spaces. Columns that do not
// fit into `width` terminal columns are left out, least important first and of equals the right
// one first; then those with priority 0 from the left, but for the first: the figures that matter
// most stand right. Their headers are appended to `dropped_headers` in table order. width 0 is
// unlimited. REQUIRES: every row has one cell per column.
std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows, int width,
                       std::vector<std::string>* dropped_headers);

}  // namespace slicewise::reports
