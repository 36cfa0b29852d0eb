#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/gpu_resource.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "../traces/trace_files.hpp"
#include "job_rows.hpp"
#include "pod_record.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::int32_t kWholeGpu = 1'000;
constexpr std::int32_t kMostGpusOfPod = 1'000'000;  // of a pod
constexpr int kVirtualGpus = 10;                    // --vgpu of AWS's plugin, its default

std::int32_t clamped(std::int64_t value,
                     std::int32_t most = std::numeric_limits<std::int32_t>::max()) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, most));
}

std::string id_of(const PodRecord& pod) { return fmt::format("{}/{}", pod.space, pod.name); }

// The GPUs that a pod asks for.
struct Ask {
  std::int32_t gpus = 0;
  std::int32_t milli = kWholeGpu;  // of each
  Bytes memory{kUnknownNumber};    // of each
  std::string resource;
};

class TraceOfPods {
 public:
  TraceOfPods(const ImportOptions& options, ImportReport& report)
      : options_(options), report_(report), names_(trace_.names) {}

  JobTrace make(std::vector<PodRecord>& pods) {
    renamed_ = std::ranges::any_of(pods, asks_for_replica);
    std::optional<std::int64_t> first;
    for (const PodRecord& pod : pods) {
      if (pod.arrival) first = std::min(first.value_or(*pod.arrival), *pod.arrival);
    }
    // Whole seconds, so that the origin is exact.
    origin_ = first.value_or(0) / kSecond * kSecond;
    for (const PodRecord& pod : pods) {
      if (is_in_window(pod, first.value_or(0))) add(pod);
    }
    if (first) trace_.origin_unix_s = origin_ / kSecond;
    trace_.run_under_sharing = shared_;
    drop_empty_columns(trace_, /*keeps_whole_gpus=*/true);
    put_in_order(trace_);
    return std::move(trace_);
  }

 private:
  static bool asks_for_replica(const PodRecord& pod) {
    return std::ranges::any_of(pod.amounts, [](const auto& entry) {
      const auto gpu = gpu_resource(entry.first);
      return gpu && entry.second > 0 && gpu->is_replica();
    });
  }

  bool is_in_window(const PodRecord& pod, std::int64_t first) {
    if (!pod.arrival || (!options_.from && !options_.length)) return true;
    const std::int64_t since = *pod.arrival - first;
    const std::int64_t from = options_.from.value_or(Duration{}).ns;
    const bool is_in = since >= from && (!options_.length || since - from < options_.length->ns);
    if (!is_in) report_.skipped("pods that arrived outside the window", pod.where);
    return is_in;
  }

  void add(const PodRecord& pod) {
    const std::optional<Ask> ask = ask_of(pod);
    if (!ask) return;
    if (!pod.arrival) return;
    const PodRecord::Time start = pod.scheduled ? pod.scheduled : pod.started;
    JobRow row;
    row.arrival = {*pod.arrival - origin_};
    row.run = run_of(pod, start);
    row.gpus = ask->gpus;
    row.gpu_milli = ask->milli;
    row.cpu_milli = clamped(amount_of(pod.amounts, "cpu"));
    row.memory = {amount_of(pod.amounts, "memory")};
    row.gpu_memory = ask->memory;
    row.observed_wait = wait_of(pod, start);
    row.time_limit = pod.time_limit.value_or(kUnknownDuration);
    row.gpu_permille = pod.gpu_permille.value_or(kUnknownNumber);
    row.sm_permille = pod.sm_permille.value_or(kUnknownNumber);
    row.priority = pod.priority;
    row.backoff_limit = pod.backoff_limit.value_or(kUnknownNumber);
    row.state = pod.state;
    const std::string id = id_of(pod);
    row.id = id;
    row.group = pod.space;
    row.gpu_models = pod.gpu_models;
    row.resource = ask->resource;
    row.work = pod.work;
    row.instance_type = pod.instance_type;
    row.ran_on = pod.ran_on;
    append(row, trace_, names_);
  }

