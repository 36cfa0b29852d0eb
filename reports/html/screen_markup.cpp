#include "screen_markup.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "html_text.hpp"

namespace slicewise::reports::html {
namespace {

std::string sentence_markup(const Sentence& sentence) {
  const std::string strong =
      sentence.strong.text.empty()
          ? ""
          : fmt::format("<strong>{}</strong>", escaped(sentence.strong.text));
  return strong + escaped(sentence.text);
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
