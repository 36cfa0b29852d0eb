#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "slicewise/sim/validation.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::StudyEngine;

StudyPoints run_study(const StudyInput& input) {
  switch (input.study.engine) {
    case StudyEngine::Law:
      return run_law(input);
    case StudyEngine::Turns:
      return run_turns(input);
    case StudyEngine::Bursts:
      return run_bursts(input);
    case StudyEngine::Pairs:
      return run_pairs(input);
    case StudyEngine::CalibratedPairs:
      return run_calibrated_pairs(input);
    case StudyEngine::PairsFromUtilisation:
      return run_pairs_from_utilisation(input);
    case StudyEngine::PairsRefitted:
      return run_refitted_pairs(input);
    case StudyEngine::PairsSerial:
      return run_serial_pairs(input);
  }
  return {};
}

double percent_error(double predicted, double measured) {
  constexpr double kPercent = 100;
  return kPercent * std::abs(predicted / measured - 1);
}

ErrorSummary summary_of(const std::vector<PredictedPoint>& points, PointRole role) {
  ErrorSummary summary;
  for (const PredictedPoint& point : points) {
    if (point.role != role) continue;
    const double error = percent_error(point.predicted, point.measured);
    ++summary.rows;
    summary.mean_percent += error;
    if (error > summary.worst_percent || summary.rows == 1) {
      summary.worst_percent = error;
      summary.worst_row = point.workload + ", " + point.setting;
    }
  }
  if (summary.rows > 0) summary.mean_percent /= summary.rows;
  return summary;
}

std::optional<double> naive_error(const std::vector<PredictedPoint>& points,
                                  std::optional<double> PredictedPoint::*answer) {
  double sum = 0;
  int rows = 0;
  for (const PredictedPoint& point : points) {
    if (point.role != PointRole::Check || !(point.*answer)) continue;
    sum += percent_error(*(point.*answer), point.measured);
    ++rows;
  }
  if (rows == 0) return std::nullopt;
  return sum / rows;
}

std::vector<WorkloadError> errors_by_workload(const std::vector<PredictedPoint>& points) {
  std::map<std::string, WorkloadError> errors;
  for (const PredictedPoint& point : points) {
    if (point.role != PointRole::Check) continue;
    WorkloadError& error = errors[point.workload];
    error.workload = point.workload;
    ++error.rows;
    error.mean_percent += percent_error(point.predicted, point.measured);
  }
  std::vector<WorkloadError> list;
  for (auto& [name, error] : errors) {
    error.mean_percent /= error.rows;
    list.push_back(error);
  }
  std::stable_sort(list.begin(), list.end(), [](const WorkloadError& a, const WorkloadError& b) {
    return a.mean_percent > b.mean_percent;
  });
  return list;
}

const models::GpuModel* find_gpu(const models::Catalogue& catalogue,
                                 const models::ValidationSet& set, const std::string& name) {
  if (const models::GpuModel* gpu = catalogue.find_gpu(name)) return gpu;
  const auto found = std::find_if(set.gpus.begin(), set.gpus.end(),
                                  [&](const models::GpuModel& gpu) { return gpu.name == name; });
  return found == set.gpus.end() ? nullptr : &*found;
}

// A card of the same chip: the PCIe board of A100-80GB is cut like the SXM board.
const models::MigGeometry* find_mig(const models::Catalogue& catalogue, const std::string& gpu) {
  return catalogue.find_mig(gpu == "A100-PCIe-80GB" ? "A100-SXM4-80GB" : gpu);
}

StudyResult result_of(const models::Study& study, const models::MeasurementSource& source,
                      StudyPoints points) {
  StudyResult result;
  result.study = study;
  result.source = source;
  result.source.rows.clear();
  result.source.pairs.clear();
  result.quantity = source.pairs.empty() ? Quantity::StepMilliseconds : Quantity::Speed;
  result.points = std::move(points.points);
  result.rows_left_out = points.left_out;
  result.fit = summary_of(result.points, PointRole::Fit);
  result.check = summary_of(result.points, PointRole::Check);
  result.even_share_percent = naive_error(result.points, &PredictedPoint::even_share);
  result.no_slowdown_percent = naive_error(result.points, &PredictedPoint::no_slowdown);
  result.by_workload = errors_by_workload(result.points);
  result.within_bound = result.check.mean_percent <= study.bound_percent;
  return result;
}

bool is_about(const models::Study& study, std::string_view strategy) {
  if (study.mode == "time-slicing") return strategy == "timeSlicing";
  if (study.mode == "MPS") return strategy == "mps";
  if (study.mode == "MIG+MPS") return strategy == "mig+mps";
  return strategy == "mig" || strategy.starts_with("mig+");
}

}  // namespace

models::ValidationSet studies_about(std::span<const VariantResult> results,
                                    models::ValidationSet set) {
  std::erase_if(set.studies, [&](const models::Study& study) {
    return std::ranges::none_of(results, [&](const VariantResult& result) {
      return std::ranges::any_of(result.node_pools, [&](const NodePoolResult& pool) {
        return is_about(study, pool.strategy);
      });
    });
  });
  return set;
}

bool ValidationResult::within_bounds() const {
  return std::all_of(studies.begin(), studies.end(),
                     [](const StudyResult& result) { return result.within_bound; });
}

ValidationResult validate(const models::Catalogue& catalogue, const models::ValidationSet& set) {
  ValidationResult result;
  for (const models::Study& study : set.studies) {
    const auto source = std::find_if(
        set.sources.begin(), set.sources.end(),
        [&](const models::MeasurementSource& known) { return known.id == study.source; });
    if (source == set.sources.end()) {
      if (study.source != models::kUserPairs) {
        throw std::runtime_error("study " + study.id + ": no source " + study.source);
      }
      result.not_run.push_back(study);
      continue;
    }
    const StudyInput input{study, *source, find_gpu(catalogue, set, source->gpu),
                           find_mig(catalogue, source->gpu)};
    result.studies.push_back(result_of(study, *source, run_study(input)));
  }
  return result;
}

}  // namespace slicewise::sim
