#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "../probe/probe.hpp"
#include "plan_path.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;

// What happens to the requests of a run, mean of its replications.
struct Fate {
  double lost = 0;
  double late = 0;
};

Fate fate_of(const VariantResult& result) {
  Fate fate;
  for (const WorkloadResult& workload : result.workloads) {
    if (workload.kind != "Service" || !workload.requests) continue;
    const RequestCounts& requests = *workload.requests;
    fate.lost += requests.refused + requests.dropped + requests.timed_out;
    fate.late += requests.answered - requests.in_objectives;
  }
  return fate;
}

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The scenario from the moment on in which the pods of `restarts` begin to start; all others serve.
Scenario from_a_restart(const Scenario& base, const std::vector<std::string>& restarts,
                        Duration at_least) {
  Scenario scenario = base;
  scenario.warmup = {};
  scenario.duration = std::max(base.duration.value_or(at_least), at_least);
  for (scenarios::Workload& workload : scenario.workloads) {
    workload.startup.cold = is_one_of(restarts, workload.name.value);
  }
  return scenario;
}

std::optional<Fate> simulated(const Scenario& scenario, const std::vector<PoolChoice>& pools,
                              const models::Catalogue& catalogue, const RunOptions& run) {
  PlanProbe probe;
  probe.pools = pools;
  probe.replications = scenario.replications;
  const auto world = probe_world(scenario, probe, catalogue);
  if (!world) return std::nullopt;
  const auto result = simulate(*world, run);
  if (!result) return std::nullopt;
  return fate_of(*result);
}

bool serves_any(const Scenario& base, const std::vector<std::string>& names) {
  return std::ranges::any_of(base.workloads, [&](const scenarios::Workload& workload) {
    return workload.kind == scenarios::WorkloadKind::Service &&
           is_one_of(names, workload.name.value);
  });
}

}  // namespace

void add_disruption(const Scenario& base, const models::Catalogue& catalogue, const RunOptions& run,
                    PlanPath& path) {
  RunOptions quiet = run;
  quiet.progress = nullptr;
  std::vector<PoolChoice> pools = path.now.pools;
  for (PathStep& step : path.steps) {
    for (const PoolChoice& gone : step.from) {
      const auto there = std::ranges::find(pools, gone);
      if (there != pools.end()) pools.erase(there);
    }
    pools.insert(pools.end(), step.to.begin(), step.to.end());
    if (!serves_any(base, step.restarts)) continue;
    // As long again after the last pod is there: what waited is answered late.
    const Duration window = step.start * 2;
    const auto as_ever = simulated(from_a_restart(base, {}, window), pools, catalogue, quiet);
    const auto at_once =
        simulated(from_a_restart(base, step.restarts, window), pools, catalogue, quiet);
    if (!as_ever || !at_once) continue;
    step.disruption = RestartLoss{std::max(0.0, at_once->lost - as_ever->lost),
                                  std::max(0.0, at_once->late - as_ever->late)};
  }
}

}  // namespace slicewise::sim
