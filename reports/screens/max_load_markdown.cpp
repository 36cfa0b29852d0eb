#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/reports/max_load_report.hpp"

#include "../ci/markdown_comment.hpp"
#include "../text/markdown_text.hpp"
#include "max_load_rows.hpp"

namespace slicewise::reports {
std::string max_load_markdown(const sim::MaxLoad& found) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(max_load_heading(found)));
  if (found.interrupted) out += "**INTERRUPTED: the search was not finished**\n\n";
  for (const std::string& line : max_load_answer(found, kPlain)) {
    out += markdown_cell(line) + "\n\n";
  }
  std::vector<std::string> sections = {markdown_table(load_cells(found, kPlain)) + "\n"};
  if (!found.probes.empty()) {
    sections.push_back(markdown_table(objective_cells(found, kPlain)) + "\n");
    sections.push_back(markdown_folded("Probes", markdown_table(probe_cells(found, kPlain))));
  }
  std::string notes;
  for (const std::string& line : max_load_notes(found, true)) {
    notes += "- " + markdown_cell(line) + "\n";
  }
  sections.push_back(markdown_folded("Notes", notes));
  return markdown_comment(out, std::move(sections), max_load_origin(found, kPlain) + "\n\n",
                          found.stamp.scenario);
}

}  // namespace slicewise::reports
