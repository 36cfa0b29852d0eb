#include "law_fit.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/least_squares.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

namespace slicewise::sim::profile_fit {
namespace {

// What is believed before anything was measured, as standard deviations: of log T1, u, log p, beta.
constexpr std::array<double, 4> kPriors = {10, 0.5, 0.8, 0.3};
// A figure whose standard deviation is still that part of what was believed before is not known.
constexpr double kUnknown = 0.6;

// How far the law is off for settings that it has not seen: `slicewise validate` finds 2 to 8 % for
// equal processes under MPS and on slices. What a workload's own rows say counts beside it.
constexpr double kUsualMisfit = 0.05;
constexpr double kUsualMisfitRows = 4;

// Of the logarithms of times.
struct Scatter {
  double squares = 0;
  double spare = 0;  // rows more than were needed

  double variance() const { return spare > 0 ? squares / spare : 0; }
  // ... of a normal distribution whose 95 % are as wide as those of Student's t: few rows do not
  // say well how far they scatter.
  double widened() const {
    const double ratio = spare > 0 ? student_t_975(spare) / kNormal95 : 0;
    return variance() * ratio * ratio;
  }
};

// Of those that were measured in the same setting.
Scatter scatter_of_repeats(const Company& company) {
  struct Sums {
    double count = 0;
    double sum = 0;
    double squares = 0;
  };
  std::map<std::pair<int, decltype(place_of(company.law.front()))>, Sums> settings;
  for (const Measurement& m : company.law) {
    const double log_time = portable_log(to_seconds(m.time));
    Sums& sums = settings[{m.batch, place_of(m)}];
    sums.count += 1;
    sums.sum += log_time;
    sums.squares += log_time * log_time;
  }
  Scatter out;
  for (const auto& [setting, sums] : settings) {
    out.squares += std::max(0.0, sums.squares - sums.sum * sums.sum / sums.count);
    out.spare += sums.count - 1;
  }
  return out;
}

// What rows other than times alone had to determine: of a batch with one setting nothing but its
// time, of one whose width is not from them nothing.
double fitted_figures(const Company& company, const Fit& fit) {
  double figures = (fit.freedom.norm ? 1 : 0) + (fit.freedom.beta ? 1 : 0);
  for (std::size_t size = 0; size < company.batches.size(); ++size) {
    if (fit.calibration.sizes[size].launch_bound) continue;
    const int batch = company.batches[size];
    figures += company.settings_of(batch) > 1 ? 1 : 0;
    figures += company.has_time_alone(batch) ? 0 : 1;
  }
  return figures;
}

// Of what the law says of settings other than alone.
Scatter misfit_of(const Company& company, const Fit& fit, const Parameters& parameters) {
  Scatter out{0, -fitted_figures(company, fit)};
  for (const Measurement& m : company.law) {
    const MeasuredTime point = company.point(m);
    const auto size = static_cast<std::size_t>(point.size);
    if (is_time_alone(m) || fit.calibration.sizes[size].launch_bound) continue;
    const double off = parameters.log_time(point) - portable_log(to_seconds(m.time));
    out.squares += off * off;
    out.spare += 1;
  }
  out.spare = std::max(0.0, out.spare);
  return out;
}

// Where nothing was repeated: what a law that follows its rows leaves of them may be their noise as
// well as its misfit, and the time alone as far off. One that is further off than laws are misses
// them.
double noise_without(const Scatter& repeats, const Scatter& misfit) {
  const bool follows = misfit.variance() < kUsualMisfit * kUsualMisfit;
  return repeats.spare == 0 && follows ? misfit.variance() : 0;
}

Scatter with_usual(Scatter misfit) {
  misfit.squares += kUsualMisfitRows * kUsualMisfit * kUsualMisfit;
  misfit.spare += kUsualMisfitRows;
  return misfit;
}

// With `items` for each of the donor's: more items fill no less of the GPU than fewer, and an item
// takes no less work among fewer. The time alone is then what the one setting leaves it.
void bound_by_donor(const Calibration& donors, int donor, double items, const MeasuredTime& point,
                    Calibration& fit) {
  Calibration::Size& parts = fit.sizes[static_cast<std::size_t>(point.size)];
  const Calibration::Size& lent = donors.sizes[static_cast<std::size_t>(donor)];
  models::ClientLaw law = models::law_of(fit, point.size);
  const double borrowed = law.capacity_share;
  const double others = models::law_of(donors, donor).capacity_share;
  const double work = items * to_seconds(lent.gpu_work) / to_seconds(point.time);
  law.capacity_share =
      items > 1 ? std::max(borrowed, others) : std::min(std::max(borrowed, work), others);
  if (law.capacity_share == borrowed && parts.fixed_part <= point.time) return;
  const double alone = to_seconds(point.time) /
                       models::stretch_of(law, point.share, point.active_threads, point.clients);
  const double u = law.capacity_share;
  const double p = law.norm_p;
  const double rest = u < 1 ? 1 - portable_exp(p * portable_log(u)) : 0;
  const double fixed = p >= models::kHardNorm ? 1
                       : rest > 0             ? portable_exp(portable_log(rest) / p)
                                              : 0;
  parts = {from_seconds(fixed * alone), from_seconds(u * alone)};
}

}  // namespace

Fit fit_law(const Company& company, Freedom freedom, const Calibration* held) {
  Fit fit;
  fit.freedom = freedom;
  std::vector<int> whole;  // sizes with several settings
  std::vector<MeasuredTime> points;
  for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
    if (company.settings_of(company.batches[static_cast<std::size_t>(size)]) > 1)
      whole.push_back(size);
  }
  for (const Measurement& m : company.law) {
    MeasuredTime point = company.point(m);
    const auto at = std::ranges::find(whole, point.size);
    if (at == whole.end()) continue;
    point.size = static_cast<int>(at - whole.begin());
    points.push_back(point);
  }
  Calibration some;
  some.norm_p = held != nullptr ? held->norm_p : models::kDefaultNorm;
  some.bandwidth_share = held != nullptr ? held->bandwidth_share : models::kDefaultBandwidthShare;
  models::CalibrationOptions options;
  options.keep_time_alone = true;
  const std::array<double, 1> usual = {some.norm_p};
  options.norms = usual;
  if (freedom.norm) options.norms = models::kUsualNorms;
  if (!freedom.beta) options.bandwidth_share = some.bandwidth_share;
  if (!points.empty()) some = models::calibrate(points, options);

