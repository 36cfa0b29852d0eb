#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"
#include "slicewise/sim/result_record.hpp"

#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "document_text.hpp"
#include "record_json.hpp"

namespace slicewise::sim {

namespace {

using models::MeasurementSource;
using models::Study;

bool has_rows(const ErrorSummary& summary) { return summary.rows > 0; }
bool has_naive_answer(const StudyResult& s) {
  return s.even_share_percent || s.no_slowdown_percent;
}

const Record& naive_answers() {
  static const Record declared{
      "mean error of what one would say without a model",
      {field<&StudyResult::even_share_percent>("evenSharePercent", "time grows as 1 / share"),
       field<&StudyResult::no_slowdown_percent>("noSlowdownPercent", "as fast as alone")}};
  return declared;
}

// A row of the CSV.
struct PointOfStudy {
  const StudyResult& study;
  const PredictedPoint& point;
};

std::string_view id_of_study(const PointOfStudy& p) { return p.study.study.id; }
std::string_view source_of_study(const PointOfStudy& p) { return p.study.source.id; }
std::string_view mode_of_study(const PointOfStudy& p) { return p.study.study.mode; }
std::string_view gpu_of_study(const PointOfStudy& p) { return p.study.source.gpu; }
std::string_view unit_of_study(const PointOfStudy& p) {
  return p.study.quantity == Quantity::Speed ? "speed" : "ms";
}
std::string_view role_of_point(const PointOfStudy& p) {
  return p.point.role == PointRole::Fit ? "fit" : "check";
}
std::string_view workload_of_point(const PointOfStudy& p) { return p.point.workload; }
std::string_view setting_of_point(const PointOfStudy& p) { return p.point.setting; }
double measured_at(const PointOfStudy& p) { return p.point.measured; }
double predicted_at(const PointOfStudy& p) { return p.point.predicted; }
double error_percent(const PointOfStudy& p) {
  return 100 * (p.point.predicted / p.point.measured - 1);
}
std::optional<double> even_share_at(const PointOfStudy& p) { return p.point.even_share; }
std::optional<double> no_slowdown_at(const PointOfStudy& p) { return p.point.no_slowdown; }

const Record& point_columns() {
  static const Record declared{
      "a measured row",
      {field<&id_of_study>("study"), field<&source_of_study>("source"),
       field<&mode_of_study>("mode"), field<&gpu_of_study>("gpuModel"),
       field<&workload_of_point>("workload"), field<&setting_of_point>("setting"),
       field<&role_of_point>("role"), field<&unit_of_study>("unit"),
       field<&measured_at>("measured"), field<&predicted_at>("predicted"),
       field<&error_percent>("errorPercent"), field<&even_share_at>("evenShare"),
       field<&no_slowdown_at>("noSlowdown")}};
  return declared;
}

std::vector<models::ExpectedError> errors_of_result(const ValidationResult& result) {
  std::vector<models::ExpectedError> errors = errors_from_nothing(result.studies);
  std::ranges::move(errors_by_evidence(result.studies), std::back_inserter(errors));
  return errors;
}

}  // namespace

template <>
const Record& record_of<ErrorSummary>() {
  using E = ErrorSummary;
  static const Record declared{
      "",
      {field<&E::rows>("rows", "how many"),
       field<&E::mean_percent>("meanErrorPercent", "|predicted / measured - 1|").when<&has_rows>(),
       field<&E::worst_percent>("worstErrorPercent", "the largest").when<&has_rows>(),
       field<&E::worst_row>("worstRow", "workload and setting of it").when<&has_rows>()}};
  return declared;
}

template <>
const Record& record_of<MeasurementSource>() {
  using M = MeasurementSource;
  static const Record declared{
      "who measured",
      {field<&M::id>("name"), field<&M::title>("title"), field<&M::url>("url"),
       field<&M::read>("read", "how, and what was left out"),
       field<&M::licence>("licence").optional(), field<&M::date>("date", "of reading").optional(),
       field<&M::gpu>("gpuModel").optional(), field<&M::note>("note").optional()}};
  return declared;
}

template <>
const Record& record_of<WorkloadError>() {
  using W = WorkloadError;
  static const Record declared{"a workload",
                               {field<&W::workload>("name"), field<&W::rows>("rows", "that check"),
                                field<&W::mean_percent>("meanErrorPercent")}};
  return declared;
}

template <>
const Record& record_of<StudyResult>() {
  using S = StudyResult;
  static const Record declared{
      "a way of sharing against published measurements",
      {field<&S::study, &Study::id>("name"), field<&S::study, &Study::title>("title"),
       field<&S::study, &Study::mode>("mode"),
       field<&S::study, &Study::evidence>("evidence", "that predictions start from"),
       field<&S::study, &Study::split>("split", "which rows fit and which check"),
       field<&S::study, &Study::parameters>("parameters"), field<&S::source>("source"),
       field<&S::fit>("fit", "rows that parameters were fitted on"),
       field<&S::check>("check", "all others"), field<&S::rows_left_out>("rowsLeftOut"),
       field<&S::study, &Study::bound_percent>("boundPercent", "not to be exceeded"),
       field<&S::within_bound>("withinBound"),
       field<&S::study, &Study::target_percent>("targetPercent", "that was aimed at"),
       group("naive", &naive_answers).when<&has_naive_answer>(),
       field<&S::by_workload>("workloads", "the largest error first")}};
  return declared;
}

template <>
const Record& record_of<ValidationResult>() {
  using V = ValidationResult;
  static const Record declared{
      "What `slicewise validate -o json` prints. Keys are added, never renamed.",
      {constant("apiVersion", "slicewise.dev/validation.v1alpha1"),
       constant("kind", "ValidationResult"),
       field<&V::within_bounds>("withinBounds", "all studies are"), field<&V::studies>("studies"),
       field<&errors_of_result>("expectedErrors",
                                "over all studies that knew as much; nothing: what each row would "
                                "be if all had their share")}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

std::string csv_of(const sim::ValidationResult& result) {
  std::vector<sim::PointOfStudy> rows;
  for (const sim::StudyResult& study : result.studies) {
    for (const sim::PredictedPoint& point : study.points) rows.push_back({study, point});
  }
  return csv_table(sim::point_columns(), rows);
}

}  // namespace slicewise::reports
