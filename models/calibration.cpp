#include "slicewise/models/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "slicewise/portable_math.hpp"

namespace slicewise::models {
namespace {

struct Minimum {
  double at = 0;
  double value = std::numeric_limits<double>::infinity();
};

// The least value of `cost` on [low, high]: a grid finds the valley, a golden section its bottom.
// Of equal values the larger argument wins, so that a plateau on the left is left.
template <class Cost>
Minimum minimum(double low, double high, int grid, int sections, Cost cost) {
  constexpr double kGolden = 0.61803398874989484820;
  const double step = (high - low) / grid;
  Minimum best;
  for (int i = 0; i <= grid; ++i) {
    const double at = low + i * step;
    const double value = cost(at);
    if (value <= best.value) best = {at, value};
  }
  double left = std::max(low, best.at - step);
  double right = std::min(high, best.at + step);
  Minimum inner{right - kGolden * (right - left), 0};
  Minimum outer{left + kGolden * (right - left), 0};
  inner.value = cost(inner.at);
  outer.value = cost(outer.at);
  for (int i = 0; i < sections; ++i) {
    if (inner.value < outer.value) {
      right = outer.at;
      outer = inner;
      inner.at = right - kGolden * (right - left);
      inner.value = cost(inner.at);
    } else {
      left = inner.at;
      inner = outer;
      outer.at = left + kGolden * (right - left);
      outer.value = cost(outer.at);
    }
  }
  for (const Minimum& candidate : {inner, outer}) {
    if (candidate.value < best.value) best = candidate;
  }
  return best;
}

struct Point {
  DomainShare share;
  double active_threads;
  int clients;
  double log_time;
};

using PointsBySize = std::vector<std::vector<Point>>;

PointsBySize by_size(std::span<const MeasuredTime> points) {
  PointsBySize sizes;
  for (const MeasuredTime& point : points) {
    assert(point.size >= 0 && point.time.ns > 0);
    const auto size = static_cast<std::size_t>(point.size);
    if (sizes.size() <= size) sizes.resize(size + 1);
    sizes[size].push_back(
        {point.share, point.active_threads, point.clients, portable_log(to_seconds(point.time))});
  }
  return sizes;
}

ClientLaw law_with(double fixed_over_work, double beta, double p) {
  ClientLaw law;
  law.capacity_share = 1 / norm(fixed_over_work, 1, p);
  law.bandwidth_share = beta;
  law.norm_p = p;
  return law;
}

// What one size costs under one choice of parameters, and the parameters in seconds.
struct SizeFit {
  double cost = 0;
  double fixed = 0;
  double work = 0;
};

// T1 that suits `points` best is closed form when the shape of the law is given.
SizeFit scaled(const std::vector<Point>& points, double ratio, double beta, double p) {
  const ClientLaw law = law_with(ratio, beta, p);
  double sum = 0;
  double squares = 0;
  for (const Point& point : points) {
    const double residual =
        point.log_time -
        portable_log(stretch_of(law, point.share, point.active_threads, point.clients));
    sum += residual;
    squares += residual * residual;
  }
  const auto count = static_cast<double>(points.size());
  const double solo = portable_exp(sum / count);
  const double work = solo * law.capacity_share;
  return {squares - sum * sum / count, ratio * work, work};
}

// Bounds of log(T0/W): beyond, one of the two parts no longer shows on a seventh of a GPU.
constexpr double kLeastLogRatio = -8;
constexpr double kMostLogRatio = 8;

SizeFit fit_size(const std::vector<Point>& points, double beta, double p) {
  constexpr int kGrid = 40;
  constexpr int kSections = 26;
  const Minimum best = minimum(
      kLeastLogRatio, kMostLogRatio, kGrid, kSections,
      [&](double log_ratio) { return scaled(points, portable_exp(log_ratio), beta, p).cost; });
  const SizeFit without_fixed_part = scaled(points, 0, beta, p);
  const SizeFit with = scaled(points, portable_exp(best.at), beta, p);
  return with.cost < without_fixed_part.cost ? with : without_fixed_part;
}

double cost_of(const std::vector<Point>& points, double fixed, double work, double beta, double p) {
  const ClientLaw law = law_with(fixed / work, beta, p);
  const double log_solo = portable_log(norm(fixed, work, p));
  double cost = 0;
  for (const Point& point : points) {
    const double residual =
        log_solo + portable_log(stretch_of(law, point.share, point.active_threads, point.clients)) -
        point.log_time;
    cost += residual * residual;
  }
  return cost;
}

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

Range log_times(const std::vector<Point>& points) {
  Range range;
  for (const Point& point : points) range.include(point.log_time);
  return range;
}

SizeFit fit_work(const std::vector<Point>& points, double fixed, double beta, double p) {
  constexpr int kGrid = 16;
  constexpr int kSections = 24;
  const Range times = log_times(points);
  const Minimum best = minimum(
      times.least + kLeastLogRatio, times.most, kGrid, kSections,
      [&](double log_work) { return cost_of(points, fixed, portable_exp(log_work), beta, p); });
  return {best.value, fixed, portable_exp(best.at)};
}

std::vector<SizeFit> fit_works(const PointsBySize& sizes, double fixed, double beta, double p) {
  std::vector<SizeFit> fits;
  fits.reserve(sizes.size());
  for (const auto& points : sizes) fits.push_back(fit_work(points, fixed, beta, p));
  return fits;
}

double total_cost(const std::vector<SizeFit>& fits) {
  double cost = 0;
  for (const SizeFit& fit : fits) cost += fit.cost;
  return cost;
}

std::vector<SizeFit> fit_one_fixed_part(const PointsBySize& sizes, double beta, double p) {
  constexpr int kGrid = 24;
  constexpr int kSections = 22;
  constexpr double kFarBelow = 4;  // T0 of a fiftieth of the shortest time no longer shows
  Range times;
  for (const auto& points : sizes) {
    const Range of_size = log_times(points);
    times.include(of_size.least);
    times.include(of_size.most);
  }
  const Minimum best =
      minimum(times.least - kFarBelow, times.most, kGrid, kSections, [&](double log_fixed) {
        return total_cost(fit_works(sizes, portable_exp(log_fixed), beta, p));
      });
  return fit_works(sizes, portable_exp(best.at), beta, p);
}

struct Fit {
  double cost = std::numeric_limits<double>::infinity();
  double norm_p = 2;
  double beta = 0;
  std::vector<SizeFit> sizes;
};

Fit fit_shape(const PointsBySize& sizes, double beta, double p, bool one_fixed_part) {
  Fit fit{0, p, beta, {}};
  if (one_fixed_part) {
    fit.sizes = fit_one_fixed_part(sizes, beta, p);
  } else {
    for (const auto& points : sizes) fit.sizes.push_back(fit_size(points, beta, p));
  }
  fit.cost = total_cost(fit.sizes);
  return fit;
}

Fit fit_free_beta(const PointsBySize& sizes, double p, bool one_fixed_part, int grid,
                  int sections) {
  const Minimum best = minimum(0, 1, grid, sections, [&](double beta) {
    return fit_shape(sizes, beta, p, one_fixed_part).cost;
  });
  return fit_shape(sizes, best.at, p, one_fixed_part);
}

Fit best_fit(const PointsBySize& sizes, const CalibrationOptions& options) {
  constexpr int kBetaGrid = 10;
  constexpr int kBetaSections = 14;
  constexpr double kSame = 1e-12;  // rounding must not choose between norms that fit alike
  Fit best;
  for (const double p : options.norms) {
    Fit fit = options.bandwidth_share
                  ? fit_shape(sizes, *options.bandwidth_share, p, options.one_fixed_part)
                  : fit_free_beta(sizes, p, options.one_fixed_part, kBetaGrid, 0);
    if (fit.cost < best.cost - kSame || best.sizes.empty()) best = std::move(fit);
  }
  if (options.bandwidth_share) return best;
  Fit refined = fit_free_beta(sizes, best.norm_p, options.one_fixed_part, kBetaGrid, kBetaSections);
  return refined.cost < best.cost ? refined : best;
}

double relative_error(Duration predicted, Duration measured) {
  return std::abs(static_cast<double>(predicted.ns) / static_cast<double>(measured.ns) - 1);
}

const Calibration::Size& size_of(const Calibration& calibration, int size) {
  assert(size >= 0 && static_cast<std::size_t>(size) < calibration.sizes.size());
  return calibration.sizes[static_cast<std::size_t>(size)];
}

}  // namespace

Calibration calibrate(std::span<const MeasuredTime> points, const CalibrationOptions& options) {
  assert(!points.empty() && !options.norms.empty());
  const Fit fit = best_fit(by_size(points), options);
  Calibration calibration;
  calibration.norm_p = fit.norm_p;
  calibration.bandwidth_share = fit.beta;
  for (const SizeFit& size : fit.sizes) {
    calibration.sizes.push_back({from_seconds(size.fixed), from_seconds(size.work)});
  }
  for (const MeasuredTime& point : points) {
    calibration.mean_error += relative_error(predicted_time(calibration, point), point.time);
  }
  calibration.mean_error /= static_cast<double>(points.size());
  return calibration;
}

Duration solo_time(const Calibration& calibration, int size) {
  const Calibration::Size& parts = size_of(calibration, size);
  return from_seconds(
      norm(to_seconds(parts.fixed_part), to_seconds(parts.gpu_work), calibration.norm_p));
}

ClientLaw law_of(const Calibration& calibration, int size) {
  const Calibration::Size& parts = size_of(calibration, size);
  ClientLaw law;
  law.capacity_share = std::min(1.0, static_cast<double>(parts.gpu_work.ns) /
                                         static_cast<double>(solo_time(calibration, size).ns));
  law.bandwidth_share = calibration.bandwidth_share;
  law.norm_p = calibration.norm_p;
  return law;
}

double stretch_of(const ClientLaw& law, DomainShare share, double active_threads, int clients) {
  assert(clients >= 1);
  const DomainClient client = client_in(law, share, active_threads);
  if (clients == 1) return client.stretch;
  const std::vector<DomainClient> all(static_cast<std::size_t>(clients), client);
  std::vector<double> speeds(all.size());
  shared_speeds(all, speeds);
  return client.stretch / speeds[0];
}

Duration predicted_time(const Calibration& calibration, const MeasuredTime& where) {
  const ClientLaw law = law_of(calibration, where.size);
  return from_seconds(to_seconds(solo_time(calibration, where.size)) *
                      stretch_of(law, where.share, where.active_threads, where.clients));
}

namespace {

// One client's figure that, times `others` of each neighbour, suits its observed slowdowns best:
// weighted least squares of the relative error, never negative.
class FigureFit {
 public:
  void add(double others, double slowdown) {
    const double weight = 1 / (slowdown * slowdown);
    product_ += weight * others * (slowdown - 1);
    square_ += weight * others * others;
  }
  // What it was when nothing was observed, or only beside neighbours that press not at all.
  double value_or(double before) const {
    return square_ > 0 ? std::max(0.0, product_ / square_) : before;
  }

