#include "text_table.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/printable.hpp"

namespace slicewise::reports {

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return printable(text);
}

std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

std::string wrapped_text(std::string_view paragraph, int width, std::string_view first_indent,
                         int indent) {
  return wrapped_emphasised(printable(paragraph, "\n"), width, first_indent, indent);
}

std::string wrapped_emphasised(std::string_view paragraph, int width, std::string_view first_indent,
                               int indent) {
  std::string out(first_indent);
  int column = display_width(first_indent);
  bool at_line_start = true;
  while (true) {
    const std::size_t begin = paragraph.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    paragraph.remove_prefix(begin);
    const std::string_view word = paragraph.substr(0, paragraph.find(' '));
    paragraph.remove_prefix(word.size());
    const int word_width = display_width(word);
    if (!at_line_start && width > 0 && column + 1 + word_width > width) {
      out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
      at_line_start = true;
    }
    if (!at_line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    at_line_start = false;
  }
  return out + '\n';
}

namespace {

constexpr int kGap = 2;

// The code point that starts at text[at]; moves `at` behind it. Broken UTF-8 counts byte by byte.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int continuation = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  std::uint32_t code = continuation == 0 ? lead : lead & (0x3FU >> continuation);
  for (int i = 0; i < continuation && at < text.size(); ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  }
  return code;
}

int terminal_cells(std::uint32_t code) {
  const auto within = [code](std::uint32_t low, std::uint32_t high) {
    return code >= low && code <= high;
  };
  if (within(0x0300, 0x036F) || within(0x200B, 0x200F) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) ||
                    within(0x1F300, 0x1FAFF) || within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

std::vector<int> column_widths(const Cells& table) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int widest = display_width(table.columns[c].header);
    for (const auto& row : table.rows) {
      assert(row.size() == table.columns.size());
      widest = std::max(widest, display_width(row[c].text));
    }
    widths.push_back(widest);
  }
  return widths;
}

// Indexes of the columns that fit, in table order.
std::vector<std::size_t> fitting_columns(const std::vector<Column>& columns,
                                         const std::vector<int>& widths, int width) {
  std::vector<std::size_t> kept(columns.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const auto total = [&] {
    int sum = -kGap;
    for (const std::size_t c : kept) sum += widths[c] + kGap;
    return sum;
  };
  while (width > 0 && total() > width) {
    auto drop = kept.end();
    int highest = 0;
    for (auto it = kept.begin(); it != kept.end(); ++it) {
      if (columns[*it].priority > 0 && columns[*it].priority >= highest) {
        highest = columns[*it].priority;
        drop = it;
      }
    }
    if (drop == kept.end() && kept.size() > 2) {
      drop = std::find_if(kept.begin() + 1, kept.end(),
                          [&](std::size_t c) { return columns[c].priority != kNeverDropped; });
    }
    if (drop == kept.end()) break;
    kept.erase(drop);
  }
  return kept;
}

std::string table_line(const std::vector<Column>& columns, const TableLayout& layout,
                       const TextStyle& style, const auto& cell_of) {
  std::string line;
  for (const std::size_t c : layout.kept) {
    const Cell cell = cell_of(c);
    const auto padding = static_cast<std::size_t>(layout.widths[c] - display_width(cell.text));
    if (c != layout.kept.front()) line.append(kGap, ' ');
    if (columns[c].right_align) line.append(padding, ' ');
    line += emphasised(cell.text, cell.emphasis, style);
    if (!columns[c].right_align) line.append(padding, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

int display_width(std::string_view utf8) {
  int width = 0;
  std::size_t at = 0;
  while (at < utf8.size()) {
    if (utf8.substr(at).starts_with("\x1b[")) {
      const std::size_t end = utf8.find('m', at);
      if (end == std::string_view::npos) break;
      at = end + 1;
      continue;
    }
    width += terminal_cells(next_code_point(utf8, at));
  }
  return width;
}

std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style) {
  if (!style.color || emphasis == Emphasis::None || text.empty()) return std::string(text);
  const std::string_view start = emphasis == Emphasis::Heading ? "\x1b[1m"
                                 : emphasis == Emphasis::Good  ? "\x1b[32m"
                                                               : "\x1b[31m";
  return fmt::format("{}{}\x1b[0m", start, text);
}

TableLayout table_layout(const Cells& table, int width) {
  TableLayout layout{{}, column_widths(table), {}};
  layout.kept = fitting_columns(table.columns, layout.widths, width);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (std::ranges::find(layout.kept, c) == layout.kept.end()) {
      layout.dropped.push_back(table.columns[c].header);
    }
  }
  return layout;
}

std::vector<std::string> table_lines(const Cells& table, const TableLayout& layout,
                                     const TextStyle& style) {
  std::vector<std::string> lines;
  const TextStyle plain{false, style.unicode, style.width};
  lines.push_back(
      emphasised(table_line(table.columns, layout, plain,
                            [&](std::size_t c) { return Cell(table.columns[c].header); }),
                 Emphasis::Heading, style));
  for (const auto& row : table.rows) {
    lines.push_back(
        table_line(table.columns, layout, style, [&](std::size_t c) { return row[c]; }));
  }
  return lines;
}

std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows, int width,
                       std::vector<std::string>* dropped_headers) {
  Cells table{columns, {}};
  for (const auto& row : rows) table.rows.emplace_back(row.begin(), row.end());
  const TableLayout layout = table_layout(table, width);
  if (dropped_headers != nullptr) {
    dropped_headers->insert(dropped_headers->end(), layout.dropped.begin(), layout.dropped.end());
  }
  return fmt::format("{}\n", fmt::join(table_lines(table, layout, {}), "\n"));
}

namespace {

std::string markdown_row(const std::vector<Cell>& cells) {
  std::string out = "|";
  for (const Cell& cell : cells) out += " " + markdown_cell(cell.text) + " |";
  return out + "\n";
}

}  // namespace

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text, "\n")) {
    if (c == '|') {
      out += "\\|";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string markdown_table(const Cells& table) {
  std::vector<Cell> headers;
  std::string rule = "|";
  for (const Column& column : table.columns) {
    headers.emplace_back(column.header);
    rule += column.right_align ? "---:|" : "---|";
  }
  std::string out = markdown_row(headers) + rule + "\n";
  for (const auto& row : table.rows) out += markdown_row(row);
  return out;
}

std::string markdown_folded(const std::string& title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", title, body);
}

}  // namespace slicewise::reports
