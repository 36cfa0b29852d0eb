// The step of a language model from benchmarks of its server: made by a server that goes token by
// token, known steps come back.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slicewise/models/llm_shape.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/reports/calibration_report.hpp"
#include "slicewise/sim/calibration.hpp"

#include "shipped.hpp"

namespace slicewise::sim {
namespace {

using models::LlmStep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr LlmStep kStep{9.1e-3, 63.7e-6, 0.3673e-6, 0.6e-3};

struct Benchmark {
  int at_once = 1;
  std::vector<int> inputs;
  std::vector<int> outputs;
};

Benchmark alike(int at_once, int input, int output) {
  const auto requests = static_cast<std::size_t>(std::max(8, 4 * at_once));
  return {at_once, std::vector<int>(requests, input), std::vector<int>(requests, output)};
}

struct Asked {
  double arrived = 0;
  double first = -1;
  int prefilled = 0;
  int answered = 0;
};

// Means over the requests, in ms: a step a turn of the loop.
struct Means {
  double first_token = 0;
  double per_token = 0;
};
Means serve(const LlmStep& law, const Benchmark& made, int most_tokens) {
  const std::size_t all = made.inputs.size();
  std::vector<Asked> requests(all);
  std::vector<std::size_t> running;
  std::size_t sent = 0;
  const auto with_later = static_cast<double>(
      std::ranges::count_if(made.outputs, [](int tokens) { return tokens > 1; }));
  Means means;
  double now = 0;
  for (std::size_t done = 0; done < all;) {
    for (; running.size() < static_cast<std::size_t>(made.at_once) && sent < all; ++sent) {
      requests[sent].arrived = now;
      running.push_back(sent);
    }
    int tokens = 0;
    double cached = 0;
    std::vector<int> chunks(running.size(), 0);
    for (std::size_t i = 0; i < running.size(); ++i) {
      const Asked& one = requests[running[i]];
      if (one.prefilled < made.inputs[running[i]]) continue;
      ++tokens;
      cached += one.prefilled + one.answered - 1;
    }
    int left = most_tokens - tokens;
    for (std::size_t i = 0; i < running.size() && left > 0; ++i) {
      const Asked& one = requests[running[i]];
      chunks[i] = std::min(left, made.inputs[running[i]] - one.prefilled);
      if (chunks[i] > 0) cached += one.prefilled;
      left -= chunks[i];
      tokens += chunks[i];
    }
    now += models::step_seconds(law, tokens, cached);
    for (std::size_t i = 0; i < running.size(); ++i) {
      Asked& one = requests[running[i]];
      const bool decodes = one.prefilled == made.inputs[running[i]];
      one.prefilled += chunks[i];
      if (decodes) ++one.answered;
      if (!decodes && chunks[i] > 0 && one.prefilled == made.inputs[running[i]]) {
        one.answered = 1;
        one.first = now;
      }
    }
    std::erase_if(running, [&](std::size_t number) {
      const Asked& one = requests[number];
      if (one.answered < made.outputs[number]) return false;
      means.first_token += 1e3 * (one.first - one.arrived) / static_cast<double>(all);
      ++done;
      if (one.answered == 1) return true;
      means.per_token += 1e3 * (now - one.first) / (one.answered - 1) / with_later;
      return true;
    });
  }
  return means;
}

// As `vllm bench serve --save-result --save-detailed` writes it.
std::string file_of(const Benchmark& made, double noise = 1, int most_tokens = 2048) {
  const Means means = serve(kStep, made, most_tokens);
  const auto sum = [](const std::vector<int>& lengths) {
    std::int64_t total = 0;
    for (const int length : lengths) total += length;
    return total;
  };
  return fmt::format(R"({{"date": "20261014-224400", "model_id": "llama", "request_rate": "inf", )"
                     R"("max_concurrency": {}, "completed": {}, "total_input_tokens": {}, )"
                     R"("total_output_tokens": {}, "mean_ttft_ms": {}, "mean_tpot_ms": {}, )"
                     R"("input_lens": [{}], "output_lens": [{}]}})",
                     made.at_once, made.inputs.size(), sum(made.inputs), sum(made.outputs),
                     means.first_token * noise, means.per_token / noise,
                     fmt::join(made.inputs, ", "), fmt::join(made.outputs, ", "));
}

FittedProfiles fitted_from(const std::vector<std::string>& files) {
  std::vector<models::Measurement> all;
  for (const std::string& text : files) {
    const auto read =
        models::read_measurements({"bench.json", text}, shipped(), {"", "A100-SXM4-80GB", {}, {}});
    EXPECT_TRUE(read.has_value()) << read.error().front().message;
    if (read) all.insert(all.end(), read->begin(), read->end());
  }
  auto fitted = fit_profiles(all, shipped());
  EXPECT_TRUE(fitted.has_value());
  return fitted ? *fitted : FittedProfiles{};
}

const FittedFigure& figure(const FittedStep& step, const std::string& name) {
  return *std::ranges::find(step.figures, name, &FittedFigure::name);
}

TEST(FitStep, KnownStepsComeBack) {
  const FittedProfiles fitted = fitted_from(
      {file_of(alike(1, 512, 128)), file_of(alike(8, 512, 128)), file_of(alike(64, 512, 128))});
  ASSERT_EQ(fitted.steps.size(), 1U);
  const FittedStep& step = fitted.steps.front();
  EXPECT_LT(step.mean_error_percent, 0.5);
  EXPECT_LT(*step.left_out_error_percent, 5);
  EXPECT_NEAR(step.step.weights_s, kStep.weights_s, 0.03 * kStep.weights_s);
  EXPECT_NEAR(step.step.token_s, kStep.token_s, 0.03 * kStep.token_s);
  EXPECT_NEAR(step.step.kv_read_s, kStep.kv_read_s, 0.1 * kStep.kv_read_s);
  for (const char* const name : {"weightsTime", "tokenTime", "cacheReadTime"}) {
    EXPECT_EQ(figure(step, name).basis, "fitted") << name;
  }
  // Its part of every step is that of the weights as well.
  EXPECT_THAT(step.undetermined, ElementsAre("overhead"));
}

// Answers of many lengths end at different times: where the file lists them, the fit follows.
TEST(FitStep, LengthsOfADetailedFileCount) {
  std::vector<std::string> files;
  for (const int at_once : {2, 16, 48}) {
    Benchmark made{at_once, {}, {}};
    for (int n = 0; n < 4 * at_once; ++n) {
      made.inputs.push_back(40 + 137 * n % 900);
      made.outputs.push_back(10 + 61 * n % 300);
    }
    files.push_back(file_of(made));
  }
  const FittedStep step = fitted_from(files).steps.at(0);
  EXPECT_LT(step.mean_error_percent, 0.5);
  EXPECT_NEAR(step.step.weights_s, kStep.weights_s, 0.05 * kStep.weights_s);
  EXPECT_NEAR(step.step.token_s, kStep.token_s, 0.05 * kStep.token_s);
}

// The tool's usual number of prompts, of as many lengths: minutes, where every step of the search
// went through all of their steps.
TEST(FitStep, AThousandRequestsOfEachRunAreFitted) {
  std::vector<std::string> files;
  for (const int at_once : {1, 8, 64}) {
    Benchmark made{at_once, {}, {}};
    for (int n = 0; n < 1000; ++n) {
      made.inputs.push_back(40 + 137 * n % 900);
      made.outputs.push_back(1 + 61 * n % 300);
    }
    files.push_back(file_of(made));
  }
  const FittedStep step = fitted_from(files).steps.at(0);
  EXPECT_LT(step.mean_error_percent, 0.1);
  EXPECT_NEAR(step.step.token_s, kStep.token_s, 0.01 * kStep.token_s);
  EXPECT_NEAR(step.step.kv_read_s, kStep.kv_read_s, 0.05 * kStep.kv_read_s);
}

// vLLM's server takes 8,192 tokens a step on H100: held for 2,048, tokens came out too slow, the
// cache ten times too fast.
TEST(FitStep, TheMostTokensOfAStepAreFoundOrSaidToBeTaken) {
  std::vector<std::string> files;
  for (const int at_once : {1, 4, 16, 48}) {
    Benchmark made{at_once, {}, {}};
    for (int n = 0; n < 60; ++n) {
      made.inputs.push_back(200 + 137 * n % 1300);
      made.outputs.push_back(20 + 61 * n % 100);
    }
    files.push_back(file_of(made, 1, 8192));
  }
  const FittedProfiles large = fitted_from(files);
  const FittedStep& step = large.steps.at(0);
  EXPECT_EQ(step.most_tokens, 8192);
  EXPECT_TRUE(step.tokens_told);
  EXPECT_LT(step.mean_error_percent, 0.5);
  EXPECT_NEAR(step.step.token_s, kStep.token_s, 0.03 * kStep.token_s);
  EXPECT_NEAR(step.step.kv_read_s, kStep.kv_read_s, 0.1 * kStep.kv_read_s);
  EXPECT_THAT(reports::calibration_table(large, {}), HasSubstr("maxBatchedTokens: 8192}"));

  const FittedProfiles any =
      fitted_from({file_of(alike(1, 512, 64)), file_of(alike(4, 256, 64), 1, 8192)});
  EXPECT_EQ(any.steps.at(0).most_tokens, 2048);
  EXPECT_FALSE(any.steps.at(0).tokens_told);
  EXPECT_THAT(reports::calibration_table(any, {}), HasSubstr("are taken as 2048"));
}

// Requests that came one by one wait less for each other's prompts than a file without lengths
// tells: what such a time to the first token is believed does not spoil the rest.
TEST(FitStep, WaitsForOthersCountLittleWhereLengthsAreNotListed) {
  std::vector<std::string> files;
  for (const int at_once : {1, 8, 64}) {
    std::string text = file_of(alike(at_once, 512, 128));
    text = text.substr(0, text.find(", \"input_lens\"")) + "}";
    const std::size_t first = text.find("\"mean_ttft_ms\": ") + 16;
    if (at_once > 1) text.insert(first, "1");  // ten times and more
    files.push_back(text);
  }
  const FittedStep step = fitted_from(files).steps.at(0);
  EXPECT_FALSE(step.tokens_told);
  EXPECT_LT(step.mean_error_percent, 5);
  EXPECT_NEAR(step.step.token_s, kStep.token_s, 0.2 * kStep.token_s);
  EXPECT_NEAR(step.step.weights_s, kStep.weights_s, 0.1 * kStep.weights_s);
}

// Times to the first token that fit an overhead of 27 ms as well as weights that take so long: the
// size of the model says which it is (16 GB over 600 GB/s take 27 ms).
TEST(FitStep, TheSizeOfTheModelTellsWeightsFromOverhead) {
  std::vector<models::Measurement> all;
  const std::array<std::array<double, 3>, 3> runs{{{1, 55, 27.3}, {8, 160, 28.2}, {32, 420, 31}}};
  for (const auto& run : runs) {
    const std::string text = fmt::format(
        R"({{"model_id": "llama", "request_rate": "inf", "max_concurrency": {}, "completed": 64,
             "total_input_tokens": 16384, "total_output_tokens": 8192, "mean_ttft_ms": {},
             "mean_tpot_ms": {}, "input_lens": [{}], "output_lens": [{}]}})",
        run[0], run[1], run[2], fmt::join(std::vector<int>(64, 256), ", "),
        fmt::join(std::vector<int>(64, 128), ", "));
    const auto read = models::read_measurements({"b.json", text}, shipped(), {"", "A10G"});
    ASSERT_TRUE(read.has_value()) << read.error().front().message;
    all.push_back(read->front());
  }
  auto shape = models::read_llm_shape(
      {"config.json", R"({"model_type": "llama", "_name_or_path": "llama", "hidden_size": 4096,
                          "num_attention_heads": 32, "num_key_value_heads": 8,
                          "num_hidden_layers": 32, "intermediate_size": 14336,
                          "vocab_size": 128256, "torch_dtype": "bfloat16"})"});
  ASSERT_TRUE(shape.has_value()) << shape.error().front().message;
  const auto fitted = fit_profiles(all, shipped(), std::vector{*shape});
  ASSERT_TRUE(fitted.has_value());
  const FittedStep& step = fitted->steps.at(0);
  EXPECT_TRUE(step.size_known);
  EXPECT_GT(step.step.weights_s, 22e-3);
  EXPECT_LT(step.step.overhead_s, 5e-3);
  const auto unknown = fit_profiles(all, shipped());
  ASSERT_TRUE(unknown.has_value());
  EXPECT_THAT(reports::calibration_table(*unknown, {}), HasSubstr("config.json as well"));
  // The same, with experts: what they weigh beside the rest is by its config.json.
  shape->expert_intermediate = shape->intermediate;
  shape->intermediate = 0;
  shape->experts = 8;
  shape->chosen = 2;
  const auto of_experts = fit_profiles(all, shipped(), std::vector{*shape});
  ASSERT_TRUE(of_experts.has_value());
  const models::LlmStep& mixed = of_experts->steps.at(0).step;
  EXPECT_EQ(mixed.expert_part, 0.25);
  EXPECT_GT(mixed.experts_s, 2 * mixed.weights_s);
  EXPECT_LT(mixed.weights_s, step.step.weights_s);
}

