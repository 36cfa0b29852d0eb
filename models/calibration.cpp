#include "slicewise/models/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "slicewise/models/least_squares.hpp"
#include "slicewise/portable_math.hpp"

namespace slicewise::models {
namespace {

struct Point {
  DomainShare share;
  double active_threads;
  int clients;
  double log_time;
};

struct SizePoints {
  std::vector<Point> points;
  std::optional<double> log_alone;  // T1, where it is kept
};

using PointsBySize = std::vector<SizePoints>;

// The mean over the repeats.
std::optional<double> log_time_alone(const std::vector<Point>& points) {
  double sum = 0;
  double count = 0;
  for (const Point& point : points) {
    if (!is_time_alone(point.share, point.active_threads, point.clients)) continue;
    sum += point.log_time;
    count += 1;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

PointsBySize by_size(std::span<const MeasuredTime> points, bool keep_time_alone) {
  PointsBySize sizes;
  for (const MeasuredTime& point : points) {
    assert(point.size >= 0 && point.time.ns > 0);
    const auto size = static_cast<std::size_t>(point.size);
    if (sizes.size() <= size) sizes.resize(size + 1);
    sizes[size].points.push_back(
        {point.share, point.active_threads, point.clients, portable_log(to_seconds(point.time))});
  }
  for (SizePoints& size : sizes) {
    if (keep_time_alone) size.log_alone = log_time_alone(size.points);
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

// Beyond these values of log(T0/W) one of the two parts no longer shows on a seventh of a GPU.
constexpr double kMostLogRatio = 8;

struct Fit {
  double cost = std::numeric_limits<double>::infinity();
  double norm_p = kDefaultNorm;
  double beta = 0;
  std::vector<double> log_fixed;  // of each size, or one for all; -infinity: no such part
  std::vector<double> log_work;   // of each size

  double fixed(std::size_t size) const {
    const double log = log_fixed[log_fixed.size() == 1 ? 0 : size];
    return std::isinf(log) ? 0 : portable_exp(log);
  }
  double work(std::size_t size) const { return portable_exp(log_work[size]); }
  double log_solo(std::size_t size) const {
    return portable_log(norm(fixed(size), work(size), norm_p));
  }
  void scale(std::size_t size, double log_factor) {
    log_fixed[size] += log_factor;
    log_work[size] += log_factor;
  }
};

// log(predicted / measured) of the points of one size.
void add_residuals(const SizePoints& of_size, const Fit& fit, std::size_t size,
                   std::span<double> out) {
  const ClientLaw law = law_with(fit.fixed(size) / fit.work(size), fit.beta, fit.norm_p);
  const double log_solo = of_size.log_alone.value_or(fit.log_solo(size));
  for (std::size_t i = 0; i < of_size.points.size(); ++i) {
    const Point& point = of_size.points[i];
    out[i] = log_solo +
             portable_log(stretch_of(law, point.share, point.active_threads, point.clients)) -
             point.log_time;
  }
}

struct Free {
  bool fixed = false;
  bool work = false;
  bool beta = false;
  bool norm = false;
};

// The unknowns of a fit in one row: log T0 and log W of every size, beta, and log p where it is
// free. Where T1 is kept only how T0 compares with W counts: W stays, and both are scaled in the
// end.
class LawSearch {
 public:
  LawSearch(PointsBySize sizes, Fit start, Free free)
      : sizes_(std::move(sizes)), fit_(std::move(start)) {
    for (const SizePoints& size : sizes_) observations_ += size.points.size();
    for (const double value : fit_.log_fixed) add(value, free.fixed);
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      add(fit_.log_work[size], free.work && !sizes_[size].log_alone);
    }
    start_.push_back(fit_.beta);
    bounds_.push_back(free.beta ? Bound{0, 1} : Bound{fit_.beta, fit_.beta});
    if (!free.norm) return;
    start_.push_back(portable_log(fit_.norm_p));
    bounds_.push_back({0, portable_log(kHardNorm)});
  }

  Fit descend() {
    const LeastSquares found = levenberg_marquardt(
        [this](std::span<const double> at, std::span<double> out) { residuals(at, out); },
        observations_, start_, bounds_);
    take(found.at);
    fit_.cost = found.cost;
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      if (const auto kept = sizes_[size].log_alone) fit_.scale(size, *kept - fit_.log_solo(size));
    }
    return fit_;
  }

 private:
  void add(double value, bool is_free) {
    const double reach = is_free ? 2 * kMostLogRatio : 0;
    start_.push_back(value);
    bounds_.push_back({value - reach, value + reach});
  }

  void take(std::span<const double> at) {
    const std::size_t fixed = fit_.log_fixed.size();
    const std::size_t work = fit_.log_work.size();
    std::ranges::copy(at.first(fixed), fit_.log_fixed.begin());
    std::ranges::copy(at.subspan(fixed, work), fit_.log_work.begin());
    fit_.beta = at[fixed + work];
    if (at.size() > fixed + work + 1) fit_.norm_p = std::max(1.0, portable_exp(at.back()));
  }

  void residuals(std::span<const double> at, std::span<double> out) {
    take(at);
    std::size_t first = 0;
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      const std::size_t count = sizes_[size].points.size();
      add_residuals(sizes_[size], fit_, size, out.subspan(first, count));
      first += count;
    }
  }

  PointsBySize sizes_;
  Fit fit_;
  std::vector<double> start_;
  std::vector<Bound> bounds_;
  std::size_t observations_ = 0;
};

// T1 that suits the points of one size best, unless it is kept, is closed form when log(T0/W) is
// given.
Fit scaled(const SizePoints& of_size, double log_ratio, double beta, double p) {
  Fit fit{0, p, beta, {log_ratio}, {0}};
  std::vector<double> residuals(of_size.points.size());
  add_residuals(of_size, fit, 0, residuals);
  double mean = 0;
  for (const double residual : residuals) mean += residual / static_cast<double>(residuals.size());
  const double off = of_size.log_alone ? 0 : mean;
  for (const double residual : residuals) fit.cost += (residual - off) * (residual - off);
  fit.scale(0, of_size.log_alone ? *of_size.log_alone - fit.log_solo(0) : -mean);
  return fit;
}

// T0 and W of one size: from the best of some ratios down, or without a fixed part.
Fit fit_size(const SizePoints& points, double beta, double p) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  Fit start;
  for (double log_ratio = -kMostLogRatio; log_ratio <= kMostLogRatio; log_ratio += 0.5) {
    Fit fit = scaled(points, log_ratio, beta, p);
    if (fit.cost <= start.cost) start = std::move(fit);
  }
  Fit with = LawSearch({points}, std::move(start), {.fixed = true, .work = true}).descend();
  Fit without = scaled(points, kNone, beta, p);
  return with.cost < without.cost ? with : without;
}

// Sizes that share nothing but beta and p.
Fit fit_sizes(const PointsBySize& sizes, double beta, double p) {
  Fit all{0, p, beta, {}, {}};
  for (const SizePoints& points : sizes) {
    const Fit fit = fit_size(points, beta, p);
    all.cost += fit.cost;
    all.log_fixed.push_back(fit.log_fixed[0]);
    all.log_work.push_back(fit.log_work[0]);
  }
  return all;
}

// A slice that slows by less does not show how wide kernels are.
constexpr double kFlat = 1.1;
constexpr double kSmallPart = 3;  // work alone takes as many times as long there
constexpr double kChiSquare95 = 3.84;
// Beyond it work shows nowhere until it fills its part, and the widest is far too wide.
constexpr double kHardestNorm = 4;

bool is_launch_bound(const std::vector<Point>& points, double beta, double p) {
  if (p > kHardestNorm) return false;
  const ClientLaw only_work = law_with(0, beta, p);
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double whole = 0;  // the time on the largest part
  double slowest = std::numeric_limits<double>::lowest();
  for (const Point& point : points) {
    if (point.clients > 1) return false;
    const double stretch = stretch_of(only_work, point.share, point.active_threads, 1);
    if (stretch < least) {
      least = stretch;
      whole = point.log_time;
    }
    most = std::max(most, stretch);
    slowest = std::max(slowest, point.log_time);
  }
  return most > kSmallPart * least && slowest - whole < portable_log(kFlat);
}

// Of the work that fits the times of one size about as well as `fit`, the most.
Fit widest_size(const SizePoints& points, const Fit& fit) {
  const double spare = static_cast<double>(points.points.size()) - 2;
  const double variance = std::max(kLeastNoise * kLeastNoise, fit.cost / std::max(1.0, spare));
  const double most = fit.cost + kChiSquare95 * variance;
  constexpr int kHalvings = 60;
  double fits = std::clamp(fit.log_fixed[0] - fit.log_work[0], -kMostLogRatio, kMostLogRatio);
  double too_wide = -kMostLogRatio;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = (fits + too_wide) / 2;
    (scaled(points, middle, fit.beta, fit.norm_p).cost <= most ? fits : too_wide) = middle;
  }
  return scaled(points, fits, fit.beta, fit.norm_p);
}

// The work that a size has beside a fixed part: down from so much that the time of its point of the
// most work holds nothing else.
double log_work_beside(double log_fixed, const SizePoints& points, double beta, double p) {
  const ClientLaw only_work = law_with(0, beta, p);
  double most = std::numeric_limits<double>::lowest();
  for (const Point& point : points.points) {
    const double stretch = stretch_of(only_work, point.share, point.active_threads, point.clients);
    most = std::max(most, point.log_time - portable_log(stretch));
  }
  return LawSearch({points}, {0, p, beta, {log_fixed}, {most}}, {.work = true})
      .descend()
      .log_work[0];
}

// Sizes that have their fixed part in common: from the best of some down.
Fit fit_one_fixed_part(const PointsBySize& sizes, double beta, double p) {
  constexpr int kStarts = 12;
  constexpr double kFarBelow = 4;  // T0 of a fiftieth of the shortest time no longer shows
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const SizePoints& of_size : sizes) {
    for (const Point& point : of_size.points) {
      least = std::min(least, point.log_time - kFarBelow);
      most = std::max(most, point.log_time);
    }
  }
  Fit start;
  for (int i = 0; i <= kStarts; ++i) {
    Fit fit{0, p, beta, {least + (most - least) * i / kStarts}, {}};
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      fit.log_work.push_back(log_work_beside(fit.log_fixed[0], sizes[size], beta, p));
      std::vector<double> residuals(sizes[size].points.size());
      add_residuals(sizes[size], fit, size, residuals);
      for (const double residual : residuals) fit.cost += residual * residual;
    }
    if (fit.cost < start.cost) start = std::move(fit);
  }
  return LawSearch(sizes, std::move(start), {.fixed = true, .work = true}).descend();
}

