#include <string>

#include "slicewise/reports/max_load_report.hpp"

#include "../text/table_block.hpp"
#include "../text/wrapped_text.hpp"
#include "max_load_rows.hpp"
#include "result_details.hpp"

namespace slicewise::reports {
namespace {

std::string block_if_any(const Cells& table, const TextStyle& style, bool wide) {
  return table.rows.empty() ? "" : table_block(table.columns, table.rows, style, wide) + "\n";
}

}  // namespace

std::string max_load_table(const sim::MaxLoad& found, const TextStyle& style, bool wide) {
  std::string out;
  if (found.interrupted) {
    out += emphasised("INTERRUPTED: the search was not finished", Emphasis::Bad, style) + "\n";
  }
  out += wrapped_text(max_load_heading(found), style.width, "", 2) + "\n";
  out += block_if_any(load_cells(found, style), style, wide);
  for (const std::string& line : max_load_answer(found, style)) {
    out += wrapped_text(line, style.width, "", 2);
  }
  out += "\n" + block_if_any(objective_cells(found, style), style, wide);
  if (wide) out += block_if_any(probe_cells(found, style), style, wide);
  out += emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : max_load_notes(found, wide)) {
    out += wrapped_text(line, style.width, "  ", 4);
  }
  return out + wrapped_text(max_load_origin(found, style), style.width, "", 2);
}

}  // namespace slicewise::reports
