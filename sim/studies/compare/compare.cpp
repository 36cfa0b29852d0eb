#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/sampled_inputs.hpp"
#include "slicewise/sim/world.hpp"

#include "../../result/merge.hpp"
#include "../../run/replications.hpp"
#include "../probe/pool_homes.hpp"
#include "candidates.hpp"

namespace slicewise::sim {
namespace {

// A configuration that can be had.
struct Prepared {
  PoolChoice choice;
  bool forced = false;
  bool yours = false;
  World world;
};

void check_pools(const Scenario& scenario, Diagnostics& found) {
  if (scenario.node_pools.size() == 1) return;
  std::vector<std::string> names;
  for (const auto& pool : scenario.node_pools) names.push_back(pool.name.value);
  const SourceLocation where =
      names.size() > 1 ? scenario.node_pools[1].name.where : scenario.where;
  add_diagnostic(
      found, Code::StrategyNotModelled, where,
      fmt::format("strategies are compared for one node pool; \"{}\" has {}{}{}", scenario.name,
                  names.size(), names.empty() ? "" : ": ", fmt::join(names, ", ")),
      "keep the pool that shares its GPUs and the workloads that run there");
}

// Says what the configurations leave out of the scenario.
Diagnostics changes_of(const Scenario& base) {
  Diagnostics notes;
  for (const Workload& workload : base.workloads) {
    if (workload.count == 0) continue;
    for (const auto& [label, value] : workload.pod.node_selector) {
      if (!names_the_node(label)) continue;
      add_note(
          notes, Code::SettingConflict, workload.pod.where,
          fmt::format("the nodeSelector {}={} of \"{}\" is left out: it names one kind of node",
                      label, value, workload.name.value));
    }
    const bool by_kai = scenarios::asks_kai(workload.pod.annotations);
    if (by_kai || !workload.pod.extended.empty() || !workload.pod.claim.value.empty()) continue;
    add_note(
        notes, Code::GpuNotRequested, workload.pod.where,
        fmt::format(
            "the pods of \"{}\" ask for one GPU here; in the scenario they use it without asking",
            workload.name.value));
  }
  return notes;
}

// What is put side by side, resolved.
struct CompareSpace {
  std::vector<const InstanceType*> types;
  std::vector<Strategy> strategies;
  std::vector<std::string> purchases;        // "": as the scenario buys
  std::vector<std::optional<int>> replicas;  // nullopt: as many as fit the scenario
};

CompareSpace space_of(const Scenario& base, const ComparisonOptions& options,
                      const Catalogue& catalogue, Diagnostics& found) {
  CompareSpace space;
  std::vector<std::string> names = options.instance_types;
  if (names.empty()) {
    std::vector<std::string_view> usual{kComparedRetired};
    usual.insert(usual.end(), kComparedInstances.begin(), kComparedInstances.end());
    for (const std::string_view name : usual) {
      const InstanceType* type = catalogue.find_instance(name);
      if (options.retired || type == nullptr || type->retired_on.empty()) names.emplace_back(name);
    }
  }
  space.types = types_named(as_names(names), catalogue, found);
  space.strategies = strategies_named(as_names(options.strategies), found);
  if (space.strategies.empty()) space.strategies.assign(kStrategies.begin(), kStrategies.end());
  space.purchases = purchases_named(as_names(options.purchases), base, found);
  if (space.purchases.empty()) space.purchases.emplace_back();
  space.replicas.assign(options.replicas.begin(), options.replicas.end());
  if (space.replicas.empty()) space.replicas.emplace_back();
  return space;
}

bool is_asked(const CompareSpace& space, Strategy strategy) {
  return contains(space.strategies, strategy);
}

void refuse_all(PoolChoice choice, const CompareSpace& space, const Refusal& refusal,
                std::vector<RefusedOption>& refusals) {
  choice.nodes = 0;
  for (const Strategy strategy : kStrategies) {
    if (!is_asked(space, strategy)) continue;
    choice.strategy = strategy;
    refusals.push_back({choice, refusal.code, refusal.reason.text()});
  }
}

// What is tried on one type in one way to serve, in the order of kStrategies: for each number of
// replicas, and bought in every way.
std::vector<Candidate> candidates_in(const CompareSpace& space, const Scenario& base,
                                     const InstanceType& type, const World& exclusive,
                                     const Catalogue& catalogue, const ComparisonOptions& options,
                                     std::vector<ReplicaChoice>& replicas) {
  std::vector<Candidate> all;
  for (const std::optional<int>& asked : space.replicas) {
    const ReplicaChoice choice = choose_replicas(base, exclusive, asked);
    if (!contains(replicas, choice)) replicas.push_back(choice);
    for (const Candidate& found : candidates_on(type, exclusive, choice, catalogue, options)) {
      if (!is_asked(space, found.choice.strategy)) continue;
      // Exclusive use and MIG are the same whatever the replicas.
      if (!contains(all, found.choice, &Candidate::choice)) {
        all.push_back(found);
      }
    }
  }
  std::ranges::stable_sort(all, {}, [](const Candidate& c) { return c.choice.strategy; });
  std::vector<Candidate> bought;
  for (const Candidate& candidate : all) {
    for (const std::string& purchase : space.purchases) {
      if (!is_sold(base, type.name, purchase)) continue;
      bought.push_back(candidate);
      bought.back().choice.purchase = purchase;
    }
  }
  return bought;
}

Duration alone(const Workload& workload) {
  switch (workload.kind) {
    case WorkloadKind::Service:
      return workload.measured->request_gpu_time->mean;
    case WorkloadKind::Notebook:
      return workload.notebooks->gpu_time.mean;
    case WorkloadKind::Job:
    case WorkloadKind::Deployment:
      break;
  }
  return *workload.measured->unit_time;
}

// How long its pods hold GPUs, all together: jobs until they are done, others as long as one looks.
double gpu_seconds(const World& world) {
  double sum = 0;
  for (const WorkloadModel& workload : world.workloads) {
    const double gpus = static_cast<double>(workload.tickets) * workload.spec.count;
    const bool ends = workload.spec.kind == WorkloadKind::Job || !world.duration;
    sum += gpus * (ends ? static_cast<double>(workload.units) * to_seconds(alone(workload.spec))
                        : to_seconds(*world.duration));
  }
  return sum;
}

// One pool of a configuration.
struct Part {
  int nodes = 1;
  double gpu_seconds = 0;
};

// The nodes of one pool of a configuration, or why it cannot be had.
tl::expected<Part, Refusal> part_of(const Scenario& base, PoolChoice part, bool forced,
                                    const Catalogue& catalogue, const ComparisonOptions& options) {
  const Expected<World> world = probe_world(base, {.pools = {std::move(part)}}, catalogue, forced);
  if (auto refusal = refusal_of(world)) return tl::unexpected(std::move(*refusal));
  if (auto reason = too_large_for_a_node(*world)) {
    return tl::unexpected(Refusal{Code::PodPending, std::move(*reason)});
  }
  if (auto reason = why_unclaimed(base, *world, catalogue)) {
    return tl::unexpected(Refusal{Code::ResourceNameMismatch, std::move(*reason)});
  }
  if (options.nodes) return Part{*options.nodes, gpu_seconds(*world)};
  if (const auto nodes = smallest_node_count(*world, options.most_nodes)) return Part{*nodes};
  return tl::unexpected(
      Refusal{std::nullopt,
              reason("needs more than {} nodes to run all pods at once", options.most_nodes)});
}

UnknownInputs unknown_inputs(const ComparisonOptions& options) {
  return options.sampled_inputs ? UnknownInputs::Drawn : UnknownInputs::Taken;
}

// The world of a configuration with the nodes that it needs, or why there is none. Pods with
// several GPUs get nodes of their own where the others share. `alone`: who is on it, and how they
// serve.
tl::expected<Prepared, RefusedOption> prepare(const Scenario& base, const PoolChoice& alone,
                                              Candidate candidate, const Catalogue& catalogue,
                                              const ComparisonOptions& options) {
  PlanProbe probe;
  probe.pools = {std::move(candidate.choice)};
  probe.replications = base.replications;
  PoolChoice& choice = probe.pools.front();
  const auto refuse = [&](const Refusal& refusal) {
    choice.nodes = choice.unshared = 0;
    return tl::unexpected(RefusedOption{choice, refusal.code, refusal.reason.text()});
  };
  choice.workloads = alone.workloads;
  choice.serving = alone.serving;
  if (candidate.refusal) return refuse(*candidate.refusal);
  const bool apart =
      choice.strategy != Strategy::Exclusive && !part_with(true, base, choice).workloads.empty();
  choice.unshared = apart ? 1 : 0;
  const std::vector<PoolChoice> parts = with_unshared(base, {&choice, 1});
  if (parts.front().workloads.empty()) {
    return refuse({std::nullopt, {"every pod asks for several GPUs, which it does not share"}});
  }
  const auto shared = part_of(base, parts.front(), candidate.forced, catalogue, options);
  if (!shared) return refuse(shared.error());
  choice.nodes = shared->nodes;
  if (apart) {
    const auto whole = part_of(base, parts.back(), false, catalogue, options);
    if (!whole) return refuse(whole.error());
    choice.unshared = whole->nodes;
    if (options.nodes) {  // in all
      if (*options.nodes < 2)
        return refuse({std::nullopt, {"needs a node of its own for pods with several GPUs"}});
      const double share = whole->gpu_seconds / (whole->gpu_seconds + shared->gpu_seconds);
      choice.unshared =
          std::clamp(static_cast<int>(std::lround(share * *options.nodes)), 1, *options.nodes - 1);
      choice.nodes = *options.nodes - choice.unshared;
    }
  }
  Expected<World> world =
      probe_world(base, probe, catalogue, candidate.forced, unknown_inputs(options));
  if (const auto refusal = refusal_of(world)) return refuse(*refusal);
  return Prepared{std::move(choice), candidate.forced, false, std::move(*world)};
}

// The scenario as it stands, or a note why it cannot run.
std::optional<Prepared> prepare_own(const Scenario& base, const Catalogue& catalogue,
                                    const ComparisonOptions& options, Diagnostics& notes) {
  Expected<World> world = probe_world(base, {.replications = base.replications}, catalogue, false,
                                      unknown_inputs(options));
  if (const auto refusal = refusal_of(world)) {
    add_note(notes, refusal->code.value_or(Code::SettingConflict),
             base.node_pools.front().name.where,
             "the scenario as it stands is left out: " + refusal->reason.text());
    return std::nullopt;
  }
  PoolChoice choice = own_choice(base.node_pools.front(), *world);
  return Prepared{std::move(choice), false, true, std::move(*world)};
}

// Hours of work, as measured alone, that are done in an hour.
double work_rate(const World& world, const VariantResult& result) {
  double rate = 0;
  for (const WorkloadResult& workload : result.workloads) {
    const auto model = std::ranges::find(world.workloads, workload.name, &WorkloadModel::name);
    // Units of recorded jobs are seconds.
    const bool recorded = workload.recorded.has_value();
    if (!recorded && model == world.workloads.end()) continue;  // a pipeline
    rate += workload.goodput_per_second * (recorded ? 1 : to_seconds(alone(model->spec)));
  }
  return rate;
}

ComparedOption judged(Prepared&& prepared, VariantResult&& result,
                      const ComparisonOptions& options) {
  ComparedOption option;
  option.result = std::move(result);
  option.yours = prepared.yours;
  // Nodes of the scenario's own may come and go.
  option.price = {option.yours ? Usd{option.result.cost.monthly.nano / (kMonth.ns / hours(1).ns)}
                               : Usd{prepared.world.pools.front().price.usd.per_hour.nano *
                                     (prepared.choice.nodes + prepared.choice.unshared)}};
  option.gpu_busy_ratio = gpu_busy_ratio(option.result);
  const double rate = work_rate(prepared.world, option.result);
  if (rate > 0) {
    option.per_work_hour =
        Usd{std::llround(static_cast<double>(option.price.per_hour.nano) / rate)};
  }
  option.by_dra = options.dra && described(prepared.choice.strategy).tried ==
                                     scenarios::SharingStrategy::Tried::ByDra;
  if (options.goal) option.goal = goal_of(*options.goal, figures_of(option.result));
  option.lacks_goal = options.goal && !option.goal;
  option.too_dear =
      options.max_monthly_cost && option.result.cost.monthly > *options.max_monthly_cost;
  option.retired = contains(prepared.world.findings, Code::InstanceRetired, &Diagnostic::code);
  if (option.yours) {
    // The others have no workload without pods either.
    std::erase_if(option.result.workloads, [](const WorkloadResult& workload) {
      return workload.left_behind.pods == 0 && workload.kind != "Pipeline";
    });
  }
  option.configuration = std::move(prepared.choice);
  option.forced = prepared.forced;
  return option;
}

// What does not get its Jobs done is no answer where something else does, and those that it does.
void mark_unfinished(std::vector<ComparedOption>& options) {
  std::vector<std::vector<UnfinishedJobs>> left;
  left.reserve(options.size());
  for (const ComparedOption& option : options) left.push_back(unfinished_jobs(option.result));
  for (std::size_t o = 0; o < options.size(); ++o) {
    std::vector<std::string>& unfinished = options[o].unfinished;
    for (std::size_t other = 0; other < options.size(); ++other) {
      if (!options[other].is_recommendable()) continue;
      if (!gets_more_jobs_done(left[other], left[o])) continue;
      if (left[o].size() - left[other].size() <= unfinished.size()) continue;
      unfinished.clear();
      for (const UnfinishedJobs& own : left[o]) {
        const auto theirs = std::ranges::find(left[other], own.workload, &UnfinishedJobs::workload);
        if (theirs == left[other].end()) unfinished.push_back(own.workload);
      }
    }
  }
}

void mark_best(std::vector<ComparedOption>& options) {
  ComparedOption* best = nullptr;
  for (ComparedOption& option : options) {
    if (!option.is_recommendable()) continue;
    if (best == nullptr || option.is_better_than(*best)) best = &option;
  }
  if (best != nullptr) best->best = true;
}

using Results = std::vector<std::optional<VariantResult>>;

Expected<Results> simulate_each(const std::vector<Prepared>& prepared, const Scenario& base,
                                const Catalogue& catalogue, const ComparisonOptions& options) {
  std::vector<const World*> worlds;
  std::vector<Scenario> scenarios;
  for (const Prepared& each : prepared) {
    worlds.push_back(&each.world);
    if (!options.sampled_inputs) continue;
    scenarios.push_back(
        each.yours ? base : planned_scenario(base, {&each.choice, 1}, catalogue, each.forced));
  }
  if (!options.sampled_inputs) return simulate_all(worlds, options.run);
  return simulate_drawn(scenarios, worlds, catalogue, options.run);
}

void judge_each(std::vector<Prepared>&& prepared, Results&& results,
                const ComparisonOptions& options, StrategyComparison& comparison) {
  for (std::size_t p = 0; p < prepared.size(); ++p) {
    const int asked = prepared[p].world.replications;
    comparison.interrupted =
        comparison.interrupted || !results[p] || results[p]->replications < asked;
    if (results[p]) {
      comparison.options.push_back(judged(std::move(prepared[p]), std::move(*results[p]), options));
    }
  }
  mark_unfinished(comparison.options);
  // The best may be among those that were not run.
  if (!comparison.interrupted) mark_best(comparison.options);
}

}  // namespace

Expected<StrategyComparison> compare_strategies(const ScenarioSet& set, std::size_t variant,
                                                const Catalogue& catalogue,
                                                const ComparisonOptions& options) {
  const Scenario base = as_judged(set.variants[variant]);
  Diagnostics found;
  check_pools(base, found);
  check_pods(base, "strategies are compared", found);
  const CompareSpace space = space_of(base, options, catalogue, found);
  check_serving(base, options.serving, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));

