#include <benchmark/benchmark.h>

#include "slicewise/sim/serving/arrivals.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Traffic;

void arrive(benchmark::State& state, const Traffic& traffic) {
  Arrivals arrivals(traffic, {}, 1, 0, 0);
  for (auto _ : state) {
    arrivals.advance();
    benchmark::DoNotOptimize(arrivals.next());
  }
}

Traffic traffic_of(Traffic::Gaps gaps) {
  Traffic traffic;
  traffic.gaps = gaps;
  traffic.gap_variation = 2;
  traffic.mean = {10};
  return traffic;
}

void renewal(benchmark::State& state, Traffic::Gaps gaps) { arrive(state, traffic_of(gaps)); }
BENCHMARK_CAPTURE(renewal, poisson, Traffic::Gaps::Poisson)->Name("Arrivals/Poisson");
BENCHMARK_CAPTURE(renewal, gamma, Traffic::Gaps::Gamma)->Name("Arrivals/Gamma");
BENCHMARK_CAPTURE(renewal, weibull, Traffic::Gaps::Weibull)->Name("Arrivals/Weibull");

void diurnal(benchmark::State& state) {
  Traffic traffic = traffic_of(Traffic::Gaps::Poisson);
  traffic.shape = scenarios::Diurnal{{30}, hours(14), {}, 0.5};
  arrive(state, traffic);
}
BENCHMARK(diurnal)->Name("Arrivals/Diurnal");

void bursts(benchmark::State& state) {
  Traffic traffic = traffic_of(Traffic::Gaps::Poisson);
  traffic.shape = scenarios::Bursts{{50}, seconds(3), seconds(30)};
  arrive(state, traffic);
}
BENCHMARK(bursts)->Name("Arrivals/Bursts");

}  // namespace
}  // namespace slicewise::sim
