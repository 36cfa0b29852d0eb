#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/sim/result.hpp"

// The models and engines of the simulation against published measurements.
namespace slicewise::sim {

// A row that a parameter was fitted on, or that was given, never checks.
enum class PointRole : std::uint8_t { Fit, Check };

// Figures are in the unit of StudyResult::quantity.
struct PredictedPoint {
  std::string workload;  // of a pair, the one whose speed this is
  std::string setting;   // "b8, 2g.10gb, 3 processes", "beside A3C"
  PointRole role = PointRole::Check;
  bool unlike = false;  // beside another workload, not copies of it
  double measured = 0;
  double predicted = 0;
  // What one would say without a model; absent where the isolated figure is not known.
  std::optional<double> even_share;   // time grows as 1/share: n T1/f; of a pair, half the speed
  std::optional<double> no_slowdown;  // as fast as alone on the whole GPU
};

struct ErrorSummary {
  int rows = 0;
  double mean_percent = 0;   // of |predicted / measured - 1|
  double worst_percent = 0;  // the largest
  std::string worst_row;     // workload and setting of it
};

struct WorkloadError {
  std::string workload;
  int rows = 0;  // check rows
  double mean_percent = 0;
};

enum class Quantity : std::uint8_t { StepMilliseconds, Speed };

struct StudyResult {
  models::Study study;
  models::MeasurementSource source;  // without its rows
  Quantity quantity = Quantity::StepMilliseconds;
  std::vector<PredictedPoint> points;  // in the order of the source
  int rows_left_out = 0;               // too few rows to fit their workload and size
  ErrorSummary fit;
  ErrorSummary check;
  std::optional<double> even_share_percent;   // mean error of the naive answers on the check rows
  std::optional<double> no_slowdown_percent;  // that have them
  std::vector<WorkloadError> by_workload;     // the largest error first, of equals by name
  bool within_bound = true;
};

// What processes get done together on a GPU, of what they would one after the other: above 1
// sharing helps.
struct SharingGain {
  double measured = 1;
  double predicted = 1;

  bool has_right_sign() const { return (measured > 1) == (predicted > 1); }
};

// Of the check rows of a study, a pair as one; none of tails.
std::vector<SharingGain> sharing_gains(const StudyResult& study);

struct ValidationResult {
  std::vector<StudyResult> studies;
  std::vector<models::Study> not_run;  // asked for, and their measurements were not given
  bool within_bounds() const;
};

// Errors over the check rows of all studies that start from the same evidence about the same way of
// sharing, in the order of models::published_errors(). Of studies of one source that predict the
// same rows, all count.
std::vector<models::ExpectedError> errors_by_evidence(std::span<const StudyResult> studies);

// The same where nothing is known of a workload but its time alone with nobody beside it, and no
// model is asked: each has its share of the GPU (PredictedPoint::even_share).
std::vector<models::ExpectedError> errors_from_nothing(std::span<const StudyResult> studies);

// Of the set, the studies of the ways in which pools of these results share their GPUs.
models::ValidationSet studies_about(std::span<const VariantResult> results,
                                    models::ValidationSet set);

// Runs every study whose source has rows; same input, same bytes. `catalogue` knows the GPUs of
// EC2, `set` the others. Throws std::runtime_error when a study names a GPU, slice or workload that
// its data lack: a defect of what ships.
ValidationResult validate(const models::Catalogue& catalogue, const models::ValidationSet& set);

}  // namespace slicewise::sim
