#include <cmath>

#include "workload_rules.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kLn2 = 0.693147180559945309417232;
constexpr double kNormalQuantile99 = 2.3263478740408408;

// log() and exp() of the C library differ in the last bit between systems, and what is computed
// here decides results. These use only operations that IEEE 754 fixes.

// Requires: x > 0. Relative error below 1e-15 for the ratios of two durations.
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 atanh((m-1)/(m+1)); |z| < 0.172, so 12 terms leave less than 1e-18.
  const double z = (mantissa - 1) / (mantissa + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int term = 23; term >= 1; term -= 2) sum = sum * z2 + 1.0 / term;
  return exponent * kLn2 + 2 * z * sum;
}

// Requires: 0 <= x < 700.
double portable_exp(double x) {
  const int halvings = static_cast<int>(x / kLn2 + 0.5);
  const double rest = x - halvings * kLn2;
  double sum = 1;
  for (int term = 20; term >= 1; --term) sum = 1 + sum * rest / term;
  return std::ldexp(sum, halvings);  // exact
}

}  // namespace

ServiceTime log_normal(Duration p50, Duration p99) {
  const double median = to_seconds(p50);
  const double sigma = portable_log(to_seconds(p99) / median) / kNormalQuantile99;
  const double mean = median * portable_exp(sigma * sigma / 2);
  return {ServiceTime::Law::LogNormal, from_seconds(mean), sigma};
}

}  // namespace slicewise::scenarios
