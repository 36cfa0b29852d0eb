#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// How many GPUs vLLM is told to work on, and how many its container has; what it refuses when it
// starts. Source: docs.vllm.ai, "Parallelism and Scaling", "Engine Arguments".
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

// Of a LeaderWorkerSet all pods of a group work on one copy of the model, which its leader starts.
// Without a template of the leader's no file says which pod does.
void judge_group(const LintInput& input, const scenarios::PodFile& leader) {
  if (leader.kind != "LeaderWorkerSet" || is_shared(input)) return;
  const auto gpus_of = [](const scenarios::PodFile& pod) {
    return scenarios::amount_of(scenarios::reserved_amounts(pod), scenarios::kGpuResource);
  };
  std::int64_t each = 0;
  int sets = 0;
  for (const scenarios::PodFile& pod : input.files.pods) {
    const bool is_of_it =
        pod.kind == leader.kind && pod.object == leader.object && pod.space == leader.space;
    if (!is_of_it) continue;
    ++sets;
    each += pod.copies / std::max<std::int64_t>(1, leader.copies) * gpus_of(pod);
  }
  if (sets < 2 || leader.copies < 1 || gpus_of(leader) == 0) return;
  for (const ContainerFile& container : leader.containers) {
    const auto vllm = scenarios::vllm_arguments(container);
    const auto request = std::ranges::find(container.amounts, scenarios::kGpuResource,
                                           &scenarios::ResourceAmount::resource);
    if (!vllm || request == container.amounts.end()) continue;
    const std::int64_t wanted =
        vllm->tensor_parallel_size.value_or(0) * vllm->pipeline_parallel_size.value_or(0);
    if (wanted <= each) continue;
    input.tell(
        Code::VllmLacksGpus, request->where,
        fmt::format("vLLM is to run on {} GPUs (tensor-parallel-size {} x "
                    "pipeline-parallel-size {}), the pods of a group have {} together: it "
                    "ends when it starts",
                    wanted, *vllm->tensor_parallel_size, *vllm->pipeline_parallel_size, each),
        "more GPUs in each pod, a larger size, or fewer of one of the two");
  }
}

// The largest GPU of the nodes that the pod may get.
struct LargestGpu {
  Bytes memory;
  std::string name;
  bool has_bfloat16 = false;  // any of them: of compute capability 8.0 and later
};

// Nullopt: no file says which types these are.
std::optional<LargestGpu> largest_gpu(const LintInput& input, const scenarios::PodFile& pod) {
  LargestGpu largest;
  for (const NodeOffer& offer : input.offers) {
    if (offer.group != nullptr && !may_run_on(pod, offer)) continue;
    if (offer.types.empty() || offer.types.size() < offer.group->types.size()) return std::nullopt;
    for (const models::InstanceType* type : offer.types) {
      const models::GpuModel* gpu = input.catalogue.find_gpu(type->gpu_model);
      if (gpu == nullptr) return std::nullopt;
      const Bytes memory = models::usable_memory(*type, *gpu);
      largest.has_bfloat16 = largest.has_bfloat16 || gpu->compute_capability.size() > 3 ||
                             gpu->compute_capability >= "8.0";
      if (memory > largest.memory) largest = {memory, gpu->name, largest.has_bfloat16};
    }
  }
  return largest.memory.count > 0 ? std::optional(largest) : std::nullopt;
}

// The model that it serves, and as long requests as that takes where no flag says it.
const models::LlmModel* model_of(const LintInput& input, scenarios::VllmArguments& vllm) {
  std::vector<std::string> names;
  for (const models::LlmModel& one : input.catalogue.llm_models) names.push_back(one.name);
  const scenarios::ServedModel served = scenarios::served_model(vllm, "", names);
  vllm.max_model_len = served.max_model_len;
  return served.is_quantised ? nullptr : input.catalogue.find_llm_model(served.name);
}

double shown_gibibytes(double bytes) { return in_gibibytes({static_cast<std::int64_t>(bytes)}); }