  Duration run_of(const PodRecord& pod, PodRecord::Time start) {
    if (!start) {
      report_.noted("pods that were never scheduled: no run time", pod.where);
      return kUnknownDuration;
    }
    if (!pod.ended) {
      if (pod.state == JobState::Running) {
        report_.noted("pods that were still running: their run time is not known", pod.where);
      } else {
        report_.noted("pods that ended at a time that is not known", pod.where);
      }
      return kUnknownDuration;
    }
    if (*pod.ended >= *start) return {*pod.ended - *start};
    report_.repaired("pods that ended before they were scheduled: run time 0", pod.where);
    return {0};
  }

  Duration wait_of(const PodRecord& pod, PodRecord::Time start) {
    if (!start) return kUnknownDuration;
    if (*start >= *pod.arrival) return {*start - *pod.arrival};
    report_.repaired("pods that were scheduled before they were created: wait 0", pod.where);
    return {0};
  }

  // nullopt when there is no GPU in it, which is counted.
  std::optional<Ask> ask_of(const PodRecord& pod) {
    if (pod.fraction) {
      shared_ = shared_ || *pod.fraction < kWholeGpu;
      return Ask{pod.fraction_gpus, *pod.fraction, memory_of(pod), {}};
    }
    std::optional<Ask> ask;
    for (const auto& [name, amount] : pod.amounts) {
      const auto gpu = gpu_resource(name);
      if (!gpu || amount == 0) continue;
      if (!ask) {
        ask = ask_for(pod, name, *gpu, amount);
      } else {
        report_.skipped("a second kind of GPU in a pod that asks for several", pod.where);
      }
    }
    if (ask) return ask;
    for (const auto& [name, amount] : pod.amounts) {
      if (!is_other_accelerator(name) || amount == 0) continue;
      report_.skipped(fmt::format("pods with accelerators that are not read: {}", name), pod.where);
      return std::nullopt;
    }
    report_.skipped("pods without a GPU", pod.where);
    return std::nullopt;
  }

  static Bytes memory_of(const PodRecord& pod) {
    return pod.gpu_memory.value_or(Bytes{kUnknownNumber});
  }

