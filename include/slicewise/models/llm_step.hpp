#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/models/uncertainty.hpp"
#include "slicewise/units.hpp"

// How long a language model takes for one step of continuous batching, as pure functions of
// catalogue figures.
namespace slicewise::models {

// T(N tokens, C cached tokens) = || weights_s, N token_s ||_2 + N exchange_s + C kv_read_s +
// overhead_s, in seconds. A step of few tokens (decoding) reads the weights once, one of many
// (prefill) is bound by compute; C counts what the attention reads: the contexts of all sequences
// of the step. Of a mixture of experts T_w grows with the tokens, as more of its experts are asked
// for: weights_seconds(). Source of the form: fits over microsoft/vidur's profiles of Llama-2-7B, 1
// to 4,096 tokens (1.9 % mean error on A100, 3.3 % on H100, 3.8 % on A40). The attention of longer
// prompts comes on top: pairs_beyond() x pair_s.
struct LlmStep {
  double weights_s = 0;    // T_w: the weights are read once
  double token_s = 0;      // t: compute of one token
  double kv_read_s = 0;    // r: reading the cache of one token
  double overhead_s = 0;   // of the framework, per step
  double exchange_s = 0;   // e: what GPUs that share the layers tell each other of one token
  double pair_s = 0;       // a: attention of one token to one before it
  double experts_s = 0;    // reading all experts, beside the weights that every token needs
  double expert_part = 0;  // ... of which one token asks for this part
};

// Its times as catalogues name them, in ms.
struct StepTime {
  std::string_view figure;
  double LlmStep::*seconds;
};
inline constexpr std::array<StepTime, 4> kStepTimes{{{"weightsMs", &LlmStep::weights_s},
                                                     {"tokenMs", &LlmStep::token_s},
                                                     {"kvReadMs", &LlmStep::kv_read_s},
                                                     {"overheadMs", &LlmStep::overhead_s}}};

// T_w of a step of N tokens: weights_s + experts_s (1 - (1 - expert_part)^N), the experts that are
// asked for where each token chooses for itself, all of them alike. Source: MoESD (Huang et al.
// 2025, arXiv:2505.19645), section 3.1; real routers choose some more often, and so read less.
double weights_seconds(const LlmStep& law, double tokens);

// T in seconds. REQUIRES: tokens, cached >= 0.
double step_seconds(const LlmStep& law, double tokens, double cached);

// t is of prompts of up to so many tokens, and holds the attention to these.
inline constexpr std::int64_t kAttendedByLaw = 4096;

// Where the next `tokens` of a prompt are computed, `before` of it being there: pairs of one of
// them and one that it attends to, beyond those that t holds. Each attends to all before it:
// f(before + tokens) - f(before), f(n) = max(0, n - 4,096)^2 / 2, whatever the chunks.
double pairs_beyond(std::int64_t before, std::int64_t tokens);

// Reading the KV cache reaches this share of the peak memory bandwidth, as the weights do on A100.
inline constexpr double kCacheBandwidthShare = 0.7;

// What reading the head takes, in FP16 whatever the precision of the layers.
double head_read_seconds(std::int64_t parameters, const GpuModel& gpu);

// r of a model whose cache holds `per_token` bytes of each token.
double cache_read_seconds(Bytes per_token, const GpuModel& gpu);

// The step on another GPU: T_w and r with the memory bandwidth, t with the FP16 throughput of the
// tensor cores; the overhead is the host's and stays. An estimate: A100 -> H100 gives T_w 4 % below
// and t 2 % below the fit on H100.
// REQUIRES: both GPUs have a tensor rate, or are the same (can_carry_over).
LlmStep carried_over(const LlmStep& law, const GpuModel& from, const GpuModel& to);
bool can_carry_over(const GpuModel& from, const GpuModel& to);

// A prompt's products of matrices reach min(1, 1.22 l) of their rate on the share l of the SMs: on
// all of them the power holds them back. Source: prefill of 1,024 to 4,096 tokens with LLaMA 7B and
// 13B on A100-80GB under MPS (MuxServe): 1.62-1.69 times as long with 50 % of the threads, 2.5-2.8
// with 30 %.
inline constexpr double kPrefillPerThreads = 1.22;

// What a client of a domain reaches whose SMs are limited to the share `active_threads` of its SMs.
DomainShare of_threads(DomainShare share, double active_threads);

// The step on a part of the GPU, such as a MIG instance.
LlmStep in_domain(const LlmStep& law, DomainShare share);

// What a step has to do.
struct StepLoad {
  double tokens = 1;
  double cached = 0;         // tokens whose keys and values are read
  double adapters_s = 0;     // reading LoRA adapters
  double off_the_gpu_s = 0;  // what it waits for beside the law's overhead: copies from the host
  double attention_s = 0;    // of long prompts, computed beside the law's matrices
};

// A step among the clients of a domain, `process` running it on as many SMs as it may use: all of
// it but overhead, exchange and copies is work of the GPU. Of || weights_s, N token_s ||_2, which
// computing and reading do at once, each has its part of the sum of squares; caches and adapters
// are read. So law E2 has clients do no more together than one could that has no overhead.
// REQUIRES: the law holds for that process alone in the domain.
DomainClient client_of_step(const LlmStep& law, const StepLoad& load, const DomainClient& process);

// What several GPUs share of a model, by its config.json.
struct LlmLayers {
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int experts = 0;  // of a layer, in a mixture of them
  int chosen = 0;   // ... that a token asks for
};

// Tensor parallelism, as Megatron-LM and vLLM have it: each GPU has its heads and its part of every
// matrix, and all add up what they have twice per layer.

// Whether as many GPUs can: each gets as many heads, and of keys and values either as many or one
// that others have, too.
bool can_share(const LlmLayers& model, int gpus);
// What of the cache each of them holds. REQUIRES: can_share(model, gpus).
double cache_part(const LlmLayers& model, int gpus);
// The step of each but for what they exchange. Norms and residuals are done by all, whole.
// REQUIRES: can_share(model, gpus).
LlmStep shared_step(const LlmStep& law, const LlmLayers& model, int gpus, const GpuModel& gpu);

// An all-reduce of X bytes takes latency_s + X / bytes_per_second.
struct AllReduceLink {
  double latency_s = 0;
  double bytes_per_second = 0;
};
// What they exchange: the part of a step that comes on top of shared_step().
LlmStep all_reduces(const LlmLayers& model, const AllReduceLink& link);
// Both together.
LlmStep exchanging(LlmStep each, const LlmStep& all_reduces);

// Bytes of a quantised weight; of INT4 with the scales of its groups of 128.
inline constexpr double kFp8WeightBytes = 1;
inline constexpr double kInt4WeightBytes = 0.53;

// How many times as fast as FP16 the tensor cores compute with weights of a precision: twice for
// FP8 where they have it (data sheets of L4, L40S, H100, H200, B200), else once: what has fewer
// bytes is made FP16 first.
double arithmetic_gain(std::string_view precision, const GpuModel& gpu);

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
  std::int64_t expert_parameters = 0;            // of these, in experts that tokens choose
  // Of the head, whose weights a step reads as well: of T_w, head_s is for them. Profiles of layers
  // do not have it, catalogues give their T_w without. 0: T_w was measured with all that there is.
  std::int64_t head_parameters = 0;
  double head_s = 0;
  std::optional<LlmLayers> shape;     // several GPUs can share what has one
  std::optional<int> context_length;  // tokens that it takes (max_position_embeddings)
  std::string source;
  std::string date;                               // when the source was read
  std::map<std::string, std::string> provenance;  // figure -> "measured ...", "estimate ..."
  std::vector<FigureUncertainty> uncertainty;     // of kStepTimes
  std::string note;
  std::string unusable;  // why no scenario can run it, half a sentence; "" when one can
};

// Of its layers, those that one token goes through. REQUIRES: layer_parameters.
double active_parameters(const LlmModel& model);

// a on its own GPU, at the rate of `token_s` in FP16: 4 L h operations of a pair where a token has
// 2 P. 0: nobody says what its layers are like.
double pair_seconds(const LlmModel& model, double token_s);

// The same with its layers quantised to "FP8" or "INT4", embeddings and head as they are: the bytes
// that it has and reads; how fast it computes with them is the GPU's (arithmetic_gain).
// REQUIRES: layer_parameters, of two bytes each.
LlmModel quantised(LlmModel model, std::string_view precision);

}  // namespace slicewise::models