Fit fit_shape(const PointsBySize& sizes, double beta, double p, bool one_fixed_part) {
  return one_fixed_part ? fit_one_fixed_part(sizes, beta, p) : fit_sizes(sizes, beta, p);
}

Fit fit_free_beta(const PointsBySize& sizes, double p, bool one_fixed_part) {
  Fit start;
  for (const double beta : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    Fit fit = fit_shape(sizes, beta, p, one_fixed_part);
    if (fit.cost < start.cost) start = std::move(fit);
  }
  return LawSearch(sizes, std::move(start), {.fixed = true, .work = true, .beta = true}).descend();
}

Fit best_fit(const PointsBySize& sizes, const CalibrationOptions& options) {
  constexpr double kSame = 1e-12;  // rounding must not choose between norms that fit alike
  Fit best;
  for (const double p : options.norms) {
    Fit fit = options.bandwidth_share
                  ? fit_shape(sizes, *options.bandwidth_share, p, options.one_fixed_part)
                  : fit_free_beta(sizes, p, options.one_fixed_part);
    if (fit.cost < best.cost - kSame || best.log_work.empty()) best = std::move(fit);
  }
  if (options.norms.size() == 1 || best.norm_p >= kHardNorm) return best;
  // From the best of those to the p between them.
  const bool with_beta = !options.bandwidth_share;
  Fit between =
      LawSearch(sizes, best, {.fixed = true, .work = true, .beta = with_beta, .norm = true})
          .descend();
  return between.cost < best.cost - kSame ? between : best;
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
  assert(!options.keep_time_alone || !options.one_fixed_part);
  const PointsBySize sizes = by_size(points, options.keep_time_alone);
  const Fit fit = best_fit(sizes, options);
  Calibration calibration;
  calibration.norm_p = fit.norm_p;
  calibration.bandwidth_share = fit.beta;
  for (std::size_t size = 0; size < fit.log_work.size(); ++size) {
    calibration.sizes.push_back({from_seconds(fit.fixed(size)), from_seconds(fit.work(size))});
    if (options.one_fixed_part || !is_launch_bound(sizes[size].points, fit.beta, fit.norm_p))
      continue;
    const Fit widest = widest_size(sizes[size], fit_size(sizes[size], fit.beta, fit.norm_p));
    calibration.sizes.back() = {from_seconds(widest.fixed(0)), from_seconds(widest.work(0)), true};
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

}  // namespace slicewise::models
