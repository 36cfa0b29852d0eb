#include <fmt/format.h>

#include "slicewise/reports/validation_report.hpp"

#include "../text/markdown_text.hpp"
#include "validation_rows.hpp"

namespace slicewise::reports {
namespace {

std::string row_of(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& text : cells) out += " " + markdown_cell(text) + " |";
  return out + "\n";
}

}  // namespace

std::string validation_markdown(const sim::ValidationResult& result) {
  std::string out = "# Predicted against measured\n\n" + bounds_line(result) + "\n\n";
  if (const std::string line = pairs_line(result); !line.empty()) out += line + "\n\n";
  out += "|";
  std::string rule = "|";
  for (const Column& column : validation_columns()) {
    out += " " + column.header + " |";
    rule += column.right_align ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const sim::StudyResult& study : result.studies) out += row_of(validation_cells(study));
  for (const std::string& note : validation_notes()) out += "\n" + note + "\n";
  out += "\n## What was fitted on what, and where the models are worst\n\n";
  out +=
      "| STUDY | SPLIT | PARAMETERS | WEAKEST | WORST ROW | SOURCE |\n|---|---|---|---|---|---|\n";
  for (const sim::StudyResult& study : result.studies) {
    out += row_of({study.study.id + ": " + study.study.title, study.study.split,
                   study.study.parameters, weakest_workloads(study, kWeakestShown),
                   worst_row(study), source_line(study)});
  }
  return out;
}

}  // namespace slicewise::reports
