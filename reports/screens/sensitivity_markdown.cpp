#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/sensitivity_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "sensitivity_rows.hpp"

namespace slicewise::reports {
namespace {

constexpr TextStyle kMarkdownStyle{false, true, 0};

}  // namespace

std::string sensitivity_markdown(const sim::SensitivityStudy& study) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(sensitivity_heading(study)));
  if (study.interrupted) out += "**INTERRUPTED: not every input was varied**\n\n";
  for (const std::string& line : flip_lines(study)) out += "- " + markdown_cell(line) + "\n";
  out += "\n";
  std::vector<std::string> sections;
  for (std::size_t figure = 0; figure < study.figures.size(); ++figure) {
    Tornado shown = tornado(study, figure, kMarkdownStyle, false);
    // Bars need a fixed width, which table cells have not.
    shown.cells.columns.pop_back();
    for (auto& row : shown.cells.rows) row.pop_back();
    sections.push_back(
        fmt::format("**{}**\n\n",
                    markdown_cell(figure_heading(study.figures[figure], kMarkdownStyle))) +
        (shown.cells.rows.empty() ? "no input changes it by 0.5% or more\n\n"
                                  : markdown_table(shown.cells.columns, shown.cells.rows) + "\n"));
  }
  const Cells evens = break_even_cells(study, kMarkdownStyle);
  if (!evens.rows.empty()) sections.push_back(markdown_table(evens.columns, evens.rows) + "\n");
  std::string notes;
  for (const std::string& line : sensitivity_notes(study)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  sections.push_back(markdown_folded("Notes", notes));
  return markdown_comment(out, std::move(sections),
                          sensitivity_origin(study, kMarkdownStyle) + "\n\n", study.stamp.scenario);
}

}  // namespace slicewise::reports
