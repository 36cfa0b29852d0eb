#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "import_report.hpp"
#include "node_pool_choice.hpp"
#include "scenario_draft.hpp"

namespace slicewise::scenarios {
namespace {

// What the server takes when it starts, beside the CUDA context, where its model is not simulated.
void reserve_memory(DraftWorkload& workload, const InstanceGpus& node) {
  if (!workload.model_server || workload.gpu_memory || !workload.profile.empty()) return;
  // Of a MIG device, or HAMi's part, it is a share of that.
  const bool is_part = workload.resource.starts_with(kMigPrefix) || !workload.parts.empty();
  if (node.gpu_memory.count == 0 || is_part) return;
  const double percent = workload.model_server->arguments.memory_percent;
  const std::int64_t all = std::llround(static_cast<double>(node.gpu_memory.count) / 100 * percent);
  workload.gpu_memory = Bytes{std::max<std::int64_t>(0, all - node.gpu_context.count)};
  workload.memory_from =
      fmt::format("{} reserves {} % of the {} GiB, CUDA context included",
                  workload.model_server->program, percent, node.gpu_memory.count >> 30U);
}

}  // namespace

void choose_language_models(ScenarioDraft& draft, const ImportOptions& options,
                            ImportReport& report) {
  for (DraftWorkload& workload : draft.workloads) {
    const DraftPool* pool = pool_of(draft, workload, options);
    const std::string type = pool == nullptr ? std::string() : pool->instance_type;
    const InstanceGpus node = instance_called(type, options.instances);
    if (!workload.llm) {
      reserve_memory(workload, node);
      continue;
    }
    const ModelServer& server = workload.llm->server;
    const ServedModel served = served_model(server.arguments, node.gpu, options.llm_models);
    if (!served.name.empty() && served.is_simulated()) {
      workload.llm->model = served.name;
      workload.llm->quantization = served.quantization;
      workload.llm->max_model_len = served.max_model_len;
      if (served.is_slow) {
        report.guessed(
            "bitsandbytes: weights as AWQ's and GPTQ's are, INT4, whose kernels are faster");
      }
      for (const std::string& flag : server.arguments.not_simulated) {
        report.noted(fmt::format("{}: not simulated", flag));
      }
      if (server.program == kNim) {
        report.guessed(
            "NIM: weights in 16 bits; no file says which profile it takes, FP8 where the GPU can "
            "(llm.quantization)");
      }
      if (server.arguments.serves_adapters) {
        report.guessed(
            "LoRA adapters: all requests are the base model's; llm.adapters says what they cost");
      }
      if (server.arguments.can_sleep) {
        report.guessed(
            "sleep mode: taken to be level 1 and by turns with others of its GPU; who calls /sleep "
            "and /wake_up decides");
      }
      if (server.program == kVllm) continue;
      report.guessed(fmt::format("{}: simulated with vLLM's way of batching", server.program));
      continue;
    }
    report.noted(
        fmt::format("language models {}, {}: `slicewise calibrate config.json` makes one of it",
                    served.name.empty() ? "that the catalogue has not"
                                        : "that are quantised as none that is simulated",
                    server.arguments.model.substr(0, 80)));
    workload.llm.reset();
    reserve_memory(workload, node);
  }
}

}  // namespace slicewise::scenarios
