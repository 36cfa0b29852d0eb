#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"

#include "../charts/svg.hpp"
#include "../screens/screen.hpp"
#include "../text/text_table.hpp"

// The parts that pages are made of. Whatever is given as text comes out escaped; only what is named
// `markup` is taken as it is.
namespace slicewise::reports::html {

using charts::class_attribute;
using charts::escaped;

// Figures on a page: in UTF-8, without a terminal's limits.
inline constexpr TextStyle kPageStyle{false, true, 0};

// A part of a page, and the charts in it: `-o svg` and `--chart` show those by themselves.
struct Markup {
  std::string text;
  std::vector<charts::Drawing> charts{};

  Markup() = default;
  Markup(std::string without_charts) : text(std::move(without_charts)) {}
  Markup(const char* without_charts) : text(without_charts) {}

  bool empty() const { return text.empty(); }
  Markup& operator+=(const Markup& more) {
    text += more.text;
    charts.insert(charts.end(), more.charts.begin(), more.charts.end());
    return *this;
  }
  friend Markup operator+(Markup first, const Markup& second) { return first += second; }
};

struct HtmlCell {
  std::string text = "–";                      // there is no figure
  std::optional<double> value = std::nullopt;  // by which its column is sorted; absent: by its text
  std::string classes = {};

  HtmlCell() = default;
  HtmlCell(std::string shown, std::optional<double> sorted_by = {}, std::string in_classes = {})
      : text(std::move(shown)), value(sorted_by), classes(std::move(in_classes)) {}
  HtmlCell(const char* shown) : text(shown) {}
};

// What ids of charts begin with; the rest is the name that `--chart` takes.
inline constexpr std::string_view kChartId = "chart-";

struct HtmlTable {
  std::string caption;
  std::vector<Column> columns;  // the first one names the rows
  std::vector<std::vector<HtmlCell>> rows{};
  std::vector<std::string> row_classes{};  // as many as rows, or none
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
Markup figure(const charts::Drawing& chart, std::string_view finding,
              const std::vector<HtmlTable>& data);
struct Tile {
  std::string figure;
  std::string remark;
};
std::string tiles_markup(const std::vector<Tile>& tiles);
// With a button that copies it.
std::string code_block(std::string_view id, std::string_view label, std::string_view text);
Markup section(std::string_view id, std::string_view heading, const Markup& markup);

// A Screen on a page.

// Sentences in a list; one alone is a paragraph.
std::string sentences_markup(const std::vector<Sentence>& sentences);
// A heading, a table, sentences and the parts below; what a comment folds is folded here as well.
std::string part_markup(const ScreenPart& part);
// The alarm, the heading, the answer, all other parts and where the figures come from. Whoever
// shows it gives it a section.
std::string screen_markup(const Screen& screen);

}  // namespace slicewise::reports::html
