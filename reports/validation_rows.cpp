#include "validation_rows.hpp"

#include <fmt/format.h>

namespace slicewise::reports {
namespace {

std::string verdict_of(const sim::StudyResult& study) {
  if (!study.within_bound) return "ABOVE BOUND";
  const auto target = study.study.target_percent;
  return target && study.check.mean_percent > *target ? "above target" : "ok";
}

std::string maybe_percent(const std::optional<double>& percent) {
  return percent ? percent_cell(*percent) : "-";
}

}  // namespace

std::string percent_cell(double percent) { return fmt::format("{:.1f}", percent); }

std::vector<Column> validation_columns() {
  return {{"STUDY", false, 0}, {"MODE", false, 3},   {"FIT", true, 2},     {"FIT %", true, 4},
          {"CHECK", true, 1},  {"ERROR %", true, 0}, {"WORST %", true, 3}, {"TARGET", true, 5},
          {"BOUND", true, 1},  {"EVEN %", true, 2},  {"NONE %", true, 2},  {"VERDICT", false, 0}};
}

std::vector<std::string> validation_cells(const sim::StudyResult& study) {
  return {study.study.id,
          study.study.mode,
          std::to_string(study.fit.rows),
          study.fit.rows == 0 ? "-" : percent_cell(study.fit.mean_percent),
          std::to_string(study.check.rows),
          percent_cell(study.check.mean_percent),
          percent_cell(study.check.worst_percent),
          maybe_percent(study.study.target_percent),
          percent_cell(study.study.bound_percent),
          maybe_percent(study.even_share_percent),
          maybe_percent(study.no_slowdown_percent),
          verdict_of(study)};
}

std::string weakest_workloads(const sim::StudyResult& study, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < study.by_workload.size() && i < most; ++i) {
    const sim::WorkloadError& error = study.by_workload[i];
    text += fmt::format("{}{} {:.1f} % of {} row{}", i == 0 ? "" : ", ", error.workload,
                        error.mean_percent, error.rows, error.rows == 1 ? "" : "s");
  }
  return text;
}

std::string worst_row(const sim::StudyResult& study) {
  return fmt::format("{}: {:.1f} %", study.check.worst_row, study.check.worst_percent);
}

std::string source_line(const sim::StudyResult& study) {
  const models::MeasurementSource& source = study.source;
  std::string text = source.title;
  if (source.url != source.title) text += ", " + source.url;
  if (!source.gpu.empty()) text += ", " + source.gpu;
  if (!source.date.empty()) text += "; read " + source.date;
  return text;
}

std::string bounds_line(const sim::ValidationResult& result) {
  std::size_t within = 0;
  std::string above;
  for (const sim::StudyResult& study : result.studies) {
    if (study.within_bound) {
      ++within;
    } else {
      above += (above.empty() ? "; above: " : ", ") + study.study.id;
    }
  }
  return fmt::format("{} of {} studies within their bounds{}.", within, result.studies.size(),
                     above);
}

std::vector<std::string> validation_notes() {
  return {
      "FIT: rows that parameters were fitted on or that were given; CHECK: all other rows. ERROR: "
      "mean of |predicted / measured - 1| over the check rows, WORST: the largest of them; TARGET: "
      "what was aimed at; BOUND: what may not be exceeded (exit code 99).",
      "EVEN and NONE are the answers without a model on the same check rows: time grows as 1/share "
      "of the GPU (n processes take n times as long; of a pair each runs at half speed), and "
      "nobody "
      "slows anybody down."};
}

}  // namespace slicewise::reports
