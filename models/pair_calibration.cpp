#include <algorithm>
#include <cassert>
#include <cmath>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/least_squares.hpp"

namespace slicewise::models {
namespace {

// Figures stand in one row: the sensitivities of all clients, then their pressures.
struct PairLaw {
  std::span<const PairObservation> observations;
  std::size_t clients;

  std::size_t figures() const { return 2 * clients; }

  // Of slowdowns, relative.
  void residuals(std::span<const double> at, std::span<double> out) const {
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const PairObservation& seen = observations[i];
      const double slowdown = 1 + at[seen.client] * at[clients + seen.neighbour];
      out[i] = slowdown / seen.slowdown - 1;
    }
  }
};

constexpr double kMostFigure = 1e6;

// What was observed of every pair, the mean where nothing was.
Design observed(const PairLaw& law) {
  Design table{law.clients, std::vector<double>(law.clients * law.clients)};
  std::vector<double> counts(table.values.size());
  double sum = 0;
  for (const PairObservation& seen : law.observations) {
    assert(seen.client < law.clients && seen.neighbour < law.clients && seen.slowdown > 0);
    const double excess = std::max(0.0, seen.slowdown - 1);
    const std::size_t at = seen.client * law.clients + seen.neighbour;
    table.values[at] += excess;
    counts[at] += 1;
    sum += excess;
  }
  const double mean = sum / static_cast<double>(law.observations.size());
  for (std::size_t at = 0; at < counts.size(); ++at) {
    table.values[at] = counts[at] > 0 ? table.values[at] / counts[at] : mean;
  }
  return table;
}

double mean_of(const std::vector<std::optional<double>>& figures) {
  double sum = 0;
  double count = 0;
  for (const auto& figure : figures) {
    if (!figure) continue;
    sum += *figure;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

void scale_by(double factor, std::vector<std::optional<double>>& figures) {
  for (auto& figure : figures) {
    if (figure) *figure *= factor;
  }
}

}  // namespace

PairCalibration calibrate_pairs(std::span<const PairObservation> observations,
                                std::size_t clients) {
  PairCalibration calibration;
  calibration.sensitivity.resize(clients);
  calibration.pressure.resize(clients);
  if (observations.empty()) return calibration;
  const PairLaw law{observations, clients};
  const RankOne first = rank_one(observed(law));
  std::vector<double> start;
  for (const double figure : first.row) start.push_back(std::abs(figure));
  for (const double figure : first.column) start.push_back(std::abs(figure));
  const std::vector<Bound> bounds(law.figures(), {0, kMostFigure});
  const LeastSquares found = levenberg_marquardt(
      [&](std::span<const double> at, std::span<double> out) { law.residuals(at, out); },
      observations.size(), std::move(start), bounds);
  for (const PairObservation& seen : observations) {
    calibration.sensitivity[seen.client] = found.at[seen.client];
    calibration.pressure[seen.neighbour] = found.at[clients + seen.neighbour];
  }
  const double sensitivities = mean_of(calibration.sensitivity);
  const double pressures = mean_of(calibration.pressure);
  if (sensitivities > 0 && pressures > 0) {                     // else nobody slows anybody down
    const double scale = std::sqrt(pressures / sensitivities);  // keeps every product
    scale_by(scale, calibration.sensitivity);
    scale_by(1 / scale, calibration.pressure);
  }
  return calibration;
}

PairIgnorance pair_ignorance(std::span<const PairObservation> observations,
                             const PairCalibration& calibration, double least_noise) {
  const PairLaw law{observations, calibration.sensitivity.size()};
  std::vector<double> at(law.figures());
  for (std::size_t i = 0; i < law.clients; ++i) {
    at[i] = calibration.sensitivity[i].value_or(0);
    at[law.clients + i] = calibration.pressure[i].value_or(0);
  }
  const auto residuals = [&](std::span<const double> where, std::span<double> out) {
    law.residuals(where, out);
  };
  const std::vector<Bound> anywhere(law.figures(), {-kMostFigure, kMostFigure});
  const Determination said(jacobian(residuals, observations.size(), at, anywhere));
  std::vector<double> left(observations.size());
  residuals(at, left);
  double squares = 0;
  for (const double residual : left) squares += residual * residual;

  PairIgnorance out;
  out.spare = static_cast<double>(observations.size()) - static_cast<double>(said.rank());
  const double noise =
      out.spare > 0 ? std::max(least_noise, std::sqrt(squares / out.spare)) : least_noise;
  std::vector<double> gradient(law.figures());
  const auto deviation = [&](std::size_t figure) {
    gradient[figure] = 1;
    const double variance = said.variance(gradient);
    gradient[figure] = 0;
    return noise * std::sqrt(variance);
  };
  for (std::size_t i = 0; i < law.clients; ++i) {
    out.sensitivity.push_back(deviation(i));
    out.pressure.push_back(deviation(law.clients + i));
  }
  for (std::size_t i = 0; i < law.clients; ++i) {
    for (std::size_t j = 0; j < law.clients; ++j) {
      if (!calibration.sensitivity[i] || !calibration.pressure[j]) continue;
      gradient[i] = at[law.clients + j];
      gradient[law.clients + j] += at[i];
      if (!said.determines(gradient)) out.undetermined.emplace_back(i, j);
      gradient[i] = 0;
      gradient[law.clients + j] = 0;
    }
  }
  return out;
}

}  // namespace slicewise::models
