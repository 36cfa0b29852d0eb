#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

// What happens to the requests of each Service in a run, mean of its replications.
using Fates = std::map<std::string, RestartLoss>;

Fates fates_of(const VariantResult& result) {
  Fates fates;
  for (const WorkloadResult& workload : result.workloads) {
    if (workload.kind != "Service" || !workload.requests) continue;
    fates[workload.name] = fate_of(*workload.requests);
  }
  return fates;
}

// The scenario from the moment on in which the pods of `restarts` begin to start; all others serve.
Scenario from_a_restart(const Scenario& base, const std::vector<std::string>& restarts,
                        Duration at_least) {
  Scenario scenario = base;
  scenario.warmup = {};
  scenario.duration = std::max(base.duration.value_or(at_least), at_least);
  for (Workload& workload : scenario.workloads) {
    workload.startup.cold = contains(restarts, workload.name.value);
  }
  return scenario;
}

// What is there while of each Service that restarts one pod is away.
struct OneAway {
  std::vector<PoolChoice> pools;
  std::map<std::string, int> rounds;  // until each of its pods that restart was away once
  int all = 0;                        // until those of every Service were
};

// nullopt: some Service has one pod only, or an autoscaler says how many.
std::optional<OneAway> with_one_away(const Scenario& base, std::vector<PoolChoice> pools,
                                     const PathStep& step) {
  OneAway away;
  for (PoolChoice& pool : pools) {
    pool.pods.resize(pool.workloads.size());
    for (std::size_t w = 0; w < pool.workloads.size(); ++w) {
      const Workload* const workload = base.find_workload(pool.workloads[w]);
      const bool serves = workload != nullptr && workload->kind == WorkloadKind::Service;
      if (!serves || !contains(step.restarts, pool.workloads[w])) continue;
      int& pods = pool.pods[w];
      if (pods == 0) pods = workload->count;
      if (pods < 2 || workload->autoscaling) return std::nullopt;
      const int rounds = pods_restarted(base, step.from, step.to, pool.workloads[w]);
      away.rounds[pool.workloads[w]] = rounds;
      away.all = std::max(away.all, rounds);
      --pods;
    }
  }
  away.pools = std::move(pools);
  return away;
}

std::optional<Fates> simulated(const Scenario& scenario, const std::vector<PoolChoice>& pools,
                               const Catalogue& catalogue, const RunOptions& run) {
  const auto world =
      probe_world(scenario, {.pools = pools, .replications = scenario.replications}, catalogue);
  if (!world) return std::nullopt;
  const auto result = simulate(*world, run);
  if (!result) return std::nullopt;
  return fates_of(*result);
}

// Of all Services: of these so many times, of the others `else_times`.
RestartLoss sum_of(const Fates& fates, const std::map<std::string, int>& times, int else_times) {
  RestartLoss sum;
  for (const auto& [name, fate] : fates) {
    const auto own = times.find(name);
    const int often = own == times.end() ? else_times : own->second;
    sum.lost += fate.lost * often;
    sum.late += fate.late * often;
  }
  return sum;
}

// The time that a pod takes to start, again and again: at first the others serve on the pools as
// they were, at last on those that come, and what is lost is what the worse of both loses.
void add_one_by_one(const Scenario& base, const PlanPath& path, std::size_t nth,
                    const Catalogue& catalogue, const RunOptions& run, PathStep& step) {
  if (step.start == Duration{}) return;
  Scenario scenario = from_a_restart(base, {}, step.start);
  scenario.duration = step.start;
  RestartLoss most;
  int rounds = 0;
  for (const std::size_t steps : {nth, nth + 1}) {
    const std::vector<PoolChoice> pools = pools_after(path, steps);
    const auto away = with_one_away(base, pools, step);
    if (!away) return;
    const auto as_ever = simulated(scenario, pools, catalogue, run);
    const auto without_one = simulated(scenario, away->pools, catalogue, run);
    if (!as_ever || !without_one) return;
    const RestartLoss loss = loss_of(sum_of(*without_one, away->rounds, away->all),
                                     sum_of(*as_ever, away->rounds, away->all));
    most = {std::max(most.lost, loss.lost), std::max(most.late, loss.late)};
    rounds = away->all;
  }
  step.one_by_one = most;
  step.one_by_one_takes = step.start * rounds;
}

bool serves_any(const Scenario& base, const std::vector<std::string>& names) {
  return std::ranges::any_of(base.workloads, [&](const Workload& workload) {
    return workload.kind == WorkloadKind::Service && contains(names, workload.name.value);
  });
}

}  // namespace

RestartLoss fate_of(const RequestCounts& requests) {
  return {requests.refused + requests.dropped + requests.timed_out,
          requests.answered - requests.in_objectives};
}

RestartLoss loss_of(const RestartLoss& with, const RestartLoss& without) {
  return {std::max(0.0, with.lost - without.lost), std::max(0.0, with.late - without.late)};
}

void add_disruption(const Scenario& base, const Catalogue& catalogue, const RunOptions& run,
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
    step.disruption = loss_of(sum_of(*at_once, {}, 1), sum_of(*as_ever, {}, 1));
    add_one_by_one(base, path, s, catalogue, quiet, step);
  }
}

}  // namespace slicewise::sim
