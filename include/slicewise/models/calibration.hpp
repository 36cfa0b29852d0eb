#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/units.hpp"

// From measured times to the parameters of law E1 (execution_law.hpp). Deterministic: least squares
// (least_squares.hpp) over the very functions that the simulation uses; no libm, no random start.
namespace slicewise::models {

// The mean time of one step of a workload, measured while `clients` copies of it ran side by side
// in a domain. `size` numbers what makes steps differ: batch sizes, sequence lengths.
struct MeasuredTime {
  DomainShare share;
  double active_threads = 1;  // (0, 1]; below 1 all clients are limited to it
  int clients = 1;
  int size = 0;  // 0, 1, 2, ...
  Duration time;
};

// Whether that is T1: one process that has the whole GPU to itself.
constexpr bool is_time_alone(DomainShare share, double active_threads, int clients) {
  return share.compute >= 1 && share.bandwidth >= 1 && active_threads >= 1 && clients == 1;
}

struct CalibrationOptions {
  std::span<const double> norms;          // p: one, or some to start from
  std::optional<double> bandwidth_share;  // beta; nullopt: fitted too
  // T0 is one figure for all sizes (launch overhead of inference) instead of one per size. Then
  // two points per size are enough to find p.
  bool one_fixed_part = false;
  // T1 of a size is the geometric mean of its times alone on the whole GPU, where there are such:
  // what the law says of how others compare with it moves it not. Not with one_fixed_part.
  bool keep_time_alone = false;
};

// Relative; nobody measures the same twice more exactly than this.
inline constexpr double kLeastNoise = 0.01;

// Norms that cover synchronous clients (1) to launch-bound ones (the maximum norm).
inline constexpr double kUsualNorms[] = {1, 1.5, 2, 3, 4, 6, 8, 12, 24, kHardNorm};

struct Calibration {
  struct Size {
    Duration fixed_part;  // T0
    Duration gpu_work;    // W, on the whole GPU
    // Bound by launches: as fast on a small part as on the whole GPU. Any W up to this fits alike.
    bool launch_bound = false;
  };
  double norm_p = kDefaultNorm;
  double bandwidth_share = 0;  // beta, the same for all sizes
  std::vector<Size> sizes;     // by MeasuredTime::size
  double mean_error = 0;       // over the fitted points, |predicted / measured - 1|
};

// The law that fits `points` best: least sum of squared log(predicted / measured). Of a size whose
// times alone hardly differ between the whole GPU and less than half of it the widest that fits
// (95 %): how much of a GPU the neighbours leave unused is then not overstated.
// REQUIRES: every size below the largest has at least one point; options.norms is not empty; times
// are positive. Two points per size with different shares, or more, make the fit meaningful.
Calibration calibrate(std::span<const MeasuredTime> points, const CalibrationOptions& options);

// What the simulation takes: u = W/T1 with T1 = ||T0, W||_p.
ClientLaw law_of(const Calibration& calibration, int size);
Duration solo_time(const Calibration& calibration, int size);

// T_n(f) / T1 of `clients` copies in a domain: law E1 by the functions of law E2, so that what is
// checked here is what runs. REQUIRES: as client_in; clients >= 1.
double stretch_of(const ClientLaw& law, DomainShare share, double active_threads, int clients);

Duration predicted_time(const Calibration& calibration, const MeasuredTime& where);

// How much slower `client` was beside `neighbour` than alone.
struct PairObservation {
  std::size_t client = 0;
  std::size_t neighbour = 0;
  double slowdown = 1;  // > 0
};

// slowdown_i = 1 + sensitivity_i * pressure_j, see ClientLaw. Only products are determined by the
// data: both figures are scaled to the same mean. nullopt: no observation has that client.
struct PairCalibration {
  std::vector<std::optional<double>> sensitivity;  // by client
  std::vector<std::optional<double>> pressure;
};

// Least squares of relative errors from the first singular vectors of what was observed, no figure
// below 0. REQUIRES: clients are numbered below `clients`.
PairCalibration calibrate_pairs(std::span<const PairObservation> observations, std::size_t clients);

// What the observations leave unknown of a calibration.
struct PairIgnorance {
  // Standard deviations, by client, of figures that were observed; of products across groups that
  // never met nothing is known, whatever these say.
  std::vector<double> sensitivity;
  std::vector<double> pressure;
  double spare = 0;  // observations more than were needed to fit

  // Clients whose figures are known, and no observation tells how the first fares beside the
  // second.
  std::vector<std::pair<std::size_t, std::size_t>> undetermined;
};

// `least_noise`: the relative error that any observation has. REQUIRES: calibrate_pairs() of them.
PairIgnorance pair_ignorance(std::span<const PairObservation> observations,
                             const PairCalibration& calibration, double least_noise);

}  // namespace slicewise::models
