#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/serving/arrivals.hpp"

namespace slicewise::sim {
namespace {

constexpr Duration kPiece = minutes(5);
constexpr std::size_t kPiecesPerDay = 288;
constexpr std::size_t kPiecesPerWeek = 7 * kPiecesPerDay;
constexpr std::size_t kWeekend = 5 * kPiecesPerDay;  // from here on

// exp(k (cos - 1)) in the middle of each piece of a day: at most 1.
std::vector<double> bell(double sharpness, Duration peak_at) {
  std::vector<double> height(kPiecesPerDay);
  const double day_s = to_seconds(kPiece) * kPiecesPerDay;
  for (std::size_t piece = 0; piece < kPiecesPerDay; ++piece) {
    const double middle_s = (static_cast<double>(piece) + 0.5) * to_seconds(kPiece);
    const double angle = 2 * portable::kPi * (middle_s - to_seconds(peak_at)) / day_s;
    height[piece] = portable_exp(sharpness * (portable_cos(angle) - 1));
  }
  return height;
}

double mean_height(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The working day whose mean and highest piece are as asked: the highest over the mean grows with
// the sharpness of the bell.
std::vector<double> working_day(const scenarios::Diurnal& diurnal, Rate mean) {
  const double goal = diurnal.peak.per_second / mean.per_second;
  double low = 0;
  double high = 300;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    const std::vector<double> height = bell(middle, diurnal.peak_at);
    const double ratio = *std::max_element(height.begin(), height.end()) / mean_height(height);
    (ratio < goal ? low : high) = middle;
  }
  std::vector<double> day = bell((low + high) / 2, diurnal.peak_at);
  const double scale = mean.per_second / mean_height(day);
  for (double& rate : day) rate *= scale;
  return day;
}

}  // namespace

RateCurve::RateCurve(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
                     std::uint32_t replication, std::uint32_t entity) {
  set_rate(traffic.mean.per_second);
  if (const auto* steps = std::get_if<std::vector<scenarios::RateStep>>(&traffic.shape)) {
    set_rate(0);
    shape_ = Steps{steps, 0};
    if (!steps->empty()) until_ = TimePoint{} + steps->front().at;
  } else if (traffic.mean.per_second > 0) {
    if (const auto* diurnal = std::get_if<scenarios::Diurnal>(&traffic.shape)) {
      begin(*diurnal, traffic.mean, starts_at);
    } else if (const auto* bursts = std::get_if<scenarios::Bursts>(&traffic.shape)) {
      begin(*bursts, traffic.mean, RandomStream(seed, replication, entity, Purpose::Burst));
    }
  }
}

void RateCurve::set_rate(double per_second) {
  per_second_ = per_second;
  mean_gap_s_ = per_second > 0 ? 1.0 / per_second : std::numeric_limits<double>::infinity();
}

void RateCurve::begin(const scenarios::Diurnal& diurnal, Rate mean, Duration starts_at) {
  const std::int64_t week_ns = (kPiece * std::int64_t{kPiecesPerWeek}).ns;
  const std::int64_t local_ns = (starts_at + diurnal.utc_offset).ns % week_ns;
  const std::int64_t of_week_ns = local_ns < 0 ? local_ns + week_ns : local_ns;
  Day day{working_day(diurnal, mean), diurnal.weekend,
          static_cast<std::size_t>(of_week_ns / kPiece.ns)};
  until_ = TimePoint{} + nanoseconds(kPiece.ns - of_week_ns % kPiece.ns);
  show(day);
  shape_ = std::move(day);
}

void RateCurve::show(const Day& day) {
  const bool weekend = day.piece >= kWeekend;
  set_rate(day.per_second[day.piece % kPiecesPerDay] * (weekend ? day.weekend : 1));
}

void RateCurve::begin(const scenarios::Bursts& bursts, Rate mean, RandomStream random) {
  const double share = to_seconds(bursts.length) / to_seconds(bursts.every);
  const double outside =
      (mean.per_second - share * bursts.rate.per_second) / std::max(1 - share, 1e-12);
  Modulation modulation{random,
                        random.uniform() < share,
                        {std::max(outside, 0.0), bursts.rate.per_second},
                        {static_cast<double>((bursts.every - bursts.length).ns),
                         static_cast<double>(bursts.length.ns)}};
  until_ = TimePoint{};
  stay(modulation);
  shape_ = modulation;
}

void RateCurve::stay(Modulation& modulation) {
  const std::size_t state = modulation.in_burst ? 1 : 0;
  set_rate(modulation.per_second[state]);
  const double sojourn_ns = modulation.mean_ns[state] * modulation.random.exponential();
  until_ = until_ + nanoseconds(std::max<std::int64_t>(1, std::llround(sojourn_ns)));
}

void RateCurve::step() {
  if (auto* steps = std::get_if<Steps>(&shape_)) {
    set_rate((*steps->steps)[steps->next++].rate.per_second);
    const bool last = steps->next == steps->steps->size();
    until_ = last ? kNever : TimePoint{} + (*steps->steps)[steps->next].at;
  } else if (auto* day = std::get_if<Day>(&shape_)) {
    day->piece = (day->piece + 1) % kPiecesPerWeek;
    until_ = until_ + kPiece;
    show(*day);
  } else if (auto* modulation = std::get_if<Modulation>(&shape_)) {
    modulation->in_burst = !modulation->in_burst;
    stay(*modulation);
  }
}

}  // namespace slicewise::sim
