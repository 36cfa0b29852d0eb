#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

#include "../charts/svg.hpp"
#include "../text/text_table.hpp"

// The parts that pages are made of. Whatever is given as text comes out escaped; only what is named
// `markup` is taken as it is.
namespace slicewise::reports::html {

using charts::escaped;

// Figures on a page: in UTF-8, without a terminal's limits.
inline constexpr TextStyle kPageStyle{false, true, 0};

struct HtmlCell {
  std::string text;
  std::optional<double> value;  // by which its column is sorted; absent: by its text
  std::string classes;
};

struct HtmlTable {
  std::string caption;
  std::vector<Column> columns;  // the first one names the rows
  std::vector<std::vector<HtmlCell>> rows;
  std::vector<std::string> row_classes;  // as many as rows, or none
  bool sortable = false;
  std::vector<std::string> row_ids{};  // as many as rows, or none
};

HtmlTable table_of(std::string caption, const Cells& cells);

std::string paragraph(std::string_view text, std::string_view classes = "");
std::string list_of_lines(const std::vector<std::string>& lines);
// In a box of its own that scrolls where it is too wide.
std::string table_markup(const HtmlTable& table);
std::string folded(std::string_view summary, const std::string& markup, bool open = false);
// A chart, what it shows in one sentence, and its figures.
std::string figure(const std::string& chart_markup, std::string_view finding,
                   const std::vector<HtmlTable>& data);
// With a button that copies it.
std::string code_block(std::string_view id, std::string_view label, std::string_view text);
std::string section(std::string_view id, std::string_view heading, const std::string& markup);

}  // namespace slicewise::reports::html
