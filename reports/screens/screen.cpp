#include "screen.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/printable.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

constexpr int kIndent = 2;

bool is_empty(const ScreenPart& part) {
  return part.table.rows.empty() && part.sentences.empty() && part.drawing.empty() &&
         std::ranges::all_of(part.parts, is_empty);
}

std::string spaces(int count) { return std::string(static_cast<std::size_t>(count), ' '); }

std::vector<std::string> headers_of(const Cells& table) {
  std::vector<std::string> headers;
  headers.reserve(table.columns.size());
  for (const Column& column : table.columns) headers.push_back(column.header);
  return headers;
}

class TextScreen {
 public:
  TextScreen(const TextStyle& style, bool wide) : style_(style), wide_(wide) {}

  std::string text(const Screen& screen) {
    measure(screen.parts);
    std::string out;
    if (!screen.alarm.empty()) {
      out += emphasised(wrapped(screen.alarm, 0, kIndent), Emphasis::Bad, style_) + "\n";
    }
    if (!screen.heading.empty()) {
      out += wrapped(screen.heading, 0, kIndent) + "\n";
      if (!screen.parts.empty()) out += "\n";
    }
    out += text(screen.parts);
    if (!screen.origin.empty()) out += wrapped(screen.origin, 0, kIndent) + "\n";
    return out;
  }

  // Tables that are to look alike have to be seen first.
  void measure(const std::vector<ScreenPart>& parts) {
    for (const ScreenPart& part : parts) {
      measure(part.parts);
      if (!part.alike) continue;
      Cells& all = alike_[headers_of(part.table)];
      all.columns = part.table.columns;
      all.rows.insert(all.rows.end(), part.table.rows.begin(), part.table.rows.end());
    }
  }

  // An empty line between parts.
  std::string text(const std::vector<ScreenPart>& parts) const {
    std::string out;
    for (const ScreenPart& part : parts) {
      if (is_empty(part)) continue;
      if (!out.empty()) out += "\n";
      out += text(part);
    }
    return out;
  }

  std::string text(const ScreenPart& part) const {
    std::string out;
    if (!part.heading.empty()) out += emphasised(part.heading, Emphasis::Heading, style_) + "\n";
    out += part.drawing;
    if (!part.table.rows.empty()) out += table(part);
    const int indent = part.heading.empty() ? 0 : kIndent;
    for (const Sentence& sentence : part.sentences) {
      const int margin = indent + sentence.indent;
      out += wrapped(
                 emphasised(sentence.strong.text, sentence.strong.emphasis, style_) + sentence.text,
                 margin, margin + sentence.hanging) +
             "\n";
    }
    const std::string below = text(part.parts);
    if (!out.empty() && !below.empty()) out += "\n";
    return out + below;
  }

 private:
  std::string wrapped(const std::string& sentence, int first, int others) const {
    std::string out = wrapped_emphasised(sentence, style_.width, spaces(first), others);
    out.pop_back();
    return out;
  }

  std::string table(const ScreenPart& part) const {
    const int width = wide_ || style_.width == 0 ? 0 : style_.width - part.indent;
    const auto alike = part.alike ? alike_.find(headers_of(part.table)) : alike_.end();
    const TableLayout layout =
        table_layout(alike == alike_.end() ? part.table : alike->second, width);
    std::string out;
    for (const std::string& line : table_lines(part.table, layout, style_)) {
      out += spaces(part.indent) + line + "\n";
    }
    if (layout.dropped.empty() || alike != alike_.end()) return out;
    return out +
           wrapped(fmt::format("not shown: {} (-o wide)", fmt::join(layout.dropped, ", ")), 0,
                   kIndent) +
           "\n";
  }

  const TextStyle& style_;
  bool wide_;
  std::map<std::vector<std::string>, Cells> alike_{};  // all rows of tables that are alike
};

std::string list_of(const std::vector<Sentence>& sentences) {
  std::string out;
  for (const Sentence& sentence : sentences) {
    const std::string strong = sentence.strong.text.empty()
                                   ? ""
                                   : fmt::format("**{}**", markdown_cell(sentence.strong.text));
    out += fmt::format("- {}{}\n", strong, markdown_cell(sentence.text));
  }
  return out;
}