  fit.calibration.norm_p = some.norm_p;
  fit.calibration.bandwidth_share = some.bandwidth_share;
  for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
    if (const auto at = std::ranges::find(whole, size); at != whole.end()) {
      fit.calibration.sizes.push_back(some.sizes[static_cast<std::size_t>(at - whole.begin())]);
      continue;
    }
    Calibration::Size parts;
    if (!whole.empty()) {
      const auto nearest =
          std::ranges::min_element(whole, {}, [&](int other) { return std::abs(other - size); });
      fit.borrowed[size] = *nearest;
      parts.fixed_part = some.sizes[static_cast<std::size_t>(nearest - whole.begin())].fixed_part;
    }
    // W so that the one setting comes out, its repeats in geometric mean: T grows with W.
    std::vector<const Measurement*> repeats;
    double logs = 0;
    for (const Measurement& m : company.law) {
      if (company.size_of(m) != size) continue;
      repeats.push_back(&m);
      logs += portable_log(to_seconds(m.time));
    }
    fit.calibration.sizes.push_back(parts);
    if (repeats.empty()) continue;  // refused before
    const double seconds = portable_exp(logs / static_cast<double>(repeats.size()));
    const Duration measured = from_seconds(seconds);
    double low = 0;
    double high = seconds;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      fit.calibration.sizes.back().gpu_work = from_seconds(middle);
      const Duration predicted =
          models::predicted_time(fit.calibration, company.point(*repeats.front()));
      (predicted < measured ? low : high) = middle;
    }
    if (const auto donor = fit.borrowed.find(size); donor != fit.borrowed.end()) {
      const auto at = std::ranges::find(whole, donor->second) - whole.begin();
      const double items = static_cast<double>(company.batches[static_cast<std::size_t>(size)]) /
                           company.batches[static_cast<std::size_t>(donor->second)];
      MeasuredTime point = company.point(*repeats.front());
      point.time = measured;
      bound_by_donor(some, static_cast<int>(at), items, point, fit.calibration);
    }
  }
  return fit;
}

Parameters::Parameters(const Fit& fit) {
  const auto sizes = static_cast<int>(fit.calibration.sizes.size());
  for (int size = 0; size < sizes; ++size) {
    values_.push_back(portable_log(to_seconds(models::solo_time(fit.calibration, size))));
    values_.push_back(models::law_of(fit.calibration, size).capacity_share);
  }
  values_.push_back(portable_log(fit.calibration.norm_p));
  values_.push_back(fit.calibration.bandwidth_share);
}

