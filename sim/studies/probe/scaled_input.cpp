#include "scaled_input.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/load.hpp"

#include "../../world/parts.hpp"
#include "input_fields.hpp"
#include "loads.hpp"

namespace slicewise::sim {
namespace {

// What a flip changes together, under the name that plans give it.
struct FlipInput {
  std::string_view name;
  std::string_view fields[2];  // the second only where there is one

  std::span<const std::string_view> paths() const {
    return std::span(fields).first(fields[1].empty() ? 1 : 2);
  }
};

constexpr FlipInput kFlipInputs[] = {
    {"requestGpuTime", {"measured.requestGpuTime", ""}},
    {"unitTime", {"measured.unitTime", ""}},
    {kGpuMemory.substr(1), {"gpuMemory.resident", "gpuMemory.peak"}},
    {"cpu", {"measured.cpu", ""}},
};

const WorkloadField& field_at(std::string_view path) {
  return *std::ranges::find(workload_fields(), path, &WorkloadField::path);
}

constexpr std::string_view kOfWorkload = "workloads.";

// "requestGpuTime" of "workloads.asr.requestGpuTime", where the workload is asr.
std::optional<std::string_view> below(std::string_view given_name, std::string_view input) {
  const std::string name = fmt::format("{}{}.", kOfWorkload, given_name);
  if (!input.starts_with(name)) return std::nullopt;
  return input.substr(name.size());
}

void scale_fields(Workload& workload, std::span<const std::string_view> paths, double factor,
                  const Catalogue& catalogue) {
  const Workload resolved = filled_in(workload, catalogue);
  lay_figures(resolved, workload);
  for (const std::string_view path : paths) {
    const auto value = stated_value(field_at(path), resolved);
    if (!value) continue;
    const bool is_share = scenarios::workload_unit(path) == AmountUnit::Ratio;
    set_input(workload, path, is_share ? std::min(1.0, *value * factor) : *value * factor);
  }
}

void scale(Workload& workload, std::string_view name, double factor, const Catalogue& catalogue) {
  const auto* const flip = std::ranges::find(kFlipInputs, name, &FlipInput::name);
  if (flip != std::end(kFlipInputs)) {
    scale_fields(workload, flip->paths(), factor, catalogue);
  } else if (contains(workload_fields(), name, &WorkloadField::path)) {
    scale_fields(workload, std::span(&name, 1), factor, catalogue);
  }
}

void set_sm_active(Workload& workload, double share, const Catalogue& catalogue) {
  const Workload resolved = filled_in(workload, catalogue);
  if (!lacks_sm_active(resolved)) return;
  lay_figures(resolved, workload);
  workload.measured->sm_active = share;
}

void scale(scenarios::NodeStartUp& chain, double factor) {
  for (Duration* part : {&chain.launch, &chain.ready, &chain.gpu_allocatable}) {
    *part = from_seconds(to_seconds(*part) * factor);
  }
}

}  // namespace

bool has_traffic(const Scenario& scenario) {
  const auto has = [](const Workload& w) { return w.count > 0 && w.traffic.has_value(); };
  return std::ranges::any_of(scenario.workloads, has) || !scenario.pipelines.empty();
}

std::vector<std::string> flip_inputs(const Scenario& scenario, const Catalogue& catalogue) {
  std::vector<std::string> inputs;
  if (has_traffic(scenario)) inputs.emplace_back(kTraffic);
  for (const Workload& workload : scenario.workloads) {
    if (workload.count == 0) continue;
    const Workload resolved = filled_in(workload, catalogue);
    for (const FlipInput& flip : kFlipInputs) {
      if (!stated_value(field_at(flip.fields[0]), resolved)) continue;
      std::string path = fmt::format("{}{}.{}", kOfWorkload, workload.given_name(), flip.name);
      if (!contains(inputs, path)) inputs.push_back(std::move(path));
    }
  }
  return inputs;
}

bool concerns(std::string_view input, const std::vector<std::string>& given_names) {
  return !input.starts_with(kOfWorkload) || std::ranges::any_of(given_names, [&](const auto& name) {
    return below(name, input).has_value();
  });
}

bool lacks_sm_active(const Workload& workload) {
  return workload.count > 0 && workload.measured && !workload.llm &&
         !workload.measured->sm_active && !workload.measured->capacity_share;
}

Scenario scaled_input(const Scenario& scenario, std::string_view input, double factor,
                      const Catalogue& catalogue) {
  if (input.empty()) return scenario;
  if (input == kTraffic) {
    const auto targets = load_targets(scenario, {});
    return targets ? scaled(scenario, *targets, factor) : scenario;
  }
  const std::vector<LoadTarget> loads = all_load_targets(scenario);
  if (const auto load = std::ranges::find(loads, input, &LoadTarget::path); load != loads.end()) {
    return scaled(scenario, std::span(&*load, 1), factor);
  }
  Scenario changed = scenario;
  if (input == kNodeReady) {
    scale(changed.provisioner.start_up, factor);
    return changed;
  }
  for (Workload& workload : changed.workloads) {
    if (workload.count == 0) continue;
    if (input == kSmActive) {
      set_sm_active(workload, factor, catalogue);
    } else if (const auto name = below(workload.given_name(), input)) {
      scale(workload, *name, factor, catalogue);
    }
  }
  return changed;
}

}  // namespace slicewise::sim
