#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/scenarios/serving.hpp"

#include "../text/flow_text.hpp"
#include "draft_lines.hpp"

namespace slicewise::scenarios {
namespace {

void write_memory(const DraftWorkload& w, DraftLines& lines) {
  constexpr std::int64_t kMebibyte = 1'048'576;
  // What `check` warns of in the manifest, the scenario runs into.
  const std::string_view allocator = w.is_greedy ? "allocator: Greedy, " : "";
  const std::string_view risk =
      w.is_greedy
          ? "; TensorFlow maps all free memory (GPU_MEM_GREEDY) without TF_FORCE_GPU_ALLOW_GROWTH"
          : "";
  if (w.llm || (!w.gpu_memory && !w.profile.empty() && !w.is_greedy)) return;
  if (!w.gpu_memory) {
    const std::string most =
        w.mig_memory ? fmt::format("{}Mi", w.mig_memory->count / kMebibyte) : std::string("2Gi");
    lines.todo(fmt::format("    gpuMemory: {{{}resident: {}}}", allocator, most),
               fmt::format("Assumed{}{}", w.mig_memory ? ": all of its MIG instance" : "", risk),
               "gpuMemory", w.name);
    return;
  }
  const std::string memory = fmt::format("    gpuMemory: {{{}resident: {}Mi}}", allocator,
                                         (w.gpu_memory->count + kMebibyte - 1) / kMebibyte);
  if (w.is_greedy) return lines.todo(memory, std::string(risk.substr(2)), "gpuMemory", w.name);
  if (!w.memory_from.empty()) return lines.add(memory + "  # " + w.memory_from);
  w.memory_is_measured ? lines.add(memory + "  # the most that was seen") : lines.add(memory);
}

void write_llm(const DraftLlm& llm, const std::string& name, DraftLines& lines) {
  const VllmArguments& served = llm.server.arguments;
  lines.add("    llm:");
  lines.add(fmt::format("      model: {}  # {}", in_quotes(llm.model), served.model));
  if (served.memory_percent != VllmArguments().memory_percent) {
    lines.add(fmt::format("      memoryUtilization: {}%", served.memory_percent));
  }
  for (const auto& [key, value] :
       {std::pair("maxSequences", served.max_sequences),
        std::pair("maxBatchedTokens", served.max_batched_tokens),
        std::pair("maxModelLen", llm.max_model_len), std::pair("blockSize", served.block_size)}) {
    if (value) lines.add(fmt::format("      {}: {}", key, *value));
  }
  if (served.tensor_parallel_size.value_or(1) > 1) {
    lines.add(fmt::format("      tensorParallelSize: {}", *served.tensor_parallel_size));
  }
  if (!llm.quantization.empty()) {
    lines.add(fmt::format("      quantization: {}", llm.quantization));
  }
  if (served.has_fp8_cache) lines.add("      kvCacheDtype: FP8");
  if (!served.prefix_caching) lines.add("      prefixCaching: false");
  if (served.can_sleep) lines.add("      sleep: {level: 1}");
  lines.todo("      tokens: {input: {p50: 1020, p99: 4142}, output: {p50: 129, p99: 601}}",
             "Assumed: those of a published trace of conversations (Azure 2023)", "tokens", name);
}

// GPU time and rate of requests: what is not known follows from how busy the GPU was where that
// is known, and is a guess otherwise.
void write_requests(const DraftWorkload& w, DraftLines& lines) {
  constexpr double kMeanOfP50 = 1.0455;  // of a lognormal law with p99 = 2 p50
  const std::string use = w.gpu_permille ? fmt::format("the GPU was in use {}.{} % of the time",
                                                       *w.gpu_permille / 10, *w.gpu_permille % 10)
                                         : "";
  // GPU seconds a second, by all pods.
  const double load = w.gpu_permille ? *w.gpu_permille * 1e-3 *
                                           static_cast<double>(std::max<std::int64_t>(1, w.pods))
                                     : 0;
  double seconds = 0.03;
  if (const auto given = parse_duration(w.gpu_time)) {
    seconds = to_seconds(*given);
  } else if (const auto rate = parse_rate(w.traffic); rate && load > 0 && rate->per_second > 0) {
    seconds = load / rate->per_second / kMeanOfP50;
  }
  // Of the time in which the GPU is in use: what fills the SMs cannot be more.
  std::string fill;
  if (w.gpu_permille && w.sm_permille && *w.sm_permille <= *w.gpu_permille) {
    fill = fmt::format("smActive: {:.1f}%, ", 100.0 * *w.sm_permille / *w.gpu_permille);
  }
  const auto micros = std::max<std::int64_t>(1, std::llround(seconds * 1e6));
  const auto text = [](std::int64_t us) {
    return us % 1'000 == 0 ? fmt::format("{}ms", us / 1'000) : fmt::format("{}us", us);
  };
  const std::string time =
      fmt::format("    measured: {{requestGpuTime: {{p50: {}, p99: {}}}, {}provenance: Assumed}}",
                  text(micros), text(2 * micros), fill);
  if (w.llm) {
    write_llm(*w.llm, w.name, lines);
  } else if (!w.gpu_time.empty()) {
    lines.todo(time, "p50 as annotated; p99 Assumed", "p99 of requestGpuTime", w.name);
  } else if (w.profile.empty()) {
    lines.todo(time, use.empty() ? "GPU time of a request" : "Assumed; " + use, "measured", w.name);
  }
  if (!w.traffic.empty()) {
    lines.add(
        fmt::format("    traffic: {{shape: Poisson, mean: {}}}  # {}", w.traffic, w.traffic_from));
    return;
  }
  // The profile's time is the catalogue's to know.
  const bool follows = load > 0 && !w.llm && (w.profile.empty() || !w.gpu_time.empty());
  const double rate = follows ? load / (seconds * kMeanOfP50) : 1;
  lines.todo(
      fmt::format("    traffic: {{shape: Poisson, mean: {:.4g}/s, provenance: Assumed}}", rate),
      follows ? "so many that " + use : "rate of requests", "traffic", w.name);
}

// Neither what comes nor how long it takes: people at notebooks have habits that were published,
// and a language model's times are the catalogue's.
bool is_placeholder(const DraftWorkload& w) {
  if (w.gpu_permille || !w.profile.empty() || w.llm) return false;
  if (w.kind == DraftWorkload::Kind::Service) return w.gpu_time.empty() && w.traffic.empty();
  return w.kind != DraftWorkload::Kind::Notebook && !w.run_time;
}

}  // namespace

