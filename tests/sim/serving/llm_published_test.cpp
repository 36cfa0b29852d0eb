// Saturated throughput of TensorRT-LLM: Llama-3.1-8B in FP8 on one H100 and Llama-3.3-70B on two,
// output tokens/s as NVIDIA publishes them (NVIDIA/TensorRT-LLM
// docs/source/performance/perf-overview.md @00f37686), against the step laws of Llama-3-8B in FP16
// on A100, carried over to H100, and of Llama-3-70B on H100. Nothing is fitted.
#include <cmath>
#include <span>

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

constexpr Published kLlama8b[] = {{128, 128, 28312},
                                  {128, 2048, 22714},
                                  {1000, 1000, 15220},
                                  {2048, 128, 3450},
                                  {2048, 2048, 9305}};
// Llama-3.3-70B on two.
constexpr Published kLlama70b[] = {
    {128, 128, 6378}, {128, 2048, 6651}, {1000, 1000, 4205}, {2048, 128, 762}, {2048, 2048, 3082}};

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

// Of `gpus` H100 that share it over NVSwitch: half the bytes per number, twice the arithmetic rate.
struct OnH100 {
  models::LlmStep step;
  std::int64_t cache_tokens = 0;
};

OnH100 fp8_on_h100(const char* name, int gpus) {
  const models::Catalogue catalogue = models::load_catalogue();
  const models::LlmModel& fp16 = *catalogue.find_llm_model(name);
  const models::GpuModel& h100 = *catalogue.find_gpu("H100");
  const models::LlmModel fp8 = models::quantised(fp16, "FP8");
  models::LlmStep step = models::carried_over(fp8.step, *catalogue.find_gpu(fp16.gpu_model), h100);
  step.token_s /= models::arithmetic_gain("FP8", h100);
  step.kv_read_s /= 2;
  if (gpus > 1) {
    const models::AllReduceLink link{6.6e-6 + 2 * (gpus - 1) * 0.6e-6,
                                     0.8 * 450e9 * gpus / (2.0 * (gpus - 1))};
    const models::LlmStep exchange = models::all_reduces(*fp16.shape, link);
    step = models::shared_step(step, *fp16.shape, gpus, h100);
    step.overhead_s += exchange.overhead_s;
    step.exchange_s = exchange.exchange_s;
  }
  const double pool = 0.9 * gpus * static_cast<double>(models::usable_memory(h100).count) -
                      static_cast<double>(fp16.weights.count) / 2;
  return {step, static_cast<std::int64_t>(
                    pool / (static_cast<double>(fp16.kv_bytes_per_token.count) / 2))};
}

double mean_error(const OnH100& served, std::span<const Published> rows, double most) {
  double sum = 0;
  for (const Published& row : rows) {
    const double error =
        saturated(served.step, served.cache_tokens, row) / row.tokens_per_second - 1;
    EXPECT_LT(std::abs(error), most) << row.input << '/' << row.output << ": " << error;
    sum += std::abs(error);
  }
  return sum / static_cast<double>(rows.size());
}

TEST(LlmPublished, SaturatedThroughputOfTensorRtLlm) {
  EXPECT_LT(mean_error(fp8_on_h100("llama-3-8b-fp16/a100-80gb", 1), kLlama8b, 0.25), 0.12);
}

TEST(LlmPublished, SaturatedThroughputOfTwoGpusThatShareIt) {
  EXPECT_LT(mean_error(fp8_on_h100("llama-3-70b-fp16/h100-80gb", 2), kLlama70b, 0.1), 0.065);
}

}  // namespace
}  // namespace slicewise::sim
