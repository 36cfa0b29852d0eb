#pragma once

#include <string>
#include <vector>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/plan.hpp"

// Every way in which one pool of an instance type could run some workloads.
namespace slicewise::sim {

// The search space, resolved: nothing is empty.
struct PlanSpace {
  std::vector<const InstanceType*> types;
  std::vector<std::string> purchases;
  std::vector<Strategy> strategies;
  std::vector<int> replicas;  // ascending; empty: those that are worth a try
  ServingWays serving;
  int max_nodes = 32;
  std::optional<Usd> max_monthly_cost;
  Outage survive = Outage::None;
  bool keeps_apart = false;  // the largest pods may be kept to one a node
};

// What the options and the scenario's planning section leave to choose from; unknown names are
// errors, all of them at once.
Expected<PlanSpace> plan_space(const Scenario& scenario, const Catalogue& catalogue,
                               const PlanOptions& options);

struct PoolChoices {
  std::vector<PoolChoice> choices;  // on-demand, nodes not set
  std::vector<RejectedChoice> refused;
};

// All choices for `workloads` alone on `type`, refused ones with the reason. The purchase option
// does not matter here.
PoolChoices pool_choices(const Scenario& base, const std::vector<std::string>& workloads,
                         const InstanceType& type, const PlanSpace& space,
                         const Catalogue& catalogue);

}  // namespace slicewise::sim
