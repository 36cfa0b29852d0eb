#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/llm_shape.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/scenarios/recorded_window.hpp"

// From a user's measurements to profiles: by the very functions that the simulation runs on.
namespace slicewise::sim {

// How WorkloadProfile::provenance begins of a figure that stands for one that nobody measured: it
// is that of profiles of other workloads.
inline constexpr std::string_view kBorrowedOfClass = "borrowed from the nearest";
// ... of a figure that measurements do not determine, and of one that they do.
inline constexpr std::string_view kByDefault = "default";
inline constexpr std::string_view kFitted = "fitted";
// What it has of a sensitivity or pressure that is from a single neighbour.
inline constexpr std::string_view kBesideOne = "beside one other";

// c/q where nobody says: what a switch adds to a turn.
double overhead_on(const models::GpuModel& gpu);

struct FittedPoint {
  models::Measurement measured;
  double measured_ms = 0;
  double predicted_ms = 0;
  std::optional<double> left_out_ms;  // predicted by a fit that has not seen this setting
};

// A figure of the profile, in its unit.
struct FittedFigure {
  std::string name;
  double value = 0;
  std::optional<double> half_width_95;  // absent: see `between`, or `basis` says why
  std::string basis;                    // "measured", "fitted", "borrowed from batch 8", "default"
  std::optional<models::Between> between = std::nullopt;  // bounds, in place of a half width
};

// What would be known better after one more measurement, and where its time lies, 95 %.
struct NextMeasurement {
  models::Measurement setting;
  double least_ms = 0;
  double most_ms = 0;
};

// One workload with one batch on one GPU.
struct FittedProfile {
  models::WorkloadProfile profile;
  std::vector<FittedFigure> figures;
  std::vector<std::string> undetermined;  // names of figures that the data say nothing about
  std::vector<FittedPoint> points;
  bool launch_bound = false;  // Calibration::Size::launch_bound
  double mean_error_percent = 0;
  std::optional<double> left_out_error_percent;  // mean over settings that were left out in turn
  std::optional<NextMeasurement> next;           // absent: enough is known
};

// A benchmark of a language model server: means over its requests.
struct ServedPoint {
  struct Time {
    double measured_ms = 0;
    double predicted_ms = 0;
  };
  int at_once = 1;
  double input_tokens = 0;
  double output_tokens = 0;
  Time first_token;
  bool first_token_counts = true;  // false: of several at once, of lengths that are not known
  Time per_token;                  // each after the first
};

// What vLLM takes for max_num_batched_tokens: for most GPUs, for its server on H100, H200 and B200,
// and for its batches there.
inline constexpr std::array<int, 3> kUsualMostTokens = {2048, 8192, 16384};

// The step of continuous batching (llm_step.hpp) of one language model on one GPU.
struct FittedStep {
  std::string workload;
  std::string gpu;
  models::LlmStep step;
  int most_tokens = 0;      // of a step: one of kUsualMostTokens
  bool tokens_told = true;  // false: the benchmarks would be as likely with others of them
  bool size_known = false;  // of the model, by its config.json
  std::vector<models::FigureUncertainty> uncertainty;  // of all its times, as catalogues name them
  std::vector<FittedFigure> figures;                   // of the step, ms
  std::vector<std::string> undetermined;  // figures that the benchmarks hardly say anything about
  std::vector<ServedPoint> points;
  double mean_error_percent = 0;
  std::optional<double> left_out_error_percent;
};

// What a level of sharing of a recorded window says.
struct WindowPoint {
  models::Measurement setting;    // its time: of a step while all are at it
  double hours = 0;               // of GPUs
  double rate_each = 0;           // requests per second of one pod
  double busy_percent = 0;        // of the time the GPU held work
  double busy_ms = 0;             // ... by request
  double half_width_percent = 0;  // of the time of a step, 95 %

  // Whether a profile is fitted to it: not to what is off by up to a third, nor to turns on a
  // slice, which are held against the whole GPU.
  bool counts() const {
    const bool turns = setting.sharing == models::MeasuredSharing::TimeSlicing;
    return half_width_percent < 33 && !(turns && setting.slice != "full");
  }
};

struct FittedProfiles {
  std::vector<FittedProfile> profiles;   // by workload, GPU and batch
  std::vector<FittedStep> steps;         // by workload and GPU
  std::vector<WindowPoint> window;       // that some of the measurements come from
  std::vector<models::LlmModel> models;  // of add_models()
  std::string date;                      // of the newest measurement, "" when none has one
  Diagnostics notes;                     // what was measured and is not in the profiles
};

// Times of a step from how busy GPUs were and what their pods answered. Alone it is the utilisation
// law: busy time by request. Of several pods it is the time with which pods that come and go as
// they please keep the GPU as busy as it was. `context` says what the levels leave out; what nobody
// says is a diagnostic.
Expected<std::vector<WindowPoint>> window_points(std::span<const scenarios::SharingLevel> levels,
                                                 const models::MeasuredContext& context,
                                                 const models::Catalogue& catalogue);

// Minutes of fits, when all are of one workload: their number grows with the square.
inline constexpr std::size_t kMostMeasurements = 5'000;

// Law E1 and E2 by models::calibrate(), the exponent p and beta one for all batches of a workload
// where the data determine them, else the usual ones; the duty from time-slicing. Intervals are
// those of the linearised fit. Benchmarks of a language model server give the step that the very
// scheduler of a scenario would have needed for them. A workload that was never measured alone on
// the whole GPU or a slice, nor in any setting from which its time alone follows, is a diagnostic;
// so is one more than kMostMeasurements.
// `shapes`: of language models that are called as a workload is, what their size says of a step.
Expected<FittedProfiles> fit_profiles(std::span<const models::Measurement> measurements,
                                      const models::Catalogue& catalogue,
                                      std::span<const models::LlmShape> shapes = {});

// Language models of which the shape is known: with the step that was fitted of the same name on
// the same GPU, else one derived of the catalogue's. `context` names GPU and model where the files
// do not. What is missing or cannot be had is a diagnostic.
Diagnostics add_models(std::span<const models::LlmShape> shapes,
                       const models::MeasuredContext& context, const models::Catalogue& catalogue,
                       FittedProfiles& fitted);

}  // namespace slicewise::sim
