#include <algorithm>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// How many GPUs vLLM is told to work on, and how many its container has.
// Source: docs.vllm.ai, "Parallelism and Scaling".
namespace slicewise::sim::lint {
namespace {

using scenarios::ContainerFile;

bool is_shared(const LintInput& input) {
  return std::ranges::any_of(input.offers, [](const NodeOffer& offer) {
    const OfferedResource* gpu = offer.find(scenarios::kGpuResource);
    return gpu != nullptr && gpu->replicas > 1;
  });
}

void judge_gpus(const LintInput& input, const ContainerFile& container) {
  const auto vllm = scenarios::vllm_arguments(container);
  const auto request = std::ranges::find(container.amounts, scenarios::kGpuResource,
                                         &scenarios::ResourceAmount::resource);
  if (!vllm || request == container.amounts.end() || request->amount < 1) return;
  const auto& tensor = vllm->tensor_parallel_size;
  const auto& stages = vllm->pipeline_parallel_size;
  const auto& copies = vllm->data_parallel_size;
  if (vllm->spans_pods || !tensor || !stages || !copies || is_shared(input)) return;
  const std::int64_t wanted = *tensor * *stages;
  if (wanted > request->amount) {
    input.tell(Code::VllmLacksGpus, request->where,
               fmt::format("vLLM is to run on {} GPUs (tensor-parallel-size {}{}), the container "
                           "has {}: it ends when it starts",
                           wanted, *tensor,
                           *stages > 1 ? fmt::format(" x pipeline-parallel-size {}", *stages) : "",
                           request->amount),
               fmt::format("{}: {}, or --tensor-parallel-size {}", scenarios::kGpuResource, wanted,
                           std::max<std::int64_t>(1, request->amount / *stages)));
  } else if (wanted * *copies < request->amount) {
    input.tell(
        Code::VllmLeavesGpus, request->where,
        fmt::format("vLLM runs on {} of the {} GPUs that the container has", wanted * *copies,
                    request->amount),
        fmt::format("--tensor-parallel-size {}, or {}: {}", request->amount / (*stages * *copies),
                    scenarios::kGpuResource, wanted * *copies));
  }
}

}  // namespace

void lint_vllm(const LintInput& input) {
  for (const scenarios::PodFile& pod : input.files.pods) {
    if (pod.is_system || pod.works_together) continue;
    for (const ContainerFile& container : pod.containers) judge_gpus(input, container);
  }
}

}  // namespace slicewise::sim::lint
