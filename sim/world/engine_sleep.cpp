#include <algorithm>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"

#include "parts.hpp"

// Engines of language models that sleep (vLLM's sleep mode): level 1 copies the weights into pinned
// memory of the host and gives up the KV cache, level 2 gives up both.
namespace slicewise::sim {
namespace {

// Fitted to three models of 1.2, 8.3 and 61 GB on an A100, vLLM 0.11 (medians of level 1: awake
// after 0.25, 0.82 and 2.86 s, asleep after 0.09, 0.42 and 2.78 s; of level 2, by an SSD, awake
// after 0.85 and 2.58 s). Source: vLLM's blog, "Zero-Reload Model Switching with vLLM Sleep Mode",
// 2025-10-26, and the timings of its figures.
constexpr Duration kToWake = milliseconds(340);
constexpr Duration kToWakeFromDisk = milliseconds(560);
constexpr Duration kToSleep = milliseconds(50);
constexpr double kDiskBytesPerSecond = 4.1e9;
constexpr double kSixteenLanes = 24e9;
// Half as many lanes were seen on T4, A10G, L4 and L40S (catalogue, "pcie-x8"), and V100 has links
// of half the speed. Assumed.
constexpr double kFewerLanes = 12e9;

// Between host and GPU.
double host_bytes_per_second(const GpuModel& gpu) {
  const std::string& version = gpu.compute_capability;
  const bool is_newer = version.size() > 3 || version >= "9.0";
  return is_newer || version == "8.0" ? kSixteenLanes : kFewerLanes;
}

Duration copying(Bytes bytes, double bytes_per_second) {
  return from_seconds(static_cast<double>(bytes.count) / bytes_per_second);
}

// Of a workload on a pool, wherever it runs there; nullptr: it does not, or does not sleep.
const SleepDemand* sleep_on(const WorkloadModel& model, const PoolModel& pool, std::size_t p) {
  const PoolDemand& demand = model.on_pool[p];
  if (!demand.offer || !demand.schedulable || !admits(pool, model.spec.pod)) return nullptr;
  for (std::size_t k = 0; k < demand.llm.size(); ++k) {
    const auto& tickets = pool.kinds[k].tickets;
    const bool is_here = contains(tickets, *demand.offer, &Tickets::offer);
    if (is_here && demand.llm[k].sleep) return &*demand.llm[k].sleep;
  }
  return nullptr;
}

// Weights of all that may sleep on one node of the pool.
Bytes sleeping_on_node(const World& world, std::size_t p) {
  const PoolModel& pool = world.pools[p];
  Bytes all;
  for (const WorkloadModel& model : world.workloads) {
    const SleepDemand* sleep = sleep_on(model, pool, p);
    if (sleep == nullptr) continue;
    const std::int64_t places =
        pool.layouts.empty() ? 0 : pool.tickets_per_node(*model.on_pool[p].offer, 0);
    all.count += sleep->host_memory.count * std::min<std::int64_t>(places, model.spec.count);
  }
  return all;
}

// Whether a node keeps memory for the weights.
void note_host_memory(const WorkloadModel& model, const PoolModel& pool, Bytes on_node,
                      const SleepDemand& sleep, Diagnostics& found) {
  const PodTemplate& pod = model.spec.pod;
  if (sleep.host_memory <= pod.memory_request) return;
  std::string text = fmt::format(
      "asleep, a pod of \"{}\" holds {:.1f} GiB of host memory, pinned, and asks for {:.1f}: the "
      "scheduler keeps no more for it",
      model.name, in_gibibytes(sleep.host_memory), in_gibibytes(pod.memory_request));
  if (pod.memory_limit && *pod.memory_limit < sleep.host_memory) {
    text += fmt::format(", and its limit of {:.1f} GiB kills it", in_gibibytes(*pod.memory_limit));
  }
  if (on_node > pool.allocatable_memory) {
    text += fmt::format("; all that may sleep on a node of pool \"{}\" hold {:.1f} of {:.1f} GiB",
                        pool.name, in_gibibytes(on_node), in_gibibytes(pool.allocatable_memory));
  }
  add_diagnostic(
      found, Code::SleepHostMemory, model.spec.llm->where, std::move(text),
      fmt::format("ask for {:.0f} GiB and what the server itself takes, level: 2, or larger nodes",
                  in_gibibytes(sleep.host_memory) + 0.5));
}

}  // namespace

SleepDemand sleep_of(const scenarios::EngineSleep& sleep, Bytes weights, const PoolModel& pool) {
  const double host = host_bytes_per_second(*pool.gpu);
  const bool by_host = sleep.level == 1;
  const Duration awake = by_host ? kToWake + copying(weights, host)
                                 : kToWakeFromDisk + copying(weights, kDiskBytesPerSecond);
  return {sleep.wake_time.value_or(awake),
          sleep.sleep_time.value_or(kToSleep + copying(weights, host)), sleep.memory,
          by_host ? weights : Bytes{}};
}

void note_sleep(World& world) {
  for (std::size_t p = 0; p < world.pools.size(); ++p) {
    const PoolModel& pool = world.pools[p];
    const Bytes on_node = sleeping_on_node(world, p);
    for (const WorkloadModel& model : world.workloads) {
      const SleepDemand* sleep = sleep_on(model, pool, p);
      if (sleep == nullptr) continue;
      const FindingsAbout about(model.name, world.findings);
      add_diagnostic(
          world.findings, Code::LlmSleeps, model.spec.llm->where,
          fmt::format(
              "\"{}\" sleeps at level {} on pool \"{}\": {:.1f} GiB of GPU memory beside its CUDA "
              "context{} stay taken; it falls asleep in {:.2f} s and wakes up in {:.2f} s",
              model.name, model.spec.llm->sleep->level, pool.name, in_gibibytes(sleep->gpu_memory),
              sleep->host_memory.count == 0
                  ? ""
                  : fmt::format(" and {:.1f} GiB of host memory", in_gibibytes(sleep->host_memory)),
              to_seconds(sleep->sleep_time), to_seconds(sleep->wake_time)),
          "give what you measure: memory, sleepTime and wakeTime of llm.sleep");
      note_host_memory(model, pool, on_node, *sleep, world.findings);
    }
  }
}

}  // namespace slicewise::sim
