// Plans that are small enough for the definition: every configuration can be simulated.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slicewise/sim/plan.hpp"

namespace slicewise::sim::small_plans {

inline constexpr const char* kTried[] = {"g4dn.xlarge", "g5.xlarge", "g5.12xlarge"};
inline constexpr int kMostNodesTried = 3;
inline constexpr int kMostReplicasTried = 3;

inline scenarios::Objective limit(scenarios::Figure figure, Duration at_most) {
  scenarios::Objective objective;
  objective.figure = figure;
  objective.limit = at_most;
  return objective;
}

inline scenarios::ScenarioSet set_with(scenarios::Scenario scenario) {
  scenarios::ScenarioSet set;
  set.name = "random";
  set.variants.push_back(std::move(scenario));
  return set;
}

inline PoolChoice pool(const std::string& type, Strategy strategy, int replicas, int nodes,
                       std::vector<std::string> workloads) {
  PoolChoice choice;
  choice.instance_type = type;
  choice.strategy = strategy;
  choice.replicas = replicas;
  choice.nodes = nodes;
  choice.workloads = std::move(workloads);
  return choice;
}

inline PlanOptions small_space() {
  PlanOptions options;
  options.instance_types.assign(std::begin(kTried), std::end(kTried));
  options.strategies = {"exclusive", "timeSlicing", "mps"};
  options.replicas = {2, 3};
  options.max_nodes = kMostNodesTried;
  options.goal = scenarios::PlanGoal::MonthlyCost;
  options.split = false;
  options.headroom = false;
  options.risk = false;
  options.flips = false;
  return options;
}

// A Service at a hundredth of one g4dn.xlarge, for twelve seconds.
scenarios::Scenario light_on_t4();

// One or two workloads; Services for half a minute, or Jobs until they are done.
scenarios::ScenarioSet random_set(std::uint32_t instance);

// The definition: every configuration with every number of nodes, as many replications as decide.
// `which` becomes what it is. `beside`: its objectives must hold by intervals as wide as so many
// need that hold together; 0: by those of its own.
std::optional<Usd> cheapest_of_all(const scenarios::Scenario& scenario,
                                   std::string* which = nullptr, std::int64_t beside = 0);

}  // namespace slicewise::sim::small_plans