  Ask ask_for(const PodRecord& pod, const std::string& name, const GpuResource& gpu,
              std::int64_t amount) {
    Ask ask{clamped(amount, kMostGpusOfPod), kWholeGpu, memory_of(pod), name};
    switch (gpu.kind) {
      case GpuResource::Kind::Whole:
        share_of_whole(pod, ask);
        break;
      case GpuResource::Kind::Replica:
        ask.milli = part_of(kWholeGpu, replicas_of(pod, name));
        break;
      case GpuResource::Kind::Mig:
      case GpuResource::Kind::MigReplica:
        share_of_mig(pod, gpu, ask);
        break;
      case GpuResource::Kind::VirtualGpu:
        share_of_virtual(pod, ask);
        break;
      case GpuResource::Kind::MemorySlice:
        if (ask.memory.count < 0) ask.memory = {gpu.gigabytes * 1'000'000'000LL};
        ask.milli = part_of(kWholeGpu, replicas_of(pod, name));
        break;
    }
    // MIG instances do not feel each other.
    shared_ = shared_ || (ask.milli < kWholeGpu && gpu.kind != GpuResource::Kind::Mig);
    return ask;
  }

  static std::int32_t part_of(std::int32_t milli, int replicas) {
    return std::max(1, milli / std::max(1, replicas));
  }

  // A plugin that shares without renaming advertises nvidia.com/gpu as well; HAMi caps the SMs.
  void share_of_whole(const PodRecord& pod, Ask& ask) {
    const std::int64_t cores = amount_of(pod.amounts, "nvidia.com/gpucores");
    const std::int64_t memory = amount_of(pod.amounts, "nvidia.com/gpumem");
    if (memory > 0 && ask.memory.count < 0)
      ask.memory = mebibytes(std::min<std::int64_t>(memory, 1'000'000'000));
    if (cores > 0) {
      ask.milli = clamped(std::min<std::int64_t>(cores, 100) * 10);
    } else if (pod.node_replicas && *pod.node_replicas > 1) {
      ask.milli = part_of(kWholeGpu, *pod.node_replicas);
    } else if (options_.replicas && !renamed_ && !pod.node_replicas) {
      ask.milli = part_of(kWholeGpu, *options_.replicas);
      report_.guessed(fmt::format("pods that ask for nvidia.com/gpu, taken as replicas: 1/{} of a "
                                  "GPU each (--replicas)",
                                  *options_.replicas),
                      pod.where);
    }
  }

  int replicas_of(const PodRecord& pod, const std::string& name) {
    if (pod.node_replicas) return *pod.node_replicas;
    if (options_.replicas) {
      report_.guessed(fmt::format("pods that ask for {}, taken as 1/{} each (--replicas)", name,
                                  *options_.replicas),
                      pod.where);
      return *options_.replicas;
    }
    report_.guessed(fmt::format("pods that ask for {}, a replica, taken as all of it: give the "
                                "plugin's replicas with --replicas",
                                name),
                    pod.where);
    return 1;
  }

  void share_of_mig(const PodRecord& pod, const GpuResource& gpu, Ask& ask) {
    ask.milli = kWholeGpu * gpu.slices / gpu.slices_of;
    report_.guessed(
        fmt::format("pods that ask for MIG slices, taken as {} of the GPU's compute each",
                    gpu.slices_of == 4 ? "quarters" : "sevenths"),
        pod.where);
    if (gpu.kind == GpuResource::Kind::MigReplica)
      ask.milli = part_of(ask.milli, replicas_of(pod, ask.resource));
  }

  // AWS's virtual GPUs of one pod are parts of one GPU as long as they fit one.
  void share_of_virtual(const PodRecord& pod, Ask& ask) {
    const int each = options_.replicas.value_or(kVirtualGpus);
    if (!options_.replicas) {
      report_.guessed(fmt::format("pods that ask for k8s.amazonaws.com/vgpu, taken as 1/{} of a "
                                  "GPU each: the plugin's default",
                                  kVirtualGpus),
                      pod.where);
    }
    if (ask.gpus <= each) {
      ask.milli = part_of(kWholeGpu, each) * ask.gpus;
      ask.gpus = 1;
    } else {
      ask.gpus = (ask.gpus + each - 1) / each;
    }
  }

  const ImportOptions& options_;
  ImportReport& report_;
  JobTrace trace_;
  NamePool names_;
  std::int64_t origin_ = 0;
  bool renamed_ = false;  // some pods ask for replicas by another name
  bool shared_ = false;
};

}  // namespace

bool asks_for_gpu(const PodRecord& pod) {
  return std::ranges::any_of(
      pod.amounts, [](const auto& entry) { return entry.second > 0 && gpu_resource(entry.first); });
}

std::optional<int> replicas_of_gpu(std::string_view label) {
  constexpr std::int64_t kMost = 10'000;
  const auto replicas = whole_of(label);
  if (!replicas || *replicas < 1 || *replicas > kMost) return std::nullopt;
  return static_cast<int>(*replicas);
}

std::set<std::string> greedy_pods(const std::vector<PodRecord>& pods) {
  std::set<std::string> ids;
  for (const PodRecord& pod : pods) {
    if (pod.is_greedy) ids.insert(id_of(pod));
  }
  return ids;
}

JobTrace trace_of_pods(std::vector<PodRecord> pods, const ImportOptions& options,
                       ImportReport& report) {
  return TraceOfPods(options, report).make(pods);
}

}  // namespace slicewise::scenarios
