#include "slicewise/portable_math.hpp"

#include "workload_rules.hpp"

namespace slicewise::scenarios {
namespace {

constexpr double kNormalQuantile99 = 2.3263478740408408;

}  // namespace

ServiceTime log_normal(Duration p50, Duration p99) {
  const double median = to_seconds(p50);
  const double sigma = portable_log(to_seconds(p99) / median) / kNormalQuantile99;
  const double mean = median * portable_exp(sigma * sigma / 2);
  return {ServiceTime::Law::LogNormal, from_seconds(mean), sigma};
}

}  // namespace slicewise::scenarios
