// A whole model on the event kernel, beside what a plain std::priority_queue does with the same
// load in the same run.
#include <functional>
#include <queue>
#include <vector>

#include <benchmark/benchmark.h>

#include "mm1.hpp"

namespace slicewise::sim {
namespace {

void mm1(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Mm1().run(state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(mm1)
    ->Name("Mm1/kernel/customers")
    ->RangeMultiplier(10)
    ->Range(10'000, 10'000'000)
    ->Unit(benchmark::kMillisecond);

struct Event {
  std::int64_t at;
  std::uint32_t what;
  friend bool operator>(const Event& a, const Event& b) { return a.at > b.at; }
};
using EventQueue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

// The numbers of Mm1, so that only the queue of events differs.
void mm1_priority_queue(benchmark::State& state) {
  for (auto _ : state) {
    Exponentials gaps(RandomStream(1, 0, 0, Purpose::Arrival));
    Exponentials services(RandomStream(1, 0, 0, Purpose::Service));
    const auto drawn = [](double ns) { return static_cast<std::int64_t>(ns); };
    EventQueue events;
    std::queue<std::int64_t> arrived;
    std::int64_t sojourns = 0;
    events.push({drawn(gaps.next() * (1e6 / 0.9)), 0});
    for (std::int64_t served = 0; served < state.range(0);) {
      const Event event = events.top();
      events.pop();
      if (event.what == 0) {
        arrived.push(event.at);
        if (arrived.size() == 1) events.push({event.at + drawn(services.next() * 1e6), 1});
        events.push({event.at + drawn(gaps.next() * (1e6 / 0.9)), 0});
      } else {
        sojourns += event.at - arrived.front();
        arrived.pop();
        ++served;
        if (!arrived.empty()) events.push({event.at + drawn(services.next() * 1e6), 1});
      }
    }
    benchmark::DoNotOptimize(sojourns);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(mm1_priority_queue)
    ->Name("Mm1/priority_queue/customers")
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slicewise::sim
