#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "slicewise/models/mig.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::MeasuredRow;
using models::RowFilter;

template <class Values, class Value>
bool allows(const Values& values, const Value& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

double thread_percent(const MeasuredRow& row) { return std::round(row.active_threads * 100); }

bool matches(const RowFilter& filter, const MeasuredRow& row, const std::string& smallest_slice) {
  const bool slice_fits =
      allows(filter.slices, row.slice) ||
      (row.slice == smallest_slice && allows(filter.slices, std::string("smallest")));
  return slice_fits && allows(filter.workloads, row.workload) && allows(filter.sizes, row.size) &&
         allows(filter.threads, thread_percent(row)) && allows(filter.clients, row.clients);
}

void require_workloads(const StudyInput& input, const std::vector<RowGroup>& groups) {
  for (const std::string& workload : input.study.rows.workloads) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const RowGroup& group) {
      return group.workload == workload;
    });
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
  const std::string smallest =
      (*std::min_element(group.rows.begin(), group.rows.end(), less))->slice;
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

double milliseconds_of(Duration time) { return static_cast<double>(time.ns) * 1e-6; }

}  // namespace

std::vector<RowGroup> row_groups(const StudyInput& input) {
  std::vector<RowGroup> groups;
  for (const MeasuredRow& row : input.source.rows) {
    if (!matches(input.study.rows, row, "")) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&row](const RowGroup& known) {
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
      if (profile.name == row.slice) return models::mig_share(*input.mig, profile).share;
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

}  // namespace slicewise::sim
