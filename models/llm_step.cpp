#include "slicewise/models/llm_step.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "slicewise/portable_math.hpp"

#include "whole_part.hpp"

namespace slicewise::models {
namespace {

// The small kernels of a layer, and 34 bytes read and written for each number of a token's hidden
// state. Fitted over microsoft/vidur's profiles of Llama on 1, 2, 4 and 8 GPUs (models/MODELS.md,
// "Several GPUs for one language model").
constexpr double kWholeOfLayerSeconds = 30e-6;
constexpr double kWholeBytesPerNumber = 34;
// Of a layer with experts the kernels of the router and those that sort its tokens, on top: what
// two published steps of one token have beyond the rest, 76 and 53 us (models/MODELS.md,
// "Profiles from a user's measurements").
constexpr double kWholeOfExpertsSeconds = 65e-6;

// Of the hidden state, in FP16.
constexpr double kBytesOfNumber = 2;

// After attention and after the MLP.
constexpr int kAllReducesOfLayer = 2;

// `time` where all but `whole` of it is as many `times` as long.
double beside_whole(double time, double whole, double times) {
  const double kept = std::min(time, whole);
  return kept + (time - kept) * times;
}

// The same as T_w, which is alike on all GPUs; 0 where nobody says how many layers there are.
double whole_weights_s(const std::optional<LlmLayers>& model) {
  if (!model) return 0;
  const double of_layer = kWholeOfLayerSeconds + (model->experts > 0 ? kWholeOfExpertsSeconds : 0);
  return model->layers * of_layer;
}

// GPU work of a step, in seconds.
struct StepWork {
  double compute_s = 0;
  double read_s = 0;