std::string paragraphs_of(const std::vector<Sentence>& sentences) {
  std::string out;
  for (const Sentence& sentence : sentences) out += markdown_cell(sentence.text) + "\n\n";
  return out;
}

std::string markdown_section(const ScreenPart& part, const Screen& screen) {
  if (part.preformatted) {
    TextScreen text(kPlain, false);
    text.measure(screen.parts);
    return markdown_folded(markdown_cell(part.folded), "```text\n" + text.text(part) + "```\n");
  }
  const std::string table = part.table.rows.empty() ? "" : markdown_table(part.table);
  if (!part.folded.empty()) {
    return markdown_folded(markdown_cell(part.folded), table + list_of(part.sentences));
  }
  const std::string heading =
      part.heading.empty() ? "" : fmt::format("**{}**\n\n", markdown_cell(part.heading));
  return heading + (table.empty() ? "" : table + "\n") + paragraphs_of(part.sentences);
}

void show(std::string& text) { text = one_line(std::move(text)); }

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parts of a screen
void show(ScreenPart& part) {
  show(part.heading);
  show(part.folded);
  part.drawing = printable(part.drawing, "\n");
  for (Sentence& sentence : part.sentences) {
    show(sentence.strong.text);
    show(sentence.text);
  }
  for (ScreenPart& below : part.parts) show(below);
}

Screen shown(Screen screen) {
  show(screen.alarm);
  show(screen.heading);
  show(screen.origin);
  for (ScreenPart& part : screen.parts) show(part);
  return screen;
}

constexpr std::string_view kRequestPrice = "per1kRequestsInSloUsd";

}  // namespace

std::vector<Sentence> sentences_of(const std::vector<std::string>& lines) {
  std::vector<Sentence> out;
  out.reserve(lines.size());
  for (const std::string& line : lines) out.push_back({line});
  return out;
}

Column column_of(const sim::Record& record, std::string_view key, std::string_view part) {
  const sim::Field& field = *record.find(key);
  const auto column = std::ranges::find(field.columns, part, &sim::Field::ColumnName::part);
  const bool is_text =
      field.shape->kind == sim::Shape::Kind::Text || field.shape->kind == sim::Shape::Kind::Word;
  return {std::string(column->heading), !is_text, column->priority};
}

Column column_at(int priority, const sim::Record& record, std::string_view key,
                 std::string_view part) {
  Column column = column_of(record, key, part);
  column.priority = priority;
  return column;
}

Column price_column(std::string_view key, int priority) {
  return column_at(priority, sim::cost_record(), key);
}

Column price_on_page(std::string_view key) {
  return {std::string(sim::cost_record().find(key)->columns.front().on_page), true};
}

Column request_price_column(bool has_objectives, int priority) {
  Column column = price_column(kRequestPrice, priority);
  if (!has_objectives) column.header = request_price_heading() + " REQ";
  return column;
}

std::string request_price_heading() {
  const std::string all = price_column(kRequestPrice).header;
  return all.substr(0, all.find(' '));
}

ScreenPart notes_part(const std::vector<std::string>& lines) {
  return {.heading = "NOTES", .sentences = sentences_of(lines), .folded = "Notes"};
}

std::string screen_text(const Screen& screen, const TextStyle& style, bool wide) {
  return TextScreen(style, wide).text(shown(screen));
}

std::string part_text(const ScreenPart& part, const TextStyle& style, bool wide) {
  ScreenPart as_shown = part;
  show(as_shown);
  return TextScreen(style, wide).text(as_shown);
}

std::string screen_markdown(const Screen& given) {
  const Screen screen = shown(given);
  std::string top = fmt::format("### {}\n\n", markdown_cell(screen.heading));
  if (!screen.alarm.empty()) top += fmt::format("**{}**\n\n", markdown_cell(screen.alarm));
  std::vector<std::string> sections;
  for (const ScreenPart& part : screen.parts) {
    if (is_empty(part)) continue;
    if (!part.is_answer) {
      sections.push_back(markdown_section(part, screen));
    } else {
      top += part.heading.empty() ? markdown_section(part, screen) : list_of(part.sentences) + "\n";
    }
  }
  return markdown_comment(top, std::move(sections),
                          screen.origin.empty() ? "" : screen.origin + "\n\n", screen.scenario);
}

}  // namespace slicewise::reports
