#include "scaled_input.hpp"

#include <cmath>

#include <fmt/format.h>

#include "../load/load_targets.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

constexpr std::string_view kTraffic = "traffic";
constexpr std::string_view kRequestTime = "requestGpuTime";
constexpr std::string_view kUnitTime = "unitTime";
constexpr std::string_view kGpuMemory = "gpuMemory";
constexpr std::string_view kHostCpu = "cpu";

std::string path_of(const Workload& workload, std::string_view field) {
  return fmt::format("workloads.{}.{}", workload.name.value, field);
}

Duration times(Duration d, double factor) {
  return {static_cast<std::int64_t>(std::llround(static_cast<double>(d.ns) * factor))};
}

Bytes times(Bytes bytes, double factor) {
  return {static_cast<std::int64_t>(std::llround(static_cast<double>(bytes.count) * factor))};
}

bool scale(Workload& workload, std::string_view input, double factor) {
  if (input == path_of(workload, kRequestTime)) {
    workload.measured->request_gpu_time->mean =
        times(workload.measured->request_gpu_time->mean, factor);
    if (workload.measured->extra_per_item) {
      workload.measured->extra_per_item = times(*workload.measured->extra_per_item, factor);
    }
    return true;
  }
  if (input == path_of(workload, kUnitTime)) {
    workload.measured->unit_time = times(*workload.measured->unit_time, factor);
    return true;
  }
  if (input == path_of(workload, kGpuMemory)) {
    workload.gpu_memory.resident = times(workload.gpu_memory.resident, factor);
    if (workload.gpu_memory.peak) {
      workload.gpu_memory.peak = times(*workload.gpu_memory.peak, factor);
    }
    return true;
  }
  if (input != path_of(workload, kHostCpu)) return false;
  workload.measured->cpu = Millicores{static_cast<std::int64_t>(
      std::llround(static_cast<double>(workload.measured->cpu->count) * factor))};
  return true;
}

}  // namespace

std::vector<std::string> flip_inputs(const Scenario& scenario) {
  std::vector<std::string> inputs;
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    if (workload.traffic && inputs.empty()) inputs.emplace_back(kTraffic);
  }
  if (inputs.empty() && !scenario.pipelines.empty()) inputs.emplace_back(kTraffic);
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0 || !workload.measured) continue;
    if (workload.measured->request_gpu_time) inputs.push_back(path_of(workload, kRequestTime));
    if (workload.measured->unit_time) inputs.push_back(path_of(workload, kUnitTime));
    if (workload.gpu_memory.resident.count > 0) inputs.push_back(path_of(workload, kGpuMemory));
    if (workload.measured->cpu && workload.measured->cpu->count > 0) {
      inputs.push_back(path_of(workload, kHostCpu));
    }
  }
  return inputs;
}

Scenario scaled_input(const Scenario& scenario, std::string_view input, double factor) {
  if (input.empty()) return scenario;
  if (input == kTraffic) {
    const auto targets = load_targets(scenario, {});
    return targets ? scaled(scenario, *targets, factor) : scenario;
  }
  Scenario changed = scenario;
  for (Workload& workload : changed.workloads) {
    if (scale(workload, input, factor)) break;
  }
  return changed;
}

}  // namespace slicewise::sim
