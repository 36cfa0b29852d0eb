// Continuous batching: 10,000 requests with 5.1 million output tokens, on a GPU of its own.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/metrics/histogram.hpp"
#include "slicewise/sim/serving/continuous_batching.hpp"

namespace slicewise::sim {
namespace {

constexpr int kRequests = 10'000;

struct Workload {
  std::vector<LlmRequest> requests;
  std::int64_t output_tokens = 0;
};

// Prompts and answers of 512 tokens in the mean, exponential.
Workload workload(double gap_s) {
  Workload out;
  RandomStream random(1, 0, 0, Purpose::Test);
  TimePoint at;
  const auto tokens = [&] { return static_cast<std::int32_t>(1 + 511 * random.exponential()); };
  for (int i = 0; i < kRequests; ++i) {
    at = at + from_seconds(gap_s * random.exponential());
    out.requests.push_back({at, tokens(), tokens(), 0});
    out.output_tokens += out.requests.back().output_tokens;
  }
  return out;
}

// Latencies recorded; returns the pieces of GPU work that it took.
std::int64_t serve(const std::vector<LlmRequest>& requests, Histogram& latency) {
  // Llama-3-8B in FP16 on H100.
  ContinuousBatching server({5.97e-3, 21.3e-6, 55.9e-9, 0.6e-3}, {256, 2048, 480'000, 0});
  std::int64_t pieces = 0;
  TimePoint begun;
  TimePoint end = kNever;
  std::size_t next = 0;
  while (next < requests.size() || server.working()) {
    if (next < requests.size() && requests[next].arrived < end) {
      const TimePoint now = requests[next].arrived;
      server.push(requests[next++]);
      if (server.working()) {
        end = begun + server.cut(now - begun);
      } else {
        begun = now;
        end = now + server.begin(now);
      }
      continue;
    }
    ++pieces;
    for (const LlmAnswer& answer : server.end(end)) latency.add(end - answer.request.arrived);
    begun = end;
    end = server.idle() ? kNever : begun + server.begin(begun);
  }
  return pieces;
}

// Argument: mean gap between requests in ms; at 50 the server is full.
void llm_requests(benchmark::State& state) {
  const Workload load = workload(static_cast<double>(state.range(0)) * 1e-3);
  std::int64_t pieces = 0;
  for (auto _ : state) {
    Histogram latency;
    pieces = serve(load.requests, latency);
    benchmark::DoNotOptimize(latency);
  }
  const auto per = [&](double count) {
    return benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["requests/s"] = per(kRequests);
  state.counters["tokens/s"] = per(static_cast<double>(load.output_tokens));
  state.counters["tokens"] = static_cast<double>(load.output_tokens);
  state.counters["pieces"] = static_cast<double>(pieces);
}
BENCHMARK(llm_requests)
    ->Name("LlmRequests")
    ->Arg(50)
    ->Arg(100)
    ->Arg(200)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slicewise::sim
