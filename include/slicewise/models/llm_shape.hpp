#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/models/llm_step.hpp"

// Language models that nobody measured here: from the shape that a config.json of Hugging Face
// gives, and a model that was measured on the same GPU or a like one.
namespace slicewise::models {

// A transformer with grouped-query attention and a gated MLP, or a mixture of experts that are such
// MLPs in every layer.
struct LlmShape {
  std::string name;  // `_name_or_path`; "" where the file has none
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  int intermediate = 0;  // of the MLP that all tokens go through; 0: there are only experts
  int expert_intermediate = 0;
  int experts = 0;  // of a layer
  int chosen = 0;   // ... that a token goes through
  int vocabulary = 0;
  // `max_position_embeddings`; absent where layers look back over a window only, whose keys and
  // values are fewer.
  std::optional<int> context_length;
  bool tied_embeddings = false;
  std::string precision;    // of the weights as served: "BF16", "FP16", "FP8", "INT8", "INT4"
  bool is_single = false;   // published in FP32, which is served in FP16
  double weight_bytes = 2;  // of a weight of a layer
  SourceLocation where;

  std::int64_t layer_parameters() const;   // of all layers; biases are left out
  std::int64_t expert_parameters() const;  // of these, in experts that tokens choose
  std::int64_t parameters() const;         // with embeddings and head
  Bytes weights() const;                   // embeddings and head are not quantised
  Bytes kv_bytes_per_token() const;        // 2 x layers x KV heads x head size x 2 bytes
};

// Whether a file is such a config.json.
bool is_llm_shape(const SourceText& file);

// All mistakes at once. A `model_type` that is not known here is one.
Expected<LlmShape> read_llm_shape(const SourceText& file);

// The model on a GPU, but for its step.
LlmModel model_of(const LlmShape& shape, const std::string& name, const GpuModel& gpu);

// Gives it the step of a reference times the layers over the reference's: T_w by their bytes, t by
// their parameters, of experts those that a token chooses, but for norms and small kernels, which
// are by layers and hidden size; r is the cache's bytes over the GPU's bandwidth, the overhead
// stays. References are models with layer_parameters on the same GPU, else such as can be carried
// over to it, and of those the nearest in size. False: there is none, as of a GPU without a tensor
// rate. REQUIRES: model is model_of(shape, name, gpu), and gpu one of gpus.
bool derive_step(const LlmShape& shape, const GpuModel& gpu, std::span<const LlmModel> references,
                 std::span<const GpuModel> gpus, LlmModel& model);

}  // namespace slicewise::models
