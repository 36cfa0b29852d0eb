#include "markdown_text.hpp"

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

std::string markdown_row(const std::vector<Cell>& cells) {
  std::string out = "|";
  for (const Cell& cell : cells) out += " " + markdown_cell(cell.text) + " |";
  return out + "\n";
}

}  // namespace

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
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
