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

TEST(LlmShape, WhatItDoesNotKnowItSays) {
  const auto experts =
      problems_of(config("mixtral", 32, 4096, 32, 8, 14336, 32000, R"(, "num_local_experts": 8)"));
  ASSERT_EQ(experts.size(), 1U);
  EXPECT_THAT(experts.front().message, HasSubstr("mixture of experts"));
  const auto other = problems_of(config("gpt2", 12, 768, 12, 12, 3072, 50257));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_THAT(other.front().help, HasSubstr("llama, mistral"));
  const auto way = problems_of(config("llama", 32, 4096, 32, 8, 14336, 128256,
                                      R"(, "quantization_config": {"quant_method": "made"})"));
  ASSERT_EQ(way.size(), 1U);
  EXPECT_EQ(way.front().code, Code::StrategyNotModelled);
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
