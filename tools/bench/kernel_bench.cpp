#include <benchmark/benchmark.h>

#include "slicewise/sim/device/exclusive.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/kernel/timer_heap.hpp"

namespace slicewise::sim {
namespace {

// The hold model: the earliest timer fires and is set again, an exponential time later.
void hold(benchmark::State& state) {
  const auto timers = static_cast<std::uint32_t>(state.range(0));
  RandomStream random(1, 0, 0, Purpose::Test);
  std::vector<std::int64_t> gaps(1 << 16);
  for (std::int64_t& gap : gaps) gap = static_cast<std::int64_t>(random.exponential() * 1e9);
  TimerHeap heap(timers);
  for (std::uint32_t timer = 0; timer < timers; ++timer)
    heap.set(timer, {gaps[timer % gaps.size()]});
  std::size_t turn = 0;
  for (auto _ : state) {
    heap.set(heap.top(), heap.top_time() + Duration{gaps[turn++ % gaps.size()]});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(hold)->Name("TimerHeap/hold/timers")->Arg(10)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

void exponential(benchmark::State& state) {
  RandomStream random(1, 0, 0, Purpose::Test);
  for (auto _ : state) benchmark::DoNotOptimize(random.exponential());
}
BENCHMARK(exponential)->Name("RandomStream/exponential");

void normal(benchmark::State& state) {
  RandomStream random(1, 0, 0, Purpose::Test);
  for (auto _ : state) benchmark::DoNotOptimize(random.normal());
}
BENCHMARK(normal)->Name("RandomStream/normal");

// M/M/1 at load 0.9: one arrival timer, one server, first come first served; two events each.
void exclusive_queue(benchmark::State& state) {
  constexpr std::uint32_t kPool = 4'096;
  constexpr double kServiceNs = 1e6;
  for (auto _ : state) {
    RandomStream arrivals(1, 0, 0, Purpose::Arrival);
    RandomStream services(1, 0, 0, Purpose::Service);
    TimerHeap timers(2);
    Exclusive gpu(kPool);
    std::uint32_t next_context = 0;
    timers.set(0, {0});
    for (std::int64_t departures = 0; departures < state.range(0);) {
      gpu.advance(timers.top_time());
      if (timers.top() == 0) {
        const auto work = static_cast<std::int64_t>(services.exponential() * kServiceNs) + 1;
        gpu.start(next_context++ % kPool, {work});
        const auto gap = static_cast<std::int64_t>(arrivals.exponential() * kServiceNs / 0.9);
        timers.set(0, gpu.now() + Duration{gap});
      } else {
        gpu.complete();
        ++departures;
      }
      timers.set(1, gpu.next().at);
    }
    benchmark::DoNotOptimize(gpu.time());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(exclusive_queue)
    ->Name("Exclusive/M_M_1/customers")
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slicewise::sim
