// Closed forms of queueing theory that the engines must reproduce under Poisson arrivals, at loads
// from 0.3 to 0.95. 30 independent replications each, 99.9 % confidence.
#include <cmath>

#include <gtest/gtest.h>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/device/round_robin.hpp"

#include "confidence.hpp"
#include "open_arrivals.hpp"

namespace slicewise::sim {
namespace {

constexpr std::uint32_t kTrials = 30;

// Squared coefficient of variation e - 1.
constexpr auto kLognormal = [](RandomStream& random) {
  return Draw{0, kService * portable_exp(random.normal() - 0.5)};
};
// Sizes S/5, S and 3 S with mean S.
constexpr std::array<double, 3> kSizes = {0.2 * kService, kService, 3 * kService};
constexpr auto kThreeSizes = [](RandomStream& random) {
  const std::uint32_t ticket = random.below(14);
  const std::size_t size_class = ticket < 5 ? 0 : ticket < 12 ? 1 : 2;
  return Draw{size_class, kSizes.at(size_class)};
};

// Relaxation takes longer the nearer the load is to 1.
int customers_at(double load) { return load > 0.92 ? 160'000 : load > 0.8 ? 80'000 : 10'000; }
double resolution_at(double load) { return load > 0.92 ? 0.09 : 0.05; }

// Mean responses in seconds, by size class and replication.
template <class Engine, class ServiceLaw>
std::vector<std::vector<double>> simulate(const Engine& engine, double load, ServiceLaw service,
                                          int classes = 1) {
  std::vector<std::vector<double>> means(static_cast<std::size_t>(classes));
  for (std::uint32_t replication = 0; replication < kTrials; ++replication) {
    OpenArrivals model(engine, kPool, load / kService, service, replication);
    const int customers = customers_at(load);
    const auto served = model.run(classes, customers / 5, customers);
    for (std::size_t size = 0; size < served.size(); ++size)
      means[size].push_back(served[size].mean());
  }
  return means;
}

// Turns a thousand times shorter than a request: as good as processor sharing.
RoundRobin fine_time_slicing(double overhead) {
  const Duration turn = from_seconds(kService / 1'000);
  const Duration switch_cost = from_seconds(kService / 1'000 * overhead);
  return {kPool, {turn, switch_cost}, switch_cost};
}

class OpenLaw : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(ThoroughLoads, OpenLaw, testing::Values(0.3, 0.5, 0.7, 0.9));
INSTANTIATE_TEST_SUITE_P(NightlyLoads, OpenLaw, testing::Values(0.95));

// M/M/1: S / (1 - rho).
TEST_P(OpenLaw, ExclusiveExponential) {
  const double rho = GetParam();
  const auto means = simulate(Exclusive(kPool), rho, kExponential);
  expect_mean(means[0], kService / (1 - rho), resolution_at(rho));
}

// M/D/1: S (1 + rho / (2 (1 - rho))).
TEST_P(OpenLaw, ExclusiveDeterministic) {
  const double rho = GetParam();
  const auto means = simulate(Exclusive(kPool), rho, kDeterministic);
  expect_mean(means[0], kService * (1 + rho / (2 * (1 - rho))), resolution_at(rho));
}

// Pollaczek-Khinchine: S (1 + rho (1 + cv^2) / (2 (1 - rho))), cv^2 = e - 1.
TEST_P(OpenLaw, ExclusiveLognormal) {
  const double rho = GetParam();
  const auto means = simulate(Exclusive(kPool), rho, kLognormal);
  const double expected = kService * (1 + rho * std::exp(1.0) / (2 * (1 - rho)));
  expect_mean(means[0], expected, 2 * resolution_at(rho));
}

// M/G/1 processor sharing is insensitive to the law of service: S / (1 - rho).
TEST_P(OpenLaw, TimeSlicingExponential) {
  const double rho = GetParam();
  const auto means = simulate(fine_time_slicing(0), rho, kExponential);
  expect_mean(means[0], kService / (1 - rho), resolution_at(rho));
}
TEST_P(OpenLaw, TimeSlicingDeterministic) {
  const double rho = GetParam();
  const auto means = simulate(fine_time_slicing(0), rho, kDeterministic);
  expect_mean(means[0], kService / (1 - rho), resolution_at(rho));
}

// And a request of size s takes s / (1 - rho) on average, whatever the others' sizes.
TEST_P(OpenLaw, TimeSlicingIsFairToEverySize) {
  const double rho = GetParam();
  const auto means = simulate(fine_time_slicing(0), rho, kThreeSizes, 3);
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    expect_mean(means[size], kSizes.at(size) / (1 - rho), 1.5 * resolution_at(rho));
  }
}

// Total rate 1 alone and 1/(1 + o) in company. With r1 = lambda S and r2 = lambda S (1 + o):
// P0 = 1 / (1 + r1/(1 - r2)), R = r1 P0 / (1 - r2)^2 / lambda. Insensitive as well.
constexpr double kSwitching = 0.11;
double response_with_overhead(double r2) {
  const double r1 = r2 / (1 + kSwitching);
  const double idle = 1 / (1 + r1 / (1 - r2));
  return r1 * idle / ((1 - r2) * (1 - r2)) / (r1 / kService);
}
TEST_P(OpenLaw, TimeSlicingWithSwitchCostExponential) {
  const double r2 = GetParam();
  const auto means = simulate(fine_time_slicing(kSwitching), r2 / (1 + kSwitching), kExponential);
  expect_mean(means[0], response_with_overhead(r2), 1.5 * resolution_at(r2));
}
TEST_P(OpenLaw, TimeSlicingWithSwitchCostDeterministic) {
  const double r2 = GetParam();
  const auto means = simulate(fine_time_slicing(kSwitching), r2 / (1 + kSwitching), kDeterministic);
  expect_mean(means[0], response_with_overhead(r2), 1.5 * resolution_at(r2));
}

}  // namespace
}  // namespace slicewise::sim
