#include "slicewise/sim/metrics/time_summary.hpp"

#include <algorithm>
#include <cmath>

#include "slicewise/sim/metrics/interval.hpp"

namespace slicewise::sim {
namespace {

// Below this many values the 99.9th percentile is one of the largest few: noise, not a figure.
constexpr std::int64_t kEnoughForP999 = 1000;

Duration nearest_rank(const std::vector<Duration>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::optional<Duration> interval(const std::vector<double>& means) {
  const auto half_width = half_width_95(means);
  if (!half_width) return std::nullopt;
  return Duration{std::llround(*half_width)};
}

}  // namespace

std::optional<TimeSummary> summarize(std::span<const std::vector<Duration>> by_replication) {
  std::vector<Duration> pooled;
  std::vector<double> means;
  Int128 sum = 0;
  for (const std::vector<Duration>& samples : by_replication) {
    Int128 own_sum = 0;
    for (const Duration sample : samples) own_sum += sample.ns;
    sum += own_sum;
    pooled.insert(pooled.end(), samples.begin(), samples.end());
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
  summary.ci95 = interval(means);
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
  summary.ci95 = interval(means);
  return summary;
}

}  // namespace slicewise::sim
