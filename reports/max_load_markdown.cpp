#include <string>

#include <fmt/format.h>

#include "slicewise/reports/max_load_report.hpp"

#include "markdown_text.hpp"
#include "max_load_rows.hpp"

namespace slicewise::reports {
namespace {

constexpr TextStyle kPlain{false, true, 0};

std::string table_of(const Cells& table) { return markdown_table(table.columns, table.rows); }

}  // namespace

std::string max_load_markdown(const sim::MaxLoad& found) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(max_load_heading(found)));
  if (found.interrupted) out += "**INTERRUPTED: the search was not finished**\n\n";
  for (const std::string& line : max_load_answer(found, kPlain)) {
    out += markdown_cell(line) + "\n\n";
  }
  out += table_of(load_cells(found, kPlain)) + "\n";
  if (!found.probes.empty()) {
    out += table_of(objective_cells(found, kPlain)) + "\n";
    out += markdown_folded("Probes", table_of(probe_cells(found, kPlain)));
  }
  std::string notes;
  for (const std::string& line : max_load_notes(found, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  out += markdown_folded("Notes", notes);
  return out + max_load_origin(found, kPlain) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
