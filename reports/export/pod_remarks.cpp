#include "pod_remarks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slicewise/counted.hpp"
#include "slicewise/printable.hpp"
#include "slicewise/scenarios/cron.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"

#include "guide.hpp"
#include "pod_objects.hpp"
#include "pod_owner.hpp"

namespace slicewise::reports {
namespace {

using scenarios::ClusterQueue;
using scenarios::PodTemplate;
using scenarios::Scenario;
using scenarios::Workload;
using scenarios::WorkloadKind;

constexpr const char* kAllowGrowth = "TF_FORCE_GPU_ALLOW_GROWTH";

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
    parts += fmt::format("{}{} of a pod at a time (its worker threads or processes)",
                         parts.empty() ? "" : "; ", counted(serving.concurrency, "request"));
  }
  return parts.empty() ? "" : comment("The server's settings are its own. As simulated: " + parts);
}

// Whether the pod asks for a name that some pool advertises for time-slicing.
bool shares_by_time_slicing(const Scenario& scenario, const PodTemplate& pod) {
  for (const scenarios::NodePool& pool : scenario.node_pools) {
    if (!pool.device_plugin || !pool.device_plugin->time_slicing) continue;
    const scenarios::PluginSharing& sharing = *pool.device_plugin->time_slicing;
    for (const scenarios::SharedResource& resource : sharing.resources) {
      const std::string name = sharing.advertised(resource.name.value);
      const auto asks = [&](const auto& request) { return request.name.value == name; };
      if (std::ranges::any_of(pod.extended, asks)) return true;
    }
  }
  return false;
}

bool may_need_allow_growth(const Scenario& scenario, const Workload& workload) {
  return workload.gpu_memory.allocator == scenarios::Allocator::Greedy &&
         workload.pod.env.count(kAllowGrowth) == 0 &&
         shares_by_time_slicing(scenario, workload.pod);
}

bool tolerates_gpu_taint(const PodTemplate& pod) {
  return std::ranges::any_of(pod.tolerations, [](const auto& toleration) {
    return toleration.key.empty() || toleration.key == scenarios::kGpuTaint;
  });
}

std::string toleration_remarks(const PodTemplate& pod) {
  std::string out;
  if (!pod.tolerations.empty()) {
    out += comment("The list of tolerations replaces the one of the manifest.");
  }
  if (!tolerates_gpu_taint(pod)) {
    out += comment(
               "Not part of this variant: where your GPU nodes have the taint nvidia.com/gpu, the "
               "pods also need, together with the manifest's own tolerations:") +
           commented(fmt::format("  tolerations:\n  - key: {}\n    operator: Exists\n",
                                 scenarios::kGpuTaint));
  }
  return out;
}

// A Deployment starts the new pod first, unless it is told otherwise.
std::string affinity_remarks(const Workload& workload) {
  if (workload.pod.anti_affinity.empty()) return "";
  std::string out =
      comment("The list of required podAntiAffinity replaces the one of the manifest.");
  if (keeps_replicas(workload)) {
    out += comment(
        "Where each node has one of these pods, the first new one of a rollout finds none: let it "
        "end an old one first (spec.strategy.rollingUpdate: maxSurge 0, maxUnavailable 1).");
  }
  return out;
}

std::string allow_growth_remark() {
  return comment(
             "Not part of this variant: its pods map almost the whole GPU at start (allocator "
             "Greedy), and under time-slicing the next pod on the same GPU dies with CUDA out of "
             "memory. For TensorFlow this variable of the container avoids that; other frameworks "
             "have a limit of their own:") +
         commented(fmt::format("  env:\n  - name: {}\n    value: \"true\"\n", kAllowGrowth));
}

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
  if (!scenario.kai_queues.empty()) return {};  // KAI's label is in the patch
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

std::string pod_remarks(const Scenario& scenario, const Workload& workload) {
  std::string out;
  const bool is_patched = !owner_of(workload).api_version.empty();
  if (workload.manifest.containers.empty() && is_patched) {
    out = comment("The container is matched by its name: put the name that your manifest has.");
  } else if (workload.manifest.containers.size() > 1) {
    out = comment(
        "CPU and memory stay as the manifest has them: of several containers the scenario knows "
        "the sum.");
  }
  out += toleration_remarks(workload.pod);
  out += affinity_remarks(workload);
  if (is_spread(workload)) {
    out += comment(fmt::format(
        "Planned for the loss of one {}: without topologySpreadConstraints the pods may all be in "
        "one. Karpenter keeps no spare nodes by itself, and starts new ones for pods that lost "
        "theirs.",
        workload.manifest.spread == scenarios::kHostname ? "node" : "zone of three"));
  }
  if (owner_of(workload).kind == "Job") {
    out += comment(
        "A Job's pod template cannot be changed once it exists: patch the manifest, then create "
        "it.");
  }
  if (workload.kind == WorkloadKind::Notebook) {
    out += comment(fmt::format(
        "{} users, each with a pod of their own that is made when they start it: Kubeflow makes a "
        "StatefulSet of one pod, JupyterHub the pod itself (singleuser.extraResource.limits, "
        "singleuser.cpu, singleuser.memory). This is the patch of one; the number is not a scale.",
        workload.count));
  }
  if (workload.autoscaling) {
    out += comment(scaler_remark(workload));
  } else if (!workload.manifest.scaled_by.empty()) {
    out += comment(
        fmt::format("As many pods as {} has them, {} in the scenario: no number is patched.",
                    workload.manifest.scaled_by, workload.count));
  }
  const int of_run = workload.pods_of_run();
  if (workload.pods_per_job > 1) {
    const int jobs = of_run / workload.pods_per_job;
    out += comment(fmt::format(
        "{}Its pods are placed together, as simulated, only where Kueue, Volcano or KAI holds the "
        "Job (slicewise export --to kueue); a PyTorchJob or JobSet says the same.",
        jobs > 1 ? fmt::format("One of {} Jobs like it. ", jobs) : ""));
  } else if (workload.kind == WorkloadKind::Job && of_run > 1 && !never_restarts(workload) &&
             workload.manifest.containers.empty() && object_names(scenario, workload).size() == 1) {
    out += comment(fmt::format(
        "backoffLimit is that of {} Jobs together: only with restartPolicy Never has each its own.",
        of_run));
  }
  if (workload.schedule && workload.schedule->time_zone.empty() &&
      !scenarios::zone_of_offset(workload.schedule->utc_offset)) {
    out += comment("The schedule is of a zone that is no whole hours from UTC: name its timeZone.");
  }
  const std::string quota = quota_remark(scenario, workload);
  if (!quota.empty()) out += comment(quota);
  out += workload.llm ? llm_remark(workload) : serving_remark(workload);
  if (may_need_allow_growth(scenario, workload)) out += allow_growth_remark();
  return out;
}

}  // namespace slicewise::reports
