#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "lint_rules.hpp"

// GPU memory that programs are known to take, and processes that bypass a shared GPU.
namespace slicewise::sim::lint {
namespace {

using scenarios::ContainerFile;
using scenarios::PodFile;

// Of the memory of a GPU, in percent; sums of fractions end just above what they are.
constexpr double kWhole = 100 + 1e-6;

// Where a container of the pod may get a shared GPU.
const scenarios::ResourceAmount* shared_request(const LintInput& input, const PodFile& pod,
                                                const ContainerFile& container,
                                                const NodeOffer*& where) {
  for (const auto& amount : container.amounts) {
    for (const NodeOffer& offer : input.offers) {
      const OfferedResource* resource = offer.find(amount.resource);
      if (resource == nullptr || resource->replicas < 2) continue;
      if (offer.group != nullptr && !may_run_on(pod, offer)) continue;
      where = &offer;
      return &amount;
    }
  }
  return nullptr;
}

void judge_container(const LintInput& input, const PodFile& pod, const ContainerFile& container) {
  const NodeOffer* offer = nullptr;
  const auto* request = shared_request(input, pod, container, offer);
  if (request == nullptr) return;
  const bool mps = offer->has_mps();
  const std::int64_t replicas = offer->find(request->resource)->replicas;
  if (const auto vllm = scenarios::vllm_arguments(container)) {
    const double share = vllm->memory_percent;
    const double together = static_cast<double>(std::min(replicas, pod.copies)) * share;
    if (!mps && together > kWhole) {
      input.tell(Code::GpuOom, request->where,
                 fmt::format("vLLM reserves {:g} % of the GPU's memory in each pod: {} pods on one "
                             "GPU want {:g} %",
                             share, std::min(replicas, pod.copies), together),
                 fmt::format("--gpu-memory-utilization of at most 0.{:02}, or fewer replicas",
                             std::max<std::int64_t>(1, 95 / std::min(replicas, pod.copies))));
    } else if (mps && share * static_cast<double>(replicas) > kWhole) {
      input.tell(Code::GpuOom, request->where,
                 fmt::format("vLLM reserves {:g} % of the memory, and MPS allows each process {} %",
                             share, 100 / replicas),
                 "lower --gpu-memory-utilization, or fewer replicas");
    }
  }
  if (!mps && scenarios::maps_all_memory(container)) {
    input.tell(Code::GpuMemGreedy, request->where,
               "TensorFlow maps nearly all memory of the shared GPU when it starts",
               "env TF_FORCE_GPU_ALLOW_GROWTH: \"true\"");
  }
  const bool many = names_program(container, "triton") || names_program(container, "rayproject") ||
                    names_program(container, "torchrun") ||
                    names_program(container, "DataParallel");
  if (mps && many) {
    input.tell(Code::MpsPerProcessLimits, request->where,
               "this program may start several CUDA processes, and each has the limits of a "
               "replica to itself",
               "one CUDA process per pod");
  }
}

// A pod that is known to reserve a part of the memory of the GPUs that an offer shares.
struct MemoryClaim {
  const PodFile* pod;
  const scenarios::ResourceAmount* request;
  double share;  // percent of a GPU
};

std::vector<MemoryClaim> claims_on(const LintInput& input, const NodeOffer& offer,
                                   const std::string& resource) {
  std::vector<MemoryClaim> claims;
  for (const PodFile& pod : input.files.pods) {
    if (pod.is_system || (offer.group != nullptr && !may_run_on(pod, offer))) continue;
    for (const ContainerFile& container : pod.containers) {
      const auto request =
          std::ranges::find(container.amounts, resource, &scenarios::ResourceAmount::resource);
      if (container.is_init || request == container.amounts.end()) continue;
      if (const auto vllm = scenarios::vllm_arguments(container)) {
        claims.push_back({&pod, &*request, vllm->memory_percent});
      }
    }
  }
  return claims;
}

// Replicas of a GPU go to whoever asks: pods of different objects may meet on one. The largest of
// them, as many as there are replicas, must fit together. Pods of one object are judged by
// themselves (judge_container).
void judge_neighbours(const LintInput& input, const NodeOffer& offer) {
  if (offer.config == nullptr) return;
  if (offer.config->sharing != scenarios::FileSharing::TimeSlicing) return;
  for (const OfferedResource& resource : offer.resources) {
    if (resource.replicas < 2) continue;
    std::vector<MemoryClaim> claims = claims_on(input, offer, resource.name);
    std::ranges::stable_sort(claims, std::greater(), &MemoryClaim::share);
    std::int64_t left = resource.replicas;
    double together = 0;
    std::vector<std::string> names;
    const MemoryClaim* last = nullptr;
    for (const MemoryClaim& claim : claims) {
      const std::int64_t pods = std::min(left, claim.pod->copies);
      if (pods == 0 || together > kWhole) break;
      // No more of them than bring it above the GPU.
      const double more = std::floor((kWhole - together) / claim.share) + 1;
      together += claim.share * std::min(static_cast<double>(pods), more);
      left -= pods;
      names.push_back(claim.pod->name.substr(0, 60));
      last = &claim;
    }
    if (together <= kWhole || names.size() < 2) continue;
    input.tell(Code::GpuOom, last->request->where,
               fmt::format("pods of {} may share one GPU and reserve {:g} % of its memory together",
                           fmt::join(names, " and "), together),
               "lower --gpu-memory-utilization of each, or give them node groups of their own");
  }
}

// MPS serves one user at a time.
void judge_users(const LintInput& input) {
  std::set<std::string> users;
  for (const PodFile& pod : input.files.pods) {
    for (const ContainerFile& container : pod.containers) {
      const NodeOffer* offer = nullptr;
      const auto* request = shared_request(input, pod, container, offer);
      if (request == nullptr || !offer->has_mps()) continue;
      const auto user = container.user ? container.user : pod.user;
      if (!user) continue;
      users.insert(*user);
      if (users.size() < 2) continue;
      return input.tell(Code::MpsUsersDiffer, request->where,
                        "pods of different users share an MPS server: one user waits for the "
                        "other's last process",
                        "give them the same runAsUser");
    }
  }
}

// A pod that opens the GPU without asking for it, where only MPS clients may.
void judge_bypass(const LintInput& input, const PodFile& pod) {
  const bool mps = std::ranges::any_of(input.offers, &NodeOffer::has_mps);
  for (const ContainerFile& container : pod.containers) {
    const bool asks = std::ranges::any_of(container.amounts, [](const auto& amount) {
      return amount.resource.starts_with("nvidia.com/");
    });
    const auto visible =
        std::ranges::find(container.env, "NVIDIA_VISIBLE_DEVICES", &scenarios::KeyValue::key);
    if (!mps || asks || visible == container.env.end() || visible->value != "all") continue;
    input.tell(Code::GpuExclusiveProcess, visible->where,
               "CUDA error: all CUDA-capable devices are busy or unavailable: the GPUs of MPS "
               "nodes take MPS clients only",
               "ask for the shared resource");
  }
}

// HAMi counts memory in MiB, and Kubernetes reads "4Gi" as 4294967296 of them.
void judge_hami_memory(const LintInput& input, const ContainerFile& container) {
  const auto asked = std::ranges::find(container.amounts, scenarios::kHamiMemory,
                                       &scenarios::ResourceAmount::resource);
  if (asked == container.amounts.end()) return;
  const std::int64_t most = largest_gpu_mebibytes(input);
  if (most == 0 || asked->amount <= most) return;
  const std::int64_t meant = asked->amount >> 20U;
  input.tell(Code::GpuOom, asked->where,
             fmt::format("{} counts MiB: {} of them are more than any GPU has, {}",
                         scenarios::kHamiMemory, asked->amount, most),
             meant > 0 && meant <= most ? fmt::format("{}: {}", scenarios::kHamiMemory, meant)
                                        : std::string("ask for what the process needs, in MiB"));
}

}  // namespace

std::int64_t largest_gpu_mebibytes(const LintInput& input) {
  std::int64_t most = 0;
  for (const models::GpuModel& gpu : input.catalogue.gpus) {
    most = std::max(most, gpu.memory_total.count >> 20U);
  }
  return most;
}

void lint_pod_memory(const LintInput& input) {
  for (const PodFile& pod : input.files.pods) {
    if (pod.is_system) continue;
    judge_bypass(input, pod);
    for (const ContainerFile& container : pod.containers) {
      judge_container(input, pod, container);
      judge_hami_memory(input, container);
    }
  }
  for (const NodeOffer& offer : input.offers) judge_neighbours(input, offer);
  judge_users(input);
}

}  // namespace slicewise::sim::lint