void write_figures(const DraftWorkload& w, DraftLines& lines) {
  if (is_placeholder(w)) {
    lines.add("    placeholder: true  # goes with the first figure of your own");
  }
  write_memory(w, lines);
  if (!w.profile.empty()) lines.add(fmt::format("    profile: {}", in_quotes(w.profile)));
  if (w.kind == DraftWorkload::Kind::Service) return write_requests(w, lines);
  std::string use = w.gpu_permille
                        ? fmt::format("gpuUtil: {}.{}%", *w.gpu_permille / 10, *w.gpu_permille % 10)
                        : "gpuBusy: 50%";
  // What fills the SMs cannot be more than what keeps the GPU in use.
  if (w.gpu_permille && w.sm_permille && *w.sm_permille <= *w.gpu_permille) {
    use += fmt::format(", smActive: {}.{}%", *w.sm_permille / 10, *w.sm_permille % 10);
  }
  if (w.kind == DraftWorkload::Kind::Notebook) {
    lines.todo(
        "    notebooks: {users: 1, sessionsPerDay: 1.5, length: {p50: 2h, p95: 7h}, peaksAt: "
        "[\"09:30\", \"14:00\"], interval: {p50: 45s, p95: 12m}, gpuTime: {p50: 2s, p95: 40s}}",
        "Assumed: sessions and cells", "notebooks", w.name);
    lines.add("    measured: {provenance: Assumed}");
    return;
  }
  constexpr std::int64_t kUnits = 100;
  lines.add(fmt::format("    work: {{units: {}}}", kUnits));
  if (!w.profile.empty()) return;
  if (w.run_time) {
    const std::int64_t unit = std::max<std::int64_t>(1'000'000, w.run_time->ns / kUnits);
    lines.todo(
        fmt::format("    measured: {{unitTime: {}us, {}, provenance: Assumed}}", unit / 1'000, use),
        w.gpu_permille ? "the run time as it was, perhaps beside others"
                       : "the run time as it was; gpuBusy Assumed",
        "measured", w.name);
  } else {
    lines.todo(fmt::format("    measured: {{unitTime: 6s, {}, provenance: Assumed}}", use),
               "time of one of the 100 units", "measured", w.name);
  }
}

}  // namespace slicewise::scenarios
