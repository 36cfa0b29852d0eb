#include <string>

#include "slicewise/reports/neighbours_report.hpp"

#include "../text/table_block.hpp"
#include "../text/wrapped_text.hpp"
#include "neighbours_rows.hpp"
#include "result_details.hpp"

namespace slicewise::reports {

std::string neighbours_table(const sim::NeighbourMatrix& matrix, const TextStyle& style,
                             bool wide) {
  std::string out;
  if (matrix.interrupted) {
    out += emphasised("INTERRUPTED: only the runs that had finished count", Emphasis::Bad, style) +
           "\n";
  }
  out += wrapped_text(neighbours_heading(matrix), style.width, "", 2) + "\n";
  const Cells table = neighbours_cells(matrix, style);
  out += table_block(table.columns, table.rows, style, wide);
  if (const std::string worst = worst_neighbour(matrix); !worst.empty()) {
    out += "\n" + wrapped_text(worst, style.width, "", 2);
  }
  out += "\n" + emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : neighbours_notes(matrix, wide)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  return out + wrapped_text(neighbours_origin(matrix, style), style.width, "", 2);
}

}  // namespace slicewise::reports
