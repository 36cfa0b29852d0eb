#include "html_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

namespace slicewise::reports::html {
namespace {

// A sentence, in which commands stand between backticks.
std::string sentence_markup(std::string_view text) {
  std::string out = escaped(text);
  if (std::ranges::count(out, '`') % 2 != 0) return out;
  for (bool opens = true; out.find('`') != std::string::npos; opens = !opens) {
    out.replace(out.find('`'), 1, opens ? "<code>" : "</code>");
  }
  return out;
}

// "93.1 ±3.1 ms" of a narrow column breaks before the sign alone: the unit stays with its number.
std::string unit_kept(std::string text) {
  const std::size_t sign = text.find("±");
  const std::size_t unit = sign == std::string::npos ? sign : text.find(' ', sign);
  if (unit != std::string::npos) text.replace(unit, 1, "\u00a0");
  return text;
}

std::string cell_markup(const HtmlCell& cell, const Column& column, bool names_row, bool sortable) {
  std::string classes = cell.classes;
  if (column.right_align) classes += classes.empty() ? "n" : " n";
  const std::string value =
      cell.value && sortable ? fmt::format(" data-v={:.6g}", *cell.value) : "";
  const std::string_view tag = names_row ? "th" : "td";
  // HTML needs neither the quotes nor the end: a page has thousands of cells.
  const std::string attribute = classes == "n" ? " class=n" : class_attribute(classes);
  return fmt::format("<{}{}{}{}>{}\n", tag, names_row ? " scope=row" : "", value, attribute,
                     sentence_markup(unit_kept(cell.text)));
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
  HtmlTable table{std::move(caption), cells.columns};
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
  return fmt::format("<p{}>{}</p>\n", class_attribute(classes), sentence_markup(text));
}

std::string list_of_lines(const std::vector<std::string>& lines) {
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", sentence_markup(line));
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

namespace {

// The names that stand in a chart, below it: on a phone its right end is out of sight.
std::string key_markup(const std::vector<std::string>& series) {
  if (series.size() < 2) return "";
  std::string out = "<p class=\"key\" aria-hidden=\"true\">\n";
  for (std::size_t s = 0; s < series.size(); ++s) {
    if (series[s].empty()) continue;
    out += fmt::format("<span class=\"chart\"><i class=\"{}\"></i> {}</span>\n",
                       charts::series_classes(static_cast<int>(s)), escaped(series[s]));
  }
  return out + "</p>\n";
}

}  // namespace

Markup figure(const charts::Drawing& chart, std::string_view finding,
              const std::vector<HtmlTable>& data) {
  const bool beside = std::ranges::all_of(data, fits_beside_chart);
  std::string out = fmt::format(
      "<figure{}>\n<figcaption>{}</figcaption>\n<div class=\"plot\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Chart: {}\">\n{}</div>\n",
      beside ? "" : " class=\"below\"", escaped(finding), escaped(finding), svg_element(chart));
  out += key_markup(chart.series);
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

namespace {

std::string sentence_markup(const Sentence& sentence) {
  const std::string strong =
      sentence.strong.text.empty()
          ? ""
          : fmt::format("<strong>{}</strong>", escaped(sentence.strong.text));
  return strong + sentence_markup(std::string_view(sentence.text));
}

// Below the heading of a section; `title` names tables that have no heading of their own.
std::string markup_of(const ScreenPart& part, const std::string& title) {
  const bool has_table = !part.table.rows.empty();
  std::string below;
  for (const ScreenPart& child : part.parts) below += markup_of(child, title);
  const std::string& caption = part.heading.empty() ? title : part.heading;
  std::string body = (has_table ? table_markup(table_of(caption, part.table)) : "") +
                     sentences_markup(part.sentences) + below;
  if (body.empty()) return body;
  if (!part.folded.empty()) return folded(part.folded, body);
  // A table says itself what it is.
  if (part.heading.empty() || has_table) return body;
  return fmt::format("<h3>{}</h3>\n{}", escaped(part.heading), body);
}

}  // namespace

std::string sentences_markup(const std::vector<Sentence>& sentences) {
  if (sentences.empty()) return "";
  if (sentences.size() == 1) {
    return fmt::format("<p>{}</p>\n", sentence_markup(sentences.front()));
  }
  std::string out = "<ul>\n";
  for (const Sentence& sentence : sentences) {
    out += fmt::format("<li>{}</li>\n", sentence_markup(sentence));
  }
  return out + "</ul>\n";
}

std::string part_markup(const ScreenPart& part) { return markup_of(part, ""); }

std::string screen_markup(const Screen& screen) {
  std::string out;
  if (!screen.alarm.empty()) out += paragraph(screen.alarm, "bad");
  // Else it is the caption of a table.
  const bool captions = std::ranges::any_of(screen.parts, [](const ScreenPart& part) {
    return part.heading.empty() && !part.table.rows.empty();
  });
  if (!captions && !screen.heading.empty()) out += paragraph(screen.heading);
  for (const bool answers : {true, false}) {
    for (const ScreenPart& part : screen.parts) {
      if (part.is_answer == answers) out += markup_of(part, screen.heading);
    }
  }
  if (!screen.origin.empty()) out += paragraph(screen.origin, "origin");
  return out;
}

}  // namespace slicewise::reports::html
