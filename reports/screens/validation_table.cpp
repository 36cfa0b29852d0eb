#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/validation_report.hpp"

#include "../text/wrapped_text.hpp"
#include "validation_rows.hpp"

namespace slicewise::reports {
namespace {

std::string labelled(std::string_view label, const std::string& text, int width) {
  constexpr int kLabelWidth = 14;
  if (text.empty()) return "";
  return wrapped_text(text, width, fmt::format("  {:<{}}", label, kLabelWidth - 2), kLabelWidth);
}

std::string details_of(const sim::StudyResult& study, int width) {
  std::string out = wrapped_text(study.study.id + ": " + study.study.title, width, "", 2);
  out += labelled("Split", study.study.split, width);
  out += labelled("Parameters", study.study.parameters, width);
  out += labelled("Weakest", weakest_workloads(study, kWeakestShown), width);
  out += labelled("Worst row", worst_row(study), width);
  out += labelled("Source", source_line(study), width);
  out += labelled("Note", study.source.note, width);
  if (study.rows_left_out > 0) {
    out += labelled("Left out",
                    fmt::format("{} rows: too few isolated figures of their workload and size",
                                study.rows_left_out),
                    width);
  }
  return out;
}

}  // namespace

std::string validation_table(const sim::ValidationResult& result, const TextStyle& style,
                             bool wide) {
  const int width = wide ? 0 : style.width;
  std::vector<std::vector<std::string>> rows;
  for (const sim::StudyResult& study : result.studies) rows.push_back(validation_cells(study));
  std::vector<std::string> dropped;
  std::string out = text_table(validation_columns(), rows, width, &dropped) + "\n";
  out += wrapped_text(bounds_line(result), width, "", 0);
  if (const std::string line = pairs_line(result); !line.empty()) {
    out += wrapped_text(line, width, "", 0);
  }
  for (const std::string& note : validation_notes()) out += wrapped_text(note, width, "", 2);
  if (!dropped.empty()) {
    out += wrapped_text(
        fmt::format("Too narrow for {}: -o wide shows every column.", fmt::join(dropped, ", ")),
        width, "", 2);
  }
  out += "\nWhat was fitted on what, and where the models are worst:\n";
  for (const sim::StudyResult& study : result.studies) out += "\n" + details_of(study, width);
  return out;
}

}  // namespace slicewise::reports
