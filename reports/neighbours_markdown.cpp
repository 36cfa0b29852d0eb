#include <string>

#include <fmt/format.h>

#include "slicewise/reports/neighbours_report.hpp"

#include "markdown_text.hpp"
#include "neighbours_rows.hpp"

namespace slicewise::reports {
std::string neighbours_markdown(const sim::NeighbourMatrix& matrix) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(neighbours_heading(matrix)));
  if (matrix.interrupted) out += "**INTERRUPTED: only the runs that had finished count**\n\n";
  if (const std::string worst = worst_neighbour(matrix); !worst.empty()) {
    out += markdown_cell(worst) + "\n\n";
  }
  const Cells table = neighbours_cells(matrix, kPlain);
  out += markdown_table(table.columns, table.rows) + "\n";
  std::string notes;
  for (const std::string& line : neighbours_notes(matrix, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  out += markdown_folded("Notes", notes);
  return out + neighbours_origin(matrix, kPlain) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
