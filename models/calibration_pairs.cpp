#include <algorithm>
#include <cassert>
#include <cmath>

#include "slicewise/models/calibration.hpp"

namespace slicewise::models {
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
