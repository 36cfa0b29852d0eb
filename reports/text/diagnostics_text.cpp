#include "slicewise/reports/diagnostics_text.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/sim/describe.hpp"

#include "text_table.hpp"

namespace slicewise::reports {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kReset = "\x1b[0m";

std::string_view severity_color(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "\x1b[1;31m";
    case Severity::Warning:
      return "\x1b[1;33m";
    case Severity::Note:
      return "\x1b[1;36m";
  }
  return "";
}

std::string_view line_of(std::string_view text, int number) {
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  for (int line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

const SourceText* find_source(const std::vector<SourceText>& sources, const std::string& name) {
  const auto found =
      std::ranges::find_if(sources, [&](const SourceText& source) { return source.name == name; });
  return found == sources.end() ? nullptr : &*found;
}

// The part of a long line around the caret, and where the caret stands in it.
struct Excerpt {
  std::string text;
  std::size_t caret = 0;   // characters before it
  std::size_t length = 1;  // of the underline
};

// One column each, so that the caret stays below its character.
std::string_view shown_character(std::string_view character, bool unicode) {
  if (character == "\t") return " ";
  const bool is_shown = character_length(character) > 0 && !is_hidden(character);
  return is_shown && (unicode || character.size() == 1) ? character : "?";
}

Excerpt excerpt_of(std::string_view line, const SourceLocation& where, const TextStyle& style,
                   std::size_t room) {
  const auto target = static_cast<std::size_t>(std::max(where.column - 1, 0));
  const std::size_t first = target + 1 > room ? target - room / 2 : 0;
  Excerpt excerpt;
  std::size_t at = 0;  // characters
  for (; !line.empty() && at < first + room; ++at) {
    const std::size_t bytes = std::max<std::size_t>(1, character_length(line));
    if (at >= first) excerpt.text += shown_character(line.substr(0, bytes), style.unicode);
    line.remove_prefix(bytes);
  }
  const std::size_t caret = std::min(target, at);
  excerpt.caret = caret - std::min(first, caret);
  const auto length = static_cast<std::size_t>(std::max(where.length, 1));
  excerpt.length = std::max<std::size_t>(1, std::min(length, at > caret ? at - caret : 1));
  return excerpt;
}

// Names of a megabyte are no help.
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 2'000;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

// What files say is in all of them. No line is another's: GitHub takes one with "::error::" at its
// front for an order.
std::string foreign(std::string_view text) { return printable(shortened(std::string(text))); }

class Printer {
 public:
  Printer(const std::vector<SourceText>& sources, const TextStyle& style)
      : sources_(sources), style_(style) {}

  std::string print(const Diagnostic& d) const {
    std::string text =
        place(d.where) + paint(severity_color(d.severity),
                               fmt::format("{}[{}]", severity_name(d.severity), info(d.code).name));
    text += fmt::format(": {}\n", paint(kBold, foreign(d.message)));
    const int gutter = std::max(5, static_cast<int>(std::to_string(d.where.line).size()) + 1);
    const std::string excerpt = source_lines(d, gutter);
    text += excerpt;
    const std::string indent(static_cast<std::size_t>(gutter) + 1, ' ');
    if (excerpt.empty() && !d.label.empty())
      text += fmt::format("{}= {}\n", indent, foreign(d.label));
    if (!d.help.empty()) text += fmt::format("{}help: {}\n", indent, foreign(d.help));
    return text;
  }

 private:
  std::string paint(std::string_view color, std::string_view text) const {
    if (!style_.color) return std::string(text);
    return fmt::format("{}{}{}", color, text, kReset);
  }

  std::string place(const SourceLocation& where) const {
    if (where.line > 0) {
      return paint(kBold, fmt::format("{}:{}:{}:", foreign(where.file), where.line, where.column)) +
             " ";
    }
    return where.file.empty() ? "" : paint(kBold, foreign(where.file) + ":") + " ";
  }

  // The line of the file and the caret under it; empty when the text is not at hand.
  std::string source_lines(const Diagnostic& d, int gutter) const {
    const SourceText* source = find_source(sources_, d.where.file);
    if (source == nullptr || d.where.line <= 0) return {};
    const std::string_view line = line_of(source->text, d.where.line);
    if (line.empty()) return {};
    const std::size_t room = style_.width <= 0 ? line.size() + 1 : room_for_source(gutter);
    const Excerpt excerpt = excerpt_of(line, d.where, style_, room);
    const std::string marks = fmt::format("{:^>{}}{}{}", "", excerpt.length,
                                          d.label.empty() ? "" : " ", foreign(d.label));
    return fmt::format("{:>{}} | {}\n{:>{}} | {:>{}}{}\n", d.where.line, gutter, excerpt.text, "",
                       gutter, "", excerpt.caret, paint(severity_color(d.severity), marks));
  }

  std::size_t room_for_source(int gutter) const {
    constexpr int kLeast = 20;
    return static_cast<std::size_t>(std::max(kLeast, style_.width - gutter - 3));
  }

  const std::vector<SourceText>& sources_;
  const TextStyle& style_;
};

// `text` without what differs where the same mistake is made again: numbers, positions in lists
// and, with `quotes`, what is quoted.
std::string without_values(std::string_view text, bool quotes) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_in_word = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string rest;
  char until = 0;
  bool in_number = false;
  for (const char c : text) {
    if (until != 0) {
      if (c == until) until = 0;
      continue;
    }
    if (c == '[') until = ']';
    if (c == '"' && quotes) until = '"';
    in_number = is_digit(c) && (in_number || rest.empty() || !is_in_word(rest.back()));
    if (!in_number) rest += c;
  }
  return rest;
}

// Diagnostics with the same are one mistake made again. Only these quote a word of the format,
// not a value: another word is another mistake.
std::string cause_of(const Diagnostic& d) {
  const bool quotes_value = d.code != Code::FieldUnknown && d.code != Code::PluginFieldIgnored &&
                            d.code != Code::TraceColumnMissing;
  // A time and an amount of memory lack different units.
  const std::string label = d.code == Code::UnitMissing ? without_values(d.label, false) : "";
  return fmt::format("{} {} {}\n{}{}\n{}", severity_name(d.severity), info(d.code).name,
                     without_values(d.message, quotes_value), without_values(d.help, false), label,
                     d.where.file);
}

// The diagnostics of one cause in the order of the file, by the first of each. Two that advise
// differently stay two: each is about its own value.
std::vector<std::vector<const Diagnostic*>> by_cause(const Diagnostics& diagnostics,
                                                     Severity least) {
  std::map<std::string, std::vector<const Diagnostic*>> causes;
  std::vector<std::string> order;
  for (const Diagnostic& d : diagnostics) {
    if (d.severity > least) continue;
    // What has no place is a cause by itself.
    order.push_back(d.where.line > 0 ? cause_of(d) : fmt::format("{}", order.size()));
    causes[order.back()].push_back(&d);
  }
  std::vector<std::vector<const Diagnostic*>> groups;
  for (const std::string& cause : order) {
    std::vector<const Diagnostic*>& group = causes.at(cause);
    if (group.empty()) continue;
    const bool two = group.size() == 2 && (group.front()->label != group.back()->label ||
                                           group.front()->help != group.back()->help);
    const auto taken = two ? group.begin() + 1 : group.end();
    groups.emplace_back(group.begin(), taken);
    group.erase(group.begin(), taken);
  }
  return groups;
}

// "and 11 more places: line 12, 20, 28".
std::string more_places(const std::vector<const Diagnostic*>& group) {
  constexpr std::size_t kMost = 12;
  const std::size_t more = group.size() - 1;
  std::string text = fmt::format("and {}: line", counted(more, "more place"));
  for (std::size_t i = 1; i < std::min(group.size(), kMost + 1); ++i) {
    text += fmt::format("{} {}", i == 1 ? "" : ",", group[i]->where.line);
  }
  return text + (more > kMost ? ", ..." : "");
}

// "3 errors, 1 warning in voice-t4.yaml"; "97 errors of 9 causes in 2 files".
std::string total(const Diagnostics& diagnostics, int causes) {
  int errors = 0;
  int warnings = 0;
  std::vector<std::string> files;  // that what is counted is in
  for (const Diagnostic& d : diagnostics) {
    if (d.severity == Severity::Error) ++errors;
    if (d.severity == Severity::Warning) ++warnings;
    if (d.severity == Severity::Note || d.where.line <= 0) continue;
    if (std::ranges::find(files, d.where.file) == files.end()) files.push_back(d.where.file);
  }
  if (errors == 0) return {};
  std::string text = counted(errors, "error");
  if (causes < errors) text += " of " + counted(causes, "cause");
  if (warnings > 0) text += ", " + counted(warnings, "warning");
  if (files.empty()) return text + "\n";
  return fmt::format("{} in {}\n", text,
                     files.size() == 1 ? foreign(files.front()) : counted(files.size(), "file"));
}

}  // namespace

std::string diagnostics_text(const Diagnostics& diagnostics, const std::vector<SourceText>& sources,
                             const TextStyle& style, Severity least) {
  constexpr std::size_t kMostCauses = 200;  // nobody reads more
  const Printer printer(sources, style);
  std::string text;
  int causes = 0;  // of errors
  std::size_t shown = 0;
  const auto groups = by_cause(diagnostics, least);
  for (const auto& group : groups) {
    if (group.front()->severity == Severity::Error) ++causes;
    if (++shown > kMostCauses) continue;
    text += printer.print(*group.front());
    if (group.size() > 1) text += fmt::format("      {}\n", more_places(group));
  }
  if (shown > kMostCauses) text += fmt::format("... and {} more\n", shown - kMostCauses);
  return text + total(diagnostics, causes);
}

std::string_view severity_name(Severity severity) { return sim::Spelling<Severity>::of(severity); }

}  // namespace slicewise::reports
