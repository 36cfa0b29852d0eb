#include "llm_benchmark.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../catalog_fields.hpp"
#include "../located_json.hpp"

namespace slicewise::models {
namespace {

constexpr std::string_view kVllm = "mean_tpot_ms";
constexpr std::string_view kGenaiPerf = "inter_token_latency";

bool names(const SourceText& file, std::string_view key) {
  return file.text.find(fmt::format("\"{}\"", key)) != std::string::npos;
}

// vLLM's "20241014-224400" -> "2024-10-14".
std::string day_of(const std::string& stamp) {
  constexpr std::size_t kDay = 8;
  if (stamp.size() < kDay) return {};
  const std::string day =
      fmt::format("{}-{}-{}", stamp.substr(0, 4), stamp.substr(4, 2), stamp.substr(6, 2));
  return is_date(day) ? day : std::string();
}

constexpr double kLeastMs = 1e-3;
constexpr double kMostMs = 1e8;
constexpr double kPerMillisecond = 1e-3;
constexpr double kLongest = 1e6;      // of a prompt or an answer, in tokens
constexpr double kMostTokens = 1e15;  // of all
// More say no more of the mean.
constexpr int kMostRequests = 5'000;

bool has_all(CatalogFields& fields, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names, [&](const char* name) { return fields.has(name); });
}

std::vector<std::int32_t> alike(int requests, double tokens) {
  return std::vector<std::int32_t>(
      static_cast<std::size_t>(std::min(requests, kMostRequests)),
      static_cast<std::int32_t>(std::lround(std::clamp(tokens, 1.0, kLongest))));
}

// Lengths of the requests that were answered; of those that failed the answer has none.
void take_lengths(CatalogFields& fields, ServedRequests& out) {
  const std::vector<int> inputs = fields.integers("input_lens");
  const std::vector<int> outputs = fields.integers("output_lens");
  out.inputs.clear();
  out.outputs.clear();
  out.listed = true;
  for (std::size_t n = 0; n < std::min(inputs.size(), outputs.size()); ++n) {
    const bool answered =
        inputs[n] > 0 && outputs[n] > 0 && inputs[n] <= kLongest && outputs[n] <= kLongest;
    if (!answered || out.inputs.size() == kMostRequests) continue;
    out.inputs.push_back(inputs[n]);
    out.outputs.push_back(outputs[n]);
  }
}

// nullopt for requests that come by a rate of their own, and where the file lacks a figure.
std::optional<ServedRequests> served_by_vllm(CatalogFields& fields, bool at_a_rate) {
  if (at_a_rate || !has_all(fields, {"completed", "total_input_tokens", "total_output_tokens",
                                     "mean_ttft_ms"})) {
    return std::nullopt;
  }
  const int requests = small_integer(fields, "completed", 1);
  ServedRequests out;
  out.at_once = requests;
  out.first_token =
      from_seconds(kPerMillisecond * fields.number("mean_ttft_ms", kLeastMs, kMostMs));
  out.inputs = alike(requests, fields.number("total_input_tokens", 1, kMostTokens) / requests);
  out.outputs = alike(requests, fields.number("total_output_tokens", 1, kMostTokens) / requests);
  if (has_all(fields, {"input_lens", "output_lens"})) take_lengths(fields, out);
  return out.inputs.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<ServedRequests> served_by_genai_perf(CatalogFields& fields) {
  if (!has_all(fields, {"time_to_first_token", "input_sequence_length", "output_sequence_length",
                        "request_count"})) {
    return std::nullopt;
  }
  const auto mean = [&](const char* name, double least, double most) {
    return fields.object(name).number("avg", least, most);
  };
  const int requests = static_cast<int>(mean("request_count", 1, 1e9));
  ServedRequests out;
  out.first_token = from_seconds(kPerMillisecond * mean("time_to_first_token", kLeastMs, kMostMs));
  out.inputs = alike(requests, mean("input_sequence_length", 1, kLongest));
  out.outputs = alike(requests, mean("output_sequence_length", 1, kLongest));
  return out;
}

// The whole number at the end of a path of keys; nullopt where there is none.
std::optional<int> count_at(CatalogFields fields, const nlohmann::json& root,
                            std::initializer_list<const char*> objects, const char* name) {
  const nlohmann::json* object = &root;
  for (const char* key : objects) {
    if (!object->contains(key) || !(*object)[key].is_object()) return std::nullopt;
    fields = fields.object(key);
    object = &(*object)[key];
  }
  if (!object->contains(name) || !(*object)[name].is_number()) return std::nullopt;
  return small_integer(fields, name, 1);
}

// What was measured: vLLM's model_id, genai-perf's list of models, of which it asks the first
// unless it was told to change between them, or in later versions their names.
std::string told_model(CatalogFields& fields, const nlohmann::json& root) {
  if (std::string name = text_or_empty(fields, "model_id"); !name.empty()) return name;
  if (!root.contains("input_config") || !root["input_config"].is_object()) return {};
  const nlohmann::json& config = root["input_config"];
  for (const auto* path : {"/model", "/model/0", "/model_names/0", "/models/model_names/0"}) {
    const nlohmann::json::json_pointer at(path);
    if (config.contains(at) && config[at].is_string()) return config[at].get<std::string>();
  }
  return {};
}

// Whether requests come by a rate of their own: then how many are served at a time is chance, and
// the time of a token holds the prompts of those that come meanwhile.
bool comes_at_a_rate(const nlohmann::json& root) {
  return root.contains("request_rate") && root["request_rate"] != "inf";
}

// Requests that were served at a time, as the file says. genai-perf was told so in its own words
// or, in later versions, in those that it passes on to perf_analyzer.
std::optional<int> told_at_once(const CatalogFields& fields, const nlohmann::json& root,
                                bool of_vllm) {
  if (of_vllm) return count_at(fields, root, {}, "max_concurrency");
  const auto own = count_at(fields, root, {"input_config"}, "concurrency");
  if (own) return own;
  return count_at(fields, root, {"input_config", "perf_analyzer", "stimulus"}, "concurrency");
}

}  // namespace

bool is_llm_benchmark(const SourceText& file) {
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && file.text[first] == '{' &&
         (names(file, kVllm) || names(file, kGenaiPerf));
}

Expected<std::vector<Measurement>> read_llm_benchmark(const SourceText& file,
                                                      const Catalogue& catalogue,
                                                      const MeasuredContext& context) {
  const auto document = read_yaml(file);
  if (!document) return tl::unexpected(document.error());
  const auto located = located_json(file, *document);
  if (!located) return tl::unexpected(located.error());
  CatalogReading reading{&*located, {}};
  CatalogFields fields(located->value, file.name, &reading);
  const auto missing = [&](const char* what, const char* flag) {
    reading.add(Code::FieldMissing, file.name, fmt::format("the file does not say {}", what),
                fmt::format("say it with {}", flag));
  };
  const std::string vllm(kVllm);
  const std::string genai_perf(kGenaiPerf);
  const bool of_vllm = fields.has(vllm);
  Measurement out;
  out.where = located->place_of(file.name);
  out.time = from_seconds(kPerMillisecond *
                          (of_vllm ? fields.number(vllm, kLeastMs, kMostMs)
                                   : fields.object(genai_perf).number("avg", kLeastMs, kMostMs)));
  out.workload = context.workload;
  if (out.workload.empty()) out.workload = told_model(fields, located->root);
  if (out.workload.empty()) missing("what was measured", "--workload");
  const auto& root = located->root;
  const std::optional<int> told = told_at_once(fields, root, of_vllm);
  if (!context.batch && comes_at_a_rate(root)) return std::vector<Measurement>{};
  if (context.batch || told) {
    out.batch = context.batch ? *context.batch : *told;
  } else {
    missing("how many requests were served at a time", "--batch");
  }
  out.served =
      of_vllm ? served_by_vllm(fields, comes_at_a_rate(root)) : served_by_genai_perf(fields);
  if (out.served && (told || !of_vllm)) out.served->at_once = out.batch;
  out.driver = context.driver;
  out.date = fields.has("date") ? day_of(fields.text("date")) : std::string();
  if (out.date.empty()) out.date = context.date;
  if (const GpuModel* gpu = gpu_of(context, catalogue, file.name, reading.problems)) {
    out.gpu = gpu->name;
  }
  if (!reading.problems.empty()) return tl::unexpected(std::move(reading.problems));
  return std::vector<Measurement>{std::move(out)};
}

}  // namespace slicewise::models