 private:
  double product_ = 0;
  double square_ = 0;
};

void refit(std::span<const PairObservation> observations, std::size_t PairObservation::*of,
           std::size_t PairObservation::*beside, const std::vector<double>& others,
           std::vector<double>& figures) {
  std::vector<FigureFit> fits(figures.size());
  for (const PairObservation& seen : observations) {
    fits[seen.*of].add(others[seen.*beside], seen.slowdown);
  }
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i] = fits[i].value_or(figures[i]);
}

double sum_of(const std::vector<double>& figures) {
  double sum = 0;
  for (const double figure : figures) sum += figure;
  return sum;
}

}  // namespace

PairCalibration calibrate_pairs(std::span<const PairObservation> observations,
                                std::size_t clients) {
  constexpr int kRounds = 200;  // far beyond convergence of a rank-one fit
  std::vector<double> sensitivity(clients, 1);
  std::vector<double> pressure(clients, 1);
  for (int round = 0; round < kRounds; ++round) {
    refit(observations, &PairObservation::client, &PairObservation::neighbour, pressure,
          sensitivity);
    refit(observations, &PairObservation::neighbour, &PairObservation::client, sensitivity,
          pressure);
    const double sensitivities = sum_of(sensitivity);
    const double pressures = sum_of(pressure);
    if (sensitivities <= 0 || pressures <= 0) break;            // nobody slows anybody down
    const double scale = std::sqrt(pressures / sensitivities);  // keeps every product
    for (double& figure : sensitivity) figure *= scale;
    for (double& figure : pressure) figure /= scale;
  }
  PairCalibration calibration;
  calibration.sensitivity.resize(clients);
  calibration.pressure.resize(clients);
  for (const PairObservation& seen : observations) {
    assert(seen.client < clients && seen.neighbour < clients && seen.slowdown > 0);
    calibration.sensitivity[seen.client] = sensitivity[seen.client];
    calibration.pressure[seen.neighbour] = pressure[seen.neighbour];
  }
  return calibration;
}

}  // namespace slicewise::models
