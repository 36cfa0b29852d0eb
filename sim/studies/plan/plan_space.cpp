#include <algorithm>

#include "slicewise/diagnostics.hpp"
#include "slicewise/lookup.hpp"

#include "../probe/probe.hpp"
#include "pool_choices.hpp"

namespace slicewise::sim {
namespace {

// What the command line says, else what the scenario says.
Names asked(const std::vector<std::string>& flags, const Names& written) {
  return flags.empty() ? written : as_names(flags);
}

template <class Value>
const std::vector<Value>& asked(const std::vector<Value>& flags,
                                const std::vector<Value>& written) {
  return flags.empty() ? written : flags;
}

ServingWays serving_of(const ServingWays& flags, const scenarios::Planning& written) {
  return {asked(flags.tensor_parallel, written.tensor_parallel_sizes),
          asked(flags.max_batches, written.max_batches),
          asked(flags.max_delays, written.max_delays),
          asked(flags.concurrencies, written.concurrencies)};
}

std::vector<const InstanceType*> types_of(const Scenario& scenario, const Catalogue& catalogue,
                                          const PlanOptions& options, Diagnostics& found) {
  const Names names = asked(options.instance_types, scenario.planning.instance_types);
  std::vector<const InstanceType*> types = types_named(names, catalogue, found);
  if (!names.empty()) return types;
  for (const auto& pool : scenario.node_pools) {
    const InstanceType* own = catalogue.find_instance(pool.instance_type.value);
    if (own != nullptr && own->retired_on.empty()) add_type(own, types);
  }
  for (const std::string_view name : kPlannedInstances) {
    add_type(catalogue.find_instance(name), types);
  }
  if (std::ranges::any_of(scenario.workloads, has_several_gpus) ||
      !serving_of(options.serving, scenario.planning).tensor_parallel.empty()) {
    for (const std::string_view name : kPlannedForSeveralGpus) {
      add_type(catalogue.find_instance(name), types);
    }
  }
  return types;
}

std::vector<Strategy> strategies_of(const Scenario& scenario, const PlanOptions& options,
                                    Diagnostics& found) {
  const Names names = asked(options.strategies, scenario.planning.strategies);
  std::vector<Strategy> strategies = strategies_named(names, found);
  if (scenario.gpu_software.image == scenarios::NodeImage::AutoMode) {
    if (!names.empty() && found.empty() && !contains(strategies, Strategy::Exclusive)) {
      found.push_back(make_diagnostic(
          Code::SettingConflict, scenario.where,
          "nodes of EKS Auto Mode share no GPU: nobody configures their device plugin",
          "--strategies exclusive; or gpuSoftware.nodeImage: al2023, for nodes beside them"));
    }
    return {Strategy::Exclusive};
  }
  if (!names.empty()) {
    // Of what does as well the first is the answer: what keeps pods apart, whatever was named
    // first.
    std::ranges::sort(strategies);
    return strategies;
  }
  using Tried = scenarios::SharingStrategy::Tried;
  for (const Strategy strategy : kStrategies) {
    // The stock device plugin refuses MPS on MIG and cannot take the cap off MPS; HAMi takes the
    // place of plugin and scheduler.
    const Tried tried = described(strategy).tried;
    if (tried == Tried::Always || (tried == Tried::ByDra && options.dra)) {
      strategies.push_back(strategy);
    }
  }
  // Settings of Bottlerocket share GPUs or cut them.
  if (scenario.gpu_software.image == scenarios::NodeImage::Bottlerocket) {
    std::erase(strategies, Strategy::MigTimeSlicing);
  }
  return strategies;
}

std::vector<std::string> purchases_of(const Scenario& scenario, const PlanOptions& options,
                                      Diagnostics& found) {
  std::vector<std::string> purchases = purchases_named(
      asked(options.purchases, scenario.planning.purchase_options), scenario, found);
  // Of what costs the same the first is the answer: what on-demand nodes stand in for.
  if (contains(purchases, "spot")) {
    std::erase(purchases, kSpotFallback);
    purchases.insert(std::ranges::find(purchases, "spot"), std::string(kSpotFallback));
  }
  if (!purchases.empty()) return purchases;
  purchases.emplace_back("on-demand");
  for (const auto& plan : scenario.price_plans) {
    if (!contains(purchases, plan.name)) purchases.push_back(plan.name);
  }
  return purchases;
}

}  // namespace

std::string_view outage_name(Outage loss) {
  return loss == Outage::None ? "none" : loss == Outage::Node ? "node" : "zone";
}

int survivors(Outage loss, int nodes) {
  constexpr int kZones = 3;
  if (loss == Outage::None) return nodes;
  return nodes - (loss == Outage::Node ? std::min(nodes, 1) : (nodes + kZones - 1) / kZones);
}

int with_spares(Outage loss, int nodes) {
  int all = nodes;
  while (survivors(loss, all) < nodes) ++all;
  return all;
}

Expected<PlanSpace> plan_space(const Scenario& scenario, const Catalogue& catalogue,
                               const PlanOptions& options) {
  Diagnostics found;
  PlanSpace space;
  space.types = types_of(scenario, catalogue, options, found);
  space.strategies = strategies_of(scenario, options, found);
  space.purchases = purchases_of(scenario, options, found);
  space.replicas = asked(options.replicas, scenario.planning.replicas);
  std::ranges::sort(space.replicas);
  space.serving = serving_of(options.serving, scenario.planning);
  space.max_nodes = options.max_nodes.value_or(scenario.planning.max_nodes);
  space.max_monthly_cost =
      options.max_monthly_cost ? options.max_monthly_cost : scenario.planning.max_monthly_cost;
  space.survive = options.survive;
  if (!found.empty()) return tl::unexpected(std::move(found));
  return space;
}

}  // namespace slicewise::sim