// The least that each of its GPUs holds: its part of the weights, and of the cache one request of
// the longest.
void judge_room(const LintInput& input, const scenarios::VllmArguments& vllm,
                const models::LlmModel& model, const LargestGpu& gpu, const SourceLocation& where) {
  if (!vllm.not_simulated.empty() || vllm.spans_pods || !vllm.memory_refused.empty()) return;
  const auto tensor = static_cast<int>(vllm.tensor_parallel_size.value_or(0));
  const auto stages = static_cast<double>(vllm.pipeline_parallel_size.value_or(0));
  if (tensor < 1 || stages < 1 || (tensor > 1 && !model.shape)) return;
  const double part = tensor > 1 ? models::cache_part(*model.shape, tensor) : 1;
  const auto memory = static_cast<double>(gpu.memory.count);
  const double room = memory * vllm.memory_percent / 100;
  const double weights = static_cast<double>(model.weights.count) / tensor / stages;
  const double token = static_cast<double>(model.kv_bytes_per_token.count) * part / stages /
                       (vllm.has_fp8_cache ? 2 : 1);
  const std::int64_t longest = vllm.max_model_len.value_or(0);
  const std::string of_gpu = fmt::format("vLLM has {} % of the {:.1f} GiB of a {}",
                                         vllm.memory_percent, shown_gibibytes(memory), gpu.name);
  if (weights > room) {
    input.tell(Code::GpuOom, where,
               fmt::format("the weights of {} take {:.1f} GiB of each GPU, and {}", model.title,
                           shown_gibibytes(weights), of_gpu),
               "more GPUs and --tensor-parallel-size, GPUs with more memory, or quantised weights");
  } else if (weights + token * static_cast<double>(longest) > room) {
    input.tell(Code::GpuOom, where,
               fmt::format("one request of --max-model-len {} takes {:.1f} GiB of cache beside "
                           "{:.1f} GiB of weights, and {}: it ends when it starts",
                           longest, shown_gibibytes(token * static_cast<double>(longest)),
                           shown_gibibytes(weights), of_gpu),
               fmt::format("--max-model-len of less than {:.0f}", (room - weights) / token));
  }
}

void judge_flags(const LintInput& input, const scenarios::PodFile& pod,
                 const ContainerFile& container) {
  auto vllm = scenarios::vllm_arguments(container);
  if (!vllm || container.is_init) return;
  if (!vllm->memory_refused.empty()) {
    input.tell(Code::ValueRange, container.where,
               fmt::format("--gpu-memory-utilization {}: vLLM takes a share above 0, at most 1, "
                           "and ends when it starts",
                           vllm->memory_refused.substr(0, 40)),
               "0.9 is 90 %");
  }
  const models::LlmModel* model = model_of(input, *vllm);
  const std::int64_t tensor = vllm->tensor_parallel_size.value_or(1);
  const bool can_share = model == nullptr || !model->shape || tensor <= 1 ||
                         models::can_share(*model->shape, static_cast<int>(tensor));
  if (!can_share) {
    return input.tell(
        Code::ValueRange, container.where,
        fmt::format("--tensor-parallel-size {}: {} has {} heads and {} of keys and "
                    "values, of which each GPU has to get as many: vLLM ends when "
                    "it starts",
                    tensor, model->title, model->shape->heads, model->shape->kv_heads),
        "2, 4 or 8");
  }
  const bool has_gpus =
      contains(container.amounts, scenarios::kGpuResource, &scenarios::ResourceAmount::resource);
  const auto gpu = has_gpus ? largest_gpu(input, pod) : std::nullopt;
  if (!gpu) return;
  if (vllm->dtype == "bfloat16" && !gpu->has_bfloat16) {
    input.tell(Code::ValueRange, container.where,
               fmt::format("--dtype bfloat16: vLLM takes it on GPUs of compute capability 8.0 and "
                           "later, not on a {}, and ends when it starts",
                           gpu->name),
               "--dtype half");
  }
  if (model != nullptr) judge_room(input, *vllm, *model, *gpu, container.where);
}

}  // namespace

void lint_vllm(const LintInput& input) {
  for (const scenarios::PodFile& pod : input.files.pods) {
    if (pod.is_system) continue;
    judge_group(input, pod);
    for (const ContainerFile& container : pod.containers) {
      if (!pod.works_together) judge_gpus(input, container);
      judge_flags(input, pod, container);
    }
  }
}

}  // namespace slicewise::sim::lint
