#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/pod_file.hpp"

namespace slicewise::scenarios {
namespace {

// Flags with dashes between their words: vLLM's parser takes "--max_num_seqs" for "--max-num-seqs"
// (FlexibleArgumentParser), and KServe's documents write that.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kBetween = " \t\n\\\"'";
  for (std::size_t at = text.find_first_not_of(kBetween); at != text.npos;) {
    const std::size_t end = text.find_first_of(kBetween, at);
    std::string& word = words.emplace_back(text.substr(at, end - at));
    if (word.starts_with("--")) {
      std::replace(word.begin(), std::ranges::find(word, '='), '_', '-');
    }
    at = text.find_first_not_of(kBetween, end);
  }
  return words;
}

// What follows `--flag` or `--flag=`; "" the words do not have it.
std::string_view value_of(const std::vector<std::string>& words, std::string_view flag) {
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (!words[n].starts_with(flag)) continue;
    const std::string_view rest = std::string_view(words[n]).substr(flag.size());
    if (rest.starts_with("=")) return rest.substr(1);
    if (rest.empty() && n + 1 < words.size()) return words[n + 1];
  }
  return {};
}

// Whether all of the text is one.
template <class Number>
bool from_text(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Above 0 and at most `most`.
template <class Number>
std::optional<Number> number_of(std::string_view text, Number most) {
  Number number = 0;
  if (!from_text(text, number)) return {};
  return number > 0 && number <= most ? std::optional(number) : std::nullopt;
}

// "32768", or as vLLM takes it "32k" and "32K" (human_readable_int); 0 other words: "auto".
std::int64_t length_of(std::string_view text) {
  constexpr std::int64_t kMost = 100'000'000;
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'k', 1'000}, {'K', 1 << 10}, {'m', 1'000'000}, {'M', 1 << 20}};
  for (const auto& [unit, times] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = number_of<double>(text.substr(0, text.size() - 1), 1e5);
    const double length = number.value_or(0) * static_cast<double>(times);
    return length <= kMost ? std::llround(length) : 0;
  }
  return number_of<std::int64_t>(text, kMost).value_or(0);
}

using Flags = std::initializer_list<std::string_view>;

// Of the first that is given; "" none.
std::string_view value_of(const std::vector<std::string>& words, Flags names) {
  for (const std::string_view name : names) {
    const std::string_view value = value_of(words, name);
    if (!value.empty()) return value;
  }
  return {};
}

// Of a flag that is 1 where nobody gives it.
std::optional<std::int64_t> size_of(const std::vector<std::string>& words, Flags names,
                                    std::optional<std::int64_t> unsaid = 1) {
  const std::string_view value = value_of(words, names);
  return value.empty() ? unsaid : number_of<std::int64_t>(value, 10'000);
}

void take_memory(std::string_view share, VllmArguments& arguments) {
  if (const auto part = number_of(share, 1.0)) {
    constexpr double kShown = 1e6;  // 0.57 is 57 %, not 56.99999999999999
    arguments.memory_percent = std::round(*part * 100 * kShown) / kShown;
  } else if (double any = 0; from_text(share, any)) {
    arguments.memory_refused = share;
  }
}

std::string_view env_of(const ContainerFile& container, std::string_view name) {
  const auto found = std::ranges::find(container.env, name, &KeyValue::key);
  return found == container.env.end() ? std::string_view() : found->value;
}

// A flag, else the variable of the environment that stands for it.
std::string_view said(const ContainerFile& container, const std::vector<std::string>& words,
                      std::string_view flag, std::string_view variable) {
  const std::string_view value = value_of(words, flag);
  return value.empty() ? env_of(container, variable) : value;
}

// Of all the GPUs of the container, as programs do that are not told.
std::int64_t all_gpus(const ContainerFile& container) {
  const auto gpus = std::ranges::find(container.amounts, kGpuResource, &ResourceAmount::resource);
  return gpus == container.amounts.end() ? 1 : std::max<std::int64_t>(1, gpus->amount);
}

bool is_name(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest && !text.starts_with("-") &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

// What vLLM takes where no flag says it: since 0.21 its CUDA graphs are among it (vLLM PR 38284).
// Its own image says the version, and is the newest where it does not.
int usual_percent(std::string_view image) {
  constexpr std::string_view kOwn = "vllm-openai";
  const std::size_t found = image.find(kOwn);
  std::string_view tag = found == image.npos ? "@" : image.substr(found + kOwn.size());
  if (tag.starts_with("@")) return 90;
  tag.remove_prefix(std::min(tag.size(), tag.find(':') + 1));
  if (tag.starts_with("v")) tag.remove_prefix(1);
  int minor = 0;
  if (tag.starts_with("0.")) std::from_chars(tag.data() + 2, tag.data() + tag.size(), minor);
  return tag.starts_with("0.") && minor < 21 ? 90 : 92;
}

// Of those that change its memory or its steps.
constexpr std::string_view kNotSimulated[] = {"--cpu-offload-gb", "--speculative-config",
                                              "--speculative-model"};

VllmArguments of_vllm(const ContainerFile& container) {
  const std::vector<std::string> words = words_of(container.command);
  VllmArguments arguments;
  const std::string_view served = value_of(words, "serve");
  const std::string_view model = value_of(words, {"--model", "--model-id"});
  std::string_view name = model.empty() ? served : model;
  // The image's own entrypoint is `vllm serve`, and the model the first of its arguments.
  const bool has_place = !words.empty() && words.front().find('/') != std::string::npos;
  if (name.empty() && container.runs_entrypoint && has_place) name = words.front();
  if (is_name(name)) arguments.model = name;
  arguments.memory_percent = usual_percent(container.image);
  take_memory(value_of(words, "--gpu-memory-utilization"), arguments);
  arguments.max_sequences = number_of<std::int64_t>(value_of(words, "--max-num-seqs"), 1'000'000);
  arguments.max_batched_tokens =
      number_of<std::int64_t>(value_of(words, "--max-num-batched-tokens"), 100'000'000);
  // A file may say them: vLLM's --config, model.json of Triton's backend.
  const bool has_file =
      !value_of(words, "--config").empty() || names_program(container, "tritonserver");
  const auto unsaid = has_file ? std::nullopt : std::optional<std::int64_t>(1);
  arguments.tensor_parallel_size = size_of(words, {"--tensor-parallel-size", "-tp"}, unsaid);
  arguments.pipeline_parallel_size = size_of(words, {"--pipeline-parallel-size", "-pp"}, unsaid);
  arguments.data_parallel_size = size_of(words, {"--data-parallel-size", "-dp"}, unsaid);
  arguments.spans_pods = container.command.find("ray") != std::string::npos ||
                         container.command.find("nnodes") != std::string::npos;
  arguments.quantization = value_of(words, {"--quantization", "-q"});
  arguments.dtype = value_of(words, "--dtype");
  arguments.has_fp8_cache = value_of(words, "--kv-cache-dtype").starts_with("fp8");
  arguments.prefix_caching = std::ranges::find(words, "--no-enable-prefix-caching") == words.end();
  if (const auto length = value_of(words, "--max-model-len"); !length.empty()) {
    arguments.max_model_len = length_of(length);
  }
  for (const std::string_view flag : kNotSimulated) {
    if (!value_of(words, flag).empty()) arguments.not_simulated.emplace_back(flag);
  }
  arguments.block_size = number_of<std::int64_t>(value_of(words, "--block-size"), 100'000);
  arguments.can_sleep = std::ranges::find(words, "--enable-sleep-mode") != words.end();
  arguments.serves_adapters = std::ranges::find(words, "--enable-lora") != words.end();
  return arguments;
}

VllmArguments of_sglang(const ContainerFile& container) {
  const std::vector<std::string> words = words_of(container.command);
  VllmArguments arguments;
  arguments.model = value_of(words, {"--model-path", "--model"});
  arguments.max_model_len = 0;  // longer requests than fit are refused, and it starts
  take_memory(value_of(words, "--mem-fraction-static"), arguments);
  arguments.max_sequences =
      number_of<std::int64_t>(value_of(words, "--max-running-requests"), 1'000'000);
  arguments.max_batched_tokens =
      number_of<std::int64_t>(value_of(words, "--chunked-prefill-size"), 100'000'000);
  arguments.tensor_parallel_size = size_of(words, {"--tensor-parallel-size", "--tp-size", "--tp"});
  arguments.pipeline_parallel_size = size_of(words, {"--pipeline-parallel-size", "--pp-size"});
  arguments.data_parallel_size = size_of(words, {"--data-parallel-size", "--dp-size", "--dp"});
  arguments.spans_pods = size_of(words, {"--nnodes"}) != 1;
  arguments.quantization = value_of(words, "--quantization");
  arguments.has_fp8_cache = value_of(words, "--kv-cache-dtype").starts_with("fp8");
  arguments.prefix_caching = std::ranges::find(words, "--disable-radix-cache") == words.end();
  return arguments;
}

VllmArguments of_tgi(const ContainerFile& container) {
  const std::vector<std::string> words = words_of(container.command);
  VllmArguments arguments;
  arguments.model = said(container, words, "--model-id", "MODEL_ID");
  arguments.max_model_len = 0;  // what fits, where --max-total-tokens does not say it
  take_memory(said(container, words, "--cuda-memory-fraction", "CUDA_MEMORY_FRACTION"), arguments);
  arguments.max_sequences = number_of<std::int64_t>(
      said(container, words, "--max-batch-size", "MAX_BATCH_SIZE"), 1'000'000);
  const std::string_view shards = said(container, words, "--num-shard", "NUM_SHARD");
  arguments.tensor_parallel_size =
      shards.empty() ? all_gpus(container) : number_of<std::int64_t>(shards, 10'000);
  arguments.quantization = said(container, words, "--quantize", "QUANTIZE");
  // Its own 8 bits; the 4 of others are called "bitsandbytes-nf4" here.
  if (arguments.quantization == "bitsandbytes") arguments.quantization += "-8bit";
  arguments.has_fp8_cache =
      said(container, words, "--kv-cache-dtype", "KV_CACHE_DTYPE").starts_with("fp8");
  return arguments;
}

// The image is the model: "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8".
VllmArguments of_nim(const ContainerFile& container) {
  VllmArguments arguments;
  constexpr std::string_view kPlace = "/nim/";
  if (const std::size_t found = container.image.find(kPlace); found != std::string::npos) {
    const std::size_t at = found + kPlace.size();
    arguments.model = container.image.substr(at, container.image.find_first_of(":@", at) - at);
  }
  arguments.tensor_parallel_size = all_gpus(container);
  arguments.max_model_len = 0;  // the profile's
  return arguments;
}

}  // namespace

bool names_program(const ContainerFile& container, std::string_view program) {
  return container.image.find(program) != std::string::npos ||
         container.command.find(program) != std::string::npos;
}

std::optional<VllmArguments> vllm_arguments(const ContainerFile& container) {
  return names_program(container, "vllm") ? std::optional(of_vllm(container)) : std::nullopt;
}

std::optional<ModelServer> model_server(const ContainerFile& container) {
  struct Program {
    std::string_view name;
    std::string_view sign;  // in its image or its command
    VllmArguments (*arguments)(const ContainerFile& container);
  };
  constexpr Program kPrograms[] = {
      {kVllm, "vllm", of_vllm},
      {"SGLang", "sglang", of_sglang},
      {"TGI", "text-generation-", of_tgi},  // inference, launcher
      {kNim, "/nim/", of_nim},
      {"KServe's Hugging Face server", "--model_id", of_vllm},
  };
  for (const Program& program : kPrograms) {
    if (!names_program(container, program.sign)) continue;
    ModelServer server{program.name, program.arguments(container)};
    if (!is_name(server.arguments.model)) server.arguments.model.clear();
    return server;
  }
  return std::nullopt;
}

}  // namespace slicewise::scenarios
