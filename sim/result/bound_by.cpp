#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/models/llm_step.hpp"
#include "slicewise/sim/cluster/cluster.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../world/admission.hpp"
#include "merge.hpp"

namespace slicewise::sim {
namespace {

// What Pending pods waited for. The records do not tell workloads apart: a GPU, when any did.
std::string_view waited_for(std::span<const Replication> replications) {
  bool cpu = false;
  bool memory = false;
  for (const Replication& r : replications) {
    for (const PendingReason& reason : r.pending_reasons) {
      for (auto cause = static_cast<std::size_t>(RejectCause::Devices);
           cause < reason.nodes_by_cause.size(); ++cause) {
        if (reason.nodes_by_cause[cause] > 0) return "waiting for a GPU";
      }
      cpu = cpu || reason.nodes_by_cause[static_cast<std::size_t>(RejectCause::Cpu)] > 0;
      memory = memory || reason.nodes_by_cause[static_cast<std::size_t>(RejectCause::Memory)] > 0;
    }
  }
  if (cpu) return "waiting for CPU";
  return memory ? "waiting for memory" : "waiting for a node";
}

// A delay below it, as a share of the whole, is not worth naming.
constexpr double kWorthNaming = 0.05;

// The highest mean of the nodes.
double host_cpu_busy(const World& world, std::span<const Replication> replications) {
  double highest = 0;
  std::size_t n = 0;
  for (const PoolModel& pool : world.pools) {
    for (int node = 0; node < pool.node_slots(); ++node, ++n) {
      const double busy = mean_over(
          replications, [&](const Replication& r) { return ratio(r.nodes[n].cpu_time, r.length); });
      highest = std::max(highest, busy / pool.vcpus);
    }
  }
  return highest;
}

// The highest mean of the GPUs and MIG instances.
double gpu_busy(std::span<const Replication> replications) {
  double highest = 0;
  for (std::size_t at = 0; at < replications.front().domains.size(); ++at) {
    highest = std::max(highest, mean_over(replications, [&](const Replication& r) {
                         return ratio(r.domains[at].time.busy(), r.length);
                       }));
  }
  return highest;
}

constexpr double kHostIsBusy = 0.9;

// The mean answer of a language model whose server has nobody else's.
double seconds_alone(const PoolModel& pool, const LlmDemand& there, int gpus,
                     const TokenFigures& tokens) {
  models::LlmStep step = there.step;
  if (there.shared) {
    step = models::exchanging(step, all_reduces_of(pool, there, (GpuMask{1} << gpus) - 1));
  }
  const double prompt = tokens.input_tokens / *tokens.answered;
  const double answer = tokens.output_tokens / *tokens.answered;
  const double found = prompt * tokens.prefix_hits;
  const double steps = std::max(1.0, std::ceil((prompt - found) / there.max_batched_tokens));
  const double pairs = models::pairs_beyond(std::llround(found), std::llround(prompt - found));
  return steps * models::step_seconds(step, (prompt - found) / steps, found) + step.pair_s * pairs +
         (answer - 1) * models::step_seconds(step, 1, prompt + answer / 2);
}

// What a request takes alone, on the fastest GPU that it may get; nullopt: its batch decides, or
// its model answers it in two places.
std::optional<Duration> alone(const World& world, const WorkloadModel& model,
                              const WorkloadResult& result) {
  const scenarios::Serving& serving = model.spec.serving;
  if (serving.max_batch > 1) return std::nullopt;
  const bool in_parts = model.spec.llm && model.spec.llm->role != scenarios::LlmRole::Both;
  if (in_parts || (model.spec.llm && result.tokens->answered.value_or(0) <= 0)) return std::nullopt;
  std::optional<Duration> gpu;
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolDemand& demand = model.on_pool[p];
    if (!demand.schedulable) continue;
    for (const LlmDemand& there : demand.llm) {
      const Duration here =
          from_seconds(seconds_alone(world.pools[p], there, demand.gpus, *result.tokens));
      gpu = std::min(gpu.value_or(here), here);
    }
    if (model.spec.llm) continue;
    for (const Demand& there : demand.in_kind) gpu = std::min(gpu.value_or(there.gpu), there.gpu);
  }
  if (!gpu) return std::nullopt;
  return *gpu + serving.cpu_before + serving.cpu_after + serving.cpu_between * (serving.bursts - 1);
}

// What requests of a Service were lost to or waited for: a full queue, vCPUs (`for_cpu_s` in all),
// host work between bursts, a batch that was to fill, else the GPU.
std::string_view service_bound_by(const World& world, const WorkloadModel& model,
                                  const WorkloadResult& result,
                                  std::span<const Replication> replications, double for_cpu_s) {
  constexpr double kFewLost = 0.01;
  constexpr double kMostOfIt = 0.5;
  const scenarios::Serving& serving = model.spec.serving;
  if (serving.queue_limit && result.requests->dropped > kFewLost * result.requests->arrived) {
    return "queue limit";
  }
  if (!result.latency || !result.queueing) return {};
  const Duration waited = result.queueing->mean;
  const auto by_itself = alone(world, model, result);
  const Duration delay = by_itself ? result.latency->mean - *by_itself : waited;
  if (to_seconds(delay) <= kWorthNaming * to_seconds(result.latency->mean)) return {};
  const bool uses_host = serving.cpu_before + serving.cpu_after + serving.cpu_between > Duration{};
  if (uses_host && host_cpu_busy(world, replications) >= kHostIsBusy) return "host CPU";
  // Who waits for a worker waits for what holds up those that have one.
  double held_s = to_seconds(delay);
  if (by_itself && serving.concurrency > 0 && result.throughput_per_second > 0) {
    const double workers = static_cast<double>(serving.concurrency) * model.spec.count;
    held_s = std::min(held_s, workers / result.throughput_per_second - to_seconds(*by_itself));
  }
  const double for_cpu_each_s = for_cpu_s / static_cast<double>(result.latency->count);
  if (for_cpu_each_s > kMostOfIt * held_s) return "host CPU";
  // A pod works on one after the other, and its GPU stands still between the bursts of each.
  const Duration between = serving.cpu_between * (serving.bursts - 1);
  const Duration served = result.latency->mean - waited;
  if (served > Duration{} && between + between > served) return "bursts";
  const bool fills = serving.max_batch > 1 && serving.max_delay > Duration{};
  return fills && waited <= serving.max_delay ? "batch window" : "GPU";
}

}  // namespace

