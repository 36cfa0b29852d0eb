// Whole models on the event kernel, beside what a plain std::priority_queue does with the same load
// in the same run.
#include <functional>
#include <queue>
#include <vector>

#include <benchmark/benchmark.h>

#include "slicewise/sim/device/equal_share.hpp"

#include "mm1.hpp"

namespace slicewise::sim {
namespace {

constexpr double kMeanWorkNs = 1e9;

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
  std::uint32_t version;
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
    events.push({drawn(gaps.next() * (1e6 / 0.9)), 0, 0});
    for (std::int64_t served = 0; served < state.range(0);) {
      const Event event = events.top();
      events.pop();
      if (event.what == 0) {
        arrived.push(event.at);
        if (arrived.size() == 1) events.push({event.at + drawn(services.next() * 1e6), 1, 0});
        events.push({event.at + drawn(gaps.next() * (1e6 / 0.9)), 0, 0});
      } else {
        sojourns += event.at - arrived.front();
        arrived.pop();
        ++served;
        if (!arrived.empty()) events.push({event.at + drawn(services.next() * 1e6), 1, 0});
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

// Processor sharing with a constant number of sharers: whoever ends starts again on the same GPU.
Duration work(Exponentials& works) {
  return {1 + static_cast<std::int64_t>(works.next() * kMeanWorkNs)};
}

void sharing(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const auto sharers = static_cast<std::uint32_t>(state.range(1));
  const std::int64_t completions = state.range(2);
  std::vector<SharedRate> rates;
  for (std::int64_t n = 1; n <= sharers; ++n) rates.push_back({nanoseconds(1), nanoseconds(n)});
  Exponentials works(RandomStream(1, 0, 0, Purpose::Service));
  EqualShare engine(gpus, rates);
  TimerHeap timers(gpus);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    for (std::uint32_t nth = 0; nth < sharers; ++nth) {
      engine.start(gpu, gpu * sharers + nth, work(works), {});
    }
    timers.set(gpu, engine.next(gpu));
  }
  for (auto _ : state) {
    for (std::int64_t done = 0; done < completions; ++done) {
      const TimePoint now = timers.top_time();
      const std::uint32_t gpu = timers.begin_firing();
      const std::uint32_t job = engine.complete(gpu, now);
      engine.start(gpu, job, work(works), now);
      timers.set(gpu, engine.next(gpu));
      timers.end_firing();
    }
  }
  state.SetItemsProcessed(state.iterations() * completions);
}
BENCHMARK(sharing)
    ->Name("EqualShare/gpus_sharers_completions")
    ->Args({1'000, 8, 10'000})
    ->Args({1'000, 8, 100'000})
    ->Args({1'000, 8, 1'000'000})
    ->Args({1'000, 8, 10'000'000})
    ->Args({10'000, 32, 1'000'000})
    ->Unit(benchmark::kMillisecond);

// The usual way: each change of a GPU plans the ends of all its jobs anew, and events that no
// longer hold are thrown away when they come up.
void sharing_lazy_deletion(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const auto sharers = static_cast<std::uint32_t>(state.range(1));
  struct Job {
    double left_ns;
    std::uint32_t version = 0;
  };
  Exponentials works(RandomStream(1, 0, 0, Purpose::Service));
  std::vector<Job> jobs;
  std::vector<double> since(gpus, 0.0);
  EventQueue events;
  const auto plan = [&](std::uint32_t job, double now) {
    const double at = now + jobs[job].left_ns * sharers;
    events.push({static_cast<std::int64_t>(at), job, ++jobs[job].version});
  };
  for (std::uint32_t job = 0; job < gpus * sharers; ++job) {
    jobs.push_back({static_cast<double>(work(works).ns)});
    plan(job, 0);
  }
  for (auto _ : state) {
    for (std::int64_t done = 0; done < state.range(2);) {
      const Event event = events.top();
      events.pop();
      if (event.version != jobs[event.what].version) continue;
      const std::uint32_t gpu = event.what / sharers;
      const auto now = static_cast<double>(event.at);
      for (std::uint32_t job = gpu * sharers; job < (gpu + 1) * sharers; ++job) {
        jobs[job].left_ns -= (now - since[gpu]) / sharers;
        if (job == event.what) jobs[job].left_ns = static_cast<double>(work(works).ns);
        plan(job, now);
      }
      since[gpu] = now;
      ++done;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(2));
}
BENCHMARK(sharing_lazy_deletion)
    ->Name("LazyDeletion/gpus_sharers_completions")
    ->Args({1'000, 8, 100'000})
    ->Args({10'000, 32, 100'000})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slicewise::sim
