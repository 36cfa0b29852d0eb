#include "llm_benchmark.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../catalog_fields.hpp"
#include "../located_json.hpp"
#include "measured_context.hpp"

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
  CatalogFields fields(located->root, file.name, &reading);
  const auto missing = [&](const char* what, const char* flag) {
    reading.add(Code::FieldMissing, file.name, fmt::format("the file does not say {}", what),
                fmt::format("say it with {}", flag));
  };
  constexpr double kLeastMs = 1e-3;
  constexpr double kMostMs = 1e8;
  constexpr double kPerMillisecond = 1e-3;
  const std::string vllm(kVllm);
  const std::string genai_perf(kGenaiPerf);
  const bool of_vllm = fields.has(vllm);
  Measurement out;
  out.where = located->place_of(file.name);
  out.time = from_seconds(kPerMillisecond *
                          (of_vllm ? fields.number(vllm, kLeastMs, kMostMs)
                                   : fields.object(genai_perf).number("avg", kLeastMs, kMostMs)));
  out.workload = context.workload;
  if (out.workload.empty()) out.workload = fields.text_or_empty("model_id");
  if (out.workload.empty()) missing("what was measured", "--workload");
  const auto& root = located->root;
  const bool counts = root.contains("max_concurrency") && root["max_concurrency"].is_number();
  if (context.batch || counts) {
    out.batch = context.batch ? *context.batch : fields.small_integer("max_concurrency", 1);
  } else {
    missing("how many requests were served at a time", "--batch");
  }
  if (fields.has("date")) out.date = day_of(fields.text("date"));
  if (const GpuModel* gpu = gpu_of(context, catalogue, file.name, reading.problems)) {
    out.gpu = gpu->name;
  }
  if (!reading.problems.empty()) return tl::unexpected(std::move(reading.problems));
  return std::vector<Measurement>{std::move(out)};
}

}  // namespace slicewise::models
