#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"

#include "markdown_text.hpp"
#include "result_comparison.hpp"
#include "result_cost.hpp"
#include "result_details.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"

namespace slicewise::reports {
namespace {

// GitHub refuses comments above 65,536 characters; the rest is room for a heading of one's own.
constexpr std::size_t kLongestComment = 60'000;
constexpr std::size_t kMostVariants = 5;

struct Section {
  std::string title;
  std::string body;
  bool shed = false;
};

std::string variants_table(const sim::Result& result, std::size_t most_rows) {
  const Comparison table = comparison(result, kPlain);
  std::string head = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    head += " " + column.header + " |";
    rule += column.right_align ? "---:|" : "---|";
  }
  std::string out = head + "\n" + rule + "\n";
  for (std::size_t r = 0; r < std::min(table.rows.size(), most_rows); ++r) {
    out += "|";
    for (const std::string& text : table.rows[r]) out += " " + markdown_cell(text) + " |";
    out += "\n";
  }
  return out;
}

std::string fenced(const std::string& text) { return "```text\n" + text + "```\n"; }

std::vector<Section> sections(const sim::Result& result) {
  std::vector<Section> out;
  if (result.variants.size() > kMostVariants) {
    out.push_back({fmt::format("All {} variants", result.variants.size()),
                   variants_table(result, result.variants.size())});
  }
  std::vector<std::string> details = variant_details(result, kPlain, false);
  for (std::size_t v = 0; v < details.size(); ++v) {
    out.push_back({"Variant " + result.variants[v].name, fenced(details[v])});
  }
  std::string notes;
  for (const std::string& line : note_lines(result, true))
    notes += "- " + markdown_cell(line) + "\n";
  out.push_back({"Notes", notes});
  return out;
}

std::string rendered(const Section& section) {
  if (section.shed) return "";
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n",
                     markdown_cell(section.title), section.body);
}

std::string shed_line(const std::vector<Section>& sections) {
  const auto shed = std::count_if(sections.begin(), sections.end(),
                                  [](const Section& section) { return section.shed; });
  if (shed == 0) return "";
  return fmt::format(
      "{} of {} sections were left out to stay below {} characters: see "
      "`-o json` for everything.\n\n",
      shed, sections.size(), kLongestComment);
}

std::string markdown_document(const std::string& top, const std::vector<Section>& sections,
                              const std::string& bottom) {
  std::string out = top;
  for (const Section& section : sections) out += rendered(section);
  return out + shed_line(sections) + bottom;
}

}  // namespace

std::string result_markdown(const sim::Result& result) {
  std::string top = fmt::format("### {}\n\n", markdown_cell(result.scenario));
  if (result.interrupted) top += fmt::format("**{}**\n\n", markdown_cell(interrupted_line(result)));
  top += markdown_cell(verdict(result)) + "\n\n";
  if (!result.variants.empty()) top += variants_table(result, kMostVariants) + "\n";
  if (result.variants.size() > kMostVariants) {
    top += fmt::format("The first {} of {} variants.\n\n", kMostVariants, result.variants.size());
  }
  const std::string bottom = origin_line(result, kPlain) + "\n\n<!-- slicewise -->\n";
  std::vector<Section> all = sections(result);
  std::string out = markdown_document(top, all, bottom);
  while (out.size() > kLongestComment) {
    const auto largest = std::max_element(
        all.begin(), all.end(),
        [](const Section& a, const Section& b) { return rendered(a).size() < rendered(b).size(); });
    if (largest == all.end() || largest->shed) break;
    largest->shed = true;
    out = markdown_document(top, all, bottom);
  }
  return out;
}

}  // namespace slicewise::reports
