#include "slicewise/sim/serving/arrivals.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "../device/confidence.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Traffic;

constexpr std::uint32_t kReplications = 30;
constexpr Duration kMonday{};

Traffic traffic_of(double per_second) {
  Traffic traffic;
  traffic.mean = {per_second};
  return traffic;
}

std::vector<std::int64_t> first_arrivals_ns(Arrivals arrivals, int count) {
  std::vector<std::int64_t> times;
  for (int arrival = 0; arrival < count; ++arrival) {
    times.push_back(arrivals.next().ns);
    arrivals.advance();
  }
  return times;
}

// Arrivals in each of the spans of this length, from the start of the run.
std::vector<double> counts_per(Duration span, std::size_t spans, Arrivals arrivals) {
  std::vector<double> counts(spans);
  const TimePoint end = TimePoint{} + span * static_cast<std::int64_t>(spans);
  for (; arrivals.next() < end; arrivals.advance()) {
    counts[static_cast<std::size_t>(arrivals.next().ns / span.ns)] += 1;
  }
  return counts;
}

double total(const std::vector<double>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

// Golden outputs depend on these very numbers.
TEST(Arrivals, PoissonGapsAreRoundedOneByOne) {
  const Traffic traffic = traffic_of(12);
  RandomStream random(42, 3, 5, Purpose::Arrival);
  Arrivals arrivals(traffic, kMonday, 42, 3, 5);
  TimePoint expected;
  for (int arrival = 0; arrival < 1'000; ++arrival) {
    expected = expected + nanoseconds(std::llround(1.0 / 12 * random.exponential() * 1e9));
    ASSERT_EQ(arrivals.next(), expected);
    arrivals.advance();
  }
}

TEST(Arrivals, ConstantGaps) {
  Traffic traffic = traffic_of(4);
  traffic.gaps = Traffic::Gaps::Constant;
  EXPECT_EQ(first_arrivals_ns(Arrivals(traffic, kMonday, 1, 0, 0), 3),
            (std::vector<std::int64_t>{250'000'000, 500'000'000, 750'000'000}));
}

TEST(Arrivals, AScaledRateScalesTheSameArrivals) {
  Traffic slow = traffic_of(2);
  slow.gaps = Traffic::Gaps::Gamma;
  slow.gap_variation = 2;
  Traffic fast = slow;
  fast.mean = {4};
  const auto of_slow = first_arrivals_ns(Arrivals(slow, kMonday, 1, 0, 0), 1'000);
  const auto of_fast = first_arrivals_ns(Arrivals(fast, kMonday, 1, 0, 0), 1'000);
  for (std::size_t arrival = 0; arrival < of_slow.size(); ++arrival) {
    ASSERT_NEAR(static_cast<double>(of_slow[arrival]), 2.0 * static_cast<double>(of_fast[arrival]),
                2'000);
  }
}

TEST(Arrivals, StreamsDifferByEntityReplicationAndSeed) {
  const Traffic traffic = traffic_of(1);
  const TimePoint first = Arrivals(traffic, kMonday, 1, 0, 0).next();
  EXPECT_EQ(Arrivals(traffic, kMonday, 1, 0, 0).next(), first);
  EXPECT_NE(Arrivals(traffic, kMonday, 1, 0, 1).next(), first);
  EXPECT_NE(Arrivals(traffic, kMonday, 1, 1, 0).next(), first);
  EXPECT_NE(Arrivals(traffic, kMonday, 2, 0, 0).next(), first);
}

TEST(Arrivals, AClosedLoopDoesNotArriveByItself) {
  Traffic traffic = traffic_of(1);
  traffic.shape = scenarios::ClosedLoop{};
  EXPECT_EQ(Arrivals(traffic, kMonday, 1, 0, 0).next(), kNever);
}

TEST(Arrivals, StepsSkipWhereTheRateIsZeroAndLastForEver) {
  Traffic traffic = traffic_of(1);
  traffic.gaps = Traffic::Gaps::Constant;
  traffic.shape = std::vector<scenarios::RateStep>{
      {seconds(0), {2}}, {milliseconds(1'250), {0}}, {seconds(10), {1}}, {seconds(12), {10}}};
  // Half an arrival is left at 1.25 s; the rate of 1/s makes it whole at 10.5 s.
  EXPECT_EQ(first_arrivals_ns(Arrivals(traffic, kMonday, 1, 0, 0), 7),
            (std::vector<std::int64_t>{500'000'000, 1'000'000'000, 10'500'000'000, 11'500'000'000,
                                       12'050'000'000, 12'150'000'000, 12'250'000'000}));
}

TEST(Arrivals, EndWithALastRateOfZero) {
  Traffic traffic = traffic_of(1);
  traffic.gaps = Traffic::Gaps::Constant;
  traffic.shape = std::vector<scenarios::RateStep>{{seconds(5), {1}}, {milliseconds(7'500), {0}}};
  Arrivals arrivals(traffic, kMonday, 1, 0, 0);
  EXPECT_EQ(arrivals.next(), TimePoint{} + seconds(6));
  arrivals.advance();
  EXPECT_EQ(arrivals.next(), TimePoint{} + seconds(7));
  arrivals.advance();
  EXPECT_EQ(arrivals.next(), kNever);
}

// A Poisson process of rate r(t) has a Poisson number of arrivals in each hour, with the integral
// of r as its mean.
TEST(Arrivals, CountsFollowTheIntegralOfTheRate) {
  Traffic traffic = traffic_of(1);
  traffic.shape = std::vector<scenarios::RateStep>{
      {hours(0), {0.5}}, {minutes(90), {2}}, {hours(2), {0}}, {minutes(150), {1}}};
  const std::vector<double> expected{1'800, 900 + 3'600, 1'800, 3'600};
  std::vector<std::vector<double>> by_hour(expected.size());
  for (std::uint32_t replication = 0; replication < kReplications; ++replication) {
    const auto counts =
        counts_per(hours(1), expected.size(), Arrivals(traffic, kMonday, 9, replication, 0));
    for (std::size_t hour = 0; hour < counts.size(); ++hour) {
      by_hour[hour].push_back(counts[hour]);
    }
  }
  for (std::size_t hour = 0; hour < expected.size(); ++hour) {
    expect_mean(by_hour[hour], expected[hour], 0.03);
  }
}

Traffic office_hours() {
  Traffic traffic = traffic_of(10);
  scenarios::Diurnal diurnal;
  diurnal.peak = {25};
  diurnal.peak_at = hours(14);
  diurnal.utc_offset = hours(-5);
  diurnal.weekend = 0.4;
  traffic.shape = diurnal;
  traffic.gaps = Traffic::Gaps::Constant;  // counts within one of the integral
  return traffic;
}

TEST(ThoroughArrivals, DiurnalDaysHaveTheMeanAskedFor) {
  const Traffic traffic = office_hours();
  // The run starts at 05:00 UTC on Monday: midnight where the clients are.
  const auto days = counts_per(hours(24), 14, Arrivals(traffic, hours(5), 1, 0, 0));
  for (std::size_t day = 0; day < days.size(); ++day) {
    EXPECT_NEAR(days[day], 864'000 * (day % 7 >= 5 ? 0.4 : 1.0), 1.5) << day;
  }
}

TEST(Arrivals, DiurnalPeakIsWhereAndAsHighAsAskedFor) {
  const Traffic traffic = office_hours();
  const auto pieces = counts_per(minutes(5), 288, Arrivals(traffic, hours(5), 1, 0, 0));
  const auto peak = std::max_element(pieces.begin(), pieces.end());
  EXPECT_NEAR(*peak, 25 * 300, 1);
  EXPECT_NEAR(static_cast<double>(peak - pieces.begin()) * 5 / 60, 14, 0.1);
  // exp(k cos): the logarithm halfway down the day is the mean of those of peak and trough.
  const double halfway = std::log(pieces[20 * 12]);
  EXPECT_NEAR(halfway, (std::log(*peak) + std::log(pieces[2 * 12])) / 2, 0.03);
  EXPECT_LT(pieces[2 * 12], 0.1 * *peak);
}

TEST(Arrivals, DiurnalTimeOfDayIsLocal) {
  Traffic traffic = office_hours();
  // 19:00 UTC is 14:00 there, on any day; the offset that leads back beyond Monday is Sunday.
  const auto at_peak = counts_per(minutes(5), 1, Arrivals(traffic, hours(24 + 19), 1, 0, 0));
  EXPECT_NEAR(at_peak[0], 25 * 300, 1.5);
  const auto sunday = counts_per(hours(5), 1, Arrivals(traffic, kMonday, 1, 0, 0));
  const auto monday = counts_per(hours(5), 1, Arrivals(traffic, hours(24), 1, 0, 0));
  EXPECT_NEAR(sunday[0], 0.4 * monday[0], 1.5);
}

constexpr double kBurstRate = 50;
constexpr double kMeanRate = 10;
const Duration kBurst = seconds(3);
const Duration kEvery = seconds(30);

Traffic bursty() {
  Traffic traffic = traffic_of(kMeanRate);
  traffic.shape = scenarios::Bursts{{kBurstRate}, kBurst, kEvery};
  return traffic;
}

TEST(ThoroughArrivals, BurstsKeepTheMean) {
  const Traffic traffic = bursty();
  std::vector<double> counts;
  for (std::uint32_t replication = 0; replication < kReplications; ++replication) {
    counts.push_back(total(counts_per(hours(4), 1, Arrivals(traffic, kMonday, 3, replication, 0))));
  }
  expect_mean(counts, kMeanRate * 4 * 3'600, 0.03);
}

// Index of dispersion of counts of a two-state MMPP over a span t, rates a and b, which is left at
// rates p and q: 1 + 2 p q (a - b)^2 / ((p + q)^2 (a q + b p)) (1 - (1 - e^-(p+q)t) / ((p+q) t)).
// Source: Heffes and Lucantoni, IEEE JSAC 4 (1986).
TEST(ThoroughArrivals, BurstsHaveTheDispersionOfAMarkovModulatedPoissonProcess) {
  const Traffic traffic = bursty();
  const double p = 1 / to_seconds(kBurst);
  const double q = 1 / to_seconds(kEvery - kBurst);
  const double outside = (kMeanRate * 30 - kBurstRate * 3) / 27;
  const double jump = kBurstRate - outside;
  for (const double span_s : {1.0, 60.0}) {
    const double decay = 1 - (1 - std::exp(-(p + q) * span_s)) / ((p + q) * span_s);
    const double rates = (p + q) * (p + q) * (kBurstRate * q + outside * p);
    const double expected = 1 + 2 * p * q * jump * jump / rates * decay;
    std::vector<double> dispersions;
    for (std::uint32_t replication = 0; replication < kReplications; ++replication) {
      const auto counts = counts_per(from_seconds(span_s), static_cast<std::size_t>(4e4 / span_s),
                                     Arrivals(traffic, kMonday, 4, replication, 0));
      double squares = 0;
      for (const double count : counts) squares += std::pow(count - kMeanRate * span_s, 2);
      dispersions.push_back(squares / static_cast<double>(counts.size()) / (kMeanRate * span_s));
    }
    expect_mean(dispersions, expected, 0.1);
  }
}

scenarios::RequestTrace three_rows() {
  scenarios::RequestTrace trace;
  trace.rows = {{seconds(0), 100, 5}, {seconds(1), 200, 6}, {seconds(4), 300, 7}};
  return trace;
}

TEST(Arrivals, ATraceGivesItsRowsInOrder) {
  Traffic traffic;
  traffic.shape = three_rows();
  Arrivals arrivals(traffic, kMonday, 1, 0, 0);
  for (const scenarios::RequestTrace::Row& row : three_rows().rows) {
    EXPECT_EQ(arrivals.next(), TimePoint{} + row.at);
    ASSERT_NE(arrivals.row(), nullptr);
    EXPECT_EQ(arrivals.row()->input_tokens, row.input_tokens);
    EXPECT_EQ(arrivals.row()->output_tokens, row.output_tokens);
    arrivals.advance();
  }
  EXPECT_EQ(arrivals.next(), kNever);
  EXPECT_EQ(arrivals.row(), nullptr);
}

TEST(Arrivals, ATraceIsScaledAndRepeatsAfterAMeanGap) {
  scenarios::RequestTrace trace = three_rows();
  trace.scale = 2;
  trace.repeats = true;
  Traffic traffic;
  traffic.shape = trace;
  Arrivals arrivals(traffic, kMonday, 1, 0, 0);
  // One pass: two gaps of 1 s on average after scaling, and a third before it starts over.
  EXPECT_EQ(first_arrivals_ns(arrivals, 7),
            (std::vector<std::int64_t>{0, 500'000'000, 2'000'000'000, 3'000'000'000, 3'500'000'000,
                                       5'000'000'000, 6'000'000'000}));
  for (int row = 0; row < 4; ++row) arrivals.advance();
  EXPECT_EQ(arrivals.row()->input_tokens, 200);
}

TEST(Arrivals, ATraceWithoutLengthDoesNotRepeat) {
  scenarios::RequestTrace trace;
  trace.repeats = true;
  trace.rows = {{}, {}};
  Traffic traffic;
  traffic.shape = trace;
  Arrivals arrivals(traffic, kMonday, 1, 0, 0);
  EXPECT_EQ(arrivals.next(), TimePoint{});
  arrivals.advance();
  EXPECT_EQ(arrivals.next(), TimePoint{});
  arrivals.advance();
  EXPECT_EQ(arrivals.next(), kNever);
}

TEST(Arrivals, AnEmptyTraceNeverArrives) {
  Traffic traffic;
  traffic.shape = scenarios::RequestTrace{};
  EXPECT_EQ(Arrivals(traffic, kMonday, 1, 0, 0).next(), kNever);
}

}  // namespace
}  // namespace slicewise::sim
