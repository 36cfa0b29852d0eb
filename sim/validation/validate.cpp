#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/sim/pool_choice.hpp"
#include "slicewise/sim/validation.hpp"

#include "../metrics/nearest_rank.hpp"
#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredRow;

template <class Values, class Value>
bool allows(const Values& values, const Value& value) {
  return values.empty() || contains(values, value);
}

double thread_percent(const MeasuredRow& row) { return std::round(row.active_threads * 100); }

bool matches(const models::RowFilter& filter, const MeasuredRow& row,
             const std::string& smallest_slice) {
  const bool slice_fits =
      allows(filter.slices, row.slice) ||
      (row.slice == smallest_slice && allows(filter.slices, std::string("smallest")));
  return slice_fits && allows(filter.workloads, row.workload) && allows(filter.sizes, row.size) &&
         allows(filter.threads, thread_percent(row)) && allows(filter.clients, row.clients);
}

void require_workloads(const StudyInput& input, const std::vector<RowGroup>& groups) {
  for (const std::string& workload : input.study.rows.workloads) {
    const auto found = std::ranges::find_if(
        groups, [&](const RowGroup& group) { return group.workload == workload; });
    if (found == groups.end()) {
      throw std::runtime_error(
          fmt::format("study {}: {} has no rows of {}", input.study.id, input.source.id, workload));
    }
  }
}

// How much of the GPU's SMs a row's process may use.
double capacity_of(const StudyInput& input, const MeasuredRow& row) {
  return share_of(input, row).compute * row.active_threads;
}

void mark(const StudyInput& input, RowGroup& group) {
  const auto less = [&](const MeasuredRow* a, const MeasuredRow* b) {
    return share_of(input, *a).compute < share_of(input, *b).compute;
  };
  const std::string smallest = (*std::ranges::min_element(group.rows, less))->slice;
  for (const MeasuredRow* row : group.rows) {
    group.fit.push_back(matches(input.study.fit, *row, smallest));
    const bool better = group.reference == nullptr ||
                        capacity_of(input, *row) > capacity_of(input, *group.reference);
    if (row->clients == 1 && better) group.reference = row;
  }
}

std::string setting_of(const MeasuredRow& row) {
  std::string text = row.size == "-" ? "" : row.size;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (row.slice != "full") add(row.slice);
  if (row.active_threads < 1) add(fmt::format("{:.0f} % of threads", thread_percent(row)));
  if (row.clients > 1) add(fmt::format("{} processes", row.clients));
  if (text.empty() || text == row.size) add("alone");
  return text;
}

}  // namespace

double milliseconds_of(Duration time) { return static_cast<double>(time.ns) * 1e-6; }

std::vector<RowGroup> row_groups(const StudyInput& input) {
  std::vector<RowGroup> groups;
  for (const MeasuredRow& row : input.source.rows) {
    if (!matches(input.study.rows, row, "")) continue;
    auto group = std::ranges::find_if(groups, [&row](const RowGroup& known) {
      return known.workload == row.workload && known.size == row.size;
    });
    if (group == groups.end()) {
      groups.push_back({row.workload, row.size, {}, {}, nullptr});
      group = groups.end() - 1;
    }
    group->rows.push_back(&row);
  }
  require_workloads(input, groups);
  for (RowGroup& group : groups) mark(input, group);
  return groups;
}

models::DomainShare share_of(const StudyInput& input, const MeasuredRow& row) {
  if (row.slice == "full") return {};
  if (input.mig != nullptr) {
    for (const models::MigProfile& profile : input.mig->profiles) {
      if (profile.name == row.slice) return models::mig_share(*input.mig, profile);
    }
  }
  throw std::runtime_error(
      fmt::format("study {}: {} has no slice {}", input.study.id, input.source.gpu, row.slice));
}

PredictedPoint point_of(const StudyInput& input, const RowGroup& group, std::size_t row,
                        Duration predicted) {
  const MeasuredRow& measured = *group.rows[row];
  PredictedPoint point;
  point.workload = group.workload;
  point.setting = setting_of(measured);
  point.role = group.fit[row] ? PointRole::Fit : PointRole::Check;
  point.measured = milliseconds_of(measured.time);
  point.predicted = milliseconds_of(predicted);
  if (group.reference != nullptr) {
    const double alone = milliseconds_of(group.reference->time);
    const double less = capacity_of(input, *group.reference) / capacity_of(input, measured);
    point.even_share = alone * less * measured.clients;
    point.no_slowdown = alone;
  }
  return point;
}

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
    case StudyEngine::PairsBesideOne:
      return run_pairs_beside_one(input);
    case StudyEngine::CalibratedPairs:
      return run_calibrated_pairs(input);
    case StudyEngine::PairsFromUtilisation:
      return run_pairs_from_utilisation(input);
    case StudyEngine::PairsRefitted:
      return run_refitted_pairs(input);
    case StudyEngine::PairsSerial:
      return run_serial_pairs(input);
    case StudyEngine::Requests:
      return run_requests(input);
    case StudyEngine::Arrivals:
      return run_arrivals(input);
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
  std::ranges::stable_sort(list, [](const WorkloadError& a, const WorkloadError& b) {
    return a.mean_percent > b.mean_percent;
  });
  return list;
}

