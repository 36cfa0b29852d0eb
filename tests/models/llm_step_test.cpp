// The step law of language models and what the catalogue says of it.
#include "slicewise/models/llm_step.hpp"

#include <cstddef>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/catalogue.hpp"

#include "clients_together.hpp"
#include "facts_file.hpp"
#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

TEST(LlmStep, AStepIsThePythagoreanSumPlusReadingTheCache) {
  const LlmStep law{0.003, 0.001, 0.0001, 0.0005};
  EXPECT_DOUBLE_EQ(step_seconds(law, 4, 0), 0.005 + 0.0005);
  EXPECT_DOUBLE_EQ(step_seconds(law, 4, 20), 0.005 + 0.002 + 0.0005);
}

// Vidur measured 9.70 ms at one token and 272.9 ms at 4,096 on A100, without reading a cache and
// without the head, which reads 1.05 GB more at 0.7 of 2,039 GB/s.
TEST(LlmStep, Llama3StepsAsMeasured) {
  const LlmModel& model = *catalogue().find_llm_model("llama-3-8b-fp16/a100-80gb");
  LlmStep law = model.step;
  EXPECT_NEAR(model.head_s, 0.736e-3, 1e-6);
  EXPECT_DOUBLE_EQ(law.weights_s, 9.8e-3 + model.head_s);
  law.weights_s -= model.head_s;
  law.overhead_s = 0;
  EXPECT_NEAR(step_seconds(law, 1, 0), 9.70e-3, 0.02 * 9.70e-3);
  EXPECT_NEAR(step_seconds(law, 4096, 0), 272.9e-3, 0.02 * 272.9e-3);
}

TEST(LlmStep, CarriedFromA100MeetsTheFitOnH100) {
  const LlmModel& a100 = *catalogue().find_llm_model("llama-2-7b-fp16/a100-80gb");
  const LlmModel& h100 = *catalogue().find_llm_model("llama-2-7b-fp16/h100-80gb");
  const GpuModel& from = *catalogue().find_gpu("A100-80GB");
  const GpuModel& to = *catalogue().find_gpu("H100");
  ASSERT_TRUE(can_carry_over(from, to));
  const LlmStep carried = carried_over(a100.step, from, to);
  EXPECT_NEAR(carried.weights_s / h100.step.weights_s, 1, 0.05);
  EXPECT_NEAR(carried.token_s / h100.step.token_s, 1, 0.05);
  EXPECT_NEAR(carried.kv_read_s / h100.step.kv_read_s, 1, 0.001);
  EXPECT_EQ(carried.overhead_s, a100.step.overhead_s);
}

// FP32 would make an A10G faster than an A100.
TEST(LlmStep, NoCarryingOverWithoutATensorRate) {
  GpuModel silent = *catalogue().find_gpu("A10G");
  silent.fp16_tensor_tflops.reset();
  EXPECT_FALSE(can_carry_over(*catalogue().find_gpu("A100-80GB"), silent));
}

// An estimate was taken from A10's 125 TFLOPS: no kernel computes at more than its GPU's peak.
TEST(LlmModels, NoneComputesFasterThanItsGpu) {
  int held = 0;
  for (const LlmModel& model : catalogue().llm_models) {
    const GpuModel* gpu = catalogue().find_gpu(model.gpu_model);
    if (gpu == nullptr || !gpu->fp16_tensor_tflops) continue;
    const double tflops =
        2e-12 * static_cast<double>(model.layer_parameters.value_or(0)) / model.step.token_s;
    EXPECT_LT(tflops, *gpu->fp16_tensor_tflops) << model.name;
    EXPECT_GT(tflops, *gpu->fp16_tensor_tflops / 2) << model.name;
    ++held;
  }
  EXPECT_EQ(held, 9);
}

