#include <limits>

#include <benchmark/benchmark.h>

#include "slicewise/sim/device/closed_network.hpp"

#include "pods_on_one_gpu.hpp"

namespace slicewise::sim {
namespace {

constexpr TimePoint kNoEnd{std::numeric_limits<std::int64_t>::max() - 1};

// 0.3 to 5 ms of GPU time, log-uniform enough: uniform is the harder case, more turns a request.
Duration short_request(RandomStream& random) {
  return {300'000 + static_cast<std::int64_t>(random.uniform() * 4'700'000)};
}

// Requests of 0.3-5 ms (uniform) on a GPU that several pods share, default turn, A100's switch
// cost. The second argument is the load in percent, switches included.
void short_requests(benchmark::State& state) {
  const auto pods = static_cast<std::uint32_t>(state.range(1));
  const models::TimeSlice slice{microseconds(1'024), microseconds(113)};
  constexpr double kMeanSeconds = 0.00265 * (1 + 113.0 / 1024);
  const double per_second = static_cast<double>(state.range(2)) / 100 / kMeanSeconds;
  for (auto _ : state) {
    PodsOnOneGpu model(pods, RoundRobin(pods, slice, slice.switch_cost), per_second / pods,
                       short_request, 1);
    model.run(kNoEnd, state.range(0));
    benchmark::DoNotOptimize(model.latencies().count());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(short_requests)
    ->Name("RoundRobin/short_requests")
    ->ArgNames({"requests", "pods", "load"})
    ->Args({1'000'000, 10, 70})
    ->Args({1'000'000, 10, 90})
    ->Args({1'000'000, 48, 90})
    ->Unit(benchmark::kMillisecond);

// The row of the comparison with SimPy (9.2 s there): four pods, 15 requests/s each, exponential
// 10 ms, turn 2 ms, switch 0.1 ms, 5,000 s.
void four_pods(benchmark::State& state) {
  const models::TimeSlice slice{milliseconds(2), microseconds(100)};
  const auto service = [](RandomStream& random) {
    return Duration{1 + static_cast<std::int64_t>(random.exponential() * 10e6)};
  };
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  for (auto _ : state) {
    PodsOnOneGpu model(4, RoundRobin(4, slice, slice.switch_cost), 15, service, 1);
    model.run(TimePoint{seconds(5'000).ns}, std::numeric_limits<std::int64_t>::max());
    p50 = to_seconds(model.latencies().quantile(0.50)) * 1e3;
    p95 = to_seconds(model.latencies().quantile(0.95)) * 1e3;
    p99 = to_seconds(model.latencies().quantile(0.99)) * 1e3;
  }
  state.counters["p50_ms"] = p50;
  state.counters["p95_ms"] = p95;
  state.counters["p99_ms"] = p99;
}
BENCHMARK(four_pods)->Name("RoundRobin/four_pods_5000_s")->Unit(benchmark::kMillisecond);

void closed_network(benchmark::State& state) {
  std::vector<LoopingClient> clients;
  for (std::int64_t client = 0; client < state.range(0); ++client) {
    clients.push_back({0.02 + 0.001 * static_cast<double>(client), 0.01});
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(solve_closed_network(clients, 0.11).busy_share);
  }
}
BENCHMARK(closed_network)
    ->Name("solve_closed_network/clients")
    ->Arg(4)
    ->Arg(10)
    ->Arg(48)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slicewise::sim
