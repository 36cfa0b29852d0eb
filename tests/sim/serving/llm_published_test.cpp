// Saturated throughput of TensorRT-LLM: Llama-3.1-8B in FP8 on one H100, output tokens/s as NVIDIA
// publishes them (NVIDIA/TensorRT-LLM docs/source/performance/perf-overview.md), against the step
// law of Llama-3-8B in FP16 on A100: carried over to H100, with half the bytes per number and twice
// the arithmetic rate. Nothing is fitted.
#include <cmath>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/sim/serving/continuous_batching.hpp"

namespace slicewise::sim {
namespace {

struct Published {
  int input;
  int output;
  double tokens_per_second;
};

constexpr Published kRows[] = {{128, 128, 28312},
                               {128, 2048, 22714},
                               {1000, 1000, 15220},
                               {2048, 128, 3450},
                               {2048, 2048, 9305}};

// About as many sequences as the pool holds to their ends: TensorRT-LLM throws none out.
constexpr int kSequences = 512;
constexpr int kTokensPerStep = 8192;

double saturated(const models::LlmStep& law, std::int64_t cache_tokens, const Published& row) {
  ContinuousBatching server(law, {kSequences, kTokensPerStep, cache_tokens, 0});
  constexpr int kRequests = 4 * kSequences;
  for (int i = 0; i < kRequests; ++i) server.push({TimePoint{}, row.input, row.output, 0});
  TimePoint now;
  while (!server.idle()) {
    now = now + server.begin(now);
    server.end(now);
  }
  return kRequests * row.output / to_seconds(now - TimePoint{});
}

TEST(LlmPublished, SaturatedThroughputOfTensorRtLlm) {
  const models::Catalogue catalogue = models::load_catalogue();
  const models::LlmModel& fp16 = *catalogue.find_llm_model("llama-3-8b-fp16/a100-80gb");
  const models::GpuModel& h100 = *catalogue.find_gpu("H100");
  const models::LlmStep on_h100 =
      models::carried_over(fp16.step, *catalogue.find_gpu(fp16.gpu_model), h100);
  const models::LlmStep fp8{on_h100.weights_s / 2, on_h100.token_s / 2, on_h100.kv_read_s / 2,
                            on_h100.overhead_s};
  const double pool = 0.9 * static_cast<double>(models::usable_memory(h100).count) -
                      static_cast<double>(fp16.weights.count) / 2;
  const auto cache =
      static_cast<std::int64_t>(pool / (static_cast<double>(fp16.kv_bytes_per_token.count) / 2));
  double sum = 0;
  for (const Published& row : kRows) {
    const double error = saturated(fp8, cache, row) / row.tokens_per_second - 1;
    EXPECT_LT(std::abs(error), 0.25) << row.input << '/' << row.output << ": " << error;
    sum += std::abs(error);
  }
  EXPECT_LT(sum / 5, 0.13) << "mean error";
}

}  // namespace
}  // namespace slicewise::sim
