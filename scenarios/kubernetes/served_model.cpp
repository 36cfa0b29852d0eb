#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/pod_file.hpp"

#include "../text/scalars.hpp"

// Which of the catalogue's language models a server serves, by the name of its checkpoint.
namespace slicewise::scenarios {
namespace {

// "meta-llama-3.1-8b-instruct" of "meta-llama/Meta-Llama-3.1-8B-Instruct". NIM 1.0 writes
// "llama3-8b-instruct".
std::string lower_name(const std::string& served) {
  std::string name = lower_case(served.substr(served.find_last_of('/') + 1));
  constexpr std::string_view kLlama = "llama";
  if (const std::size_t at = name.find(kLlama) + kLlama.size();
      at >= kLlama.size() && at < name.size() && is_digit(name[at])) {
    name.insert(at, 1, '-');
  }
  return name;
}

// Where the name has one of those with Llama 3's layers and a longer context; npos: it has none.
// Source: config.json of each.
std::size_t newer_llama(const std::string& name) {
  for (const std::string_view newer : {"llama-3.1-8b", "llama-3.1-70b", "llama-3.3-70b"}) {
    if (const std::size_t at = name.find(newer); at != name.npos) return at;
  }
  return name.npos;
}

// "meta-llama-3-8b-instruct", of Llama 3.1 as well.
std::string plain_name(const std::string& served) {
  std::string name = lower_name(served);
  constexpr std::size_t kMinor = std::string_view("llama-3").size();
  if (const std::size_t at = newer_llama(name); at != name.npos) name.erase(at + kMinor, 2);
  return name;
}

// "llama-3-8b" of "llama-3-8b-fp16/a10g".
std::string_view family_of(std::string_view model) {
  model = model.substr(0, model.find('/'));
  for (const std::string_view precision : {"-fp16", "-bf16"}) {
    if (model.ends_with(precision)) model.remove_suffix(precision.size());
  }
  return model;
}

bool has_words(const std::string& name, std::string_view words) {
  const std::size_t at = name.find(words);
  const std::size_t end = at + words.size();
  return !words.empty() && at != name.npos && (at == 0 || name[at - 1] == '-') &&
         (end == name.size() || name[end] == '-');
}

// How a checkpoint is quantised, by a word of its name or of a flag.
struct Quantization {
  std::string_view word;
  std::string_view weights;  // in the scenario's words; "" that is not simulated
  bool is_slow = false;      // than weights of AWQ and GPTQ are
};

// The first that is found counts: "GPTQ-Int8" is not INT4. Sources: names of RedHatAI,
// hugging-quants, TheBloke and unsloth at huggingface.co; quantisation in the documents of vLLM,
// SGLang ("w8a8_fp8") and TGI ("bitsandbytes-nf4": "much slower to run").
constexpr Quantization kWordsOfNames[] = {{"fp8", "FP8"},
                                          {"int8", ""},
                                          {"8bit", ""},
                                          {"w8a", ""},
                                          {"w4a8", ""},
                                          {"nvfp4", ""},
                                          {"mxfp4", ""},
                                          {"gguf", ""},
                                          {"exl2", ""},
                                          {"awq", "INT4"},
                                          {"gptq", "INT4"},
                                          {"w4a16", "INT4"},
                                          {"int4", "INT4"},
                                          {"nf4", "INT4", true},
                                          {"4bit", "INT4", true},
                                          {"bnb", "INT4", true},
                                          {"bitsandbytes", "INT4", true}};

// nullptr: no word of one is in the text.
const Quantization* quantization_in(std::string_view text) {
  const std::string lower = lower_case(text);
  const auto* found = std::ranges::find_if(
      kWordsOfNames, [&](const auto& one) { return lower.find(one.word) != lower.npos; });
  return found == std::end(kWordsOfNames) ? nullptr : found;
}

// Of what is served as the catalogue's model. A flag need not say it: servers read it in the
// checkpoint's config.json. nullptr: as the model is, which may be quantised itself.
const Quantization* quantization_of(const VllmArguments& served, const std::string& model) {
  constexpr static Quantization kUnknown{};
  const std::string_view family = family_of(model);
  if (quantization_in(family) != nullptr) return nullptr;
  std::string rest = plain_name(served.model);
  rest.erase(rest.find(family), family.size());
  const Quantization* found = quantization_in(served.quantization + ' ' + rest);
  return found == nullptr && !served.quantization.empty() ? &kUnknown : found;
}

// nullopt: the catalogue's.
std::optional<std::int64_t> max_model_len(const VllmArguments& served) {
  constexpr std::int64_t kOfNewer = 131'072;  // max_position_embeddings
  const bool is_newer = newer_llama(lower_name(served.model)) != std::string::npos;
  if (!served.max_model_len && is_newer) return kOfNewer;
  return served.max_model_len.value_or(0) > 0 ? served.max_model_len : std::nullopt;
}

// The catalogue's language model that is called as what is served, "meta-llama/Llama-2-7b-chat-hf",
// as measured on the GPU, "a10g", or to be carried over to it; "" none.
std::string language_model(const std::string& served, const std::string& gpu,
                           std::span<const std::string> models) {
  const std::string name = plain_name(served);
  std::string found;
  for (const std::string& model : models) {
    if (!has_words(name, family_of(model))) continue;
    const std::string_view on = std::string_view(model).substr(model.find('/') + 1);
    const bool is_there = !gpu.empty() && on.starts_with(gpu);
    if (is_there) return model;
    if (found.empty()) found = model;
  }
  return found;
}

}  // namespace

ServedModel served_model(const VllmArguments& served, const std::string& gpu,
                         std::span<const std::string> models) {
  ServedModel found;
  found.name = language_model(served.model, gpu, models);
  found.max_model_len = max_model_len(served);
  const Quantization* way = found.name.empty() ? nullptr : quantization_of(served, found.name);
  if (way == nullptr) return found;
  found.is_quantised = true;
  found.quantization = way->weights;
  found.is_slow = way->is_slow;
  return found;
}

}  // namespace slicewise::scenarios