  struct Alone {
    const InstanceType* type;
    PoolChoice choice;
  };
  std::vector<Alone> each;
  std::vector<Expected<World>> exclusive;
  const std::vector<std::string> workloads = workloads_with_pods(base);
  for (const InstanceType* type : space.types) {
    for (auto& serving : serving_ways(base, workloads, *type, options.serving)) {
      PoolChoice alone = unshared(*type, workloads);
      alone.purchase.clear();
      alone.serving = std::move(serving);
      PoolChoice sharing = part_with(false, base, alone);
      exclusive.push_back(probe_world(
          base, {.pools = {sharing.workloads.empty() ? alone : std::move(sharing)}}, catalogue));
      each.push_back({type, std::move(alone)});
    }
  }
  if (Diagnostics errors = errors_everywhere(exclusive); !errors.empty()) {
    return tl::unexpected(std::move(errors));
  }

  StrategyComparison comparison;
  comparison.stamp = stamp_of(set, variant, base, catalogue);
  comparison.notes = changes_of(base);
  tell_of_queues(set.variants[variant], "strategies are compared", comparison.notes);
  tell_idle_ways(base, options.serving, comparison.notes);
  for (Diagnostic& late : late_starts(base)) comparison.notes.push_back(std::move(late));
  tell_of_peak(set.variants[variant], base, comparison.notes);
  comparison.nodes = options.nodes;
  comparison.goal = options.goal;
  comparison.max_monthly_cost = options.max_monthly_cost;
  comparison.sampled_inputs = options.sampled_inputs;
  for (const InstanceType* type : space.types) comparison.instance_types.push_back(type->name);
  std::vector<Prepared> prepared;
  if (auto own = prepare_own(base, catalogue, options, comparison.notes)) {
    prepared.push_back(std::move(*own));
  }
  for (std::size_t a = 0; a < each.size(); ++a) {
    const Alone& alone = each[a];
    if (!exclusive[a]) {
      refuse_all(alone.choice, space, *refusal_of(exclusive[a]), comparison.refused);
      continue;
    }
    for (Candidate& candidate : candidates_in(space, base, *alone.type, *exclusive[a], catalogue,
                                              options, comparison.replicas)) {
      auto ready = prepare(base, alone.choice, std::move(candidate), catalogue, options);
      if (ready) {
        prepared.push_back(std::move(*ready));
      } else {
        comparison.refused.push_back(std::move(ready.error()));
      }
    }
  }
  auto results = simulate_each(prepared, base, catalogue, options);
  if (!results) return tl::unexpected(std::move(results.error()));
  judge_each(std::move(prepared), std::move(*results), options, comparison);
  return comparison;
}

}  // namespace slicewise::sim
