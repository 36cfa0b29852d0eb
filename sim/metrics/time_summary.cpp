#include "slicewise/sim/metrics/time_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include <boost/math/distributions/students_t.hpp>

#include "nearest_rank.hpp"

namespace slicewise::sim {

// Rounded to nine decimals: Boost calls libm, whose last bit differs between machines. Without long
// doubles, which valgrind has as doubles: constants of Boost overflow there before main().
double student_t(double p, double degrees_of_freedom) {
  using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  constexpr double kPrecision = 1e9;
  const boost::math::students_t_distribution<double, InDouble> law(degrees_of_freedom);
  const double t = boost::math::quantile(law, p);
  return std::round(t * kPrecision) / kPrecision;
}

double student_t_975(double degrees_of_freedom) { return student_t(0.975, degrees_of_freedom); }

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

std::optional<Duration> half_width(const std::vector<double>& values) {
  const auto width = half_width_95(values);
  if (!width) return std::nullopt;
  return Duration{std::llround(*width)};
}

// Some value is larger than the quantile of nearest rank.
bool reaches(double q, std::int64_t count) {
  return std::ceil(q * static_cast<double>(count)) < static_cast<double>(count);
}

// Values of one replication, or of all, that are known one by one. Like Histogram.
class SortedSample {
 public:
  explicit SortedSample(std::vector<Duration> values) : values_(std::move(values)) {
    std::ranges::sort(values_);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }
  Duration quantile(double q) const { return nearest_rank(values_, q); }
  double within_bucket(double q) const { return static_cast<double>(quantile(q).ns); }
  std::int64_t count_above(Duration value) const {
    return values_.end() - std::ranges::upper_bound(values_, value);
  }
  static Duration rounding(Duration) { return {}; }

 private:
  std::vector<Duration> values_;
};

// Half widths of intervals around the quantiles of what all replications saw, from how far their
// own quantiles are from it. In a tail that is not enough: slow requests come in bursts, and where
// few bursts are above a quantile, the replications often agree by chance. How unevenly they share
// what is above says how many bursts there are; since those of a queue are about as large at any
// height, the lower quantiles of the tail, which more of them reach, have a say, too. The slope of
// the tail makes a distance of it.
template <class Sample>
class QuantileIntervals {
 public:
  QuantileIntervals(const Sample& pooled, std::span<const Sample* const> runs)
      : pooled_(pooled), runs_(runs) {
    if (runs.size() < 2) return;
    for (const double q : kTailQuantiles) unevenness_.push_back(unevenness(q));
  }

  // nullopt with fewer than two replications, and where a quantile is the largest value of one.
  std::optional<Duration> half_width(double q) const {
    if (runs_.size() < 2) return std::nullopt;
    const double value = pooled_.within_bucket(q);
    double squares = 0;
    for (const Sample* run : runs_) {
      if (!reaches(q, run->count())) return std::nullopt;
      const double off = run->within_bucket(q) - value;
      squares += off * off;
    }
    const auto n = static_cast<double>(runs_.size());
    const double spread = std::sqrt(squares / (n - 1) / n);
    const double chance = student_t_975(n - 1) * std::max(spread, spread_of_bursts(q));
    // What fell into one bucket is not the same.
    const Duration shown = pooled_.quantile(q);
    const double width = chance + std::abs(static_cast<double>(shown.ns) - value);
    return std::max(Duration{std::llround(width)}, Sample::rounding(shown));
  }

 private:
  static constexpr double kLeastTail = 0.95;
  // Of five replications each has five: their own quantiles scatter enough.
  static constexpr double kManyBursts = 25;
  // Whose unevenness is looked at.
  static constexpr std::array kTailQuantiles = {0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999};

  // Variance of the mean share above the quantile, against that share: the same at all heights of a
  // tail whose bursts are equally large.
  double unevenness(double q) const {
    const Duration value = pooled_.quantile(q);
    std::vector<double> shares;
    double mean = 0;
    for (const Sample* run : runs_) {
      const auto count = static_cast<double>(std::max<std::int64_t>(run->count(), 1));
      shares.push_back(static_cast<double>(run->count_above(value)) / count);
      mean += shares.back();
    }
    const auto n = static_cast<double>(runs_.size());
    mean /= n;
    double squares = 0;
    for (const double share : shares) squares += (share - mean) * (share - mean);
    return squares / (n - 1) / n / (1 - q);
  }

