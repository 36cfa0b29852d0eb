#include "slicewise/sim/serving/amounts.hpp"

#include <algorithm>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/kernel/far_times.hpp"

namespace slicewise::sim {
namespace {

// The mean of a log-normal variable is exp(mu + sigma^2 / 2): this one's is 1.
double log_normal(double sigma, RandomStream& random) {
  return portable_exp(sigma * random.normal() - sigma * sigma / 2);
}

// To the nearest whole number; what no such number can hold is cut.
std::int64_t rounded(double value) {
  constexpr double kMost = 9e18;
  return static_cast<std::int64_t>(std::min(value + 0.5, kMost));
}

}  // namespace

double draw_size(const scenarios::ServiceTime& law, RandomStream& random) {
  using Law = scenarios::ServiceTime::Law;
  if (law.law == Law::Exponential) return random.exponential();
  return law.law == Law::LogNormal ? log_normal(law.sigma, random) : 1;
}

Duration draw_time(const scenarios::ServiceTime& law, Duration mean, RandomStream& random) {
  const double drawn_ns = static_cast<double>(mean.ns) * draw_size(law, random);
  const Duration drawn{rounded(std::min(drawn_ns, kLongestNs))};
  return std::max(nanoseconds(1), drawn);
}

std::int64_t draw_amount(const scenarios::RandomAmount& law, RandomStream& random) {
  using Law = scenarios::RandomAmount::Law;
  double factor = 1;
  if (law.law == Law::Exponential) factor = random.exponential();
  if (law.law == Law::LogNormal) factor = log_normal(law.sigma, random);
  const std::int64_t drawn = std::max(rounded(law.mean * factor), law.least.value_or(1));
  return std::min(drawn, law.most.value_or(drawn));
}

std::int64_t largest_amount(const scenarios::RandomAmount& law) {
  using Law = scenarios::RandomAmount::Law;
  constexpr double kExponential = 6.907755278982137;  // ln 1000
  constexpr double kNormal = 3.090232306167813;       // what a standard normal passes as seldom
  double factor = 1;
  if (law.law == Law::Exponential) factor = kExponential;
  if (law.law == Law::LogNormal) {
    factor = portable_exp(law.sigma * kNormal - law.sigma * law.sigma / 2);
  }
  const std::int64_t seldom = std::max(rounded(law.mean * factor), law.least.value_or(1));
  return std::min(seldom, law.most.value_or(seldom));
}

}  // namespace slicewise::sim
