// Closed forms for MPS, MIG, limited replicas and vGPU under Poisson arrivals, at loads from 0.3 to
// 0.95, and for training jobs in a closed loop. 30 independent replications each, 99.9 %
// confidence.
#include <cmath>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/sim/device/fluid.hpp"
#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/device/strict_slots.hpp"

#include "closed_loop.hpp"
#include "confidence.hpp"
#include "open_arrivals.hpp"
#include "slices.hpp"

namespace slicewise::sim {
namespace {

// Relaxation takes longer the nearer the load is to 1.
int customers_shared(double load) { return load > 0.8 ? 60'000 : 8'000; }
double resolution_shared(double load) { return load > 0.92 ? 0.12 : 0.06; }

// Law: the mean response is `expected` seconds. At `load` 1 the queue would grow for ever; queues
// that see a part of the arrivals each take their number times the customers.
template <class MakeEngine, class ServiceLaw>
void expect_response(const MakeEngine& make, double load, double per_second, ServiceLaw service,
                     double expected, int queues = 1) {
  std::vector<double> means;
  for (std::uint32_t replication = 0; replication < 30; ++replication) {
    OpenArrivals model(make(replication), kPool, per_second, service, replication);
    const int customers = customers_shared(load) * queues;
    means.push_back(model.run(1, customers / 5, customers)[0].mean());
  }
  expect_mean(means, expected, resolution_shared(load));
}

// Mean number of customers when n of them are served at the total rate rate(n), by
// p_n = p_{n-1} arrivals / rate(n), divided by the arrivals: Little's law.
template <class TotalRate>
double birth_death_response(double arrivals, TotalRate rate) {
  double weight = 1;
  double weights = 1;
  double customers = 0;
  for (int n = 1; n < 100'000 && weight > 1e-18 * weights; ++n) {
    weight *= arrivals / rate(n);
    weights += weight;
    customers += n * weight;
  }
  return customers / weights / arrivals;
}

// Erlang C: S + C(k, a) S / (k - a), a = lambda S.
double erlang_c_response(int servers, double arrivals, double service) {
  const double a = arrivals * service;
  double term = 1;  // a^n / n!
  double sum = 0;
  for (int n = 0; n < servers; ++n) {
    sum += term;
    term *= a / (n + 1);
  }
  const double all_busy = term * servers / (servers - a);
  return service + all_busy / (sum + all_busy) * service / (servers - a);
}

// Pollaczek-Khinchine with the squared coefficient of variation of the service time.
double pollaczek_khinchine(double load, double service, double variation) {
  return service * (1 + load * (1 + variation) / (2 * (1 - load)));
}

Fluid mps_gpu(double capacity_share, double norm_p) {
  Fluid gpu(kPool);
  const models::DomainClient client =
      models::client_in({capacity_share, 0.3, norm_p, {}, {}}, {1, 1}, 1);
  for (std::uint32_t context = 0; context < kPool; ++context) gpu.set_client(context, client);
  return gpu;
}

class SharingLaw : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(ThoroughLoads, SharingLaw, testing::Values(0.3, 0.5, 0.7));
INSTANTIATE_TEST_SUITE_P(NightlyLoads, SharingLaw, testing::Values(0.9, 0.95));

// MPS, p = infinity, u = 1/4: phi(n) = min(n, 4), as M/M/4 in the mean, for any law of service.
TEST_P(SharingLaw, MpsOfQuarterClientsIsErlangC) {
  const double per_second = GetParam() * 4 / kService;
  const double expected = erlang_c_response(4, per_second, kService);
  EXPECT_NEAR(expected,
              birth_death_response(per_second, [](int n) { return std::min(n, 4) / kService; }),
              1e-9);
  const auto gpu = [](std::uint32_t) { return mps_gpu(0.25, models::kHardNorm); };
  expect_response(gpu, GetParam(), per_second, kExponential, expected);
  expect_response(gpu, GetParam(), per_second, kDeterministic, expected);
}

// MPS, p = infinity, u = 0.44: phi(n) = min(n, 1/u), 1/u no whole number.
TEST_P(SharingLaw, MpsOfOddClientsIsABirthDeathProcess) {
  constexpr double kShare = 0.44;
  const double per_second = GetParam() / kShare / kService;
  const double expected = birth_death_response(
      per_second, [](int n) { return std::min<double>(n, 1 / kShare) / kService; });
  const auto gpu = [](std::uint32_t) { return mps_gpu(kShare, models::kHardNorm); };
  expect_response(gpu, GetParam(), per_second, kExponential, expected);
  expect_response(gpu, GetParam(), per_second, kDeterministic, expected);
}

// MPS, soft p: phi(n) = n / (1 + (n u)^p - u^p)^(1/p).
TEST_P(SharingLaw, MpsOfSoftClientsIsABirthDeathProcess) {
  constexpr double kShare = 0.44;
  for (const double p : {2.0, 3.0}) {
    const double per_second = GetParam() / kShare / kService;
    const double expected = birth_death_response(per_second, [p](int n) {
      const double slowdown = std::pow(1 + std::pow(n * kShare, p) - std::pow(kShare, p), 1 / p);
      return n / slowdown / kService;
    });
    const auto gpu = [p](std::uint32_t) { return mps_gpu(kShare, p); };
    expect_response(gpu, GetParam(), per_second, kExponential, expected);
    expect_response(gpu, GetParam(), per_second, kDeterministic, expected);
  }
}

// Seven 1g.5gb of an A100: S becomes T(f) by law E1, f_c = 14/108, f_m = 1/8.
double stretch_of_1g() {
  const models::Catalogue catalogue = models::load_catalogue();
  const models::MigGeometry& a100 = *catalogue.find_mig("A100-40GB");
  const auto share = models::mig_share(a100, a100.profiles.front());
  return models::client_in({0.3, 0.4, 3, {}, {}}, share, 1).stretch;
}

// One queue before k instances: M/M/k.
TEST_P(SharingLaw, MigInstancesBehindOneQueueAreErlangC) {
  const double stretch = stretch_of_1g();
  EXPECT_NEAR(stretch, std::cbrt(1 - 0.027 + std::pow(0.18 * 108 / 14 + 0.12 * 8, 3)), 1e-12);
  const double service = kService * stretch;
  const double per_second = GetParam() * 7 / service;
  const auto gpu = [&](std::uint32_t replication) {
    return Slices(7, stretch, kPool, Slices::Queue::One, replication);
  };
  expect_response(gpu, GetParam(), per_second, kExponential,
                  erlang_c_response(7, per_second, service));
}

// A tenant per instance: k independent M/G/1.
TEST_P(SharingLaw, MigInstancesOfTenantsAreIndependentQueues) {
  const double rho = GetParam();
  const double stretch = stretch_of_1g();
  const double service = kService * stretch;
  constexpr int kQueues = 4;  // seven see more arrivals than are needed
  const auto gpu = [&](std::uint32_t replication) {
    return Slices(7, stretch, kPool, Slices::Queue::Dedicated, replication);
  };
  expect_response(gpu, rho, rho * 7 / service, kExponential, pollaczek_khinchine(rho, service, 1),
                  kQueues);
  expect_response(gpu, rho, rho * 7 / service, kDeterministic, pollaczek_khinchine(rho, service, 0),
                  kQueues);
}

// k replicas time-slice the GPU, further pods wait first come first served. The total rate is 1
// whatever k is: S/(1 - rho) for exponential service.
TEST_P(SharingLaw, LimitedReplicasDoNotChangeTheMean) {
  const double rho = GetParam();
  const Duration turn = from_seconds(kService / 1'000);
  for (const std::uint32_t replicas : {1U, 4U, 10U}) {
    const auto gpu = [&](std::uint32_t replication) {
      return Seats(RoundRobin(replicas, {turn, {}}, {}), replicas, Seats<RoundRobin>::Choice::Any,
                   replication);
    };
    expect_response(gpu, rho, rho / kService, kExponential, kService / (1 - rho));
  }
}

// Fixed-share vGPUs with turns much shorter than a request: N independent servers, each N (1 + c/q)
// times slower than the GPU.
TEST_P(SharingLaw, FixedShareVgpusAreIndependentSlowQueues) {
  const double rho = GetParam();
  constexpr std::uint32_t kVgpus = 4;
  constexpr int kQueues = 4;
  constexpr double kVgpuOverhead = 0.11;
  const models::TimeSlice slice{from_seconds(kService / 1'000),
                                from_seconds(kService / 1'000 * kVgpuOverhead)};
  const double service = kVgpus * kService * (1 + kVgpuOverhead);
  const auto gpu = [&](std::uint32_t replication) {
    return Seats(StrictSlots(kVgpus, slice, models::Vgpu::Policy::FixedShare), kVgpus,
                 Seats<StrictSlots>::Choice::Tenant, replication);
  };
  const double per_second = rho * kVgpus / service;
  expect_response(gpu, rho, per_second, kExponential, pollaczek_khinchine(rho, service, 1),
                  kQueues);
  expect_response(gpu, rho, per_second, kDeterministic, pollaczek_khinchine(rho, service, 0),
                  kQueues);
}

// Training jobs, host phase Z and GPU phase D, under MPS. p = infinity and u = 1 is processor
// sharing: exact mean value analysis, R_k = D (1 + Q_{k-1}), X = k/(R + Z).
constexpr LoopingClient kLooping{0.030, 0.010};
constexpr std::size_t kMostLooping = 6;

double mean_value_analysis() {
  double queue = 0;
  double throughput = 0;
  for (std::size_t jobs = 1; jobs <= kMostLooping; ++jobs) {
    const double response = kLooping.gpu_seconds * (1 + queue);
    throughput = static_cast<double>(jobs) / (response + kLooping.host_seconds);
    queue = throughput * response;
  }
  return throughput;
}

// Cycles per second of all jobs together: n at the GPU go at phi(n)/D, the others come at 1/Z each.
template <class TotalRate>
double closed_birth_death(TotalRate phi) {
  double weight = 1;
  double weights = 1;
  double served = 0;
  for (std::size_t n = 1; n <= kMostLooping; ++n) {
    const double rate = phi(static_cast<double>(n)) / kLooping.gpu_seconds;
    weight *= static_cast<double>(kMostLooping - n + 1) / kLooping.host_seconds / rate;
    weights += weight;
    served += weight * rate;
  }
  return served / weights;
}

void expect_cycles(const Fluid& gpu, double expected) {
  const std::vector<LoopingClient> jobs(kMostLooping, kLooping);
  for (const PhaseLaw law : {PhaseLaw::Exponential, PhaseLaw::Deterministic}) {
    std::vector<double> totals;
    for (std::uint32_t replication = 0; replication < 30; ++replication) {
      ClosedLoop loop(gpu, jobs, PhaseLaw::Exponential, law, replication);
      double total = 0;
      for (const double rate : loop.run(seconds(100)).cycles_per_second) total += rate;
      totals.push_back(total);
    }
    expect_mean(totals, expected, 0.01);
  }
}

TEST(ThoroughClosedSharingLaw, TrainingJobsOnSaturatingMpsFollowMeanValueAnalysis) {
  EXPECT_NEAR(mean_value_analysis(), closed_birth_death([](double) { return 1.0; }), 1e-9);
  expect_cycles(mps_gpu(1, models::kHardNorm), mean_value_analysis());
}

TEST(ThoroughClosedSharingLaw, TrainingJobsOnSoftMpsAreABirthDeathProcess) {
  expect_cycles(mps_gpu(0.5, 2), closed_birth_death([](double n) {
                  return n / std::sqrt(1 + 0.25 * n * n - 0.25);
                }));
}

}  // namespace
}  // namespace slicewise::sim
