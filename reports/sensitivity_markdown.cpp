#include <string>

#include <fmt/format.h>

#include "slicewise/reports/sensitivity_report.hpp"

#include "markdown_text.hpp"
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
  for (std::size_t figure = 0; figure < study.figures.size(); ++figure) {
    Tornado shown = tornado(study, figure, kMarkdownStyle, false);
    // Bars need a fixed width, which table cells have not.
    shown.cells.columns.pop_back();
    for (auto& row : shown.cells.rows) row.pop_back();
    out += fmt::format("**{}**\n\n",
                       markdown_cell(figure_heading(study.figures[figure], kMarkdownStyle)));
    out += shown.cells.rows.empty() ? "no input changes it by 0.5% or more\n\n"
                                    : markdown_table(shown.cells.columns, shown.cells.rows) + "\n";
  }
  const Cells evens = break_even_cells(study, kMarkdownStyle);
  if (!evens.rows.empty()) out += markdown_table(evens.columns, evens.rows) + "\n";
  std::string notes;
  for (const std::string& line : sensitivity_notes(study)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  out += markdown_folded("Notes", notes);
  return out + sensitivity_origin(study, kMarkdownStyle) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
