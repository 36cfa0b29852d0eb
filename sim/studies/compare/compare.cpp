#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "slicewise/sim/comparison.hpp"
#include "slicewise/sim/world.hpp"

#include "../../result/merge.hpp"
#include "../../world/catalogue_names.hpp"
#include "candidates.hpp"

namespace slicewise::sim {
namespace {

using scenarios::Scenario;
using scenarios::Workload;

// A configuration that can be had, and what it found.
struct Simulation {
  Configuration configuration;
  World world;
  std::optional<VariantResult> result;
};

void check_pools(const Scenario& scenario, Diagnostics& found) {
  if (scenario.node_pools.size() == 1) return;
  std::vector<std::string> names;
  for (const auto& pool : scenario.node_pools) names.push_back(pool.name.value);
  const SourceLocation where =
      names.size() > 1 ? scenario.node_pools[1].name.where : scenario.where;
  found.push_back(make_diagnostic(
      Code::StrategyNotModelled, where,
      fmt::format("strategies are compared for one node pool; \"{}\" has {}{}{}", scenario.name,
                  names.size(), names.empty() ? "" : ": ", fmt::join(names, ", ")),
      "keep the pool that shares its GPUs and the workloads that run there"));
}

// The instance types to compare, each once.
std::vector<const models::InstanceType*> instance_types(const ComparisonOptions& options,
                                                        const models::Catalogue& catalogue,
                                                        Diagnostics& found) {
  std::vector<std::string> names = options.instance_types;
  if (names.empty()) names.assign(kComparedInstances.begin(), kComparedInstances.end());
  std::vector<const models::InstanceType*> types;
  for (const std::string& name : names) {
    if (add_types_named(name, catalogue, types)) continue;
    found.push_back(unknown_name(
        Code::InstanceUnknown, {name, {}},
        fmt::format("\"{}\" is neither an instance type nor a family of the catalogue", name),
        catalogue.instances, "slicewise get instances"));
  }
  return types;
}

RefusedOption refusal_of(Configuration configuration, const Diagnostic& reason) {
  return {std::move(configuration), reason.code, reason.message};
}

void refuse_all(const models::InstanceType& type, const Diagnostic& reason,
                std::vector<RefusedOption>& refusals) {
  for (const Strategy strategy : kStrategies) {
    Configuration configuration;
    configuration.instance_type = type.name;
    configuration.strategy = strategy;
    refusals.push_back(refusal_of(std::move(configuration), reason));
  }
}

// The world of a configuration with the nodes that it needs, or why there is none.
tl::expected<Simulation, RefusedOption> prepare(const Scenario& base, Configuration configuration,
                                                const models::Catalogue& catalogue,
                                                const ComparisonOptions& options) {
  Expected<World> world = build_world(in_configuration(base, configuration, catalogue), catalogue);
  if (!world) return tl::unexpected(refusal_of(configuration, first_error(world.error())));
  const auto never = std::ranges::find(world->findings, Code::GpuOom, &Diagnostic::code);
  if (never != world->findings.end()) return tl::unexpected(refusal_of(configuration, *never));
  if (auto reason = too_large_for_a_node(*world)) {
    return tl::unexpected(RefusedOption{configuration, Code::PodPending, std::move(*reason)});
  }
  const auto nodes =
      options.nodes ? options.nodes : smallest_node_count(*world, options.most_nodes);
  if (!nodes) {
    return tl::unexpected(RefusedOption{
        configuration, std::nullopt,
        fmt::format("needs more than {} nodes to run all pods at once", options.most_nodes)});
  }
  configuration.nodes = *nodes;
  world->pools.front().nodes = *nodes;
  return Simulation{std::move(configuration), std::move(*world), std::nullopt};
}

// Threads take whole configurations, in order, and write into their slots: their number cannot
// change a result.
void simulate_configurations(std::vector<Simulation>& simulations, const RunOptions& options) {
  std::atomic<std::size_t> next{0};
  std::mutex progress_lock;
  int done = 0;
  int total = 0;
  for (const Simulation& simulation : simulations) total += simulation.world.replications;
  RunOptions one;
  one.interrupted = options.interrupted;
  if (options.progress) {
    one.progress = [&](int /*done*/, int /*total*/) {
      const std::lock_guard guard(progress_lock);
      options.progress(++done, total);
    };
  }
  const auto work = [&] {
    for (std::size_t s = next++; s < simulations.size(); s = next++) {
      simulations[s].result = simulate(simulations[s].world, one);
    }
  };
  std::vector<std::jthread> threads;
  for (int n = 1; n < options.threads; ++n) threads.emplace_back(work);
  work();
}

Duration alone(const Workload& workload) {
  switch (workload.kind) {
    case scenarios::WorkloadKind::Service:
      return workload.measured->request_gpu_time->mean;
    case scenarios::WorkloadKind::Notebook:
      return workload.notebooks->gpu_time.mean;
    case scenarios::WorkloadKind::Job:
    case scenarios::WorkloadKind::Deployment:
      break;
  }
  return *workload.measured->unit_time;
}

// Hours of work, as measured alone, that are done in an hour.
double work_rate(const World& world, const VariantResult& result) {
  double rate = 0;
  for (std::size_t w = 0; w < world.workloads.size(); ++w) {
    rate += result.workloads[w].goodput_per_second * to_seconds(alone(world.workloads[w].spec));
  }
  return rate;
}

ComparedOption judged(Simulation&& simulation) {
  ComparedOption option;
  option.result = std::move(*simulation.result);
  option.price = {
      Usd{simulation.world.pools.front().price.usd.per_hour.nano * simulation.configuration.nodes}};
  option.gpu_busy_ratio = gpu_busy_ratio(option.result);
  const double rate = work_rate(simulation.world, option.result);
  if (rate > 0) {
    option.per_work_hour =
        Usd{std::llround(static_cast<double>(option.price.per_hour.nano) / rate)};
  }
  option.retired = std::ranges::find(simulation.world.findings, Code::InstanceRetired,
                                     &Diagnostic::code) != simulation.world.findings.end();
  option.configuration = std::move(simulation.configuration);
  return option;
}

void mark_best(std::vector<ComparedOption>& options) {
  ComparedOption* best = nullptr;
  for (ComparedOption& option : options) {
    if (!option.is_recommendable()) continue;
    if (best == nullptr || *option.per_work_hour < *best->per_work_hour) best = &option;
  }
  if (best != nullptr) best->best = true;
}

void collect(std::vector<Simulation>&& simulations, StrategyComparison& comparison) {
  for (Simulation& simulation : simulations) {
    const int asked = simulation.world.replications;
    comparison.interrupted =
        comparison.interrupted || !simulation.result || simulation.result->replications < asked;
    if (simulation.result) comparison.options.push_back(judged(std::move(simulation)));
  }
  // The best may be among those that were not run.
  if (!comparison.interrupted) mark_best(comparison.options);
}

}  // namespace

Expected<StrategyComparison> compare_strategies(const scenarios::ScenarioSet& set,
                                                std::size_t variant,
                                                const models::Catalogue& catalogue,
                                                const ComparisonOptions& options) {
  const Scenario& base = set.variants[variant];
  Diagnostics found;
  check_pools(base, found);
  check_pods(base, "strategies are compared", found);
  const std::vector<const models::InstanceType*> types = instance_types(options, catalogue, found);
  if (has_errors(found)) return tl::unexpected(std::move(found));

  std::vector<Expected<World>> exclusive;
  for (const models::InstanceType* type : types) {
    Configuration unshared;
    unshared.instance_type = type->name;
    exclusive.push_back(build_world(in_configuration(base, unshared, catalogue), catalogue));
  }
  if (Diagnostics errors = errors_everywhere(exclusive); !errors.empty()) {
    return tl::unexpected(std::move(errors));
  }

  StrategyComparison comparison;
  comparison.stamp = stamp_of(set, variant, catalogue);
  comparison.notes = changes_of(base);
  comparison.nodes = options.nodes;
  std::vector<Simulation> simulations;
  for (std::size_t t = 0; t < types.size(); ++t) {
    comparison.instance_types.push_back(types[t]->name);
    if (!exclusive[t]) {
      refuse_all(*types[t], first_error(exclusive[t].error()), comparison.refused);
      continue;
    }
    comparison.replicas.push_back(choose_replicas(base, *exclusive[t], options));
    for (Candidate& candidate : candidates_on(*types[t], *exclusive[t], comparison.replicas.back(),
                                              catalogue, options.force)) {
      if (auto* refusal = std::get_if<RefusedOption>(&candidate)) {
        comparison.refused.push_back(std::move(*refusal));
        continue;
      }
      auto simulation =
          prepare(base, std::move(std::get<Configuration>(candidate)), catalogue, options);
      if (simulation) {
        simulations.push_back(std::move(*simulation));
      } else {
        comparison.refused.push_back(std::move(simulation.error()));
      }
    }
  }
  simulate_configurations(simulations, options.run);
  collect(std::move(simulations), comparison);
  return comparison;
}

}  // namespace slicewise::sim