// The largest of their delays, when one is worth naming, of the time their containers ran.
std::string_view bound_by(const World& world, const WorkloadResult& result,
                          std::span<const std::size_t> workloads,
                          std::span<const Replication> replications) {
  double running = 0;
  double gpu = 0;
  double cpu = 0;
  double waiting = 0;
  double for_quota = 0;
  std::int64_t failed = 0;
  std::int64_t done = 0;
  std::int64_t oom_kills = 0;
  std::int64_t faults = 0;
  for (const Replication& r : replications) {
    for (const std::size_t w : workloads) {
      const WorkloadRecord& record = r.workloads[w];
      running += to_seconds(record.pod_running);
      gpu += to_seconds(record.stretched_by_gpu);
      cpu += to_seconds(record.stretched_by_cpu);
      for (const Duration wait : record.wait) waiting += to_seconds(wait);
      for (const Duration wait : record.quota_wait) for_quota += to_seconds(wait);
      failed += record.jobs_failed;
      done += record.jobs_done;
      oom_kills += record.oom_kills;
      faults += record.faults;
    }
  }
  // Others failed with their object, whatever that was for.
  if (failed > done && oom_kills > 0) return "GPU memory";
  if (failed > done && faults > 0) return "GPU faults";
  if (result.requests) {
    return service_bound_by(world, world.workloads[workloads.front()], result, replications, cpu);
  }
  waiting = std::max(waiting, for_quota);  // of Jobs that were stopped, after they had run
  const double largest = std::max({gpu, cpu, waiting});
  if (largest <= kWorthNaming * running) return {};
  if (largest == waiting) {
    return for_quota > waiting - for_quota ? "waiting for quota" : waited_for(replications);
  }
  // Containers wait longer for the GPU's turns, yet only more vCPUs would have them done earlier.
  const double host = host_cpu_busy(world, replications);
  const bool host_is_full = cpu > kWorthNaming * running && host >= kHostIsBusy;
  if (host_is_full && host > gpu_busy(replications)) return "host CPU";
  return largest == gpu ? "GPU" : "host CPU";
}

std::string bounds_of(const VariantResult& variant) {
  // And whom, as they come.
  std::vector<std::pair<std::string_view, std::vector<std::string>>> bounds;
  for (const WorkloadResult& w : variant.workloads) {
    if (w.bound_by.empty()) continue;
    const auto known = std::ranges::find(bounds, w.bound_by, [](const auto& b) { return b.first; });
    if (known == bounds.end()) {
      bounds.push_back({w.bound_by, {w.name}});
    } else {
      known->second.push_back(w.name);
    }
  }
  std::string out;
  for (const auto& [bound, whom] : bounds) {
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", bound, few_names(whom));
  }
  return out;
}

}  // namespace slicewise::sim
