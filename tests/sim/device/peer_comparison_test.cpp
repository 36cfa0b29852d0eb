#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pods_on_one_gpu.hpp"

namespace slicewise::sim {
namespace {

// The same load simulated slice by slice with SimPy: four pods, Poisson 15 requests/s each,
// exponential 10 ms of GPU time, turn 2 ms, switch 0.1 ms, 5,000 s: p50/p95/p99 15.9/94.9/163.5 ms.
// The published median is 0.2-0.3 ms longer: a model that queues pods in order of arrival and also
// charges a switch on an idle GPU gives 15.8 ms, so that is the likely convention there. Mean of
// eight seeds here; one run's p99 varies by 0.6 % (1 s.d.).
TEST(ThoroughPeerComparison, FourPodsOnOneGpuAgreeWithSimPy) {
  constexpr int kSeeds = 8;
  const models::TimeSlice slice{milliseconds(2), microseconds(100)};
  const auto service = [](RandomStream& random) {
    return Duration{1 + static_cast<std::int64_t>(random.exponential() * 10e6)};
  };
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PodsOnOneGpu model(4, RoundRobin(4, slice, slice.switch_cost), 15, service, seed);
    model.run(TimePoint{seconds(5'000).ns}, std::numeric_limits<std::int64_t>::max());
    EXPECT_NEAR(static_cast<double>(model.latencies().count()), 300'000, 4 * std::sqrt(300'000.0));
    p50 += to_seconds(model.latencies().quantile(0.50)) * 1e3 / kSeeds;
    p95 += to_seconds(model.latencies().quantile(0.95)) * 1e3 / kSeeds;
    p99 += to_seconds(model.latencies().quantile(0.99)) * 1e3 / kSeeds;
  }
  EXPECT_NEAR(p50, 15.9, 0.02 * 15.9);
  EXPECT_NEAR(p95, 94.9, 0.01 * 94.9);
  EXPECT_NEAR(p99, 163.5, 0.015 * 163.5);
}

}  // namespace
}  // namespace slicewise::sim
