#include "html_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

namespace slicewise::reports::html {
namespace {

std::string cell_markup(const HtmlCell& cell, const Column& column, bool names_row, bool sortable) {
  std::string classes = cell.classes;
  if (column.right_align) classes += classes.empty() ? "n" : " n";
  const std::string value =
      cell.value && sortable ? fmt::format(" data-v={:.6g}", *cell.value) : "";
  const std::string_view tag = names_row ? "th" : "td";
  // HTML needs neither the quotes nor the end: a page has thousands of cells.
  const std::string attribute = classes == "n" ? " class=n" : class_attribute(classes);
  return fmt::format("<{}{}{}{}>{}\n", tag, names_row ? " scope=row" : "", value, attribute,
                     escaped(cell.text));
}

// "INPUT" of a terminal is "Input" on a page; "P99", "-20%" and names are as they are.
std::string page_header_of(const std::string& header) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  constexpr std::size_t kAbbreviation = 3;
  if (header.size() <= kAbbreviation || std::ranges::any_of(header, is_lower)) return header;
  return header.front() + lower_case(header.substr(1));
}

// Whether a desktop shows all of it there: numbers do not wrap, text does.
bool fits_beside_chart(const HtmlTable& table) {
  constexpr int kRoom = 80;  // characters, with the gaps between columns
  constexpr int kWrapped = 14;
  constexpr int kGap = 2;
  int width = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int longest = display_width(table.columns[c].header);
    for (const auto& row : table.rows) longest = std::max(longest, display_width(row[c].text));
    width += kGap + (table.columns[c].right_align ? longest : std::min(longest, kWrapped));
  }
  return width <= kRoom;
}

const char* class_of(Emphasis emphasis) {
  return emphasis == Emphasis::Good ? "good" : emphasis == Emphasis::Bad ? "bad" : "";
}

}  // namespace

HtmlTable table_of(std::string caption, const Cells& cells) {
  HtmlTable table{std::move(caption), cells.columns, {}, {}, false};
  for (Column& column : table.columns) column.header = page_header_of(column.header);
  for (const auto& row : cells.rows) {
    std::vector<HtmlCell> out;
    out.reserve(row.size());
    for (const Cell& cell : row) out.push_back({cell.text, std::nullopt, class_of(cell.emphasis)});
    table.rows.push_back(std::move(out));
  }
  return table;
}

std::string paragraph(std::string_view text, std::string_view classes) {
  return fmt::format("<p{}>{}</p>\n", class_attribute(classes), escaped(text));
}

std::string list_of_lines(const std::vector<std::string>& lines) {
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escaped(line));
  return out + "</ul>\n";
}

std::string table_markup(const HtmlTable& table) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{}>\n"
      "<caption>{}</caption>\n<thead><tr>",
      escaped(table.caption), table.sortable ? " class=\"sortable\"" : "", escaped(table.caption));
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.right_align ? " class=\"n\"" : "",
                       escaped(column.header));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool marked = r < table.row_classes.size() && !table.row_classes[r].empty();
    const bool named = r < table.row_ids.size() && !table.row_ids[r].empty();
    out += fmt::format("<tr{}{}>", named ? fmt::format(" id=\"{}\"", table.row_ids[r]) : "",
                       marked ? class_attribute(table.row_classes[r]) : "");
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      out += cell_markup(table.rows[r][c], table.columns[c], c == 0, table.sortable);
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string folded(std::string_view summary, const std::string& markup, bool open) {
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open" : "",
                     escaped(summary), markup);
}

Markup figure(const charts::Drawing& chart, std::string_view finding,
              const std::vector<HtmlTable>& data) {
  const bool beside = std::ranges::all_of(data, fits_beside_chart);
  std::string out = fmt::format(
      "<figure{}>\n<figcaption>{}</figcaption>\n<div class=\"plot\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Chart: {}\">\n{}</div>\n",
      beside ? "" : " class=\"below\"", escaped(finding), escaped(finding), svg_element(chart));
  // Small ones are open: there is room beside the chart.
  constexpr std::size_t kSmall = 8;
  for (const HtmlTable& table : data) {
    out += folded("The figures", table_markup(table),
                  table.rows.size() <= kSmall && table.columns.size() <= kSmall);
  }
  Markup markup(out + "</figure>\n");
  markup.charts.push_back(chart);
  return markup;
}

std::string tiles_markup(const std::vector<Tile>& tiles) {
  std::string out = "<ul class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    out += fmt::format("<li><strong>{}</strong><span>{}</span></li>\n", escaped(tile.figure),
                       escaped(tile.remark));
  }
  return out + "</ul>\n";
}

std::string code_block(std::string_view id, std::string_view label, std::string_view text) {
  return fmt::format(
      "<div class=\"code\"><div class=\"codehead\"><span>{1}</span><button type=\"button\" "
      "class=\"js copy\" data-copy=\"{0}\" aria-label=\"Copy {1}\">Copy</button></div>\n<pre "
      "id=\"{0}\" tabindex=\"0\" role=\"region\" aria-label=\"{1}\"><code>{2}</code></pre></div>\n",
      id, escaped(label), escaped(text));
}

Markup section(std::string_view id, std::string_view heading, const Markup& markup) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n",
                     id, escaped(heading)) +
         markup + "</section>\n";
}

}  // namespace slicewise::reports::html
