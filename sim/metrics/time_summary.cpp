#include "slicewise/sim/metrics/time_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace slicewise::sim {
namespace {

// Rounded to nine decimals: Boost calls libm, whose last bit differs between machines.
double student_t_975(double degrees_of_freedom) {
  constexpr double kPrecision = 1e9;
  const double t = boost::math::quantile(boost::math::students_t(degrees_of_freedom), 0.975);
  return std::round(t * kPrecision) / kPrecision;
}

}  // namespace

std::optional<double> half_width_95(std::span<const double> means) {
  if (means.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(means.size());
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  const double variance = squares / (count - 1);
  return student_t_975(count - 1) * std::sqrt(variance / count);
}

namespace {

// Below this many values the 99.9th percentile is one of the largest few: noise, not a figure.
constexpr std::int64_t kEnoughForP999 = 1000;

constexpr std::array kCurveQuantiles = {0.5, 0.6, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999};
// Values above the last point of a curve: of fewer, one slow request bends it.
constexpr double kLeastAbove = 10;

Duration nearest_rank(const std::vector<Duration>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::optional<Duration> half_width(const std::vector<double>& values) {
  const auto width = half_width_95(values);
  if (!width) return std::nullopt;
  return Duration{std::llround(*width)};
}

// Some value is larger than the quantile of nearest rank.
bool reaches(double q, std::int64_t count) {
  return std::ceil(q * static_cast<double>(count)) < static_cast<double>(count);
}

Duration no_rounding(Duration) { return {}; }

// `count_of(r)` and `quantile_of(r, q)` of each of `n` replications. What fell into one bucket is
// not the same: no interval is narrower than what values are rounded by.
template <class CountOf, class QuantileOf>
std::optional<Duration> quantile_interval(double q, std::size_t n, CountOf count_of,
                                          QuantileOf quantile_of, Duration (*rounding)(Duration)) {
  std::vector<double> values;
  Duration rounded;
  for (std::size_t r = 0; r < n; ++r) {
    if (!reaches(q, count_of(r))) return std::nullopt;
    const Duration value = quantile_of(r, q);
    values.push_back(static_cast<double>(value.ns));
    rounded = std::max(rounded, rounding(value));
  }
  const auto width = half_width(values);
  return width ? std::optional(std::max(*width, rounded)) : std::nullopt;
}

template <class PooledQuantile, class CountOf, class QuantileOf>
void add_intervals(TimeSummary& summary, PooledQuantile pooled_quantile, std::size_t n,
                   CountOf count_of, QuantileOf quantile_of, Duration (*rounding)(Duration)) {
  for (const double q : kCurveQuantiles) {
    if (static_cast<double>(summary.count) * (1 - q) < kLeastAbove) break;
    summary.curve.push_back(
        {q, pooled_quantile(q), quantile_interval(q, n, count_of, quantile_of, rounding)});
  }
  summary.p50_ci95 = quantile_interval(0.5, n, count_of, quantile_of, rounding);
  summary.p95_ci95 = quantile_interval(0.95, n, count_of, quantile_of, rounding);
  summary.p99_ci95 = quantile_interval(0.99, n, count_of, quantile_of, rounding);
  if (!summary.p999) return;
  summary.p999_ci95 = quantile_interval(0.999, n, count_of, quantile_of, rounding);
  summary.p999_is_rough = summary.count < kPlentyForP999;
}

}  // namespace

std::optional<TimeSummary> summarize(std::span<const std::vector<Duration>> by_replication) {
  std::vector<Duration> pooled;
  std::vector<std::vector<Duration>> sorted(by_replication.begin(), by_replication.end());
  std::vector<double> means;
  Int128 sum = 0;
  for (std::vector<Duration>& samples : sorted) {
    Int128 own_sum = 0;
    for (const Duration sample : samples) own_sum += sample.ns;
    sum += own_sum;
    pooled.insert(pooled.end(), samples.begin(), samples.end());
    std::ranges::sort(samples);
    if (!samples.empty()) {
      means.push_back(static_cast<double>(own_sum) / static_cast<double>(samples.size()));
    }
  }
  if (pooled.empty()) return std::nullopt;
  std::ranges::sort(pooled);
  TimeSummary summary;
  summary.count = static_cast<std::int64_t>(pooled.size());
  summary.mean = {static_cast<std::int64_t>(sum / summary.count)};
  summary.p50 = nearest_rank(pooled, 0.5);
  summary.p95 = nearest_rank(pooled, 0.95);
  summary.p99 = nearest_rank(pooled, 0.99);
  if (summary.count >= kEnoughForP999) summary.p999 = nearest_rank(pooled, 0.999);
  summary.ci95 = half_width(means);
  add_intervals(
      summary, [&](double q) { return nearest_rank(pooled, q); }, sorted.size(),
      [&](std::size_t r) { return static_cast<std::int64_t>(sorted[r].size()); },
      [&](std::size_t r, double q) { return nearest_rank(sorted[r], q); }, no_rounding);
  return summary;
}

std::optional<TimeSummary> summarize(std::span<const Histogram> by_replication) {
  Histogram pooled;
  std::vector<double> means;
  for (const Histogram& histogram : by_replication) {
    pooled.merge(histogram);
    if (histogram.count() > 0) means.push_back(static_cast<double>(histogram.mean().ns));
  }
  if (pooled.count() == 0) return std::nullopt;
  TimeSummary summary;
  summary.count = pooled.count();
  summary.mean = pooled.mean();
  summary.p50 = pooled.quantile(0.5);
  summary.p95 = pooled.quantile(0.95);
  summary.p99 = pooled.quantile(0.99);
  if (summary.count >= kEnoughForP999) summary.p999 = pooled.quantile(0.999);
  summary.ci95 = half_width(means);
  add_intervals(
      summary, [&](double q) { return pooled.quantile(q); }, by_replication.size(),
      [&](std::size_t r) { return by_replication[r].count(); },
      [&](std::size_t r, double q) { return by_replication[r].quantile(q); }, Histogram::rounding);
  return summary;
}

std::optional<Duration> quantile_half_width(double q,
                                            std::span<const Histogram* const> by_replication) {
  return quantile_interval(
      q, by_replication.size(), [&](std::size_t r) { return by_replication[r]->count(); },
      [&](std::size_t r, double at) { return by_replication[r]->quantile(at); },
      Histogram::rounding);
}

}  // namespace slicewise::sim
