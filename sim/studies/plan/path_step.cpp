#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "../probe/staying_pools.hpp"
#include "plan_sections.hpp"

namespace slicewise::sim {
namespace {

std::optional<std::size_t> place_in(const PoolChoice& pool, const std::string& workload) {
  const auto found = std::ranges::find(pool.workloads, workload);
  if (found == pool.workloads.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pool.workloads.begin());
}

// Those that run; of an autoscaler's they may be more than the fewest.
int pods_of_choice(const PoolChoice& pool, std::size_t place, const Workload& workload) {
  if (!pool.pods.empty() && pool.pods[place] > 0) return pool.pods[place];
  const int kept = workload.pods_kept();
  return workload.autoscaling ? workload.autoscaling->start_replicas.value_or(kept) : kept;
}

int all_nodes(const PoolChoice& pool) { return pool.nodes + pool.unshared; }

// Its nodes may stay, with another configuration perhaps.
bool nodes_may_stay(const PoolChoice& a, const PoolChoice& b) {
  return a.instance_type == b.instance_type && a.purchase == b.purchase;
}

bool are_cut_alike(const PoolChoice& a, const PoolChoice& b) {
  return a.mig == b.mig && a.other_cuts == b.other_cuts;
}

// Pods that ask for the same go on.
bool same_sharing(const PoolChoice& a, const PoolChoice& b) {
  return a.strategy == b.strategy && a.replicas == b.replicas && are_cut_alike(a, b);
}

int in_common(const PoolChoice& a, const PoolChoice& b) {
  return static_cast<int>(std::ranges::count_if(
      a.workloads, [&](const auto& name) { return place_in(b, name).has_value(); }));
}

std::vector<std::optional<std::size_t>> pools_before(const Scenario& base,
                                                     const std::vector<PoolChoice>& from,
                                                     const std::vector<PoolChoice>& to) {
  const auto likeness = [&](std::size_t f, std::size_t t) -> std::optional<Likeness> {
    const bool alike = same_sharing(from[f], to[t]);
    if (!nodes_may_stay(from[f], to[t])) return std::nullopt;
    if (!alike && !may_be_shared_anew(base)) return std::nullopt;
    return Likeness{alike, in_common(from[f], to[t])};
  };
  return successors(from.size(), to.size(), likeness);
}

}  // namespace

std::vector<PoolChoice> pools_after(const PlanPath& path, std::size_t steps) {
  std::vector<PoolChoice> pools = path.now.pools;
  for (std::size_t s = 0; s < steps; ++s) {
    for (const PoolChoice& gone : path.steps[s].from) {
      const auto there = std::ranges::find(pools, gone);
      if (there != pools.end()) pools.erase(there);
    }
    pools.insert(pools.end(), path.steps[s].to.begin(), path.steps[s].to.end());
  }
  return pools;
}

int pods_restarted(const Scenario& base, const std::vector<PoolChoice>& from,
                   const std::vector<PoolChoice>& to, const std::string& name) {
  const auto has = [&](const PoolChoice& pool) { return place_in(pool, name).has_value(); };
  const Workload* const workload = base.find_workload(name);
  const auto home = std::ranges::find_if(from, has);
  const auto pool = std::ranges::find_if(to, has);
  if (workload == nullptr || home == from.end() || pool == to.end()) return 0;
  const std::size_t before = *place_in(*home, name);
  const std::size_t after = *place_in(*pool, name);
  const auto profile = [](const PoolChoice& choice, std::size_t at) {
    return choice.mig_profiles.empty() ? std::string() : choice.mig_profiles[at];
  };
  const auto serving = [&](const PoolChoice& choice, std::size_t at) {
    Workload served = *workload;
    if (!choice.serving.empty()) serve_as(choice.serving[at], served);
    return std::tuple(served.serving.max_batch, served.serving.max_delay,
                      served.serving.concurrency, gpus_asked_for(served));
  };
  // It has a label of its class, or none.
  const auto apart_class = [&](const PoolChoice& choice) -> std::optional<std::size_t> {
    for (std::size_t c = 0; c < choice.apart.size(); ++c) {
      if (contains(choice.apart[c], name)) return c;
    }
    return std::nullopt;
  };
  const auto of = pools_before(base, from, to)[static_cast<std::size_t>(pool - to.begin())];
  const bool stays = of && &from[*of] == &*home && same_sharing(*home, *pool) &&
                     apart_class(*home) == apart_class(*pool) &&
                     serving(*home, before) == serving(*pool, after) &&
                     profile(*home, before) == profile(*pool, after);
  const int pods =
      std::min(pods_of_choice(*home, before, *workload), pods_of_choice(*pool, after, *workload));
  if (!stays) return pods;
  const int gone = std::max(0, all_nodes(*home) - all_nodes(*pool));
  return (pods * gone + all_nodes(*home) - 1) / std::max(1, all_nodes(*home));
}

PathStep step_between(const Scenario& base, std::vector<PoolChoice> from,
                      std::vector<PoolChoice> to) {
  PathStep step;
  step.changes = static_cast<int>(std::max(from.size(), to.size()));
  const auto of = pools_before(base, from, to);
  for (const PoolChoice& pool : from) step.nodes_removed += all_nodes(pool);
  for (std::size_t t = 0; t < to.size(); ++t) {
    const PoolChoice& pool = to[t];
    const PoolChoice* const before = of[t] ? &from[*of[t]] : nullptr;
    const int kept = before == nullptr ? 0 : std::min(all_nodes(*before), all_nodes(pool));
    step.nodes_launched += all_nodes(pool) - kept;
    step.nodes_removed -= kept;
    if (before != nullptr && !are_cut_alike(*before, pool)) step.nodes_cut_anew += kept;
    for (const std::string& name : pool.workloads) {
      const int restarted = pods_restarted(base, from, to, name);
      if (restarted == 0) continue;
      const scenarios::Startup& startup = base.find_workload(name)->startup;
      step.pods_restarted += restarted;
      step.restarts.push_back(name);
      step.start = std::max(step.start, startup.image_pull + startup.model_load);
    }
  }
  step.from = std::move(from);
  step.to = std::move(to);
  return step;
}

}  // namespace slicewise::sim
