#include "slicewise/sim/metrics/interval.hpp"

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

}  // namespace slicewise::sim
