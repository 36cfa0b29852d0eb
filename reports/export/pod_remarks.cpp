#include "pod_remarks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/printable.hpp"

#include "guide.hpp"

namespace slicewise::reports {
namespace {

using scenarios::Workload;

// vLLM takes these ranks only (vllm/config/lora.py).
std::string rank_flag(const scenarios::LoraAdapters& adapters) {
  if (!adapters.rank) return " --max-lora-rank RANK";
  constexpr std::array<int, 9> kRanks = {1, 8, 16, 32, 64, 128, 256, 320, 512};
  return fmt::format(" --max-lora-rank {}", *std::ranges::lower_bound(kRanks, *adapters.rank));
}

// Nothing in Kubernetes switches engines.
std::string sleep_remark(const scenarios::EngineSleep& sleep) {
  return comment(fmt::format(
      "VLLM_SERVER_DEV_MODE=1 opens /sleep, /wake_up and /is_sleeping to whoever reaches the pod: "
      "let "
      "the router alone. It has to be there: simulated is one that calls POST /sleep?level={} on "
      "the "
      "engine that is awake when it has answered all, then POST /wake_up{} on the next "
      "(llama-swap with its vllm-wrapper does), and that starts the engines one "
      "after the other, each put to sleep before the next.",
      sleep.level,
      sleep.level == 2 ? ", POST /collective_rpc {\"method\": \"reload_weights\"} and POST "
                         "/reset_prefix_cache"
                       : ""));
}

// The server as it was simulated, in vLLM's flags.
std::string llm_remark(const Workload& workload) {
  const scenarios::Llm& llm = *workload.llm;
  std::string flags = "vllm serve MODEL";
  const auto add = [&](std::string_view flag, const auto& value) {
    flags += fmt::format(" --{} {}", flag, value);
  };
  const std::vector<scenarios::ExtendedRequest>& requests = workload.pod.extended;
  const std::int64_t gpus = requests.empty() ? 1 : requests.front().count;
  add("tensor-parallel-size", llm.tensor_parallel_size.value_or(static_cast<int>(gpus)));
  if (llm.kv_cache) {
    add("kv-cache-memory-bytes", llm.kv_cache->count);
  } else {
    add("gpu-memory-utilization", llm.memory_utilization);
  }
  if (llm.max_sequences) add("max-num-seqs", *llm.max_sequences);
  if (llm.max_batched_tokens) add("max-num-batched-tokens", *llm.max_batched_tokens);
  if (llm.max_model_len) add("max-model-len", *llm.max_model_len);
  if (llm.block_size != scenarios::Llm().block_size) add("block-size", llm.block_size);
  flags += llm.prefix_caching ? " --enable-prefix-caching" : " --no-enable-prefix-caching";
  if (llm.role != scenarios::LlmRole::Both) {
    add("kv-transfer-config", R"('{"kv_connector":"NixlConnector","kv_role":"kv_both"}')");
  }
  if (llm.adapters) {  // without max-cpu-loras it loads from disk what has no place
    flags += fmt::format(" --enable-lora --max-loras {} --max-cpu-loras {}", llm.adapters->at_once,
                         std::max(llm.adapters->at_once, llm.adapters->count));
    flags += rank_flag(*llm.adapters);
  }
  if (llm.sleep) flags += " --enable-sleep-mode";
  if (llm.quantization == "FP8") add("quantization", "fp8");
  if (!llm.kv_cache_dtype.empty()) add("kv-cache-dtype", "fp8");
  return comment(fmt::format("The arguments are the manifest's own. As simulated: {}{}", flags,
                             llm.quantization == "INT4" ? ", of weights by AWQ or GPTQ" : "")) +
         (llm.sleep ? sleep_remark(*llm.sleep) : "");
}

// What no field of Kubernetes says: it is the server's own.
std::string serving_remark(const Workload& workload) {
  const scenarios::Serving& serving = workload.serving;
  std::string parts;
  if (serving.max_batch > 1) {
    const std::int64_t delay_us = serving.max_delay.ns / 1'000;
    parts = fmt::format(
        "batches of up to {} requests{} (of Triton in config.pbtxt: max_batch_size: {}, "
        "dynamic_batching {{ max_queue_delay_microseconds: {} }})",
        serving.max_batch, delay_us > 0 ? fmt::format(", which wait {} us for more", delay_us) : "",
        serving.max_batch, delay_us);
  }
  if (serving.concurrency > 0) {
    parts += fmt::format("{}{} request{} of a pod at a time (its worker threads or processes)",
                         parts.empty() ? "" : "; ", serving.concurrency,
                         serving.concurrency == 1 ? "" : "s");
  }
  return parts.empty() ? "" : comment("The server's settings are its own. As simulated: " + parts);
}

}  // namespace

std::string server_remarks(const Workload& workload) {
  return workload.llm ? llm_remark(workload) : serving_remark(workload);
}

namespace {

using scenarios::ClusterQueue;
using scenarios::Scenario;
using scenarios::Workload;
using scenarios::WorkloadKind;

bool covers(const ClusterQueue& queue, const std::string& resource) {
  return std::ranges::any_of(queue.groups, [&](const scenarios::ResourceGroup& group) {
    return std::ranges::any_of(group.covered,
                               [&](const auto& name) { return name.value == resource; });
  });
}

}  // namespace

bool is_without_its_quotas(const Scenario& scenario) {
  return !scenario.cluster_queues.empty() &&
         std::ranges::all_of(scenario.workloads,
                             [](const Workload& workload) { return workload.queue.value.empty(); });
}

std::string never_admitted(const Scenario& scenario, const Workload& workload) {
  if (workload.kind != WorkloadKind::Job || !is_without_its_quotas(scenario)) return {};
  for (const scenarios::ExtendedRequest& request : workload.pod.extended) {
    const std::string& name = request.name.value;
    const bool is_covered = std::ranges::any_of(
        scenario.cluster_queues, [&](const ClusterQueue& queue) { return covers(queue, name); });
    if (is_covered) continue;
    return printable(
        fmt::format("no ClusterQueue covers {}, which \"{}\" asks for now: Kueue never admits its "
                    "Jobs until their queue has it among its coveredResources, with a quota",
                    name, workload.name.value));
  }
  return {};
}

std::string quota_remark(const Scenario& scenario, const Workload& workload) {
  if (const std::string never = never_admitted(scenario, workload); !never.empty()) {
    return "Warning: " + never + ".";
  }
  if (!workload.queue.value.empty()) {
    return printable(fmt::format(
        "Simulated in Kueue's ClusterQueue {}: \"{}\" needs the label kueue.x-k8s.io/queue-name "
        "with a LocalQueue of it (slicewise export --to kueue). Without it all its pods start at "
        "once.",
        workload.queue.value, workload.name.value));
  }
  if (workload.kind != WorkloadKind::Job || !is_without_its_quotas(scenario)) return {};
  return printable(fmt::format(
      "Planned without quotas: where Kueue holds \"{}\", it counts what its pods ask for now, of "
      "shared GPUs the shares, and may start fewer at once.",
      workload.name.value));
}

}  // namespace slicewise::reports
