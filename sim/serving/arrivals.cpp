#include "slicewise/sim/serving/arrivals.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {
namespace {

using Gaps = scenarios::Traffic::Gaps;

constexpr double kLeastVariation = 1e-3;

// e^x, 0 where it is too small to be told from it.
double exp_or_zero(double x) { return x <= -690 ? 0 : portable_exp(x); }

// The inverse shape u for which a Weibull variable has this coefficient of variation:
// 1 + cv^2 = Gamma(1 + 2u) / Gamma(1 + u)^2, which grows with u.
double weibull_inverse_shape(double variation) {
  const double goal = portable_log(1 + variation * variation);
  double low = 0;
  double high = 50;  // a variation beyond 10^14
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;  // neighbours
    const double value = portable_log_gamma(1 + 2 * middle) - 2 * portable_log_gamma(1 + middle);
    (value < goal ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Of this shape >= 1 and scale 1. Marsaglia and Tsang, "A simple method for generating gamma
// variables", ACM TOMS 26 (2000); their squeeze spares most draws both logarithms.
double gamma_of(double shape, RandomStream& random) {
  constexpr double kSqueeze = 0.0331;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal();
    const double root = 1 + c * x;
    const double u = random.uniform();
    if (root <= 0) continue;
    const double v = root * root * root;
    if (v == 0) continue;
    if (u < 1 - kSqueeze * x * x * x * x) return d * v;
    if (portable_log(u) < x * x / 2 + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

RenewalGaps::RenewalGaps(Gaps law, double variation) : law_(law) {
  if (law_ != Gaps::Gamma && law_ != Gaps::Weibull) return;
  if (variation < kLeastVariation) {
    law_ = Gaps::Constant;
  } else if (law_ == Gaps::Gamma) {
    inverse_shape_ = variation * variation;
    scale_ = inverse_shape_;
  } else {
    inverse_shape_ = weibull_inverse_shape(variation);
    scale_ = exp_or_zero(-portable_log_gamma(1 + inverse_shape_));
  }
}

// A shape below 1 is drawn at shape + 1 and multiplied by u^(1/shape).
double RenewalGaps::gamma(RandomStream& random) const {
  const bool below_one = inverse_shape_ > 1;
  double value = gamma_of(1 / inverse_shape_ + (below_one ? 1 : 0), random);
  if (below_one) value *= exp_or_zero(portable_log(random.uniform()) * inverse_shape_);
  return value * scale_;
}

// A power of an exponential variable.
double RenewalGaps::weibull(RandomStream& random) const {
  return scale_ * exp_or_zero(portable_log(random.exponential()) * inverse_shape_);
}

// A uniform part of a gap that was drawn in proportion to its length. Lengths of Gamma gaps drawn
// so are Gamma of the next shape; those of Weibull gaps a power of a Gamma variable.
double RenewalGaps::draw_residual(RandomStream& random) const {
  const double part = random.uniform();
  switch (law_) {
    case Gaps::Poisson:
      return random.exponential();
    case Gaps::Constant:
      return part;
    case Gaps::Gamma:
      return part * scale_ * gamma_of(1 / inverse_shape_ + 1, random);
    case Gaps::Weibull:
      return part * scale_ *
             exp_or_zero(portable_log(gamma_of(1 + inverse_shape_, random)) * inverse_shape_);
  }
  return part;
}

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
  until_ = until_ + std::max(nanoseconds(1), rounded_time(sojourn_ns));
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

TimePoint busiest_time(const std::vector<const scenarios::Traffic*>& sources, Duration starts_at,
                       TimePoint end) {
  std::vector<RateCurve> curves;
  curves.reserve(sources.size());
  for (const scenarios::Traffic* traffic : sources) {
    curves.emplace_back(*traffic, starts_at, 0, 0, 0);
  }
  TimePoint busiest;
  double most = 0;
  for (TimePoint from; from < end;) {
    double load = 0;
    TimePoint until = end;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      load += curves[s].per_second() / sources[s]->mean.per_second;
      until = std::min(until, curves[s].until());
    }
    if (load > most) {
      most = load;
      busiest = from + Duration{(until - from).ns / 2};
    }
    for (RateCurve& curve : curves) {
      if (curve.until() == until && until < end) curve.step();
    }
    from = until;
  }
  return busiest;
}

namespace {

using scenarios::ClientTraffic;
using scenarios::ClientWindow;

// Odd, so that the streams of a workload's clients never meet. Source: 2^32 over the golden ratio.
constexpr std::uint32_t kNextClient = 0x9E3779B9U;

// Nobody waits longer for a client.
constexpr TimePoint kFarthest = TimePoint{} + kLongestDuration;

Duration length_of_pass(const ClientTraffic& traffic) {
  Duration length;
  for (const ClientWindow& window : traffic.windows) {
    length = std::max(length, window.at + traffic.window);
  }
  return length;
}

bool asks(const ClientWindow& window) { return window.rate.per_second > 0; }

RenewalGaps gaps_of(const ClientWindow& window) {
  switch (window.law) {
    case ClientWindow::Law::Gamma:
      return {Gaps::Gamma, window.variation};
    case ClientWindow::Law::Weibull:
      return {Gaps::Weibull, window.variation};
    case ClientWindow::Law::Exponential:
      break;
  }
  return {Gaps::Poisson, 1};
}

}  // namespace

ClientArrivals::ClientArrivals(const ClientTraffic& traffic, std::uint64_t seed,
                               std::uint32_t replication, std::uint32_t entity)
    : traffic_(&traffic), pass_(length_of_pass(traffic)) {
  const std::vector<ClientWindow>& windows = traffic.windows;
  for (std::size_t first = 0; first < windows.size();) {
    const std::uint32_t client = windows[first].client;
    std::size_t last = first;
    double expected = 0;  // requests of one pass
    for (; last < windows.size() && windows[last].client == client; ++last) {
      expected += windows[last].rate.per_second * traffic.scale * to_seconds(traffic.window);
    }
    // Nobody looks for the one request of a million runs.
    const double passes =
        traffic.repeats ? to_seconds(kFarthest - TimePoint{}) / std::max(1.0, to_seconds(pass_))
                        : 1;
    const bool any = expected * passes > 1e-6;
    const std::uint32_t stream = entity + (client + 1) * kNextClient;
    if (any) add_client(first, last, RandomStream(seed, replication, stream, Purpose::Arrival));
    first = last;
  }
  build_tournament();
}

void ClientArrivals::add_client(std::size_t first, std::size_t last, RandomStream random) {
  Client client{.random = random,
                .gaps = gaps_of(traffic_->windows[first]),
                .next = {},
                .until = {},
                .pass_begins = TimePoint{} - traffic_->from,
                .first = first,
                .last = last,
                .window = first};
  enter_window(client);
  clients_.push_back(client);
}

// From the client's window on, the first that brings a request, and when.
void ClientArrivals::enter_window(Client& client) {
  while (client.pass_begins < kFarthest) {
    for (; client.window < client.last; ++client.window) {
      const ClientWindow& window = traffic_->windows[client.window];
      if (asks(window) && begin_window(client, window)) return;
    }
    if (!traffic_->repeats) break;
    client.window = client.first;
    client.pass_begins = client.pass_begins + pass_;
  }
  client.next = kNever;
}

// Whether a request comes in it.
bool ClientArrivals::begin_window(Client& client, const ClientWindow& window) {
  const TimePoint begin = std::max(TimePoint{}, client.pass_begins + window.at);
  client.until = client.pass_begins + window.at + traffic_->window;
  if (client.until <= begin) return false;  // before the run
  client.gaps = gaps_of(window);
  client.mean_gap_ns = 1e9 / (window.rate.per_second * traffic_->scale);
  const double wait_ns = client.mean_gap_ns * client.gaps.draw_residual(client.random);
  if (!(wait_ns < static_cast<double>((client.until - begin).ns))) return false;
  client.next = begin + nanoseconds(std::llround(wait_ns));
  return true;
}

void ClientArrivals::advance() {
  assert(first_.at != kNever);
  Client& client = clients_[first_.client];
  const double gap_ns = client.mean_gap_ns * client.gaps.draw(client.random);
  if (gap_ns < static_cast<double>((client.until - client.next).ns)) {
    client.next = client.next + nanoseconds(std::llround(gap_ns));
  } else {
    ++client.window;
    enter_window(client);
  }
  first_.at = client.next;
  for (std::size_t node = (losers_.size() + first_.client) / 2; node > 0; node /= 2) {
    if (before(losers_[node], first_)) std::swap(losers_[node], first_);
  }
}

// One 128-bit comparison: no branch to mispredict on the order of two random times.
bool ClientArrivals::before(const Arrival& a, const Arrival& b) {
  const auto key = [](const Arrival& arrival) {
    return (static_cast<Int128>(arrival.at.ns) << 64) | static_cast<Int128>(arrival.client);
  };
  return key(a) < key(b);
}

void ClientArrivals::build_tournament() {
  const std::size_t leaves = std::bit_ceil(std::max<std::size_t>(clients_.size(), 1));
  losers_.assign(leaves, {kNever, UINT32_MAX});
  std::vector<Arrival> winners(2 * leaves, {kNever, UINT32_MAX});
  for (std::size_t c = 0; c < clients_.size(); ++c) {
    winners[leaves + c] = {clients_[c].next, static_cast<std::uint32_t>(c)};
  }
  for (std::size_t node = leaves - 1; node > 0; --node) {
    winners[node] = winners[2 * node];
    losers_[node] = winners[2 * node + 1];
    if (before(losers_[node], winners[node])) std::swap(losers_[node], winners[node]);
  }
  first_ = winners[1];
}

namespace {

Duration sped_up(Duration at, double scale) {
  return nanoseconds(std::llround(static_cast<double>(at.ns) / scale));
}

// From the first row of one pass to the first row of the next.
Duration pass_length(const scenarios::RequestTrace& trace) {
  if (trace.rows.size() < 2) return {};
  const auto gaps = static_cast<double>(trace.rows.size() - 1);
  return sped_up(trace.rows.back().at, trace.scale * (gaps / (gaps + 1)));
}

}  // namespace

Arrivals::Arrivals(const scenarios::Traffic& traffic, Duration starts_at, std::uint64_t seed,
                   std::uint32_t replication, std::uint32_t entity)
    : random_(seed, replication, entity, Purpose::Arrival),
      gaps_(traffic),
      curve_(traffic, starts_at, seed, replication, entity),
      trace_(std::get_if<scenarios::RequestTrace>(&traffic.shape)) {
  if (trace_ != nullptr) {
    place_row();
  } else if (const auto* clients = std::get_if<scenarios::ClientTraffic>(&traffic.shape)) {
    clients_.emplace(*clients, seed, replication, entity);
    next_ = clients_->next();
  } else if (std::holds_alternative<scenarios::ClosedLoop>(traffic.shape)) {
    next_ = kNever;
  } else {
    advance();
  }
}

void Arrivals::advance() {
  assert(next_ != kNever);
  if (trace_ != nullptr) return advance_trace();
  if (clients_) {
    clients_->advance();
    next_ = clients_->next();
    return;
  }
  double left = gaps_.draw(random_);  // operational time
  TimePoint from = next_;
  while (true) {
    const double gap_ns = curve_.mean_gap_s() * left * 1e9;
    const Duration piece = curve_.until() - from;
    // Not a number where the rate is 0 and nothing is left: that goes on to the next piece, too.
    if (gap_ns < static_cast<double>(piece.ns)) {
      next_ = from + nanoseconds(std::llround(gap_ns));
      return;
    }
    if (curve_.until() == kNever) {
      next_ = kNever;
      return;
    }
    left = std::max(0.0, left - to_seconds(piece) * curve_.per_second());
    from = curve_.until();
    curve_.step();
  }
}

void Arrivals::advance_trace() {
  ++row_;
  if (row_ == trace_->rows.size() && trace_->repeats) {
    const Duration pass = pass_length(*trace_);
    if (pass > Duration{}) {
      row_ = 0;
      pass_began_ = pass_began_ + pass;
    }
  }
  place_row();
}

void Arrivals::place_row() {
  const scenarios::RequestTrace::Row* here = row();
  next_ = here == nullptr ? kNever : pass_began_ + sped_up(here->at, trace_->scale);
}

}  // namespace slicewise::sim
