#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/comparison_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "comparison_columns.hpp"
#include "comparison_notes.hpp"
#include "comparison_words.hpp"

namespace slicewise::reports {
std::string comparison_markdown(const sim::StrategyComparison& comparison) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(comparison_heading(comparison)));
  if (comparison.interrupted) {
    out += "**INTERRUPTED: options without a finished run are left out**\n\n";
  }
  for (const std::string& line : recommendation_lines(comparison))
    out += markdown_cell(line) + "\n\n";
  std::vector<std::string> sections;
  if (!comparison.options.empty()) {
    sections.push_back(markdown_table(option_cells(comparison, kPlain, false)) + "\n");
  }
  sections.push_back(
      markdown_folded("Isolation between pods on one GPU", markdown_table(isolation_cells())));
  std::string refused;
  for (const RefusalGroup& group : refusal_groups(comparison)) {
    refused += fmt::format("- **{}** on {}: {}\n", group.strategies, group.instances,
                           markdown_cell(group.reason));
  }
  if (!refused.empty()) sections.push_back(markdown_folded("Refused", refused));
  std::string notes;
  for (const std::string& line : comparison_notes(comparison, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  sections.push_back(markdown_folded("Notes", notes));
  return markdown_comment(out, std::move(sections), comparison_origin(comparison, kPlain) + "\n\n",
                          comparison.stamp.scenario);
}

}  // namespace slicewise::reports