TEST(FitStep, IntervalsWidenWithTheNoise) {
  const auto width_with = [](double noise) {
    const FittedStep step =
        fitted_from({file_of(alike(1, 512, 64), noise), file_of(alike(8, 512, 64), 1 / noise),
                     file_of(alike(32, 512, 64), noise)})
            .steps.at(0);
    return *figure(step, "tokenTime").half_width_95 / figure(step, "tokenTime").value;
  };
  EXPECT_GT(width_with(1.2), 2 * width_with(1));
}

// Requests at once were taken for the batch of a profile, of which a page was shown and written.
TEST(FitStep, RunsThatGiveAStepGiveNoProfiles) {
  const FittedProfiles fitted =
      fitted_from({file_of(alike(1, 512, 64)), file_of(alike(32, 512, 64))});
  EXPECT_EQ(fitted.steps.size(), 1U);
  EXPECT_THAT(fitted.profiles, IsEmpty());
  EXPECT_EQ(fitted.date, "2026-10-14");
  EXPECT_THAT(reports::calibration_table(fitted, {}), testing::Not(HasSubstr("soloMs")));
}

TEST(FitStep, OneRunTellsNoPartsApart) {
  const FittedProfiles fitted = fitted_from({file_of(alike(8, 512, 64))});
  EXPECT_THAT(fitted.steps, IsEmpty());
  EXPECT_EQ(fitted.profiles.size(), 1U);
  ASSERT_EQ(fitted.notes.size(), 1U);
  EXPECT_THAT(fitted.notes.front().help, HasSubstr("--max-concurrency"));
}

