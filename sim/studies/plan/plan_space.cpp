#include "plan_space.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../world/catalogue_names.hpp"
#include "../compare/candidates.hpp"

namespace slicewise::sim {
namespace {

using Names = std::vector<Located<std::string>>;

constexpr int kMostNodes = 32;

// What the command line says, else what the scenario says.
Names asked(const std::vector<std::string>& flags, const Names& written) {
  if (flags.empty()) return written;
  Names names;
  for (const std::string& flag : flags) names.push_back({flag, {}});
  return names;
}

std::vector<const models::InstanceType*> types_of(const scenarios::Scenario& scenario,
                                                  const models::Catalogue& catalogue,
                                                  const PlanOptions& options, Diagnostics& found) {
  std::vector<const models::InstanceType*> types;
  const Names names = asked(options.instance_types, scenario.planning.instance_types);
  for (const auto& name : names) {
    if (!add_types_named(name.value, catalogue, types)) {
      found.push_back(unknown_name(
          Code::InstanceUnknown, name,
          fmt::format("\"{}\" is neither an instance type nor a family of the catalogue",
                      name.value),
          catalogue.instances, "slicewise get instances"));
    }
  }
  if (!names.empty()) return types;
  for (const auto& pool : scenario.node_pools) {
    add_type(catalogue.find_instance(pool.instance_type.value), types);
  }
  for (const std::string_view name : kPlannedInstances) {
    add_type(catalogue.find_instance(name), types);
  }
  return types;
}

Diagnostic unknown_word(const Located<std::string>& word, const std::string& what,
                        const std::vector<std::string_view>& known) {
  const auto near = nearest_name(word.value, known);
  return make_diagnostic(
      Code::EnumUnknown, word.where, fmt::format("\"{}\" is no {}", word.value, what),
      fmt::format("{}known: {}", near ? fmt::format("did you mean {}? ", *near) : "",
                  fmt::join(known, ", ")));
}

std::vector<Strategy> strategies_of(const scenarios::Scenario& scenario, const PlanOptions& options,
                                    Diagnostics& found) {
  std::vector<std::string_view> known;
  std::vector<Strategy> strategies;
  known.reserve(kStrategies.size());
  for (const Strategy strategy : kStrategies) known.push_back(strategy_name(strategy));
  const Names names = asked(options.strategies, scenario.planning.strategies);
  for (const auto& name : names) {
    const auto at = std::ranges::find(known, std::string_view(name.value));
    if (at == known.end()) {
      found.push_back(unknown_word(name, "sharing strategy", known));
    } else {
      strategies.push_back(kStrategies[static_cast<std::size_t>(at - known.begin())]);
    }
  }
  if (!names.empty()) return strategies;
  for (const Strategy strategy : kStrategies) {
    // The stock device plugin refuses MPS on MIG and cannot take the cap off MPS.
    if (is_stock(strategy) && strategy != Strategy::MigMps) strategies.push_back(strategy);
  }
  return strategies;
}

std::vector<std::string> purchases_of(const scenarios::Scenario& scenario,
                                      const PlanOptions& options, Diagnostics& found) {
  std::vector<std::string_view> known = {"on-demand", "spot", "reserved"};
  for (const auto& plan : scenario.price_plans) known.emplace_back(plan.name);
  std::vector<std::string> purchases;
  const Names names = asked(options.purchases, scenario.planning.purchase_options);
  for (const auto& name : names) {
    if (std::ranges::find(known, std::string_view(name.value)) == known.end()) {
      found.push_back(unknown_word(name, "purchase option", known));
    } else {
      purchases.push_back(name.value);
    }
  }
  if (purchases.empty()) {
    purchases.emplace_back("on-demand");
    for (const auto& plan : scenario.price_plans) {
      if (std::ranges::find(purchases, plan.name) == purchases.end()) {
        purchases.push_back(plan.name);
      }
    }
  }
  return purchases;
}

}  // namespace

Expected<PlanSpace> plan_space(const scenarios::Scenario& scenario,
                               const models::Catalogue& catalogue, const PlanOptions& options) {
  Diagnostics found;
  PlanSpace space;
  space.types = types_of(scenario, catalogue, options, found);
  space.strategies = strategies_of(scenario, options, found);
  space.purchases = purchases_of(scenario, options, found);
  space.replicas = options.replicas.empty() ? scenario.planning.replicas : options.replicas;
  std::ranges::sort(space.replicas);
  space.max_nodes = options.max_nodes.value_or(scenario.planning.max_nodes.value_or(kMostNodes));
  space.max_monthly_cost =
      options.max_monthly_cost ? options.max_monthly_cost : scenario.planning.max_monthly_cost;
  if (!found.empty()) return tl::unexpected(std::move(found));
  return space;
}

}  // namespace slicewise::sim
