#include "slicewise/sim/device/closed_network.hpp"

#include <gtest/gtest.h>

#include "slicewise/sim/kernel/random.hpp"

namespace slicewise::sim {
namespace {

std::vector<LoopingClient> random_clients(std::uint32_t number, std::uint32_t most) {
  RandomStream random(21, 0, number, Purpose::Test);
  std::vector<LoopingClient> clients(1 + random.below(most));
  for (LoopingClient& client : clients) {
    client.host_seconds = random.below(4) == 0 ? 0 : random.exponential();
    client.gpu_seconds = random.exponential() * (random.below(3) == 0 ? 0.01 : 1.0);
  }
  return clients;
}

// The product form added up state by state: every subset of clients at the GPU.
ClosedSolution enumerate_states(const std::vector<LoopingClient>& clients, double overhead) {
  const std::size_t count = clients.size();
  ClosedSolution solution{std::vector<double>(count, 0.0), 0, 0};
  double total = 0;
  for (std::size_t states = 0; states < (std::size_t{1} << count); ++states) {
    double weight = 1;
    double at_gpu = 0;
    for (std::size_t client = 0; client < count; ++client) {
      const bool present = ((states >> client) & 1) != 0;
      weight *= present ? clients[client].gpu_seconds : clients[client].host_seconds;
      if (!present) continue;
      at_gpu += 1;
      weight *= at_gpu * (at_gpu >= 2 ? 1 + overhead : 1);
    }
    total += weight;
    if (at_gpu == 0) continue;
    const double speed = at_gpu >= 2 ? 1 / (1 + overhead) : 1;
    solution.busy_share += weight * speed;
    solution.switch_share += weight * (1 - speed);
    for (std::size_t client = 0; client < count; ++client) {
      if (((states >> client) & 1) == 0) continue;
      solution.cycles_per_second[client] += weight * speed / at_gpu / clients[client].gpu_seconds;
    }
  }
  for (double& rate : solution.cycles_per_second) rate /= total;
  solution.busy_share /= total;
  solution.switch_share /= total;
  return solution;
}

TEST(ClosedNetwork, EqualsTheSumOverAllStates) {
  for (std::uint32_t number = 0; number < 200; ++number) {
    const auto clients = random_clients(number, 10);
    for (const double overhead : {0.0, 0.11, 2.0}) {
      const ClosedSolution expected = enumerate_states(clients, overhead);
      const ClosedSolution got = solve_closed_network(clients, overhead);
      EXPECT_NEAR(got.busy_share, expected.busy_share, 1e-12);
      EXPECT_NEAR(got.switch_share, expected.switch_share, 1e-12);
      for (std::size_t client = 0; client < clients.size(); ++client) {
        const double rate = expected.cycles_per_second[client];
        EXPECT_NEAR(got.cycles_per_second[client], rate, 1e-12 * rate);
      }
    }
  }
}

// Exact mean value analysis of k identical clients: R_k = D (1 + Q_{k-1}), X = k/(R + Z), Q = X R.
TEST(ClosedNetwork, EqualsMeanValueAnalysisForIdenticalClients) {
  const LoopingClient client{0.7, 0.3};
  double queue = 0;
  for (std::size_t count = 1; count <= 64; ++count) {
    const double response = client.gpu_seconds * (1 + queue);
    const double throughput = static_cast<double>(count) / (response + client.host_seconds);
    queue = throughput * response;
    const ClosedSolution got = solve_closed_network(std::vector<LoopingClient>(count, client), 0);
    for (const double rate : got.cycles_per_second) {
      EXPECT_NEAR(rate * static_cast<double>(count), throughput, 1e-12 * throughput) << count;
    }
  }
}

TEST(ClosedNetwork, OneClientRunsAtItsSoloSpeed) {
  const ClosedSolution got = solve_closed_network(std::vector<LoopingClient>{{0.6, 0.2}}, 0.5);
  EXPECT_DOUBLE_EQ(got.cycles_per_second[0], 1 / 0.8);
  EXPECT_DOUBLE_EQ(got.busy_share, 0.25);
  EXPECT_EQ(got.switch_share, 0);
}

// n clients that never leave the GPU: it switches o of every 1 + o and each gets 1/n of the rest.
TEST(ClosedNetwork, AlwaysBusyClientsShareEqually) {
  const std::vector<LoopingClient> clients(7, {0, 0.05});
  const ClosedSolution got = solve_closed_network(clients, 0.11);
  for (const double rate : got.cycles_per_second) EXPECT_NEAR(rate, 1 / (7 * 0.05 * 1.11), 1e-12);
  EXPECT_NEAR(got.busy_share, 1 / 1.11, 1e-12);
  EXPECT_NEAR(got.busy_share + got.switch_share, 1, 1e-12);
}

TEST(ClosedNetwork, StaysWithinItsBoundsAndSlowsDownWithCompany) {
  for (std::uint32_t number = 0; number < 100; ++number) {
    auto clients = random_clients(number, 64);
    const ClosedSolution got = solve_closed_network(clients, 0.1);
    EXPECT_LE(got.busy_share + got.switch_share, 1 + 1e-12);
    clients.push_back({0.1, 0.5});
    const ClosedSolution crowded = solve_closed_network(clients, 0.1);
    for (std::size_t client = 0; client < got.cycles_per_second.size(); ++client) {
      const double solo = 1 / (clients[client].host_seconds + clients[client].gpu_seconds);
      EXPECT_LE(got.cycles_per_second[client], solo * (1 + 1e-12));
      EXPECT_LE(crowded.cycles_per_second[client], got.cycles_per_second[client] * (1 + 1e-12));
    }
  }
}

// From microseconds to days in one network: no overflow, no underflow to nonsense.
TEST(ClosedNetwork, SurvivesExtremeRatios) {
  std::vector<LoopingClient> clients(63, {86'400, 1e-6});
  clients.push_back({0, 1e5});
  const ClosedSolution got = solve_closed_network(clients, 0.1);
  EXPECT_NEAR(got.busy_share, 1, 1e-6);
  EXPECT_NEAR(got.cycles_per_second[0], 1 / 86'400.0, 1e-9);
  EXPECT_NEAR(got.cycles_per_second[63], 1e-5, 1e-10);
}

}  // namespace
}  // namespace slicewise::sim
