// Looping clients on one GPU: the round-robin engine against the closed network's steady state.
#include <span>

#include <gtest/gtest.h>

#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/device/round_robin.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"

#include "confidence.hpp"

namespace slicewise::sim {
namespace {

enum class Law { Exponential, Deterministic };

struct Measured {
  std::vector<double> cycles_per_second;
  double busy_share = 0;
  double switch_share = 0;
};

// Host phase, GPU phase, host phase ... of every client for `horizon`. Timer i is the end of client
// i's host phase, the last timer is the GPU.
class ClosedLoop {
 public:
  ClosedLoop(std::span<const LoopingClient> clients, double overhead, Law host, Law gpu,
             std::uint32_t replication)
      : clients_(clients),
        host_law_(host),
        gpu_law_(gpu),
        gpu_timer_(static_cast<std::uint32_t>(clients.size())),
        engine_(gpu_timer_, {kTurn, from_seconds(to_seconds(kTurn) * overhead)}, Duration{}),
        timers_(clients.size() + 1),
        random_(5, replication, 0, Purpose::Test),
        cycles_(clients.size(), 0) {
    for (std::uint32_t client = 0; client < gpu_timer_; ++client) think(client);
  }

  Measured run(Duration horizon) {
    const TimePoint end = TimePoint{} + horizon;
    while (timers_.top_time() <= end) {
      engine_.advance(timers_.top_time());
      if (timers_.top() == gpu_timer_) {
        const std::uint32_t client = engine_.complete();
        ++cycles_[client];
        think(client);
      } else {
        const std::uint32_t client = timers_.top();
        timers_.clear(client);
        engine_.start(client, draw(clients_[client].gpu_seconds, gpu_law_));
      }
      timers_.set(gpu_timer_, engine_.next().at);
    }
    engine_.advance(end);
    const double seconds = to_seconds(horizon);
    Measured measured{{},
                      to_seconds(engine_.time().busy) / seconds,
                      to_seconds(engine_.time().switching) / seconds};
    for (const double count : cycles_) measured.cycles_per_second.push_back(count / seconds);
    return measured;
  }

 private:
  static constexpr Duration kTurn = microseconds(10);

  Duration draw(double mean_seconds, Law law) {
    const double factor = law == Law::Exponential ? random_.exponential() : 1;
    return std::max(from_seconds(mean_seconds * factor), Duration{1});
  }
  void think(std::uint32_t client) {
    timers_.set(client, engine_.now() + draw(clients_[client].host_seconds, host_law_));
  }

  std::span<const LoopingClient> clients_;
  Law host_law_;
  Law gpu_law_;
  std::uint32_t gpu_timer_;
  RoundRobin engine_;
  TimerHeap timers_;
  RandomStream random_;
  std::vector<double> cycles_;
};

void expect_steady_state(const std::vector<LoopingClient>& clients, double overhead, Law host,
                         Law gpu) {
  std::vector<std::vector<double>> rates(clients.size());
  std::vector<double> busy;
  std::vector<double> switching;
  for (std::uint32_t replication = 0; replication < 30; ++replication) {
    const Measured measured =
        ClosedLoop(clients, overhead, host, gpu, replication).run(seconds(200));
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

TEST(ClosedLaw, ExponentialPhases) {
  expect_steady_state(kMixed, 0.11, Law::Exponential, Law::Exponential);
}
TEST(ClosedLaw, ConstantGpuPhases) {
  expect_steady_state(kMixed, 0.11, Law::Exponential, Law::Deterministic);
}
TEST(ClosedLaw, ConstantHostPhases) {
  expect_steady_state(kMixed, 0.11, Law::Deterministic, Law::Exponential);
}

// Training jobs, MODELS table: exact mean value analysis R_k = D (1 + Q_{k-1}), X = k/(R + Z).
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
  for (const Law gpu : {Law::Exponential, Law::Deterministic}) {
    std::vector<double> totals;
    for (std::uint32_t replication = 0; replication < 30; ++replication) {
      const Measured measured =
          ClosedLoop(jobs, 0, Law::Exponential, gpu, replication).run(seconds(100));
      totals.push_back(measured.busy_share / kJob.gpu_seconds);
    }
    expect_mean(totals, throughput, 0.01);
  }
}

}  // namespace
}  // namespace slicewise::sim
