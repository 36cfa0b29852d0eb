#include "slicewise/models/llm_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/lookup.hpp"
#include "slicewise/portable_math.hpp"

#include "catalog_fields.hpp"
#include "located_json.hpp"
#include "whole_part.hpp"

namespace slicewise::models {
namespace {

struct Family {
  std::string_view type;  // `model_type`
  bool tied = false;      // unless the file says otherwise
  // Of a mixture of experts: how many there are, and how wide one is, and all that every token goes
  // through together.
  std::string_view experts{};
  std::string_view expert_width{};
  std::string_view shared_width{};
};

// Those of which parameters() is right; defaults of transformers' configuration classes.
constexpr std::array<Family, 11> kFamilies{
    {{"llama", false},
     {"mistral", false},
     {"qwen2", false},
     {"qwen3", false},
     {"phi3", false},
     {"granite", false},
     {"gemma", true},
     {"gemma2", true},
     {"mixtral", false, "num_local_experts", "intermediate_size"},
     {"qwen2_moe", false, "num_experts", "moe_intermediate_size",
      "shared_expert_intermediate_size"},
     {"qwen3_moe", false, "num_experts", "moe_intermediate_size"}}};

// Far beyond what there is, and no product of them overflows.
constexpr int kMostLayers = 1'000;
constexpr int kMostHeads = 10'000;
constexpr int kMostExperts = 1'000;
constexpr int kWidest = 1'000'000;
constexpr int kLongestContext = 100'000'000;

struct Precision {
  std::string_view name;
  double bytes;  // of a weight
};
constexpr Precision kHalf{"FP16", 2};
constexpr Precision kFp8{"FP8", kFp8WeightBytes};
constexpr Precision kInt8{"INT8", 1};
constexpr Precision kInt4{"INT4", kInt4WeightBytes};

// Checkpoints in FP32 are served in FP16. Source: vLLM's and SGLang's documents, --dtype auto.
constexpr std::string_view kSingle = "float32";

std::optional<Precision> of_dtype(const std::string& dtype) {
  if (dtype == "float16" || dtype == kSingle) return kHalf;
  if (dtype == "bfloat16") return Precision{"BF16", 2};
  return std::nullopt;
}

// Of vLLM's and transformers' quantization_config; nullopt where it is not known.
std::optional<Precision> quantised(const nlohmann::json& config) {
  const auto given = config.find("quant_method");
  const std::string method =
      given != config.end() && given->is_string() ? given->get<std::string>() : "";
  if (method == "fp8" || method == "fbgemm_fp8") return kFp8;
  const int bits =
      config.contains("bits") && config["bits"].is_number_integer() ? config["bits"].get<int>() : 0;
  if (bits == 4) return kInt4;
  if (bits == 8) return kInt8;
  return std::nullopt;
}

void read_precision(CatalogFields& fields, const nlohmann::json& root, LlmShape& shape) {
  std::optional<Precision> found;
  if (fields.has("quantization_config") && root["quantization_config"].is_object()) {
    found = quantised(root["quantization_config"]);
    if (!found) {
      fields.fail("quantization_config", "is a way of quantising that is not known here",
                  Code::StrategyNotModelled, "fp8, or gptq and awq with 4 or 8 bits are");
      return;
    }
  } else {
    const std::string key = fields.has("torch_dtype") ? "torch_dtype" : "dtype";
    const std::string dtype = fields.has(key) ? fields.text(key) : "float16";
    found = of_dtype(dtype);
    if (!found) {
      fields.fail(key, fmt::format("is no type of weights that is known: {}", dtype),
                  Code::FieldType, "float16, bfloat16 or float32");
      return;
    }
    shape.is_single = dtype == kSingle;
  }
  shape.precision = found->name;
  shape.weight_bytes = found->bytes;
}

// Layers without experts among such with them are not known here.
void read_experts(CatalogFields& fields, const nlohmann::json& root, const Family& family,
                  LlmShape& shape) {
  const auto number = [&](std::string_view name, int most) {
    return static_cast<int>(fields.integer(std::string(name), 1, most));
  };
  shape.experts = number(family.experts, kMostExperts);
  shape.chosen = number("num_experts_per_tok", std::max(1, shape.experts));
  shape.expert_intermediate = number(family.expert_width, kWidest);
  if (!family.shared_width.empty()) shape.intermediate = number(family.shared_width, kWidest);
  const bool is_every_layer =
      (!root.contains("decoder_sparse_step") || root["decoder_sparse_step"] == 1) &&
      (!root.contains("mlp_only_layers") || root["mlp_only_layers"].empty());
  if (is_every_layer) return;
  fields.fail("model_type", "has experts in some of its layers only", Code::StrategyNotModelled,
              "measure its server and leave config.json out (slicewise explain measurements)");
}

}  // namespace

std::int64_t LlmShape::layer_parameters() const {
  const std::int64_t wide = hidden;
  const std::int64_t queries = std::int64_t{heads} * head_size;
  const std::int64_t keys = std::int64_t{kv_heads} * head_size;
  const std::int64_t router = wide * experts;
  return layers *
             (2 * wide * queries + 2 * wide * keys + 3 * wide * intermediate + router + 2 * wide) +
         expert_parameters();
}

std::int64_t LlmShape::expert_parameters() const {
  return std::int64_t{3} * layers * experts * hidden * expert_intermediate;
}

std::int64_t LlmShape::parameters() const {
  const std::int64_t embeddings = std::int64_t{vocabulary} * hidden;
  return layer_parameters() + (tied_embeddings ? 1 : 2) * embeddings + hidden;
}

Bytes LlmShape::weights() const {
  const auto of_layers =
      static_cast<std::int64_t>(static_cast<double>(layer_parameters()) * weight_bytes);
  return Bytes{of_layers + 2 * (parameters() - layer_parameters())};
}

Bytes LlmShape::kv_bytes_per_token() const {
  return Bytes{std::int64_t{2} * layers * kv_heads * head_size * 2};
}

bool is_llm_shape(const SourceText& file) {
  return file.text.find("\"model_type\"") != std::string::npos &&
         file.text.find("\"num_hidden_layers\"") != std::string::npos;
}

Expected<LlmShape> read_llm_shape(const SourceText& file) {
  const auto document = read_yaml(file);
  if (!document) return tl::unexpected(document.error());
  const auto located = located_json(file, *document);
  if (!located) return tl::unexpected(located.error());
  CatalogReading reading{&*located, {}};
  CatalogFields fields(located->value, file.name, &reading);
  LlmShape shape;
  shape.where = located->place_of(file.name);
  const std::string type = fields.text("model_type");
  const auto family = std::ranges::find(kFamilies, type, &Family::type);
  if (family == kFamilies.end() && !type.empty()) {
    std::vector<std::string_view> known;
    known.reserve(kFamilies.size());
    for (const Family& each : kFamilies) known.push_back(each.type);
    fields.fail("model_type", fmt::format("{} is not known here", type), Code::StrategyNotModelled,
                fmt::format("known are {}; of others give llm.weights, kvBytesPerToken and the "
                            "times of a step yourself (slicewise explain llm)",
                            fmt::join(known, ", ")));
  }
  const auto& root = located->root;
  const auto given = [&](const char* name) { return fields.has(name) && !root[name].is_null(); };
  const auto number = [&](const char* name, int most) {
    return static_cast<int>(fields.integer(name, 1, most));
  };
  shape.name = text_or_empty(fields, "_name_or_path");
  shape.layers = number("num_hidden_layers", kMostLayers);
  shape.hidden = number("hidden_size", kWidest);
  shape.heads = number("num_attention_heads", kMostHeads);
  shape.kv_heads = given("num_key_value_heads")
                       ? number("num_key_value_heads", std::max(1, shape.heads))
                       : shape.heads;
  shape.head_size =
      given("head_dim") ? number("head_dim", kMostHeads) : shape.hidden / std::max(1, shape.heads);
  if (family != kFamilies.end() && !family->experts.empty()) {
    read_experts(fields, root, *family, shape);
  } else {
    shape.intermediate = number("intermediate_size", kWidest);
    for (const char* experts : {"n_routed_experts", "num_local_experts", "num_experts"}) {
      if (!given(experts) || root[experts] == 0 || root[experts] == 1) continue;
      fields.fail(experts, fmt::format("is of no {} that is known here", type),
                  Code::StrategyNotModelled,
                  "measure its server and leave config.json out (slicewise explain measurements)");
    }
  }
  shape.vocabulary = number("vocab_size", kWidest);
  shape.tied_embeddings = given("tie_word_embeddings") ? fields.flag("tie_word_embeddings")
                                                       : family != kFamilies.end() && family->tied;
  const bool has_window = given("sliding_window") &&
                          (!given("use_sliding_window") || fields.flag("use_sliding_window"));
  if (given("max_position_embeddings") && !has_window) {
    shape.context_length = number("max_position_embeddings", kLongestContext);
  }
  read_precision(fields, root, shape);
  if (!reading.problems.empty()) return tl::unexpected(std::move(reading.problems));
  return shape;
}

LlmModel model_of(const LlmShape& shape, const std::string& name, const GpuModel& gpu) {
  LlmModel out;
  out.name = name;
  out.title = shape.name.empty() ? name : shape.name;
  out.gpu_model = gpu.name;
  out.precision = shape.precision;
  out.weights = shape.weights();
  out.kv_bytes_per_token = shape.kv_bytes_per_token();
  out.layer_parameters = shape.layer_parameters();
  out.expert_parameters = shape.expert_parameters();
  out.shape = {shape.layers,   shape.hidden,  shape.heads,
               shape.kv_heads, shape.experts, shape.chosen};
  out.context_length = shape.context_length;
  out.source = "config.json";
  out.provenance = {{"weightsMib", std::string("derived: parameters by config.json") +
                                       (shape.is_single ? ", FP32 made FP16 as vLLM does" : "")},
                    {"kvBytesPerToken", "2 x layers x KV heads x head size x 2 bytes"},
                    {"layerParameters", "derived: by config.json"},
                    {"contextLength", "max_position_embeddings of config.json"},
                    {"shape", "config.json"}};
  return out;
}

bool derive_step(const LlmShape& shape, const GpuModel& gpu, std::span<const LlmModel> references,
                 std::span<const GpuModel> gpus, LlmModel& model) {
  const auto gpu_of = [&](const LlmModel& one) {
    return find_or_null(gpus, one.gpu_model, &GpuModel::name);
  };
  const double parameters = active_parameters(model);
  // Another GPU is further off than any size.
  constexpr double kElsewhere = 1e3;
  const auto distance = [&](const LlmModel& one) -> std::optional<double> {
    const GpuModel* measured_on = gpu_of(one);
    const bool is_dense = one.layer_parameters && one.step.experts_s <= 0;
    if (!is_dense || measured_on == nullptr || !can_carry_over(*measured_on, gpu)) {
      return std::nullopt;
    }
    const double size = std::abs(portable_log(parameters / active_parameters(one)));
    return measured_on == &gpu ? size : kElsewhere + size;
  };
  const LlmModel* like = nullptr;
  for (const LlmModel& one : references) {
    const auto away = distance(one);
    if (away && (like == nullptr || *away < *distance(*like))) like = &one;
  }
  if (like == nullptr) return false;
  const double wider = parameters / active_parameters(*like);
  constexpr double kBytesOfReference = 2;
  const auto times_heavier = [&](std::int64_t of) {
    return static_cast<double>(of) * shape.weight_bytes /
           (static_cast<double>(*like->layer_parameters) * kBytesOfReference);
  };
  const double heavier = times_heavier(shape.layer_parameters() - shape.expert_parameters());
  const LlmStep reference = carried_over(like->step, *gpu_of(*like), gpu);
  LlmStep its_whole = like->shape ? whole_part(*like->shape, gpu) : LlmStep{};
  LlmStep whole = like->shape ? whole_part(*model.shape, gpu) : LlmStep{};
  model.head_parameters = std::int64_t{shape.vocabulary} * shape.hidden;
  model.head_s = head_read_seconds(model.head_parameters, gpu);
  its_whole.weights_s += head_read_seconds(like->head_parameters, gpu);
  whole.weights_s += model.head_s;
  const auto derived = [&](double LlmStep::*part, double times) {
    const double matrices = std::max(0.0, reference.*part - its_whole.*part);
    return whole.*part + matrices * times;
  };
  model.step = reference;
  model.step.weights_s = derived(&LlmStep::weights_s, heavier);
  // Of a reference without experts the small kernels are in `whole`, once.
  model.step.experts_s = std::max(0.0, reference.weights_s - its_whole.weights_s) *
                         times_heavier(shape.expert_parameters());
  model.step.expert_part =
      shape.experts > 0 ? static_cast<double>(shape.chosen) / shape.experts : 0;
  model.step.token_s = derived(&LlmStep::token_s, wider) / arithmetic_gain(shape.precision, gpu);
  model.step.kv_read_s = cache_read_seconds(shape.kv_bytes_per_token(), gpu);
  model.source = fmt::format("config.json, and {}", like->name);
  const auto times = [&](double factor, const char* what) {
    return fmt::format("derived: {:.3g} x that of {}{}, by {} of the layers{}", factor, like->name,
                       gpu_of(*like) == &gpu ? "" : " carried over to this GPU", what,
                       like->shape ? ", but for norms and small kernels" : "");
  };
  model.provenance["headParameters"] = "vocabulary x hidden size";
  model.provenance["weightsMs"] = times(heavier, "bytes");
  if (shape.experts > 0) {
    model.provenance["expertsMs"] = times(times_heavier(shape.expert_parameters()), "bytes");
  }
  model.provenance["tokenMs"] = times(wider / arithmetic_gain(shape.precision, gpu), "parameters");
  model.provenance["kvReadMs"] = "derived: KV bytes per token / (0.7 x peak bandwidth)";
  model.provenance["overheadMs"] = fmt::format("that of {}", like->name);
  return true;
}

}  // namespace slicewise::models
