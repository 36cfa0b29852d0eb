// Parameters of published models by their config.json, and steps derived of one family held to
// those that were measured of another.
#include "slicewise/models/llm_shape.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shipped_catalogue.hpp"

namespace slicewise::models {
namespace {

using testing::HasSubstr;

std::string config(const std::string& type, int layers, int hidden, int heads, int kv_heads,
                   int intermediate, int vocabulary, const std::string& more = "") {
  return fmt::format(
      R"({{"_name_or_path": "org/made", "architectures": ["X"], "model_type": "{}", )"
      R"("num_hidden_layers": {}, "hidden_size": {}, "num_attention_heads": {}, )"
      R"("num_key_value_heads": {}, "intermediate_size": {}, "vocab_size": {}, )"
      R"("rope_scaling": null, "torch_dtype": "bfloat16"{}}})",
      type, layers, hidden, heads, kv_heads, intermediate, vocabulary, more);
}

const std::string kLlama2 = config("llama", 32, 4096, 32, 32, 11008, 32000);
const std::string kLlama3 = config("llama", 32, 4096, 32, 8, 14336, 128256);
const std::string kLlama3Large = config("llama", 80, 8192, 64, 8, 28672, 128256);

const std::string kMixtral = config("mixtral", 32, 4096, 32, 8, 14336, 32000,
                                    R"(, "num_local_experts": 8, "num_experts_per_tok": 2)");
const std::string kQwenOfExperts =
    config("qwen3_moe", 48, 2048, 32, 4, 6144, 151936,
           R"(, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768)"
           R"(, "head_dim": 128)");

LlmShape shape_of(const std::string& text) {
  EXPECT_TRUE(is_llm_shape({"config.json", text}));
  const auto shape = read_llm_shape({"config.json", text});
  EXPECT_TRUE(shape.has_value()) << shape.error().front().message;
  return shape ? *shape : LlmShape{};
}

Diagnostics problems_of(const std::string& text) {
  const auto shape = read_llm_shape({"config.json", text});
  return shape ? Diagnostics{} : shape.error();
}

// As safetensors' indices of the published weights add up; Qwen's biases are 129,024 more.
TEST(LlmShape, HasTheParametersOfPublishedModels) {
  EXPECT_EQ(shape_of(kLlama2).parameters(), 6'738'415'616);
  EXPECT_EQ(shape_of(kLlama3).parameters(), 8'030'261'248);
  EXPECT_EQ(shape_of(kLlama3Large).parameters(), 70'553'706'496);
  EXPECT_EQ(shape_of(config("mistral", 32, 4096, 32, 8, 14336, 32000, R"(, "head_dim": null)"))
                .parameters(),
            7'241'732'096);
  EXPECT_NEAR(
      static_cast<double>(shape_of(config("qwen2", 28, 3584, 28, 4, 18944, 152064)).parameters()),
      7'615'616'512.0, 2e5);
}

TEST(LlmShape, KeysAndValuesAreThoseOfTheCatalogue) {
  EXPECT_EQ(shape_of(kLlama2).kv_bytes_per_token(), Bytes{524'288});
  EXPECT_EQ(shape_of(kLlama3).kv_bytes_per_token(), Bytes{131'072});
}

TEST(LlmShape, QuantisedLayersWeighLess) {
  const LlmShape half = shape_of(kLlama3);
  const LlmShape fp8 = shape_of(config("llama", 32, 4096, 32, 8, 14336, 128256,
                                       R"(, "quantization_config": {"quant_method": "fp8"})"));
  EXPECT_EQ(fp8.precision, "FP8");
  EXPECT_EQ(half.weights().count - fp8.weights().count, half.layer_parameters());
  const LlmShape awq =
      shape_of(config("llama", 32, 4096, 32, 8, 14336, 128256,
                      R"(, "quantization_config": {"quant_method": "awq", "bits": 4})"));
  EXPECT_EQ(awq.precision, "INT4");
  EXPECT_LT(awq.weights(), fp8.weights());
}

// vLLM's --dtype auto; they weighed twice as much.
TEST(LlmShape, CheckpointsInFp32AreServedInFp16) {
  std::string text = kLlama3;
  const std::string dtype = "bfloat16";
  text.replace(text.find(dtype), dtype.size(), "float32");
  const LlmShape single = shape_of(text);
  EXPECT_EQ(single.weights(), shape_of(kLlama3).weights());
  EXPECT_EQ(single.precision, "FP16");
  const LlmModel model = model_of(single, "made", catalogue().gpus.front());
  EXPECT_THAT(model.provenance.at("weightsMib"), HasSubstr("FP32 made FP16"));
}

// Keys and values of windows are fewer: how long a request may be says nothing of its cache.
TEST(LlmShape, TheContextIsWhatAllLayersLookBackOver) {
  const auto context = [](const std::string& more) {
    return shape_of(config("qwen2", 28, 3584, 28, 4, 18944, 152064,
                           R"(, "max_position_embeddings": 32768)" + more))
        .context_length;
  };
  EXPECT_EQ(context(""), 32768);
  EXPECT_EQ(context(R"(, "sliding_window": 131072, "use_sliding_window": false)"), 32768);
  EXPECT_EQ(context(R"(, "sliding_window": 4096)"), std::nullopt);
  EXPECT_EQ(shape_of(kLlama3).context_length, std::nullopt);
}

// Each family from the other's, on every GPU that has both.
TEST(DerivedStep, IsCloseToTheMeasuredOne) {
  const Catalogue& shipped = catalogue();
  int held = 0;
  for (const LlmModel& measured : shipped.llm_models) {
    const GpuModel* gpu = shipped.find_gpu(measured.gpu_model);
    if (gpu == nullptr) continue;
    std::vector<LlmModel> others;
    std::ranges::copy_if(shipped.llm_models, std::back_inserter(others),
                         [&](const LlmModel& other) { return other.title != measured.title; });
    const LlmShape shape = shape_of(measured.title == "Llama-2-7B"   ? kLlama2
                                    : measured.title == "Llama-3-8B" ? kLlama3
                                                                     : kLlama3Large);
    LlmModel made = model_of(shape, "made", *gpu);
    if (!derive_step(shape, *gpu, others, shipped.gpus, made)) continue;
    SCOPED_TRACE(measured.name);
    // 70B is made of what is a tenth as large.
    const double bound = measured.title == "Llama-3-70B" ? 0.07 : 0.06;
    EXPECT_NEAR(made.step.weights_s, measured.step.weights_s, bound * measured.step.weights_s);
    EXPECT_NEAR(made.step.token_s, measured.step.token_s, bound * measured.step.token_s);
    EXPECT_NEAR(made.step.kv_read_s, measured.step.kv_read_s, 0.01 * measured.step.kv_read_s);
    EXPECT_NEAR(static_cast<double>(made.weights.count),
                static_cast<double>(measured.weights.count),
                0.01 * static_cast<double>(made.weights.count));
    ++held;
  }
  EXPECT_GE(held, 7);
}

TEST(DerivedStep, HalfTheBytesAreReadInHalfTheTimeAndFp8CoresComputeTwiceAsFast) {
  const Catalogue& shipped = catalogue();
  const GpuModel& gpu = *shipped.find_gpu("H100-SXM5-80GB");
  const auto step_of = [&](const std::string& more) {
    const LlmShape shape = shape_of(config("llama", 32, 4096, 32, 8, 14336, 128256, more));
    LlmModel made = model_of(shape, "made", gpu);
    EXPECT_TRUE(derive_step(shape, gpu, shipped.llm_models, shipped.gpus, made));
    return made.step;
  };
  const LlmStep half = step_of("");
  const LlmStep fp8 = step_of(R"(, "quantization_config": {"quant_method": "fp8"})");
  const double same_s = 32 * 30e-6 + head_read_seconds(std::int64_t{128256} * 4096, gpu);
  EXPECT_DOUBLE_EQ(fp8.weights_s, same_s + (half.weights_s - same_s) / 2);
  EXPECT_DOUBLE_EQ(fp8.token_s, half.token_s / 2);
}

// As safetensors' indices of the published weights add up; Qwen's norms of queries and keys are
// 12,288 more.
TEST(LlmShape, OfExpertsATokenAsksForAPart) {
  const LlmShape mixtral = shape_of(kMixtral);
  EXPECT_EQ(mixtral.parameters(), 46'702'792'704);
  EXPECT_EQ(mixtral.kv_bytes_per_token(), Bytes{131'072});
  EXPECT_EQ(shape_of(kQwenOfExperts).parameters(), 30'532'122'624 - 12'288);
  const LlmModel model = model_of(shape_of(kQwenOfExperts), "made", catalogue().gpus.front());
  // "3.3B of them activated", with embeddings and head.
  EXPECT_NEAR(active_parameters(model) + 2.0 * 151936 * 2048, 3.3e9, 0.1e9);
}

// What vLLM's kernel takes for the experts of one layer, by tokens, on H100 (0.19.0) and A100
// (0.14.0), where some are asked for more often than others (power_law_1.01). Source:
// ai-dynamo/aiconfigurator @095f58a5, systems/data/*/moe/vllm/*/moe_perf.parquet (Apache-2.0).
TEST(DerivedStep, ExpertsAreReadAsTheirKernelsWereMeasured) {
  struct Kernel {
    const char* gpu;
    const std::string& config;
    std::vector<std::pair<int, double>> measured_ms;
  };
  const std::vector<Kernel> kernels = {
      {"H100-SXM5-80GB", kMixtral, {{1, 0.254}, {2, 0.394}, {8, 0.955}, {32, 1.034}, {64, 1.094}}},
      {"H100-SXM5-80GB",
       kQwenOfExperts,
       {{1, 0.043}, {2, 0.069}, {8, 0.176}, {32, 0.357}, {64, 0.378}}},
      {"A100-SXM4-80GB", kMixtral, {{1, 0.454}, {2, 0.684}, {8, 1.615}, {32, 2.469}, {64, 2.558}}},
      {"A100-SXM4-80GB",
       kQwenOfExperts,
       {{1, 0.062}, {2, 0.108}, {8, 0.283}, {32, 0.604}, {64, 0.663}}}};
  const Catalogue& shipped = catalogue();
  double off = 0;
  int rows = 0;
  for (const Kernel& kernel : kernels) {
    const GpuModel& gpu = *shipped.find_gpu(kernel.gpu);
    const LlmShape shape = shape_of(kernel.config);
    LlmModel made = model_of(shape, "made", gpu);
    ASSERT_TRUE(derive_step(shape, gpu, shipped.llm_models, shipped.gpus, made));
    for (const auto& [tokens, ms] : kernel.measured_ms) {
      LlmStep experts = made.step;
      experts.weights_s = 0;
      const double derived_ms = 1e3 * weights_seconds(experts, tokens) / shape.layers;
      EXPECT_NEAR(derived_ms, ms, 0.37 * ms) << kernel.gpu << ", " << tokens << " tokens";
      off += std::abs(derived_ms / ms - 1);
      ++rows;
    }
  }
  EXPECT_LT(off / rows, 0.2);
}

// tenstorrent/tt-inference-server#340 (vLLM), and baseten.co's "Faster Mixtral inference with
// TensorRT-LLM and quantization" (81 tokens/s).
TEST(DerivedStep, StepsOfOneTokenWithExpertsAreAsPublished) {
  const Catalogue& shipped = catalogue();
  const GpuModel& gpu = *shipped.find_gpu("A100-SXM4-80GB");
  const std::string int8 = config("mixtral", 32, 4096, 32, 8, 14336, 32000,
                                  R"(, "num_local_experts": 8, "num_experts_per_tok": 2, )"
                                  R"("quantization_config": {"quant_method": "gptq", "bits": 8})");
  for (const auto& [text, published_ms] : {std::pair(kQwenOfExperts, 9.6), {int8, 12.3}}) {
    const LlmShape shape = shape_of(text);
    LlmModel made = model_of(shape, "made", gpu);
    ASSERT_TRUE(derive_step(shape, gpu, shipped.llm_models, shipped.gpus, made));
    EXPECT_NEAR(1e3 * step_seconds(made.step, 1, 256), published_ms, 0.08 * published_ms);
  }
}

// A step of one token reads what it asks for, one of many all that there is.
TEST(DerivedStep, TheMoreTokensTheMoreExpertsAreRead) {
  const Catalogue& shipped = catalogue();
  const GpuModel& gpu = *shipped.find_gpu("H100-SXM5-80GB");
  const LlmShape shape = shape_of(kMixtral);
  LlmModel made = model_of(shape, "made", gpu);
  ASSERT_TRUE(derive_step(shape, gpu, shipped.llm_models, shipped.gpus, made));
  const LlmStep& step = made.step;
  EXPECT_DOUBLE_EQ(weights_seconds(step, 1), step.weights_s + step.experts_s / 4);
  for (const double many : {1e3, 1e9}) {
    EXPECT_NEAR(weights_seconds(step, many), step.weights_s + step.experts_s, 1e-12);
  }
  EXPECT_DOUBLE_EQ(weights_seconds(in_domain(step, {0.5, 0.5}), 1), 2 * weights_seconds(step, 1));
  const LlmStep each = shared_step(step, *made.shape, 2, gpu);
  EXPECT_DOUBLE_EQ(each.experts_s, step.experts_s / 2);
  const LlmModel fp8 = quantised(made, "FP8");
  EXPECT_DOUBLE_EQ(fp8.step.experts_s, step.experts_s / 2);
  EXPECT_NEAR(static_cast<double>(fp8.weights.count), static_cast<double>(made.weights.count) / 2,
              0.01 * 1e11);
}

TEST(LlmShape, WhatItDoesNotKnowItSays) {
  const auto experts = problems_of(kQwenOfExperts.substr(0, kQwenOfExperts.size() - 1) +
                                   R"(, "mlp_only_layers": [0, 1]})");
  ASSERT_EQ(experts.size(), 1U);
  EXPECT_THAT(experts.front().message, HasSubstr("in some of its layers only"));
  const auto other = problems_of(config("gpt2", 12, 768, 12, 12, 3072, 50257));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_THAT(other.front().help, HasSubstr("llama, mistral"));
  const auto way = problems_of(config("llama", 32, 4096, 32, 8, 14336, 128256,
                                      R"(, "quantization_config": {"quant_method": "made"})"));
  ASSERT_EQ(way.size(), 1U);
  EXPECT_EQ(way.front().code, Code::StrategyNotModelled);
  EXPECT_EQ(problems_of(config("llama", 32, 4096, 32, 8, 14336, 128256,
                               R"(, "quantization_config": {"quant_method": 3})"))
                .size(),
            1U);
  const auto dense =
      problems_of(config("llama", 32, 4096, 32, 8, 14336, 128256, R"(, "num_experts": 128)"));
  ASSERT_EQ(dense.size(), 1U) << "their experts would weigh nothing";
  EXPECT_THAT(dense.front().message, HasSubstr("of no llama that is known"));
  EXPECT_EQ(problems_of(R"({"model_type": "llama", "num_hidden_layers": -1})").size(), 5U);
}

// Products of the largest numbers that are taken stay numbers; more keys than queries are none.
TEST(LlmShape, TheLargestOneIsCounted) {
  const LlmShape largest = shape_of(config("llama", 1000, 1000000, 10000, 10000, 1000000, 1000000,
                                           R"(, "head_dim": 10000, "dtype": "float32")"));
  EXPECT_GT(largest.parameters(), std::int64_t{400'000'000'000'000'000});
  EXPECT_GT(largest.weights(), Bytes{largest.parameters()});
  EXPECT_EQ(problems_of(config("llama", 1001, 4096, 32, 64, 11008, 32000)).size(), 2U);
}

}  // namespace
}  // namespace slicewise::models