  double seconds() const { return compute_s + read_s; }
};

// On SMs that reach `rate` times what the law's do.
StepWork work_of(const LlmStep& law, const StepLoad& load, DomainShare rate) {
  const double compute_s = load.tokens * law.token_s / rate.compute;
  const double weights_s = weights_seconds(law, load.tokens) / rate.bandwidth;
  const double together_s = std::sqrt(weights_s * weights_s + compute_s * compute_s);
  const double attention_s = load.attention_s / rate.compute;
  const double caches_s = (load.cached * law.kv_read_s + load.adapters_s) / rate.bandwidth;
  if (together_s <= 0) return {attention_s, caches_s};
  return {compute_s * (compute_s / together_s) + attention_s,
          weights_s * (weights_s / together_s) + caches_s};
}

}  // namespace

double weights_seconds(const LlmStep& law, double tokens) {
  if (law.experts_s <= 0) return law.weights_s;
  constexpr double kNone = -50;  // of the logarithm of the part that nobody asks for
  const double idle = law.expert_part < 1 ? tokens * portable_log(1 - law.expert_part) : kNone;
  return law.weights_s + law.experts_s * (idle > kNone ? 1 - portable_exp(idle) : 1);
}

double step_seconds(const LlmStep& law, double tokens, double cached) {
  const double compute_s = tokens * law.token_s;
  const double weights_s = weights_seconds(law, tokens);
  return std::sqrt(weights_s * weights_s + compute_s * compute_s) + tokens * law.exchange_s +
         cached * law.kv_read_s + law.overhead_s;
}

double pairs_beyond(std::int64_t before, std::int64_t tokens) {
  const auto up_to = [](std::int64_t n) {
    const auto beyond = static_cast<double>(std::max<std::int64_t>(0, n - kAttendedByLaw));
    return beyond * beyond / 2;
  };
  return up_to(before + tokens) - up_to(before);
}

double cache_read_seconds(Bytes per_token, const GpuModel& gpu) {
  return static_cast<double>(per_token.count) /
         (kCacheBandwidthShare * gpu.memory_bandwidth_bytes_per_second);
}

double head_read_seconds(std::int64_t parameters, const GpuModel& gpu) {
  return cache_read_seconds({parameters * static_cast<std::int64_t>(kBytesOfNumber)}, gpu);
}

bool can_carry_over(const GpuModel& from, const GpuModel& to) {
  return &from == &to || (from.fp16_tensor_tflops && to.fp16_tensor_tflops);
}

LlmStep carried_over(const LlmStep& law, const GpuModel& from, const GpuModel& to) {
  if (&from == &to) return law;
  const double bandwidth =
      to.memory_bandwidth_bytes_per_second / from.memory_bandwidth_bytes_per_second;
  return in_domain(law, {*to.fp16_tensor_tflops / *from.fp16_tensor_tflops, bandwidth});
}

DomainShare of_threads(DomainShare share, double active_threads) {
  return {share.compute * std::min(1.0, kPrefillPerThreads * active_threads),
          share.bandwidth * std::min(1.0, kBandwidthPerThreads * active_threads)};
}

DomainClient client_of_step(const LlmStep& law, const StepLoad& load, const DomainClient& process) {
  const DomainShare limited = of_threads({}, process.active_threads);
  const StepWork here = work_of(law, load, {});
  const StepWork on_all = work_of(law, load, {1 / limited.compute, 1 / limited.bandwidth});
  const double off_s = law.overhead_s + load.tokens * law.exchange_s + load.off_the_gpu_s;
  const double step_s = here.seconds() + off_s;
  DomainClient client = process;
  client.gpu_part = here.seconds() / step_s;
  client.compute = on_all.compute_s / step_s;
  client.bandwidth = on_all.read_s / step_s;
  client.unlimited = (on_all.seconds() + off_s) / step_s;
  client.copies_by_law = true;
  return client;
}

LlmStep in_domain(const LlmStep& law, DomainShare share) {
  return {law.weights_s / share.bandwidth,
          law.token_s / share.compute,
          law.kv_read_s / share.bandwidth,
          law.overhead_s,
          law.exchange_s,
          law.pair_s / share.compute,
          law.experts_s / share.bandwidth,
          law.expert_part};
}

bool can_share(const LlmLayers& model, int gpus) {
  return model.heads % gpus == 0 && (model.kv_heads % gpus == 0 || gpus % model.kv_heads == 0);
}

double cache_part(const LlmLayers& model, int gpus) { return 1.0 / std::min(gpus, model.kv_heads); }

LlmStep whole_part(const LlmLayers& model, const GpuModel& gpu) {
  LlmStep whole;
  whole.weights_s = whole_weights_s(model);
  whole.token_s = static_cast<double>(model.layers) * model.hidden * kWholeBytesPerNumber /
                  gpu.memory_bandwidth_bytes_per_second;
  return whole;
}

LlmStep shared_step(const LlmStep& law, const LlmLayers& model, int gpus, const GpuModel& gpu) {
  assert(can_share(model, gpus));
  const LlmStep whole = whole_part(model, gpu);
  LlmStep each = law;
  each.weights_s = beside_whole(law.weights_s, whole.weights_s, 1.0 / gpus);
  each.token_s = beside_whole(law.token_s, whole.token_s, 1.0 / gpus);
  each.kv_read_s = law.kv_read_s * cache_part(model, gpus);
  each.pair_s = law.pair_s / gpus;
  each.experts_s = law.experts_s / gpus;
  return each;
}

LlmStep all_reduces(const LlmLayers& model, const AllReduceLink& link) {
  const double count = kAllReducesOfLayer * model.layers;
  LlmStep step;
  step.overhead_s = count * link.latency_s;
  step.exchange_s = count * model.hidden * kBytesOfNumber / link.bytes_per_second;
  return step;
}

LlmStep exchanging(LlmStep each, const LlmStep& all_reduces) {
  each.overhead_s += all_reduces.overhead_s;
  each.exchange_s += all_reduces.exchange_s;
  return each;
}

double arithmetic_gain(std::string_view precision, const GpuModel& gpu) {
  // "8.9", "10.0": a major of two digits is newer.
  const std::string& capability = gpu.compute_capability;
  const bool has_fp8 = capability.size() > 3 || capability >= "8.9";
  return precision == "FP8" && has_fp8 ? 2 : 1;
}

double active_parameters(const LlmModel& model) {
  const double idle = model.shape && model.shape->experts > 0
                          ? 1 - static_cast<double>(model.shape->chosen) / model.shape->experts
                          : 0;
  return static_cast<double>(*model.layer_parameters) -
         idle * static_cast<double>(model.expert_parameters);
}

double pair_seconds(const LlmModel& model, double token_s) {
  if (!model.shape || !model.layer_parameters) return 0;
  // L h: keys and values are 2 numbers of 2 bytes for each of the KV heads, queries have all heads.
  constexpr double kBytesOfKeyAndValue = 2 * kBytesOfNumber;
  const double numbers = static_cast<double>(model.kv_bytes_per_token.count) / kBytesOfKeyAndValue *
                         model.shape->heads / model.shape->kv_heads;
  return token_s * 2 * numbers / active_parameters(model);
}

LlmModel quantised(LlmModel model, std::string_view precision) {
  constexpr double kBefore = 2;
  const double bytes = precision == "FP8" ? kFp8WeightBytes : kInt4WeightBytes;
  const auto saved =
      static_cast<std::int64_t>(static_cast<double>(*model.layer_parameters) * (kBefore - bytes));
  model.weights.count = std::max<std::int64_t>(0, model.weights.count - saved);
  model.step.weights_s = beside_whole(model.step.weights_s,
                                      whole_weights_s(model.shape) + model.head_s, bytes / kBefore);
  model.step.experts_s *= bytes / kBefore;
  model.precision = precision;
  return model;
}

}  // namespace slicewise::models
