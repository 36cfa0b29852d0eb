#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/sim/validation.hpp"

// One function per kind of engine; each returns the points of a study.
namespace slicewise::sim {

// What a study predicts from.
struct StudyInput {
  const models::Study& study;
  const models::MeasurementSource& source;
  const models::Catalogue& catalogue;
  const models::GpuModel* gpu = nullptr;     // nullptr: not known
  const models::MigGeometry* mig = nullptr;  // nullptr: the GPU has no MIG
};

struct StudyPoints {
  std::vector<PredictedPoint> points;
  int left_out = 0;
};

// Rows of one workload and size, in the order of the source.
struct RowGroup {
  std::string workload;
  std::string size;
  std::vector<const models::MeasuredRow*> rows;
  std::vector<bool> fit;                           // by row
  const models::MeasuredRow* reference = nullptr;  // one client with most of the GPU, if any
};

// The rows that the study looks at, grouped.
std::vector<RowGroup> row_groups(const StudyInput& input);

// The part of the GPU that a row's slice has. Throws for a slice that the GPU lacks.
models::DomainShare share_of(const StudyInput& input, const models::MeasuredRow& row);

double milliseconds_of(Duration time);

// A point with the two naive answers from the group's reference.
PredictedPoint point_of(const StudyInput& input, const RowGroup& group, std::size_t row,
                        Duration predicted);

// Speeds of the two jobs of a pair, alone = 1.
using Speeds = std::array<double, 2>;

models::TimeSlice time_slice_of(const StudyInput& input);

// c/q: GPU time that switching adds to each unit of work while processes take turns.
double switch_overhead(const StudyInput& input);

StudyPoints run_law(const StudyInput& input);
StudyPoints run_turns(const StudyInput& input);
StudyPoints run_bursts(const StudyInput& input);
StudyPoints run_pairs(const StudyInput& input);
// The fit's workload is the job that all others were measured beside.
StudyPoints run_pairs_beside_one(const StudyInput& input);
StudyPoints run_calibrated_pairs(const StudyInput& input);
StudyPoints run_pairs_from_utilisation(const StudyInput& input);
StudyPoints run_refitted_pairs(const StudyInput& input);
StudyPoints run_serial_pairs(const StudyInput& input);
// Of the companies that share the GPU as the study says.
StudyPoints run_requests(const StudyInput& input);
StudyPoints run_arrivals(const StudyInput& input);

}  // namespace slicewise::sim
