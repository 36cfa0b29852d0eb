#include <string>

#include <fmt/format.h>

#include "slicewise/reports/max_load_report.hpp"

#include "markdown_text.hpp"
#include "max_load_rows.hpp"

namespace slicewise::reports {
std::string max_load_markdown(const sim::MaxLoad& found) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(max_load_heading(found)));
  if (found.interrupted) out += "**INTERRUPTED: the search was not finished**\n\n";
  for (const std::string& line : max_load_answer(found, kPlain)) {
    out += markdown_cell(line) + "\n\n";
  }
  out += markdown_table(load_cells(found, kPlain)) + "\n";
  if (!found.probes.empty()) {
    out += markdown_table(objective_cells(found, kPlain)) + "\n";
    out += markdown_folded("Probes", markdown_table(probe_cells(found, kPlain)));
  }
  std::string notes;
  for (const std::string& line : max_load_notes(found, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  out += markdown_folded("Notes", notes);
  return out + max_load_origin(found, kPlain) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
