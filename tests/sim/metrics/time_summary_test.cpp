#include "slicewise/sim/metrics/time_summary.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace slicewise::sim {
namespace {

// 1, 2, ... n ms, each `step` ms later.
std::vector<Duration> ramp(std::int64_t n, std::int64_t shift_ms = 0) {
  std::vector<Duration> values;
  for (std::int64_t i = 1; i <= n; ++i) values.push_back(milliseconds(i + shift_ms));
  return values;
}

Histogram histogram_of(const std::vector<Duration>& values) {
  Histogram histogram;
  for (const Duration value : values) histogram.add(value);
  return histogram;
}

TEST(TimeSummary, OfNothingIsAbsent) {
  EXPECT_FALSE(summarize(std::vector<std::vector<Duration>>{{}, {}}).has_value());
  EXPECT_FALSE(summarize(std::vector<Histogram>{Histogram{}}).has_value());
}

// Replications that differ by a shift of 2 ms: every figure of one is 2 ms above that of the other,
// so half widths are t(1) * sqrt(2) / sqrt(2) = 12.706 ms (NIST table 1.3.6.7.2).
TEST(TimeSummary, IntervalsComeFromTheReplicationsOwnQuantiles) {
  const std::vector<std::vector<Duration>> runs = {ramp(2000), ramp(2000, 2)};
  const TimeSummary summary = summarize(runs).value();
  for (const auto& half_width :
       {summary.ci95, summary.p50_ci95, summary.p95_ci95, summary.p99_ci95}) {
    ASSERT_TRUE(half_width.has_value());
    EXPECT_NEAR(to_seconds(*half_width), 0.012706, 1e-6);
  }
  EXPECT_GT(summary.p999_ci95, summary.p99_ci95);  // three of the four values above are of one run
  EXPECT_EQ(summary.count, 4000);
  EXPECT_EQ(summary.p50, milliseconds(1001));
}

TEST(TimeSummary, HistogramsSayTheSameWithinTheirBuckets) {
  const std::vector<std::vector<Duration>> runs = {ramp(2000), ramp(2000, 200), ramp(2000, 100)};
  std::vector<Histogram> histograms;
  for (const auto& run : runs) histograms.push_back(histogram_of(run));
  const TimeSummary exact = summarize(runs).value();
  const TimeSummary bucketed = summarize(histograms).value();
  EXPECT_EQ(bucketed.mean, exact.mean);
  EXPECT_NEAR(to_seconds(bucketed.p99), to_seconds(exact.p99), 0.004 * to_seconds(exact.p99));
  // t(2) * 100 ms / sqrt(3), and more where one run has most of the tail; each quantile is off by
  // up to 0.4 %.
  EXPECT_GE(to_seconds(*exact.p50_ci95), 0.2484);
  EXPECT_NEAR(to_seconds(*bucketed.p50_ci95), to_seconds(*exact.p50_ci95), 4.303 * 0.004 * 1.2);
  EXPECT_GE(*exact.p99_ci95, *exact.p50_ci95);
  EXPECT_NEAR(to_seconds(*bucketed.p99_ci95), to_seconds(*exact.p99_ci95), 4.303 * 0.004 * 2.2);
}

// Long runs whose medians share a bucket: where in it they are nobody knows.
TEST(TimeSummary, NoIntervalIsNarrowerThanWhatValuesAreRoundedBy) {
  const std::vector<Histogram> runs(3, histogram_of(ramp(2000)));
  const TimeSummary summary = summarize(runs).value();
  ASSERT_TRUE(summary.p50_ci95);
  EXPECT_EQ(*summary.p50_ci95, Histogram::rounding(summary.p50));
  EXPECT_GE(*summary.p50_ci95, seconds(1) - summary.p50);
  EXPECT_NEAR(to_seconds(*summary.p50_ci95), 1.0 / 256, 0.5 / 256);
  EXPECT_EQ(Histogram::rounding({255}), Duration{});
  std::vector<const Histogram*> each;
  for (const Histogram& run : runs) each.push_back(&run);
  EXPECT_EQ(quantile_half_width(0.5, each), summary.p50_ci95);
  EXPECT_EQ(summarize(std::vector(3, ramp(2000)))->p50_ci95, Duration{});
}

// A quantile of so few values is their maximum, and the spread of maxima is no interval of it.
TEST(TimeSummary, AQuantileNeedsAValueBeyondItInEveryReplication) {
  const auto summary = [](std::int64_t n) {
    return summarize(std::vector<std::vector<Duration>>{ramp(5000), ramp(n)}).value();
  };
  EXPECT_FALSE(summary(19).p95_ci95.has_value());
  EXPECT_TRUE(summary(20).p95_ci95.has_value());
  EXPECT_FALSE(summary(99).p99_ci95.has_value());
  EXPECT_TRUE(summary(100).p99_ci95.has_value());
  EXPECT_FALSE(summary(999).p999_ci95.has_value());
  EXPECT_TRUE(summary(1000).p999_ci95.has_value());
  EXPECT_FALSE(summary(1).p50_ci95.has_value());
  // One replication has no interval at all; the length of a run is one value of each.
  EXPECT_FALSE(summarize(std::vector<std::vector<Duration>>{ramp(5000)})->p50_ci95.has_value());
  const TimeSummary lengths =
      summarize(std::vector<std::vector<Duration>>{ramp(1), ramp(1, 5)}).value();
  EXPECT_TRUE(lengths.ci95.has_value());
  EXPECT_FALSE(lengths.p50_ci95.has_value());
}

TEST(TimeSummary, SaysWhenTheTailIsRough) {
  const auto summary = [](std::int64_t n) {
    return summarize(std::vector<std::vector<Duration>>{ramp(n)}).value();
  };
  EXPECT_FALSE(summary(999).p999.has_value());
  EXPECT_FALSE(summary(999).p999_is_rough);
  EXPECT_EQ(summary(1000).p999, milliseconds(999));
  EXPECT_TRUE(summary(9999).p999_is_rough);
  EXPECT_FALSE(summary(10'000).p999_is_rough);
}

TEST(QuantileHalfWidth, IsThatOfTheSummary) {
  const std::vector<Histogram> runs = {histogram_of(ramp(300)), histogram_of(ramp(300, 40))};
  const std::array<const Histogram*, 2> pointers = {&runs[0], &runs[1]};
  EXPECT_EQ(quantile_half_width(0.99, pointers), summarize(runs)->p99_ci95);
  EXPECT_TRUE(quantile_half_width(0.9, pointers).has_value());
}

}  // namespace
}  // namespace slicewise::sim
