#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

// How much more load a plan's option bears, and the policies that ask for it.
namespace slicewise::sim {

struct Headroom {
  std::optional<double> passed;  // times the load that is borne
  std::optional<double> failed;  // ... at which an objective breaks
  std::string binding;           // which
  bool interrupted = false;
};

// All empty when nothing can be scaled, or nothing has an objective.
Headroom headroom_of(const scenarios::ScenarioSet& set, const scenarios::Scenario& base,
                     const models::Catalogue& catalogue, const RunOptions& run,
                     const PlanOption& option);

bool asks_for_headroom(const std::vector<scenarios::Policy>& policies);

// The policies once the headroom is known: those of `option.figures` are judged anew.
void judge_with_headroom(const scenarios::Scenario& base, const models::Catalogue& catalogue,
                         const RunOptions& run, const Headroom& headroom, PlanOption& option);

}  // namespace slicewise::sim
