#include <string>

#include <fmt/format.h>

#include "slicewise/reports/replay_report.hpp"

#include "../text/markdown_text.hpp"
#include "../text/table_block.hpp"
#include "../text/wrapped_text.hpp"
#include "replay_rows.hpp"
#include "result_details.hpp"

namespace slicewise::reports {
namespace {

std::string spaced_block(const Cells& table, const TextStyle& style, bool wide) {
  return table_block(table.columns, table.rows, style, wide) + "\n";
}

std::string replay_notes_block(const std::vector<std::string>& notes, const TextStyle& style) {
  std::string out = emphasised("NOTES", Emphasis::Heading, style) + "\n";
  for (const std::string& line : notes) out += wrapped_text(line, style.width, "  ", 4);
  return out;
}

std::string replay_interrupted_line(bool interrupted, const TextStyle& style) {
  if (!interrupted) return "";
  return emphasised("INTERRUPTED: jobs that had not ended by then are missing", Emphasis::Bad,
                    style) +
         "\n";
}

std::string sizes_title(const sim::ReplayStudy& study, const sim::ReplayOutcome& outcome) {
  return "BY SIZE OF JOB (" + scheduler_name(study, outcome.scheduling) + ")";
}

std::string notes_list(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& line : notes) text += "- " + markdown_cell(line) + "\n";
  return markdown_folded("Notes", text);
}

}  // namespace

std::string replay_table(const sim::ReplayStudy& study, const TextStyle& style, bool wide) {
  std::string out = replay_interrupted_line(study.interrupted, style);
  out += wrapped_text(replay_heading(study), style.width, "", 2) + "\n";
  out += spaced_block(scheduler_cells(study), style, wide);
  for (const sim::ReplayOutcome& outcome : study.outcomes) {
    if (outcome.result.classes.size() < 2) continue;
    out += emphasised(sizes_title(study, outcome), Emphasis::Heading, style) + "\n";
    out += spaced_block(size_cells(outcome), style, wide);
    if (!wide) break;
  }
  out += replay_notes_block(replay_notes(study), style);
  return out + wrapped_text(replay_origin(study.origin, study.seed), style.width, "", 2);
}

std::string replay_markdown(const sim::ReplayStudy& study) {
  std::string out = fmt::format("### {}\n\n", markdown_cell(replay_heading(study)));
  if (study.interrupted) out += "**INTERRUPTED: jobs that had not ended by then are missing**\n\n";
  out += markdown_table(scheduler_cells(study)) + "\n";
  for (const sim::ReplayOutcome& outcome : study.outcomes) {
    out += markdown_folded(sizes_title(study, outcome), markdown_table(size_cells(outcome)));
  }
  out += notes_list(replay_notes(study));
  return out + replay_origin(study.origin, study.seed) + "\n\n<!-- slicewise -->\n";
}

std::string inflation_table(const sim::InflationStudy& study, const TextStyle& style, bool wide) {
  std::string out = replay_interrupted_line(study.interrupted, style);
  out += wrapped_text(inflation_heading(study), style.width, "", 2) + "\n";
  out += spaced_block(inflation_cells(study), style, wide);
  out += replay_notes_block(inflation_notes(study), style);
  return out + wrapped_text(replay_origin(study.origin, study.seed), style.width, "", 2);
}

std::string inflation_markdown(const sim::InflationStudy& study) {
  return fmt::format("### {}\n\n", markdown_cell(inflation_heading(study))) +
         markdown_table(inflation_cells(study)) + "\n" + notes_list(inflation_notes(study)) +
         replay_origin(study.origin, study.seed) + "\n\n<!-- slicewise -->\n";
}

}  // namespace slicewise::reports