double Parameters::prior(std::size_t parameter) const {
  const std::size_t from_end = count() - parameter;
  return from_end == 1 ? kPriors[3] : from_end == 2 ? kPriors[2] : kPriors[parameter % 2];
}

double Parameters::log_time(const MeasuredTime& point) const {
  return log_time_with(values_[2 * static_cast<std::size_t>(point.size) + 1], point);
}

double Parameters::log_time_with(double capacity_share, const MeasuredTime& point) const {
  const auto size = static_cast<std::size_t>(point.size);
  models::ClientLaw law;
  law.capacity_share = std::clamp(capacity_share, 0.0, 1.0);
  law.norm_p = std::max(1.0, portable_exp(values_[count() - 2]));
  law.bandwidth_share = std::clamp(values_[count() - 1], 0.0, 1.0);
  return values_[2 * size] +
         portable_log(models::stretch_of(law, point.share, point.active_threads, point.clients));
}

std::vector<double> Parameters::gradient(const MeasuredTime& point) const {
  constexpr double kStep = 1e-3;
  std::vector<double> out(count());
  for (std::size_t k = 0; k < count(); ++k) {
    Parameters more = *this;
    Parameters less = *this;
    more.values_[k] += kStep;
    less.values_[k] -= kStep;
    // Where one side is out of bounds the other tells.
    const double here = log_time(point);
    const double up = more.log_time(point) - here;
    const double down = here - less.log_time(point);
    out[k] = (std::abs(up) > std::abs(down) ? up : down) / kStep;
  }
  return out;
}

Ignorance::Ignorance(const Company& company, const Fit& fit, Noise noise) : parameters_(fit) {
  const std::size_t n = parameters_.count();
  const bool as_seen = noise == Noise::AsSeen;
  const Scatter repeats = scatter_of_repeats(company);
  const Scatter misfit = misfit_of(company, fit, parameters_);
  const double of_repeats = std::max(
      as_seen ? repeats.variance() : std::max(repeats.widened(), noise_without(repeats, misfit)),
      kLeastNoise * kLeastNoise);
  const double of_law =
      std::max(as_seen ? misfit.variance() : with_usual(misfit).widened(), of_repeats);
  models::Design information{n, std::vector<double>(n * n)};
  for (const Measurement& m : company.law) {
    const double variance = is_time_alone(m) ? of_repeats : of_law;
    const std::vector<double> gradient = parameters_.gradient(company.point(m));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        information.values[i * n + j] += gradient[i] * gradient[j] / variance;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double prior = parameters_.prior(i);
    information.values[i * (n + 1)] += 1 / (prior * prior);
  }
  covariance_ = models::inverse_of(information);
}

double Ignorance::deviation(std::size_t parameter) const {
  return std::sqrt(std::max(0.0, covariance_[parameter * (parameters_.count() + 1)]));
}

double Ignorance::correlation(std::size_t first, std::size_t second) const {
  const double together = deviation(first) * deviation(second);
  return together > 0 ? covariance_[first * parameters_.count() + second] / together : 0;
}

bool Ignorance::knows(std::size_t parameter) const {
  return deviation(parameter) < kUnknown * parameters_.prior(parameter);
}

Ignorance::Range Ignorance::range_of(const MeasuredTime& point) const {
  const std::vector<double> gradient = parameters_.gradient(point);
  const std::size_t n = gradient.size();
  double variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      variance += gradient[i] * covariance_[i * n + j] * gradient[j];
    }
  }
  const double here = parameters_.log_time(point);
  const double width = kNormal95 * std::sqrt(std::max(0.0, variance));
  const double alone = half_width_95(2 * static_cast<std::size_t>(point.size));
  const double least = parameters_.log_time_with(0, point) - alone;
  const double most = parameters_.log_time_with(1, point) + alone;
  return {portable_exp(std::max(here - width, std::min(here, least))),
          portable_exp(std::min(here + width, std::max(here, most)))};
}

Fit best_law(const Company& company) {
  std::size_t points = 0;
  std::size_t unknown = 0;
  for (const int batch : company.batches) {
    const std::size_t settings = company.settings_of(batch);
    if (settings < 2) continue;
    points += settings;
    unknown += 2;
  }
  Freedom freedom{points > unknown, points > unknown + 1};
  Fit fit = fit_law(company, freedom);
  const Ignorance left(company, fit, Ignorance::Noise::AsSeen);
  const Freedom known{freedom.norm && left.knows(left.norm()),
                      freedom.beta && left.knows(left.beta())};
  return known.norm == freedom.norm && known.beta == freedom.beta ? fit : fit_law(company, known);
}

}  // namespace slicewise::sim::profile_fit
