#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../world/parts.hpp"
#include "probe.hpp"

namespace slicewise::sim {
namespace {

Diagnostic unknown_word(const Located<std::string>& word, const std::string& what,
                        const std::vector<std::string_view>& known) {
  const auto near = nearest_name(word.value, known);
  return make_diagnostic(
      Code::EnumUnknown, word.where, fmt::format("\"{}\" is no {}", word.value, what),
      fmt::format("{}known: {}", near ? fmt::format("did you mean {}? ", *near) : "",
                  fmt::join(known, ", ")));
}

}  // namespace

Names as_names(const std::vector<std::string>& flags) {
  Names names;
  for (const std::string& flag : flags) names.push_back({flag, {}});
  return names;
}

void add_type(const models::InstanceType* type, std::vector<const models::InstanceType*>& types) {
  if (type != nullptr && std::ranges::find(types, type) == types.end()) types.push_back(type);
}

std::vector<const models::InstanceType*> types_named(const Names& names,
                                                     const models::Catalogue& catalogue,
                                                     Diagnostics& found) {
  std::vector<const models::InstanceType*> types;
  for (const auto& name : names) {
    if (const models::InstanceType* type = catalogue.find_instance(name.value)) {
      add_type(type, types);
      continue;
    }
    bool any = false;
    for (const models::InstanceType& type : catalogue.instances) {
      if (type.family != name.value || !type.retired_on.empty()) continue;
      add_type(&type, types);
      any = true;
    }
    if (any) continue;
    found.push_back(unknown_name(
        Code::InstanceUnknown, name,
        fmt::format("\"{}\" is neither an instance type nor a family of the catalogue", name.value),
        catalogue.instances, "slicewise get instances"));
  }
  return types;
}

std::vector<Strategy> strategies_named(const Names& names, Diagnostics& found) {
  std::vector<std::string_view> known;
  known.reserve(kStrategies.size());
  for (const Strategy strategy : kStrategies) known.push_back(strategy_name(strategy));
  std::vector<Strategy> strategies;
  for (const auto& name : names) {
    const auto at = std::ranges::find(known, std::string_view(name.value));
    if (at == known.end()) {
      found.push_back(unknown_word(name, "sharing strategy", known));
    } else {
      strategies.push_back(kStrategies[static_cast<std::size_t>(at - known.begin())]);
    }
  }
  return strategies;
}

std::vector<std::string> purchases_named(const Names& names, const scenarios::Scenario& scenario,
                                         Diagnostics& found) {
  std::vector<std::string_view> known = {"on-demand", "spot", "reserved"};
  for (const auto& plan : scenario.price_plans) known.emplace_back(plan.name);
  std::vector<std::string> purchases;
  for (const auto& name : names) {
    if (std::ranges::find(known, std::string_view(name.value)) == known.end()) {
      found.push_back(unknown_word(name, "purchase option", known));
    } else {
      purchases.push_back(name.value);
    }
  }
  return purchases;
}

bool is_sold(const scenarios::Scenario& scenario, const std::string& type,
             const std::string& purchase) {
  const auto plans = [&](const auto& plan) { return plan.name == purchase; };
  if (std::ranges::none_of(scenario.price_plans, plans)) return true;
  return std::ranges::any_of(scenario.price_plans, [&](const auto& plan) {
    return plan.name == purchase && plan.instance_type.value == type;
  });
}

void check_pods(const scenarios::Scenario& scenario, std::string_view what, Diagnostics& found) {
  std::int64_t pods = 0;
  for (const scenarios::Workload& workload : scenario.workloads) {
    pods += workload.count;
    const bool several = workload.pod.extended.size() > 1 ||
                         std::ranges::any_of(workload.pod.extended,
                                             [](const auto& request) { return request.count > 1; });
    if (!several || workload.count == 0) continue;
    found.push_back(make_diagnostic(
        Code::StrategyNotModelled, workload.pod.extended.back().count_where,
        fmt::format("the pods of \"{}\" ask for several GPU resources: {} for pods with one",
                    workload.name.value, what),
        "ask for one; two replicas of a shared GPU do not give twice the compute"));
  }
  if (pods > 0) return;
  found.push_back(make_diagnostic(Code::ValueRange, scenario.where,
                                  fmt::format("\"{}\" has no pods to run", scenario.name),
                                  "set the count of a workload"));
}

Diagnostics errors_everywhere(std::span<const Expected<World>> worlds) {
  Diagnostics everywhere;
  if (std::ranges::any_of(worlds, [](const auto& world) { return world.has_value(); })) return {};
  for (const Diagnostic& d : worlds.front().error()) {
    const bool in_all = std::ranges::all_of(
        worlds, [&](const Expected<World>& other) { return holds(other.error(), d); });
    if (in_all && d.severity == Severity::Error) everywhere.push_back(d);
  }
  return everywhere;
}

}  // namespace slicewise::sim