// Requests that come by a rate of their own wait in other ways.
TEST(FitStep, RunsAtARateAreNotTaken) {
  std::string text = file_of(alike(8, 512, 64));
  text.replace(text.find("\"inf\""), 5, "4.0");
  const FittedProfiles fitted = fitted_from({text, file_of(alike(1, 512, 64))});
  EXPECT_THAT(fitted.steps, IsEmpty());
}

// More at once than there are requests is all of them; a day of long prompts has many tokens.
TEST(FitStep, HugeCountsAreAnswered) {
  std::string many = file_of(alike(32, 512, 64));
  many.replace(many.find("\"max_concurrency\": 32"), 21, "\"max_concurrency\": 1000000000");
  std::string all = file_of(alike(1, 512, 64));
  all = all.substr(0, all.find(", \"input_lens\"")) + "}";
  all.replace(all.find("\"total_input_tokens\": ") + 22, 4, "4000000000");
  EXPECT_EQ(fitted_from({many, all}).steps.size(), 1U);
}

// `run --inputs sampled` draws them: half widths of all four times, in ms, and how they hang
// together.
TEST(FitStep, AModelCarriesWhatIsNotKnownOfItsStep) {
  FittedProfiles fitted = fitted_from(
      {file_of(alike(1, 512, 128)), file_of(alike(8, 512, 128)), file_of(alike(64, 512, 128))});
  models::LlmShape shape;
  shape.name = "llama";
  shape.layers = 32;
  shape.hidden = 4096;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.head_size = 128;
  shape.intermediate = 14336;
  shape.vocabulary = 128256;
  shape.precision = "BF16";
  EXPECT_THAT(add_models({&shape, 1}, {"", "A100-SXM4-80GB", {}, {}}, shipped(), fitted),
              IsEmpty());
  ASSERT_EQ(fitted.models.size(), 1U);
  const auto& uncertain = fitted.models.front().uncertainty;
  ASSERT_EQ(uncertain.size(), 4U);
  EXPECT_EQ(uncertain[0].figure, "weightsMs");
  EXPECT_NEAR(uncertain[0].half_width_95,
              *figure(fitted.steps.front(), "weightsTime").half_width_95, 1e-9);
  EXPECT_EQ(uncertain[3].figure, "overheadMs");
  // What is not the host's part of a step is that of the weights.
  EXPECT_LT(uncertain[3].correlations.at("weightsMs"), -0.5);
  EXPECT_GE(uncertain[3].correlations.at("weightsMs"), -1);
}

TEST(FitStep, IsShownAsAScenarioHasIt) {
  const FittedProfiles fitted =
      fitted_from({file_of(alike(1, 512, 64)), file_of(alike(32, 512, 64))});
  const std::string text = reports::calibration_table(fitted, {});
  EXPECT_THAT(text, HasSubstr("llama on A100-SXM4-80GB: a step"));
  EXPECT_THAT(text, HasSubstr("step: {weightsTime: 9."));
}

}  // namespace
}  // namespace slicewise::sim