  // Of the quantile, as one standard deviation; 0 where there are many bursts above it.
  double spread_of_bursts(double q) const {
    if (q < kLeastTail) return 0;
    double sum = 0;
    std::size_t heights = 0;
    while (heights < kTailQuantiles.size() && kTailQuantiles.at(heights) <= q) {
      sum += unevenness_[heights++];
    }
    const double share = 1 - q;
    const double bursts = share * static_cast<double>(heights) / sum;
    if (bursts >= kManyBursts) return 0;
    // Five times as much is above the value from which the slope is taken.
    constexpr double kLogOfFive = 1.6094379124341003;
    const double rise = pooled_.within_bucket(q) - pooled_.within_bucket(1 - 5 * share);
    return rise / kLogOfFive / std::sqrt(bursts);
  }

  const Sample& pooled_;
  std::span<const Sample* const> runs_;
  std::vector<double> unevenness_;  // by kTailQuantiles
};

template <class Sample>
std::vector<const Sample*> pointers_to(std::span<const Sample> samples) {
  std::vector<const Sample*> pointers;
  for (const Sample& sample : samples) pointers.push_back(&sample);
  return pointers;
}

// All but the mean.
template <class Sample>
void add_quantiles(TimeSummary& summary, const Sample& pooled, std::span<const Sample> runs) {
  const std::vector<const Sample*> pointers = pointers_to(runs);
  const QuantileIntervals<Sample> intervals(pooled, pointers);
  summary.count = pooled.count();
  summary.p50 = pooled.quantile(0.5);
  summary.p95 = pooled.quantile(0.95);
  summary.p99 = pooled.quantile(0.99);
  if (summary.count >= kEnoughForP999) summary.p999 = pooled.quantile(0.999);
  for (const double q : kCurveQuantiles) {
    if (static_cast<double>(summary.count) * (1 - q) < kLeastAbove) break;
    summary.curve.push_back({q, pooled.quantile(q), intervals.half_width(q)});
  }
  summary.p50_ci95 = intervals.half_width(0.5);
  summary.p95_ci95 = intervals.half_width(0.95);
  summary.p99_ci95 = intervals.half_width(0.99);
  if (!summary.p999) return;
  summary.p999_ci95 = intervals.half_width(0.999);
  summary.p999_is_rough = summary.count < kPlentyForP999;
}

}  // namespace

std::optional<TimeSummary> summarize(std::span<const std::vector<Duration>> by_replication) {
  std::vector<Duration> pooled;
  std::vector<SortedSample> runs;
  std::vector<double> means;
  Int128 sum = 0;
  for (const std::vector<Duration>& samples : by_replication) {
    Int128 own_sum = 0;
    for (const Duration sample : samples) own_sum += sample.ns;
    sum += own_sum;
    pooled.insert(pooled.end(), samples.begin(), samples.end());
    runs.emplace_back(samples);
    if (!samples.empty()) {
      means.push_back(static_cast<double>(own_sum) / static_cast<double>(samples.size()));
    }
  }
  if (pooled.empty()) return std::nullopt;
  TimeSummary summary;
  summary.mean = {static_cast<std::int64_t>(sum / static_cast<std::int64_t>(pooled.size()))};
  summary.ci95 = half_width(means);
  add_quantiles<SortedSample>(summary, SortedSample(std::move(pooled)), runs);
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
  summary.mean = pooled.mean();
  summary.ci95 = half_width(means);
  add_quantiles<Histogram>(summary, pooled, by_replication);
  return summary;
}

std::optional<Duration> quantile_half_width(double q,
                                            std::span<const Histogram* const> by_replication) {
  Histogram pooled;
  for (const Histogram* histogram : by_replication) pooled.merge(*histogram);
  if (pooled.count() == 0) return std::nullopt;
  return QuantileIntervals<Histogram>(pooled, by_replication).half_width(q);
}

}  // namespace slicewise::sim
