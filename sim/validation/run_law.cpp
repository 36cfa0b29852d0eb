#include <algorithm>

#include "slicewise/models/calibration.hpp"

#include "study_runs.hpp"

namespace slicewise::sim {
namespace {

using models::Calibration;
using models::MeasuredRow;
using models::MeasuredTime;

MeasuredTime measured_time(const StudyInput& input, const MeasuredRow& row, int size) {
  return {share_of(input, row), row.active_threads, row.clients, size, row.time};
}

// Two different places are needed to tell T0 from W.
bool can_be_fitted(const StudyInput& input, const RowGroup& group) {
  const MeasuredRow* first = nullptr;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (!group.fit[i]) continue;
    const MeasuredRow& row = *group.rows[i];
    if (first == nullptr) {
      first = &row;
    } else if (row.clients != first->clients || row.active_threads != first->active_threads ||
               share_of(input, row).compute != share_of(input, *first).compute) {
      return true;
    }
  }
  return false;
}

// The groups that one calibration is made for; its sizes are their positions.
using Family = std::vector<const RowGroup*>;

Calibration calibrate_family(const StudyInput& input, const Family& family) {
  std::vector<MeasuredTime> points;
  for (std::size_t size = 0; size < family.size(); ++size) {
    const RowGroup& group = *family[size];
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      if (group.fit[i]) {
        points.push_back(measured_time(input, *group.rows[i], static_cast<int>(size)));
      }
    }
  }
  models::CalibrationOptions options;
  options.norms = input.study.norms;
  options.bandwidth_share = input.study.bandwidth_share;
  options.one_fixed_part = input.study.one_fixed_part;
  return models::calibrate(points, options);
}

void predict_family(const StudyInput& input, const Family& family, StudyPoints& out) {
  const Calibration calibration = calibrate_family(input, family);
  for (std::size_t size = 0; size < family.size(); ++size) {
    const RowGroup& group = *family[size];
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const MeasuredTime where = measured_time(input, *group.rows[i], static_cast<int>(size));
      out.points.push_back(point_of(input, group, i, models::predicted_time(calibration, where)));
    }
  }
}

// u is given: the isolated row fixes the scale, nothing is fitted.
StudyPoints run_given_law(const StudyInput& input) {
  StudyPoints out;
  models::ClientLaw law;
  law.capacity_share = *input.study.capacity_share;
  law.bandwidth_share = input.study.bandwidth_share.value_or(0);
  law.norm_p = input.study.norms.front();
  for (const RowGroup& group : row_groups(input)) {
    const double alone = to_seconds(group.reference->time);
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const MeasuredRow& row = *group.rows[i];
      const double stretch =
          models::stretch_of(law, share_of(input, row), row.active_threads, row.clients);
      out.points.push_back(point_of(input, group, i, from_seconds(alone * stretch)));
    }
  }
  return out;
}

std::vector<Family> families(const StudyInput& input, const std::vector<RowGroup>& groups,
                             int& left_out) {
  std::vector<Family> result;
  for (const RowGroup& group : groups) {
    if (!can_be_fitted(input, group)) {
      left_out += static_cast<int>(group.rows.size());
      continue;
    }
    const auto same = std::find_if(result.begin(), result.end(), [&group](const Family& family) {
      return family.front()->workload == group.workload;
    });
    if (same == result.end() || input.study.own_norm) {
      result.push_back({&group});
    } else {
      same->push_back(&group);
    }
  }
  return result;
}

}  // namespace

StudyPoints run_law(const StudyInput& input) {
  if (input.study.capacity_share) return run_given_law(input);
  const std::vector<RowGroup> groups = row_groups(input);
  StudyPoints out;
  for (const Family& family : families(input, groups, out.left_out)) {
    predict_family(input, family, out);
  }
  return out;
}

}  // namespace slicewise::sim