// Each token attends to those before it; t holds the first 4,096.
TEST(LlmStep, AttentionIsHalfTheSquareOfALongPrompt) {
  EXPECT_EQ(pairs_beyond(0, 4096), 0);
  EXPECT_EQ(pairs_beyond(4096, 1), 0.5);
  EXPECT_EQ(pairs_beyond(0, 10'096), 6000.0 * 6000 / 2);
  EXPECT_EQ(pairs_beyond(0, 7000) + pairs_beyond(7000, 3096), pairs_beyond(0, 10'096));
}

// 4 x 32 layers x 4,096 numbers of a pair, 2 x 6.98e9 operations of a token.
TEST(LlmStep, APairTakesItsOperationsAtTheRateOfTokens) {
  LlmModel llama;
  llama.kv_bytes_per_token = Bytes{131'072};
  EXPECT_EQ(pair_seconds(llama, 67.5e-6), 0);
  llama.shape = LlmLayers{32, 4096, 32, 8};
  llama.layer_parameters = 6'979'584'000;
  EXPECT_DOUBLE_EQ(pair_seconds(llama, 67.5e-6), 67.5e-6 * 4 * 32 * 4096 / (2 * 6'979'584'000.0));
}

TEST(LlmStep, AMigInstanceHasItsShares) {
  const LlmStep law = in_domain({0.008, 0.001, 0.0001, 0.0005, 0, 1e-9}, {0.25, 0.5});
  EXPECT_DOUBLE_EQ(law.pair_s, 4e-9);
  EXPECT_DOUBLE_EQ(law.weights_s, 0.016);
  EXPECT_DOUBLE_EQ(law.token_s, 0.004);
  EXPECT_DOUBLE_EQ(law.kv_read_s, 0.0002);
  EXPECT_DOUBLE_EQ(law.overhead_s, 0.0005);
}

const LlmStep kLlama{8e-3, 65e-6, 0.12e-6, 0.6e-3};

DomainClient client_on(double threads, const StepLoad& load) {
  DomainClient process;
  process.active_threads = threads;
  return client_of_step(in_domain(kLlama, of_threads(kWholeGpu, threads)), load, process);
}

// All but the overhead is GPU work: a prompt computes, an answer reads.
TEST(LlmStep, HasAShareOfTheGpuByWhatIsInIt) {
  const DomainClient prompt = client_on(1, {2000, 0});
  const double step_s = step_seconds(kLlama, 2000, 0);
  EXPECT_NEAR(prompt.gpu_part, 1 - 0.6e-3 / step_s, 1e-12);
  EXPECT_NEAR(prompt.compute + prompt.bandwidth, prompt.gpu_part, 1e-12);
  EXPECT_LT(prompt.bandwidth, 0.005);
  const DomainClient answer = client_on(1, {4, 4000});
  EXPECT_NEAR(answer.gpu_part, 1 - 0.6e-3 / step_seconds(kLlama, 4, 4000), 1e-12);
  EXPECT_LT(answer.compute, 0.005);
  EXPECT_EQ(answer.unlimited, 1);
}

// A prompt takes 1.64 times as long on half of the SMs, an answer as long as on all of them.
TEST(LlmStep, OnHalfOfTheSmsAPromptLeavesMore) {
  const DomainClient prompt = client_on(0.5, {2000, 0});
  EXPECT_NEAR(prompt.compute + prompt.bandwidth, kPrefillPerThreads * 0.5, 0.005);
  EXPECT_NEAR(prompt.unlimited, kPrefillPerThreads * 0.5, 0.005);
  const DomainClient answer = client_on(0.5, {4, 4000});
  EXPECT_NEAR(answer.bandwidth, answer.gpu_part, 0.01);
  EXPECT_NEAR(answer.unlimited, 1, 0.001);
}

// What attends is computing, of which a smaller part of the GPU has less.
TEST(LlmStep, AttentionOfAPromptComputes) {
  const DomainClient prompt = client_on(1, {2000, 0, 0, 0, 0.1});
  const double step_s = step_seconds(kLlama, 2000, 0) + 0.1;
  EXPECT_NEAR(prompt.gpu_part, 1 - 0.6e-3 / step_s, 1e-12);
  EXPECT_GT(prompt.compute, 0.95);
}

// What adapters are read for is work, what comes from the host is none.
TEST(LlmStep, CopiesFromTheHostLeaveTheGpuToOthers) {
  const double step_s = step_seconds(kLlama, 16, 0);
  const DomainClient reading = client_on(1, {16, 0, 2e-3, 0});
  EXPECT_NEAR(reading.gpu_part, 1 - 0.6e-3 / (step_s + 2e-3), 1e-12);
  const DomainClient copying = client_on(1, {16, 0, 0, 2e-3});
  EXPECT_NEAR(copying.gpu_part, 1 - 2.6e-3 / (step_s + 2e-3), 1e-12);
}

// Whatever the steps and the limits, no second has more than a second's work.
TEST(LlmStep, StepsSideBySideDoNoMoreThanTheGpu) {
  std::mt19937_64 random(7);
  const auto draw = [&](unsigned most) { return static_cast<double>(random() % most + 1); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<DomainClient> clients;
    const int count = static_cast<int>(draw(6));
    const double limit = draw(2) > 1 ? 1 : draw(100) / 100;
    for (int i = 0; i < count; ++i) {
      const double tokens = draw(2) > 1 ? draw(16) : draw(2048);
      clients.push_back(client_on(limit, {tokens, draw(100'000)}));
    }
    const std::vector<double> speeds = speeds_of(clients);
    double work = 0;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      work += speeds[i] * (clients[i].compute + clients[i].bandwidth);
    }
    EXPECT_LE(work, 1 + 1e-9) << count << " limited to " << limit;
  }
}

TEST(LlmModels, EveryFigureHasAReason) {
  for (const LlmModel& model : catalogue().llm_models) {
    SCOPED_TRACE(model.name);
    EXPECT_EQ(catalogue().find_llm_model(model.name), &model);
    EXPECT_FALSE(model.source.empty());
    for (const char* figure :
         {"weightsMs", "tokenMs", "kvReadMs", "overheadMs", "weightsMib", "kvBytesPerToken"}) {
      EXPECT_TRUE(model.provenance.contains(figure)) << figure;
    }
    if (const GpuModel* gpu = catalogue().find_gpu(model.gpu_model)) {
      EXPECT_NEAR(model.step.kv_read_s / cache_read_seconds(model.kv_bytes_per_token, *gpu), 1,
                  0.001);
    }
  }
  EXPECT_EQ(catalogue().find_llm_model("llama-2-7b-fp16/a40")->unusable, "no figures for A40");
  EXPECT_EQ(catalogue().find_llm_model("llama-2-7b-fp16/t4")->unusable, "");
}

TEST(LlmModels, SayWhatTheirFactsSay) {
  SLICEWISE_FACTS_OR_SKIP(facts, "workload_profiles.json");
  int compared = 0;
  for (const auto& fact : facts["llm_step"]) {
    if (!fact.contains("T_w_ms")) continue;  // saturated throughput, not a step law
    const std::string title = fact["model"].get<std::string>();
    const std::string gpu = fact["gpu"].get<std::string>();
    const GpuModel* known = catalogue().find_gpu(gpu);
    const LlmModel* model = nullptr;
    for (const LlmModel& candidate : catalogue().llm_models) {
      if (title == candidate.title + " " + candidate.precision &&
          candidate.gpu_model == (known == nullptr ? gpu : known->name)) {
        model = &candidate;
      }
    }
    ASSERT_NE(model, nullptr) << title << " on " << gpu;
    SCOPED_TRACE(model->name);
    EXPECT_DOUBLE_EQ(model->step.weights_s - model->head_s, fact["T_w_ms"].get<double>() * 1e-3);
    // The fact on A10G is an estimate by the tensor rate of A10, which is another.
    const double rate = model->gpu_model == "A10G" ? 70.0 / 125 : 1;
    EXPECT_NEAR(model->step.token_s * rate, fact["t_ms_per_token"].get<double>() * 1e-3, 1e-7);
    EXPECT_EQ(model->kv_bytes_per_token.count, fact["kv_bytes_per_token"].get<std::int64_t>());
    EXPECT_NEAR(static_cast<double>(model->weights.count),
                fact["weights_gib"].get<double>() * static_cast<double>(gibibytes(1).count),
                1 << 20);
    if (fact.contains("kv_read_ms_per_cached_token")) {
      EXPECT_NEAR(model->step.kv_read_s, fact["kv_read_ms_per_cached_token"].get<double>() * 1e-3,
                  1e-12);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

}  // namespace
}  // namespace slicewise::models
