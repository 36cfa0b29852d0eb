#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

// How long a language model takes for one step of continuous batching, as pure functions of
// catalogue figures.
namespace slicewise::models {

// T(N tokens, C cached tokens) = || weights_s, N token_s ||_2 + C kv_read_s + overhead_s, in
// seconds of one GPU. A step of few tokens (decoding) reads the weights once, one of many
// (prefill) is bound by compute; C counts what the attention reads: the contexts of all sequences
// of the step. Source of the form: fits over microsoft/vidur's profiles of Llama-2-7B, 1 to 4,096
// tokens (1.9 % mean error on A100, 3.3 % on H100, 3.8 % on A40). Not in it: the compute of
// attention, which grows with the square of a prompt's length and counts from about 8,000 tokens
// on.
struct LlmStep {
  double weights_s = 0;   // T_w: the weights are read once
  double token_s = 0;     // t: compute of one token
  double kv_read_s = 0;   // r: reading the cache of one token
  double overhead_s = 0;  // of the framework, per step
};

// T in seconds. REQUIRES: tokens, cached >= 0.
double step_seconds(const LlmStep& law, double tokens, double cached);

// Reading the KV cache reaches this share of the peak memory bandwidth, as the weights do on A100.
inline constexpr double kCacheBandwidthShare = 0.7;

// r of a model whose cache holds `per_token` bytes of each token.
double cache_read_seconds(Bytes per_token, const GpuModel& gpu);

// The step on another GPU: T_w and r with the memory bandwidth, t with the FP16 throughput of the
// tensor cores; the overhead is the host's and stays. An estimate: A100 -> H100 gives T_w 4 % below
// and t 2 % below the fit on H100.
// REQUIRES: both GPUs have a tensor rate, or are the same (can_carry_over).
LlmStep carried_over(const LlmStep& law, const GpuModel& from, const GpuModel& to);
bool can_carry_over(const GpuModel& from, const GpuModel& to);

// The step on a part of the GPU, such as a MIG instance.
LlmStep in_domain(const LlmStep& law, DomainShare share);

// A published language model on one GPU model.
struct LlmModel {
  std::string name;       // stable id for scenario files: "llama-2-7b-fp16/a100-80gb"
  std::string title;      // "Llama-2-7B"
  std::string gpu_model;  // GpuModel::name, or the published name when EC2 has no such GPU
  std::string precision;
  LlmStep step;
  Bytes weights;
  Bytes kv_bytes_per_token;  // 2 x layers x KV heads x head size x bytes of a number
  std::optional<std::int64_t> layer_parameters;  // without embeddings and head
  std::string source;
  std::string date;                               // when the source was read
  std::map<std::string, std::string> provenance;  // figure -> "measured ...", "estimate ..."
  std::string note;
  std::string unusable;  // why no scenario can run it, half a sentence; "" when one can
};

}  // namespace slicewise::models
