#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/neighbours_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "neighbours_rows.hpp"

namespace slicewise::reports {
std::string neighbours_markdown(const sim::NeighbourMatrix& matrix) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(neighbours_heading(matrix)));
  if (matrix.interrupted) out += "**INTERRUPTED: only the runs that had finished count**\n\n";
  if (const std::string worst = worst_neighbour(matrix); !worst.empty()) {
    out += markdown_cell(worst) + "\n\n";
  }
  const Cells table = neighbours_cells(matrix, kPlain);
  std::vector<std::string> sections = {markdown_table(table.columns, table.rows) + "\n"};
  std::string notes;
  for (const std::string& line : neighbours_notes(matrix, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  sections.push_back(markdown_folded("Notes", notes));
  return markdown_comment(out, std::move(sections), neighbours_origin(matrix, kPlain) + "\n\n",
                          matrix.stamp.scenario);
}

}  // namespace slicewise::reports
