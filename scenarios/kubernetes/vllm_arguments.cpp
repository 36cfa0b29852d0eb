#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "slicewise/scenarios/cluster_files.hpp"

namespace slicewise::scenarios {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBetween = " \t\n\\\"'";
  for (std::size_t at = text.find_first_not_of(kBetween); at != text.npos;) {
    const std::size_t end = text.find_first_of(kBetween, at);
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBetween, end);
  }
  return words;
}

// What follows `--flag` or `--flag=`; "" the words do not have it.
std::string_view value_of(const std::vector<std::string_view>& words, std::string_view flag) {
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (!words[n].starts_with(flag)) continue;
    const std::string_view rest = words[n].substr(flag.size());
    if (rest.starts_with("=")) return rest.substr(1);
    if (rest.empty() && n + 1 < words.size()) return words[n + 1];
  }
  return {};
}

// Above 0 and at most `most`.
template <class Number>
std::optional<Number> number_of(std::string_view text, Number most) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number > 0 && number <= most ? std::optional(number) : std::nullopt;
}

// Of a flag that is 1 where nobody gives it.
std::optional<std::int64_t> size_of(const std::vector<std::string_view>& words,
                                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string_view value = value_of(words, name);
    if (!value.empty()) return number_of<std::int64_t>(value, 10'000);
  }
  return 1;
}

std::string quantization_of(std::string_view word) {
  if (word == "fp8") return "FP8";
  return word.starts_with("awq") || word.starts_with("gptq") ? "INT4" : "";
}

bool is_name(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest && !text.starts_with("-") &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::optional<VllmArguments> vllm_arguments(const ContainerFile& container) {
  const auto names = [](const std::string& text) { return text.find("vllm") != text.npos; };
  if (!names(container.image) && !names(container.command)) return std::nullopt;
  const std::vector<std::string_view> words = words_of(container.command);
  VllmArguments arguments;
  const std::string_view served = value_of(words, "serve");
  const std::string_view model = value_of(words, "--model");
  const std::string_view name = model.empty() ? served : model;
  if (is_name(name)) arguments.model = name;
  if (const auto share = number_of(value_of(words, "--gpu-memory-utilization"), 1.0)) {
    arguments.memory_hundredths = std::max(1, static_cast<int>(std::floor(*share * 100 + 1e-9)));
  }
  arguments.max_sequences = number_of<std::int64_t>(value_of(words, "--max-num-seqs"), 1'000'000);
  arguments.max_batched_tokens =
      number_of<std::int64_t>(value_of(words, "--max-num-batched-tokens"), 100'000'000);
  arguments.tensor_parallel_size =
      size_of(words, {"--tensor-parallel-size", "--tensor_parallel_size", "-tp"});
  arguments.pipeline_parallel_size =
      size_of(words, {"--pipeline-parallel-size", "--pipeline_parallel_size", "-pp"});
  arguments.data_parallel_size =
      size_of(words, {"--data-parallel-size", "--data_parallel_size", "-dp"});
  arguments.spans_pods = container.command.find("ray") != std::string::npos ||
                         container.command.find("nnodes") != std::string::npos;
  arguments.quantization = quantization_of(value_of(words, "--quantization"));
  arguments.has_fp8_cache = value_of(words, "--kv-cache-dtype").starts_with("fp8");
  arguments.prefix_caching =
      std::ranges::find(words, "--no-enable-prefix-caching") == words.end() &&
      std::ranges::find(words, "--no-enable_prefix_caching") == words.end();
  arguments.block_size = number_of<std::int64_t>(value_of(words, "--block-size"), 100'000);
  return arguments;
}

}  // namespace slicewise::scenarios
