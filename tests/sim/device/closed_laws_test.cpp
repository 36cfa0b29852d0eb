// Looping clients on one GPU: the round-robin engine against the closed network's steady state.
#include <span>

#include <gtest/gtest.h>

#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/device/round_robin.hpp"

#include "closed_loop.hpp"
#include "confidence.hpp"

namespace slicewise::sim {
namespace {

ClosedLoop<RoundRobin> time_slicing(std::span<const LoopingClient> clients, double overhead,
                                    PhaseLaw host, PhaseLaw gpu, std::uint32_t replication) {
  constexpr Duration kTurn = microseconds(10);
  const Duration switch_cost = from_seconds(to_seconds(kTurn) * overhead);
  const RoundRobin engine(static_cast<std::uint32_t>(clients.size()), {kTurn, switch_cost},
                          Duration{});
  return {engine, clients, host, gpu, replication};
}

void expect_steady_state(const std::vector<LoopingClient>& clients, double overhead, PhaseLaw host,
                         PhaseLaw gpu) {
  std::vector<std::vector<double>> rates(clients.size());
  std::vector<double> busy;
  std::vector<double> switching;
  for (std::uint32_t replication = 0; replication < 30; ++replication) {
    const auto measured = time_slicing(clients, overhead, host, gpu, replication).run(seconds(200));
    for (std::size_t client = 0; client < clients.size(); ++client) {
      rates[client].push_back(measured.cycles_per_second[client]);
    }
    busy.push_back(measured.busy_share);
    switching.push_back(measured.switch_share);
  }
  const ClosedSolution expected = solve_closed_network(clients, overhead);
  for (std::size_t client = 0; client < clients.size(); ++client) {
    expect_mean(rates[client], expected.cycles_per_second[client], 0.02);
  }
  expect_mean(busy, expected.busy_share, 0.01);
  if (overhead > 0) expect_mean(switching, expected.switch_share, 0.02);
}

// Insensitivity needs some randomness: with both phases constant, clients lock into step, so only
// one of the two is made constant at a time.
const std::vector<LoopingClient> kMixed = {
    {0.020, 0.010}, {0.020, 0.010}, {0.050, 0.005}, {0.010, 0.030}, {0.100, 0.060}};

TEST(ThoroughClosedLaw, ExponentialPhases) {
  expect_steady_state(kMixed, 0.11, PhaseLaw::Exponential, PhaseLaw::Exponential);
}
TEST(ClosedLaw, ConstantGpuPhases) {
  expect_steady_state(kMixed, 0.11, PhaseLaw::Exponential, PhaseLaw::Deterministic);
}
TEST(ClosedLaw, ConstantHostPhases) {
  expect_steady_state(kMixed, 0.11, PhaseLaw::Deterministic, PhaseLaw::Exponential);
}

// Training jobs: exact mean value analysis R_k = D (1 + Q_{k-1}), X = k/(R + Z) (models/MODELS.md).
TEST(ClosedLaw, IdenticalTrainingJobsFollowMeanValueAnalysis) {
  constexpr std::size_t kJobs = 6;
  constexpr LoopingClient kJob{0.030, 0.010};
  double queue = 0;
  double throughput = 0;
  for (std::size_t jobs = 1; jobs <= kJobs; ++jobs) {
    const double response = kJob.gpu_seconds * (1 + queue);
    throughput = static_cast<double>(jobs) / (response + kJob.host_seconds);
    queue = throughput * response;
  }
  const std::vector<LoopingClient> jobs(kJobs, kJob);
  for (const PhaseLaw gpu : {PhaseLaw::Exponential, PhaseLaw::Deterministic}) {
    std::vector<double> totals;
    for (std::uint32_t replication = 0; replication < 30; ++replication) {
      const auto measured =
          time_slicing(jobs, 0, PhaseLaw::Exponential, gpu, replication).run(seconds(100));
      totals.push_back(measured.busy_share / kJob.gpu_seconds);
    }
    expect_mean(totals, throughput, 0.01);
  }
}

}  // namespace
}  // namespace slicewise::sim
