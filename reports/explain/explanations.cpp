#include "explanations.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "slicewise/filled_text.hpp"
#include "slicewise/reports/export.hpp"
#include "slicewise/reports/reference.hpp"

#include "../screens/result_notes.hpp"
#include "../text/text_table.hpp"
#include "embedded/explain_files.hpp"
#include "embedded/topic_files.hpp"

namespace slicewise::reports {
namespace {

using Paragraphs = std::vector<std::string>;

// The text after a label at the start of a line, or the whole line.
std::string_view without(std::string_view label, std::string_view line) {
  return line.starts_with(label) ? line.substr(label.size()) : line;
}

// Lines up to an empty one are one paragraph; a line that starts with a space is one by itself.
Paragraphs paragraphs_of(std::string_view text) {
  Paragraphs out;
  bool joins = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.empty() || line.starts_with(' ')) {
      if (!line.empty()) out.emplace_back(line);
      joins = false;
    } else if (joins) {
      out.back() += fmt::format(" {}", without("> ", line));
    } else {
      out.emplace_back(line);
      joins = true;
    }
  }
  return out;
}

CodeExplanation explanation_in(std::string_view name, std::string_view section) {
  CodeExplanation out{.name = name, .happens = {}, .message = {}, .fix = {}, .source = {}};
  for (const std::string& paragraph : paragraphs_of(section)) {
    const auto take = [&](std::string_view label, std::string& into) {
      if (!paragraph.starts_with(label)) return false;
      into = paragraph.substr(label.size());
      return true;
    };
    take("> ", out.message) || take("Fix: ", out.fix) || take("Source: ", out.source) ||
        take("", out.happens);
  }
  return out;
}

std::vector<CodeExplanation> read_codes() {
  constexpr std::string_view kHeading = "\n## ";
  std::vector<CodeExplanation> out;
  std::string_view rest = explain_files::codes_md();
  rest.remove_prefix(rest.find(kHeading));  // what people who edit it have to know
  while (!rest.empty()) {
    rest.remove_prefix(kHeading.size());
    std::string_view section = rest.substr(0, rest.find(kHeading));
    rest.remove_prefix(section.size());
    const std::string_view name = next_line(section);
    out.push_back(explanation_in(name, section));
  }
  return out;
}

Paragraphs exit_code_lines() {
  Paragraphs lines{"  EXIT  MEANING"};
  for (const ExitCodeInfo& info : exit_codes()) {
    lines.push_back(fmt::format("  {:<4}  {}", info.code, info.meaning));
  }
  return lines;
}

// Which kind of `slicewise export --to` is of use on which nodes.
Paragraphs export_kinds() {
  const auto word = [](Applies applies) { return applies == Applies::Yes ? "yes" : "-"; };
  Paragraphs lines{fmt::format("  {:<13} {:<6}  {:<9}  {:<12}  {:<9}  {}", "--to", "AL2023",
                               "KARPENTER", "BOTTLEROCKET", "AUTO MODE", "WHAT")};
  for (const ExportKind& kind : kExportKinds) {
    if (kind.shows_run) continue;
    lines.push_back(fmt::format("  {:<13} {:<6}  {:<9}  {:<12}  {:<9}  {}", kind.name,
                                word(kind.al2023), word(kind.karpenter), word(kind.bottlerocket),
                                word(kind.auto_mode), kind.what));
  }
  lines.emplace_back("These show a simulated run and change no cluster:");
  for (const ExportKind& kind : kExportKinds) {
    if (kind.shows_run) lines.push_back(fmt::format("  {:<13} {}", kind.name, kind.what));
  }
  for (const ExportKind& kind : kExportKinds) {
    lines.push_back(fmt::format("{}: {}.", kind.name, kind.remark));
  }
  return lines;
}

Paragraphs what_is_not_modelled() {
  Paragraphs lines;
  for (const NotModelled& item : not_modelled()) {
    lines.push_back(fmt::format("{}: {}.", item.what, item.consequence));
  }
  return lines;
}

// What the program knows better than a file stands in it as a paragraph of this form.
Paragraphs computed(std::string_view paragraph) {
  if (paragraph == "{exit codes}") return exit_code_lines();
  if (paragraph == "{kinds of export}") return export_kinds();
  if (paragraph == "{what is not modelled}") return what_is_not_modelled();
  return {std::string(paragraph)};
}

Topic read_topic(const topic_files::File& file) {
  const std::string turn = fmt::format("{:.6g} ms", to_seconds(models::kDriversTimeSlice) * 1e3);
  const std::string text = filled(file.text, {{"default turn", turn}});
  std::string_view rest = text;
  Topic topic{.name = std::string(file.name.substr(0, file.name.rfind('.'))),
              .title = std::string(without("# ", next_line(rest))),
              .paragraphs = {}};
  for (const std::string& paragraph : paragraphs_of(rest)) {
    for (std::string& line : computed(paragraph)) topic.paragraphs.push_back(std::move(line));
  }
  return topic;
}

// As a dictionary sorts them: "notebooks" before "not-modelled".
std::string letters_of(const Topic& topic) {
  std::string out = topic.name;
  std::erase(out, '-');
  return out;
}

}  // namespace

std::vector<ExitCodeInfo> exit_codes() {
  std::vector<ExitCodeInfo> codes;
  for (std::string_view rest = explain_files::exit_codes_txt(); !rest.empty();) {
    const std::string_view line = next_line(rest);
    const std::size_t blank = line.find(' ');
    codes.push_back({std::stoi(std::string(line.substr(0, blank))), line.substr(blank + 1)});
  }
  return codes;
}

std::span<const CodeExplanation> explanations() {
  static const std::vector<CodeExplanation> all = read_codes();
  return all;
}

std::span<const Topic> topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> read;
    for (const topic_files::File& file : topic_files::all()) read.push_back(read_topic(file));
    std::ranges::sort(read, {}, letters_of);
    return read;
  }();
  return all;
}

}  // namespace slicewise::reports
