#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/result_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "result_comparison.hpp"
#include "result_cost.hpp"
#include "result_details.hpp"
#include "result_notes.hpp"
#include "result_verdict.hpp"

namespace slicewise::reports {
namespace {

constexpr std::size_t kMostVariants = 5;

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

std::vector<std::string> result_sections(const sim::Result& result) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& title, const std::string& body) {
    out.push_back(markdown_folded(markdown_cell(title), body));
  };
  if (result.variants.size() > kMostVariants) {
    add(fmt::format("All {} variants", result.variants.size()),
        variants_table(result, result.variants.size()));
  }
  std::vector<std::string> details = variant_details(result, kPlain, false);
  for (std::size_t v = 0; v < details.size(); ++v) {
    add("Variant " + result.variants[v].name, fenced(details[v]));
  }
  std::string notes;
  for (const std::string& line : note_lines(result.variants, true))
    notes += "- " + markdown_cell(line) + "\n";
  add("Notes", notes);
  return out;
}

}  // namespace

std::string result_markdown(const sim::Result& result) {
  std::string top = fmt::format("### {}\n\n", markdown_cell(result.stamp.scenario));
  if (result.interrupted) top += fmt::format("**{}**\n\n", markdown_cell(interrupted_line(result)));
  top += markdown_cell(verdict(result)) + "\n\n";
  if (!result.variants.empty()) top += variants_table(result, kMostVariants) + "\n";
  if (result.variants.size() > kMostVariants) {
    top += fmt::format("The first {} of {} variants.\n\n", kMostVariants, result.variants.size());
  }
  return markdown_comment(top, result_sections(result), origin_line(result, kPlain) + "\n\n",
                          result.stamp.scenario);
}

}  // namespace slicewise::reports
