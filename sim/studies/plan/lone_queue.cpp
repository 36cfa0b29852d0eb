#include "lone_queue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

using scenarios::ServiceTime;

// Steps from 0 to the limit, and equally likely service times.
constexpr std::size_t kSteps = 1024;
constexpr std::size_t kTimes = 1024;

using Shares = std::array<double, kSteps + 1>;  // by steps

// Services in whole steps, each rounded down: of a part of the requests that are equally likely the
// fastest speaks for all.
struct RoundedDown {
  Shares shares{};  // up to the limit
  double mean = 0;
};

RoundedDown rounded_down(const LoneQueue& queue, double step) {
  RoundedDown services;
  for (std::size_t n = 0; n < kTimes; ++n) {
    const double q = static_cast<double>(n) / kTimes;
    const bool is_fixed = queue.law.law == ServiceTime::Law::Deterministic;
    const double time = n == 0 && !is_fixed ? 0 : quantile_seconds(queue.law, queue.mean, q);
    const double steps = std::floor(time / step);
    services.mean += steps / kTimes;
    if (steps <= kSteps) services.shares[static_cast<std::size_t>(steps)] += 1.0 / kTimes;
  }
  return services;
}

}  // namespace

double quantile_seconds(const ServiceTime& law, Duration mean, double q) {
  const double m = to_seconds(mean);
  switch (law.law) {
    case ServiceTime::Law::Deterministic:
      return m;
    case ServiceTime::Law::Exponential:
      return -m * portable_log(1 - q);
    case ServiceTime::Law::LogNormal:
      return m * portable_exp(law.sigma * normal_quantile(q) - law.sigma * law.sigma / 2);
  }
  return m;
}

// With the same arrivals and shorter services nobody waits longer (Lindley's recursion), so what
// rounds services down is a bound. Of services in whole steps the law of the wait is known: it is
// the sum of as many residual services as a geometric law of the load says (Pollaczek and
// Khinchine), each of which lies anywhere in step j in proportion to the services that are longer
// than j steps; rounded down they add up in whole steps (Panjer, ASTIN Bulletin 12(1), 1981).
double least_share_above(const LoneQueue& queue, Duration limit) {
  const double step = to_seconds(limit) / kSteps;
  const RoundedDown services = rounded_down(queue, step);
  const double load = queue.per_second * services.mean * step;
  if (load >= 1) return 1;
  Shares residuals{};  // times the mean
  double longer = 1;
  for (std::size_t j = 0; j <= kSteps; ++j) {
    longer -= services.shares[j];
    residuals[j] = longer;
  }
  const double per_residual = queue.per_second * step;  // load / mean
  const double scale = 1 / (1 - per_residual * residuals[0]);
  double within = 0;  // of the sums up to a number of steps
  Shares waits_up_to{};
  Shares sums{};  // of residuals[j] * waits[n - j]
  for (std::size_t n = 0; n <= kSteps; ++n) {
    const double wait = scale * (n == 0 ? 1 - load : per_residual * sums[n]);
    within += wait;
    waits_up_to[n] = within;
    for (std::size_t j = 1; n + j <= kSteps; ++j) sums[n + j] += residuals[j] * wait;
  }
  double in_time = 0;
  for (std::size_t j = 0; j <= kSteps; ++j) in_time += services.shares[j] * waits_up_to[kSteps - j];
  return std::clamp(1 - in_time, 0.0, 1.0);
}

double KnownQueues::least_share_above(const LoneQueue& queue, Duration limit) {
  const Key key{queue.law.law, queue.law.sigma, queue.mean.ns, queue.per_second, limit.ns};
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) known->second = sim::least_share_above(queue, limit);
  return known->second;
}

}  // namespace slicewise::sim
