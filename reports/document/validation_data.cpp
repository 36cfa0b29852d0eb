#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "documents.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

std::string_view name_of(sim::PointRole role) {
  return role == sim::PointRole::Fit ? "fit" : "check";
}

std::string_view unit_of_quantity(sim::Quantity quantity) {
  return quantity == sim::Quantity::Speed ? "speed" : "ms";
}

// As in the result document: nine significant nine_digits, the same text everywhere.
std::string nine_digits(double value) { return fmt::format("{:.9g}", value); }
double rounded(double value) { return std::strtod(nine_digits(value).c_str(), nullptr); }

json summary_of(const sim::ErrorSummary& summary) {
  json out{{"rows", summary.rows}};
  if (summary.rows == 0) return out;
  out["meanErrorPercent"] = rounded(summary.mean_percent);
  out["worstErrorPercent"] = rounded(summary.worst_percent);
  out["worstRow"] = summary.worst_row;
  return out;
}

json source_of(const models::MeasurementSource& source) {
  json out{
      {"name", source.id}, {"title", source.title}, {"url", source.url}, {"read", source.read}};
  const auto put = [&out](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  put("licence", source.licence);
  put("date", source.date);
  put("gpuModel", source.gpu);
  put("note", source.note);
  return out;
}

json study_of(const sim::StudyResult& study) {
  json out{{"name", study.study.id},
           {"title", study.study.title},
           {"mode", study.study.mode},
           {"split", study.study.split},
           {"parameters", study.study.parameters},
           {"source", source_of(study.source)},
           {"fit", summary_of(study.fit)},
           {"check", summary_of(study.check)},
           {"rowsLeftOut", study.rows_left_out},
           {"boundPercent", study.study.bound_percent},
           {"withinBound", study.within_bound}};
  if (study.study.target_percent) out["targetPercent"] = *study.study.target_percent;
  if (study.even_share_percent)
    out["naive"]["evenSharePercent"] = rounded(*study.even_share_percent);
  if (study.no_slowdown_percent)
    out["naive"]["noSlowdownPercent"] = rounded(*study.no_slowdown_percent);
  out["workloads"] = json::array();
  for (const sim::WorkloadError& error : study.by_workload) {
    out["workloads"].push_back({{"name", error.workload},
                                {"rows", error.rows},
                                {"meanErrorPercent", rounded(error.mean_percent)}});
  }
  return out;
}

// RFC 4180: quotes around what holds a comma, a quote or a line break, inner quotes doubled.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string maybe_number(const std::optional<double>& value) {
  return value ? nine_digits(*value) : "";
}

}  // namespace

std::string validation_json(const sim::ValidationResult& result) {
  json document{{"apiVersion", "slicewise.dev/validation.v1alpha1"},
                {"kind", "ValidationResult"},
                {"withinBounds", result.within_bounds()},
                {"studies", json::array()}};
  for (const sim::StudyResult& study : result.studies) {
    document["studies"].push_back(study_of(study));
  }
  return json_text(document);
}

std::string validation_csv(const sim::ValidationResult& result) {
  std::string out =
      "study,source,mode,gpuModel,workload,setting,role,unit,measured,predicted,errorPercent,"
      "evenShare,noSlowdown\r\n";
  for (const sim::StudyResult& study : result.studies) {
    for (const sim::PredictedPoint& point : study.points) {
      constexpr double kPercent = 100;
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", study.study.id,
                         quoted(study.source.id), study.study.mode, study.source.gpu,
                         quoted(point.workload), quoted(point.setting), name_of(point.role),
                         unit_of_quantity(study.quantity), nine_digits(point.measured),
                         nine_digits(point.predicted),
                         nine_digits(kPercent * (point.predicted / point.measured - 1)),
                         maybe_number(point.even_share), maybe_number(point.no_slowdown));
    }
  }
  return out;
}

}  // namespace slicewise::reports
