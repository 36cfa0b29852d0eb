#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

// Tables, paragraphs and lists of names, for terminals and in Markdown.
namespace slicewise::reports {

// "a" and "b" make "a, b".
inline void add_name(std::string& names, const std::string& name) {
  names += (names.empty() ? "" : ", ") + name;
}

inline std::string joined(const std::vector<std::string>& items) {
  std::string names;
  for (const std::string& item : items) add_name(names, item);
  return names;
}

// What files call things, as one line that does nothing to a terminal.
std::string one_line(std::string text);

// Takes the first line off the text of a file of ours.
std::string_view next_line(std::string_view& rest);

// One paragraph broken at spaces into lines of at most `width` terminal columns (0: unlimited),
// each ended by a newline. The first line starts with `first_indent`, the others with as many
// spaces as `indent`. A word longer than the line is kept whole: it may be a command or an address.
// What is hidden stands as escapes.
std::string wrapped_text(std::string_view paragraph, int width, std::string_view first_indent,
                         int indent);
// The same of what is emphasised in places, and has escapes already.
std::string wrapped_emphasised(std::string_view paragraph, int width, std::string_view first_indent,
                               int indent);

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
  Cell(std::string plain, Emphasis how = Emphasis::None)
      : text(one_line(std::move(plain))), emphasis(how) {}
  Cell(const char* plain, Emphasis how = Emphasis::None) : Cell(std::string(plain), how) {}
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

// The parts of a report in GitHub-flavoured Markdown.

// What wraps and colours text is the page.
inline constexpr TextStyle kPlain{false, true, 0};

// Cells are user's names: a bar would end the cell, a "<" start HTML.
std::string markdown_cell(const std::string& text);
std::string markdown_table(const Cells& table);
// A section that is closed until it is clicked.
std::string markdown_folded(const std::string& title, const std::string& body);

}  // namespace slicewise::reports
