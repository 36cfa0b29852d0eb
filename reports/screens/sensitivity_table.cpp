#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "slicewise/reports/sensitivity_report.hpp"

#include "../text/table_block.hpp"
#include "../text/wrapped_text.hpp"
#include "result_details.hpp"
#include "sensitivity_rows.hpp"

namespace slicewise::reports {
namespace {

std::string tornado_block(const sim::SensitivityStudy& study, std::size_t figure,
                          const TextStyle& style, bool wide) {
  const Tornado shown = tornado(study, figure, style, wide);
  std::string out =
      emphasised(figure_heading(study.figures[figure], style), Emphasis::Heading, style) + "\n";
  if (shown.cells.rows.empty()) {
    return out + wrapped_text("no input changes it by 0.5% or more", style.width, "  ", 4) + "\n";
  }
  out += table_block(shown.cells.columns, shown.cells.rows, style, wide);
  if (shown.left_out > 0) {
    out += wrapped_text(fmt::format("and {} inputs that change it less (-o wide)", shown.left_out),
                        style.width, "  ", 4);
  }
  return out + "\n";
}

}  // namespace

std::string sensitivity_table(const sim::SensitivityStudy& study, const TextStyle& style,
                              bool wide) {
  std::string out;
  if (study.interrupted) {
    out += emphasised("INTERRUPTED: not every input was varied", Emphasis::Bad, style) + "\n";
  }
  out += wrapped_text(sensitivity_heading(study), style.width, "", 2) + "\n";
  if (study.nothing_runs) out += "No pod ever ran: nothing was varied.\n\n";
  for (std::size_t figure = 0; figure < study.figures.size(); ++figure) {
    out += tornado_block(study, figure, style, wide);
  }
  const std::vector<std::string> flips = flip_lines(study);
  if (!flips.empty()) out += emphasised("WHAT FLIPS", Emphasis::Heading, style) + "\n";
  for (const std::string& line : flips) out += wrapped_text(line, style.width, "  ", 4);
  if (!flips.empty()) out += "\n";
  const Cells evens = break_even_cells(study, style);
  if (!evens.rows.empty()) out += table_block(evens.columns, evens.rows, style, wide) + "\n";
  out += emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : sensitivity_notes(study)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  return out + wrapped_text(sensitivity_origin(study, style), style.width, "", 2);
}

}  // namespace slicewise::reports