const models::GpuModel* find_gpu(const models::Catalogue& catalogue,
                                 const models::ValidationSet& set, const std::string& name) {
  if (const models::GpuModel* gpu = catalogue.find_gpu(name)) return gpu;
  return find_or_null(set.gpus, name, &models::GpuModel::name);
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
  result.source.companies.clear();
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
  const auto way = strategy_of(strategy);
  if (!way) return false;
  return study.mode == described(*way).mode ||
         (study.mode == described(Strategy::Mig).mode && is_mig(*way));
}

std::string_view rows_of(StudyEngine engine) {
  if (engine == StudyEngine::Arrivals) return ", p99 of requests";
  return engine == StudyEngine::Requests ? " of requests" : "";
}

// `evidence`: of all, whatever their studies started from; nullopt: each study's own.
std::vector<models::ExpectedError> summed_errors(
    std::span<const StudyResult> studies, std::optional<models::Evidence> evidence,
    std::optional<double> (*predicted)(const PredictedPoint&)) {
  constexpr std::array<std::string_view, 8> kModes = {
      "MIG",     "MPS",          "MPS of requests",          "MPS, p99 of requests",
      "MIG+MPS", "time-slicing", "time-slicing of requests", "time-slicing, p99 of requests"};
  std::map<std::tuple<models::Evidence, std::size_t, bool>, std::vector<double>> errors;
  for (const StudyResult& result : studies) {
    const std::string name = result.study.mode + std::string(rows_of(result.study.engine));
    const auto mode = static_cast<std::size_t>(std::ranges::find(kModes, name) - kModes.begin());
    for (const PredictedPoint& point : result.points) {
      const std::optional<double> said = predicted(point);
      if (point.role != PointRole::Check || !said) continue;
      errors[{evidence.value_or(result.study.evidence), mode, point.unlike}].push_back(
          percent_error(*said, point.measured));
    }
  }
  std::vector<models::ExpectedError> out;
  for (auto& [key, percents] : errors) {
    std::ranges::sort(percents);
    const auto& [known, mode, unlike] = key;
    out.push_back({known, std::string(kModes.at(mode)), unlike, static_cast<int>(percents.size()),
                   nearest_rank(percents, 0.5), nearest_rank(percents, 0.9)});
  }
  return out;
}

}  // namespace

std::vector<models::ExpectedError> errors_by_evidence(std::span<const StudyResult> studies) {
  return summed_errors(studies, {},
                       [](const PredictedPoint& p) { return std::optional(p.predicted); });
}

std::vector<models::ExpectedError> errors_from_nothing(std::span<const StudyResult> studies) {
  return summed_errors(studies, models::Evidence::Nothing,
                       [](const PredictedPoint& p) { return p.even_share; });
}

std::vector<SharingGain> sharing_gains(const StudyResult& study) {
  std::vector<SharingGain> out;
  if (study.study.engine == StudyEngine::Arrivals) return out;
  const auto speed = [&](const PredictedPoint& point, double figure) {
    return study.quantity == Quantity::Speed ? figure : *point.no_slowdown / figure;
  };
  for (auto point = study.points.begin(); point != study.points.end(); ++point) {
    if (point->role != PointRole::Check || !point->even_share) continue;
    if (!point->unlike) {
      const double even = *point->even_share;
      if (even > *point->no_slowdown)
        out.push_back({even / point->measured, even / point->predicted});
      continue;
    }
    const auto first = point++;  // the other of the pair follows
    if (point == study.points.end()) break;
    out.push_back({speed(*first, first->measured) + speed(*point, point->measured),
                   speed(*first, first->predicted) + speed(*point, point->predicted)});
  }
  return out;
}

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
  return std::ranges::all_of(studies,
                             [](const StudyResult& result) { return result.within_bound; });
}

ValidationResult validate(const models::Catalogue& catalogue, const models::ValidationSet& set) {
  ValidationResult result;
  for (const models::Study& study : set.studies) {
    const auto source = std::ranges::find_if(
        set.sources,
        [&](const models::MeasurementSource& known) { return known.id == study.source; });
    if (source == set.sources.end()) {
      if (study.source != models::kUserPairs) {
        throw std::runtime_error("study " + study.id + ": no source " + study.source);
      }
      result.not_run.push_back(study);
      continue;
    }
    const StudyInput input{study, *source, catalogue, find_gpu(catalogue, set, source->gpu),
                           find_mig(catalogue, source->gpu)};
    result.studies.push_back(result_of(study, *source, run_study(input)));
  }
  return result;
}

}  // namespace slicewise::sim
