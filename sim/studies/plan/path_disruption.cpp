#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
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

// What is there while of each Service that restarts one pod is away.
struct OneAway {
  std::vector<PoolChoice> pools;
  int rounds = 0;  // until each pod was away once
};

// nullopt: some Service has one pod only, or an autoscaler says how many.
std::optional<OneAway> with_one_away(const Scenario& base, std::vector<PoolChoice> pools,
                                     const std::vector<std::string>& restarts) {
  OneAway away;
  for (PoolChoice& pool : pools) {
    pool.pods.resize(pool.workloads.size());
    for (std::size_t w = 0; w < pool.workloads.size(); ++w) {
      const auto workload = std::ranges::find(base.workloads, pool.workloads[w],
                                              [](const auto& each) { return each.name.value; });
      const bool serves =
          workload != base.workloads.end() && workload->kind == scenarios::WorkloadKind::Service;
      if (!serves || !is_one_of(restarts, pool.workloads[w])) continue;
      int& pods = pool.pods[w];
      if (pods == 0) pods = workload->count;
      if (pods < 2 || workload->autoscaling) return std::nullopt;
      away.rounds = std::max(away.rounds, pods);
      --pods;
    }
  }
  away.pools = std::move(pools);
  return away;
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

RestartLoss loss_of(const Fate& with, const Fate& without, int times) {
  return {std::max(0.0, with.lost - without.lost) * times,
          std::max(0.0, with.late - without.late) * times};
}

// The time that a pod takes to start, again and again.
void add_one_by_one(const Scenario& base, const std::vector<PoolChoice>& pools,
                    const models::Catalogue& catalogue, const RunOptions& run, PathStep& step) {
  const auto away = with_one_away(base, pools, step.restarts);
  if (!away || step.start == Duration{}) return;
  Scenario scenario = from_a_restart(base, {}, step.start);
  scenario.duration = step.start;
  const auto as_ever = simulated(scenario, pools, catalogue, run);
  const auto without_one = simulated(scenario, away->pools, catalogue, run);
  if (!as_ever || !without_one) return;
  step.one_by_one = loss_of(*without_one, *as_ever, away->rounds);
  step.one_by_one_takes = step.start * away->rounds;
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
  for (std::size_t s = 0; s < path.steps.size(); ++s) {
    PathStep& step = path.steps[s];
    if (!serves_any(base, step.restarts)) continue;
    const std::vector<PoolChoice> pools = pools_after(path, s + 1);
    // As long again after the last pod is there: what waited is answered late.
    const Duration window = step.start * 2;
    const auto as_ever = simulated(from_a_restart(base, {}, window), pools, catalogue, quiet);
    const auto at_once =
        simulated(from_a_restart(base, step.restarts, window), pools, catalogue, quiet);
    if (!as_ever || !at_once) continue;
    step.disruption = loss_of(*at_once, *as_ever, 1);
    add_one_by_one(base, pools, catalogue, quiet, step);
  }
}

}  // namespace slicewise::sim
