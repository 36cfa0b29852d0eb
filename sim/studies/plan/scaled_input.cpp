#include "scaled_input.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/load.hpp"

#include "../load/load_search.hpp"
#include "../sensitivity/input_fields.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

// What a flip changes together, under the name that plans give it.
struct FlipInput {
  std::string_view name;
  std::string_view inputs[2];  // the second only where there is one
};

constexpr FlipInput kFlipInputs[] = {
    {"requestGpuTime", {"measured.requestGpuTime", ""}},
    {"unitTime", {"measured.unitTime", ""}},
    {"gpuMemory", {"gpuMemory.resident", "gpuMemory.peak"}},
    {"cpu", {"measured.cpu", ""}},
};

std::string path_of(const Workload& workload, std::string_view field) {
  return fmt::format("workloads.{}.{}", workload.given_name(), field);
}

void scale(Workload& workload, std::string_view input, double factor) {
  for (const FlipInput& flip : kFlipInputs) {
    if (input != path_of(workload, flip.name)) continue;
    const Workload as_is = workload;
    for (const std::string_view path : flip.inputs) {
      const auto amount = path.empty() ? std::nullopt : scenarios::amount_at(as_is, path);
      if (amount) set_input(workload, path, *amount * factor);
    }
  }
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
    for (const FlipInput& flip : kFlipInputs) {
      if (scenarios::amount_at(workload, flip.inputs[0]).value_or(0) <= 0) continue;
      std::string path = path_of(workload, flip.name);
      if (std::ranges::find(inputs, path) == inputs.end()) inputs.push_back(std::move(path));
    }
  }
  return inputs;
}

bool lacks_sm_active(const Workload& workload) {
  return workload.count > 0 && workload.measured && !workload.llm &&
         !workload.measured->sm_active && !workload.measured->capacity_share;
}

Scenario scaled_input(const Scenario& scenario, std::string_view input, double factor) {
  if (input.empty()) return scenario;
  if (input == kTraffic) {
    const auto targets = load_targets(scenario, {});
    return targets ? scaled(scenario, *targets, factor) : scenario;
  }
  Scenario changed = scenario;
  if (input == kSmActive) {
    for (Workload& workload : changed.workloads) {
      if (lacks_sm_active(workload)) workload.measured->sm_active = factor;
    }
    return changed;
  }
  for (Workload& workload : changed.workloads) scale(workload, input, factor);
  return changed;
}

}  // namespace slicewise::sim
